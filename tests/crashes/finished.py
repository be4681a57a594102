"""What a tournament is when it is finished, told so that two of them can be compared.

Left out is only what cannot be the same twice:

- when something happened, and how long it took: `created`, times of decisions, and with them the
  hash chain of a record, whose lines hold those times;
- the id of the tournament, which is made of the date and a random part;
- match ids of legs that were played again: an attempt has its own, so that bots can't link them;
- how often a leg was aborted, and in which order results came in.
"""

import json
import re
import sqlite3
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.match.verify import verify

FILE = "rummy.sqlite3"
TIMES_OF_LINES = ("charged_us", "forgiven_us", "prev", "time", "times", "match_id")
_BLANKED = ("id", "created", "mean_ms", "worst_ms")
_FIXTURES = (
    "SELECT f.fixture, f.encounter, f.position, f.leg, f.seats, f.first_dealer, f.salt, e.number,"
    " e.round, e.legs, e.secret FROM fixtures f JOIN encounters e USING (tournament, encounter)"
    " ORDER BY f.position"
)
_RESULTS = (
    "SELECT fixture, termination, has_result, deals, text FROM results JOIN fixtures"
    " USING (tournament, fixture) ORDER BY position"
)
_SEATS = (
    "SELECT fixture, seat, bot, place, total, forfeit, decisions, illegal_strikes, time_strikes"
    " FROM seat_results ORDER BY fixture, seat"
)
_MATCH_IDS = (
    "SELECT fixture, match_id FROM results JOIN fixtures USING (tournament, fixture)"
    " WHERE aborts = 0"
)


@dataclass(frozen=True, slots=True)
class Finished:
    """Plan, results, seats and records without what cannot be the same twice."""

    fixtures: tuple[Any, ...]
    results: tuple[Any, ...]
    seats: tuple[Any, ...]
    records: dict[str, tuple[str, ...]]
    match_ids: dict[str, str]
    """Of the legs that were never aborted."""

    def differences(self, other: "Finished") -> list[str]:
        """Say where two are not the same; match ids are compared where both have one."""
        found = [
            f"{name} are not the same:\n  {mine}\n  {theirs}"
            for name in ("fixtures", "results", "seats")
            for mine, theirs in _unequal(getattr(self, name), getattr(other, name))
        ]
        for fixture in sorted(self.records.keys() | other.records.keys()):
            pairs = _unequal(self.records.get(fixture, ()), other.records.get(fixture, ()))
            found += [f"record of {fixture}:\n  {mine}\n  {theirs}" for mine, theirs in pairs[:1]]
        both = self.match_ids.keys() & other.match_ids.keys()
        return found + [
            f"match id of {fixture}: {self.match_ids[fixture]}, {other.match_ids[fixture]}"
            for fixture in sorted(both)
            if self.match_ids[fixture] != other.match_ids[fixture]
        ]


def _unequal(mine: tuple[Any, ...], theirs: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    longest = max(len(mine), len(theirs))
    first, second = (one + (None,) * (longest - len(one)) for one in (mine, theirs))
    return [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]


def read_finished(data: Path) -> Finished:
    """Read the only tournament of a data folder, and verify its records."""
    with closing(_open(data)) as db:
        records = {}
        heads = dict(db.execute("SELECT fixture, record_hash FROM results"))
        for fixture, content in db.execute("SELECT fixture, data FROM records"):
            lines = zlib.decompress(content)
            verdict = verify(lines, heads[fixture])
            assert not verdict.problems, (fixture, verdict.problems)
            records[fixture] = tuple(_timeless(line) for line in lines.decode().splitlines())
        return Finished(
            fixtures=tuple(db.execute(_FIXTURES)),
            results=tuple(db.execute(_RESULTS)),
            seats=tuple(db.execute(_SEATS)),
            records=records,
            match_ids=dict(db.execute(_MATCH_IDS)),
        )


def _timeless(line: str) -> str:
    return json.dumps(_without_times(json.loads(line)))


def _without_times(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in TIMES_OF_LINES}
    return value


def stored_rows(data: Path) -> dict[str, tuple[Any, ...]]:
    """Return each result that is stored, whole: rows of three tables, or of none of them."""
    if not (data / FILE).exists():
        return {}
    with closing(_open(data)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'records'").fetchone():
            return {}
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        found = {row[1]: row for row in db.execute("SELECT * FROM results")}
        records = [fixture for (fixture,) in db.execute("SELECT fixture FROM records")]
        seats = dict(db.execute("SELECT fixture, count(*) FROM seat_results GROUP BY fixture"))
        planned = {
            fixture: len(json.loads(names))
            for fixture, names in db.execute("SELECT fixture, seats FROM fixtures")
        }
    assert sorted(records) == sorted(found), "results and records belong together"
    assert seats == {fixture: planned[fixture] for fixture in found}, "so do results and seats"
    return found


def stored_count(data: Path) -> int:
    """Return how many results are stored, without a word to whoever writes."""
    if not planned_tournaments(data):
        return 0
    with closing(_open(data)) as db:
        return int(db.execute("SELECT count(*) FROM results").fetchone()[0])


@dataclass(frozen=True, slots=True)
class Stored:
    """A tournament that is stored."""

    id: str
    status: str
    fixtures: int


def planned_tournaments(data: Path) -> list[Stored]:
    """Return the tournaments that are stored, the first first."""
    if not (data / FILE).exists():
        return []
    with closing(_open(data)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'fixtures'").fetchone():
            return []
        query = (
            "SELECT t.id, t.status, count(f.fixture) FROM tournaments t LEFT JOIN fixtures f"
            " ON f.tournament = t.id GROUP BY t.id ORDER BY t.created"
        )
        return [Stored(*row) for row in db.execute(query)]


def _open(data: Path) -> sqlite3.Connection:
    # Read and write: what a killed process left in the log of the database is brought in.
    return sqlite3.connect(data / FILE, timeout=10)


def leaderboard_bytes(text: str) -> str:
    """Return a leaderboard in JSON as it is written; only id and columns of times are blanked."""
    return re.sub(rf'("(?:{"|".join(_BLANKED)})": )[^,\n]*', r"\1-", text)
