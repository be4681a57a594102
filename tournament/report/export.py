"""Writes a tournament into a folder of files that anybody can read and check."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tomli_w

from tournament.errors import OutputError, UsageError
from tournament.report.bots import bots_view
from tournament.report.crosstable import crosstable_view
from tournament.report.leaderboard import leaderboard_view
from tournament.report.matches import matches_view
from tournament.report.page import Page, html
from tournament.report.ratings import ratings_view
from tournament.report.render import Format, View, render
from tournament.report.results import Results, load
from tournament.report.statistics import statistics_view
from tournament.statistics.crosstable import Cell, crosstable
from tournament.store.queries import matches, record
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


@dataclass(frozen=True, slots=True)
class Options:
    """What the store does not know: the whole configuration, and who writes."""

    configuration: Mapping[str, object]
    """Tables that TOML can hold, with all defaults and no secrets."""
    version: str


def export(
    store: Store,
    tournament: Tournament,
    folder: Path,
    options: Options,
    progress: Callable[[int, int], None],
) -> Exported:
    """Write all that is public of a tournament, with a page to read. Raises TournamentError.

    All legs of an encounter are played on the same deals, and a record tells them: records and
    results are written of encounters that have ended, of others only that they are planned. What
    is for the organiser alone stays out. `progress` is called with records written and in all.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already: allowed is a new or an empty folder")
    # Results that come in meanwhile are in the records' list or not, but never half.
    rows = matches(store, tournament.id)
    results = load(store, tournament.id)
    played = Counter(row.fixture.encounter_id for row in rows if row.record_hash)
    ended = {encounter for encounter, legs in results.planned.items() if played[encounter] == legs}
    whole = [row for row in rows if row.fixture.encounter_id in ended]
    parts = folder.with_name(f"{folder.name}.part")
    try:
        parts.mkdir(parents=True)
        (parts / "records").mkdir()
        heads = "".join(f"{row.record_hash}  {row.match_id}\n" for row in whole)
        _write(parts / "heads.txt", heads)
        public = [_public(row, ended) for row in rows]
        _write_data(results, public, options, parts)
        for number, row in enumerate(whole):
            progress(number, len(whole))
            lines = record(store, tournament.id, row.fixture.fixture_id)
            (parts / "records" / f"{row.match_id}.jsonl").write_bytes(lines)
        parts.replace(folder)
    except OSError as error:
        raise OutputError(f"{folder} can't be written: {error.strerror}") from error
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    return Exported(len(whole), played.total() - len(whole), len(results.planned) - len(ended))


def _public(row: MatchRow, ended: Collection[str]) -> MatchRow:
    """Leave out what is for the organiser, and what is not over yet."""
    if row.fixture.encounter_id in ended:
        return replace(row, reasons="")
    return replace(
        row, reasons="", text="", match_id="", termination="", deals=None, record_hash="", seats=()
    )


def _write_data(results: Results, rows: Sequence[MatchRow], options: Options, folder: Path) -> None:
    cells = crosstable(results.bots, results.legs)
    for name, view in _views(results, rows, cells).items():
        for format_ in _FORMATS:
            _write(folder / f"{name}.{format_.value}", render(view, format_))
    configuration = tomli_w.dumps(options.configuration)
    _write(folder / "configuration.toml", configuration)
    text = json.dumps(options.configuration, indent=2, ensure_ascii=False)
    _write(folder / "configuration.json", f"{text}\n")
    page = Page(
        results=results,
        cells=cells,
        matches=rows,
        recorded={row.fixture.fixture_id for row in rows if row.record_hash},
        configuration=configuration,
        files=sorted(path.name for path in folder.iterdir() if path.is_file()),
        version=options.version,
    )
    _write(folder / "index.html", html(page))


def _views(results: Results, rows: Sequence[MatchRow], cells: Sequence[Cell]) -> dict[str, View]:
    tournament = results.tournament
    return {
        "leaderboard": leaderboard_view(tournament, results.standings),
        "ratings": ratings_view(results),
        "crosstable": crosstable_view(tournament, results.ranked, cells),
        "statistics": statistics_view(results),
        "matches": matches_view(tournament, rows),
        "bots": bots_view(tournament, results.entries, is_public=True),
    }


def _write(path: Path, text: str) -> None:
    # What no encoding can hold, half a character, must not keep the rest from being written.
    path.write_text(text, encoding="utf-8", errors="replace", newline="\n")
