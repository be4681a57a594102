"""Reads results from the store, in plan order whatever order they came in."""

import zlib

from sqlalchemy import select

from referee.match.outcome import Forfeit
from tournament.errors import StoreError
from tournament.statistics.standings import LegResult, SeatRow, Standing, counted, standings
from tournament.store import schema as t
from tournament.store.store import Store
from tournament.store.stored import MatchRow, fixture_of


def leg_results(store: Store, tournament: str) -> list[LegResult]:
    """Return all stored legs in plan order."""
    seats = _seats(store, tournament)
    query = (
        select(t.fixtures, t.results.c.has_result)
        .select_from(t.fixtures.join(t.results))
        .where(t.fixtures.c.tournament == tournament)
        .order_by(t.fixtures.c.position)
    )
    return [
        LegResult(
            encounter_id=row.encounter,
            position=row.position,
            has_result=row.has_result,
            seats=seats[row.fixture],
        )
        for row in store.rows(query)
    ]


def legs_per_encounter(store: Store, tournament: str) -> dict[str, int]:
    """Return how many legs each encounter of the plan has."""
    query = select(t.encounters).where(t.encounters.c.tournament == tournament)
    return {row.encounter: row.legs for row in store.rows(query)}


def standing_rows(store: Store, tournament: str) -> list[Standing]:
    """Return the rows of the leaderboard: only whole encounters count."""
    versions = {entry.bot: entry.version for entry in store.entries(tournament)}
    legs = counted(leg_results(store, tournament), legs_per_encounter(store, tournament))
    return standings(versions, legs)


def matches(store: Store, tournament: str) -> list[MatchRow]:
    """Return every planned match with its result if there is one, in plan order."""
    seats = _seats(store, tournament)
    query = (
        select(
            t.fixtures,
            t.encounters.c.number,
            t.results.c.match_id,
            t.results.c.termination,
            t.results.c.text,
            t.results.c.deals,
            t.results.c.record_hash,
        )
        .select_from(t.fixtures.join(t.encounters).outerjoin(t.results))
        .where(t.fixtures.c.tournament == tournament)
        .order_by(t.fixtures.c.position)
    )
    return [
        MatchRow(
            fixture=fixture_of(row),
            number=row.number,
            match_id=row.match_id or "",
            termination=row.termination or "",
            text=row.text or row.abort_text,
            deals=row.deals,
            record_hash=row.record_hash or "",
            seats=seats.get(row.fixture, ()),
        )
        for row in store.rows(query)
    ]


def record(store: Store, tournament: str, fixture: str) -> bytes:
    """Return the lines of a match's record."""
    query = select(t.records.c.data).where(
        t.records.c.tournament == tournament, t.records.c.fixture == fixture
    )
    rows = store.rows(query)
    if not rows:
        raise StoreError(f"{store.path} has no record of {fixture!r} in {tournament!r}")
    return zlib.decompress(rows[0].data)


def _seats(store: Store, tournament: str) -> dict[str, tuple[SeatRow, ...]]:
    query = (
        select(t.seat_results)
        .where(t.seat_results.c.tournament == tournament)
        .order_by(t.seat_results.c.fixture, t.seat_results.c.seat)
    )
    seats: dict[str, tuple[SeatRow, ...]] = {}
    for row in store.rows(query):
        seat = SeatRow(
            bot=row.bot,
            place=row.place,
            total=row.total,
            forfeit=None if row.forfeit is None else Forfeit(row.forfeit),
            decisions=row.decisions,
            charged_us=row.charged_us,
            longest_us=row.longest_us,
        )
        seats[row.fixture] = (*seats.get(row.fixture, ()), seat)
    return seats
