"""Writes a tournament into a folder of files that anybody can read and check."""

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tournament.errors import OutputError, UsageError
from tournament.report import views as report
from tournament.report.views import Format
from tournament.store.queries import legs_per_encounter, matches, record, standing_rows
from tournament.store.store import Store
from tournament.store.stored import MatchRow, Tournament

_FORMATS = (Format.JSON, Format.CSV)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: records of matches; and what not, as its encounter is not whole yet."""

    records: int
    stored: int
    """Further matches that have been played."""
    encounters: int
    """Encounters that are not whole."""


def export(
    store: Store, tournament: Tournament, folder: Path, progress: Callable[[int, int], None]
) -> Exported:
    """Write leaderboard, matches, records and their head hashes. Raises UsageError, OutputError.

    All legs of an encounter are played on the same deals, and a record tells them: only records of
    encounters that have ended are written. `progress` is called with records written and in all.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already: allowed is a new or an empty folder")
    rows = matches(store, tournament.id)
    stored = sum(bool(row.record_hash) for row in rows)
    legs = legs_per_encounter(store, tournament.id)
    played = Counter(row.fixture.encounter_id for row in rows if row.record_hash)
    whole = [
        row for row in rows if played[row.fixture.encounter_id] == legs[row.fixture.encounter_id]
    ]
    parts = folder.with_name(f"{folder.name}.part")
    try:
        parts.mkdir(parents=True)
        _write_views(store, tournament, rows, parts)
        (parts / "records").mkdir()
        heads = "".join(f"{row.record_hash}  {row.match_id}\n" for row in whole)
        (parts / "heads.txt").write_text(heads, encoding="utf-8")
        for number, row in enumerate(whole):
            progress(number, len(whole))
            lines = record(store, tournament.id, row.fixture.fixture_id)
            (parts / "records" / f"{row.match_id}.jsonl").write_bytes(lines)
        parts.replace(folder)
    except OSError as error:
        raise OutputError(f"{folder} can't be written: {error.strerror}") from error
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    ended = {row.fixture.encounter_id for row in whole}
    return Exported(len(whole), stored - len(whole), len(legs) - len(ended))


def _write_views(store: Store, tournament: Tournament, rows: list[MatchRow], folder: Path) -> None:
    views = {
        "leaderboard": report.leaderboard_view(tournament, standing_rows(store, tournament.id)),
        "matches": report.matches_view(tournament, rows),
    }
    for name, view in views.items():
        for format_ in _FORMATS:
            text = report.render(view, format_)
            (folder / f"{name}.{format_.value}").write_text(text, encoding="utf-8")
