"""Keeps a standing ladder: one tournament whose encounters are added as they are made.

An encounter that cannot be finished is closed: its legs without a result are noted as aborted, and
it counts for nothing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select, update

from tournament.schedule.fixtures import Encounter, Fixture
from tournament.schedule.formats import LADDER
from tournament.statistics.standings import SeatRow
from tournament.store import schema as t
from tournament.store.plans import insert_encounters, now, storable
from tournament.store.store import Store
from tournament.store.stored import UNFINISHED, Tournament, fixture_of

_SEATS = ("bot", "place", "total", "forfeit", "decisions", "charged_us", "longest_us",
          "forgiven_us", "illegal_strikes", "time_strikes")  # fmt: skip


@dataclass(frozen=True, slots=True)
class SeatPast:
    """That an entrant had a result; `failed` if it forfeited, or nobody was ever ready."""

    entrant: str
    failed: bool


@dataclass(frozen=True, slots=True)
class EndedMatch:
    """A leg with a result. `sequence` counts the results from 1, `ended` is the time in ISO form.

    `forfeit` of its seats is a word of `referee.match.outcome.Forfeit`, or None.
    """

    fixture: Fixture
    sequence: int
    match_id: str
    termination: str
    text: str
    deals: int
    record_hash: str
    ended: str
    seats: tuple[SeatRow, ...]


def ladder_of(store: Store) -> Tournament | None:
    """Return the ladder of a database; it has one at most."""
    found = [one for one in store.tournaments() if one.config.get("format") == LADDER]
    return found[-1] if found else None


def create_ladder(
    store: Store, ladder: str, config: Mapping[str, object], config_hash: str
) -> Tournament:
    """Store a new ladder, without any encounter, and return it."""
    with store.writing(ladder) as db:
        db.execute(
            t.tournaments.insert().values(
                id=ladder,
                config=json.dumps({**config, "format": LADDER}),
                config_hash=config_hash,
                created=now(),
                status=UNFINISHED,
            )
        )
    return store.tournament(ladder)


def add_entrants(store: Store, ladder: str, hashes: Mapping[str, str]) -> None:
    """Store who may be seated: content hashes by entrant. Those that are stored already stay."""
    with store.writing(ladder) as db:
        query = select(t.entries.c.bot).where(t.entries.c.tournament == ladder)
        known = set(db.execute(query).scalars())
        rows = [
            {"tournament": ladder, "bot": entrant, "content_hash": content, "folder": ""}
            for entrant, content in sorted(hashes.items())
            if entrant not in known
        ]
        if rows:
            db.execute(t.entries.insert(), rows)


def next_position(store: Store, ladder: str) -> int:
    """Return the position that the next leg of the plan has."""
    query = select(func.max(t.fixtures.c.position)).where(t.fixtures.c.tournament == ladder)
    with store.reading() as db:
        last = db.execute(query).scalar()
    return 0 if last is None else last + 1


def add_encounter(
    store: Store, ladder: str, encounter: Encounter, secret: bytes, salts: Mapping[str, bytes]
) -> None:
    """Store an encounter durably before any leg of it begins. `salts` are by fixture id."""
    with store.writing(ladder) as db:
        insert_encounters(db, ladder, [encounter], {encounter.encounter_id: secret}, salts)


def close_encounters(store: Store, ladder: str, why: str, encounter: str | None = None) -> None:
    """Close an encounter, or all that are open: their legs without a result will have none."""
    done = select(t.results.c.fixture).where(t.results.c.tournament == ladder)
    where = [
        t.fixtures.c.tournament == ladder,
        t.fixtures.c.aborts == 0,
        t.fixtures.c.fixture.not_in(done),
    ]
    if encounter is not None:
        where.append(t.fixtures.c.encounter == encounter)
    with store.writing(ladder) as db:
        db.execute(update(t.fixtures).where(*where).values(aborts=1, abort_text=storable(why)))


def past_encounters(store: Store, ladder: str) -> list[tuple[str, ...]]:
    """Return the entrants of every encounter that was ever begun, in the order of beginning."""
    query = (
        select(t.fixtures.c.seats)
        .where(t.fixtures.c.tournament == ladder, t.fixtures.c.leg == 0)
        .order_by(t.fixtures.c.position)
    )
    return [tuple(json.loads(row.seats)) for row in store.rows(query)]


def whole_encounters(store: Store, ladder: str) -> int:
    """Return how many encounters have a result for each of their legs."""
    done = (
        select(t.fixtures.c.encounter)
        .select_from(t.fixtures.join(t.encounters).join(t.results))
        .where(t.fixtures.c.tournament == ladder, t.results.c.has_result)
        .group_by(t.fixtures.c.encounter, t.encounters.c.legs)
        .having(func.count() == t.encounters.c.legs)
        .subquery()
    )
    with store.reading() as db:
        return db.execute(select(func.count()).select_from(done)).scalar_one()


def past_seats(store: Store, ladder: str) -> list[SeatPast]:
    """Return all seats of all results, as they came in."""
    query = (
        select(t.seat_results.c.bot, t.seat_results.c.forfeit, t.results.c.has_result)
        .select_from(t.seat_results.join(t.results))
        .where(t.seat_results.c.tournament == ladder)
        .order_by(t.results.c.sequence, t.seat_results.c.seat)
    )
    return [
        SeatPast(row.bot, row.forfeit is not None or not row.has_result)
        for row in store.rows(query)
    ]


def ended_matches(
    store: Store,
    ladder: str,
    *,
    bot: str | None = None,
    version: str | None = None,
    before: int | None = None,
    most: int,
) -> list[EndedMatch]:
    """Return up to `most` matches, the latest first; those of a bot or a version, if it is given.

    `before`: only those that came in before the result with this `sequence`.
    """
    where: list[ColumnElement[bool]] = []
    if bot is not None:
        column, entrant = t.seat_results.c.bot, f"{bot}@{version or ''}"
        # LIKE would take a for A on some databases.
        is_it = column == entrant if version else func.substr(column, 1, len(entrant)) == entrant
        mine = select(t.seat_results.c.fixture).where(t.seat_results.c.tournament == ladder, is_it)
        where.append(t.results.c.fixture.in_(mine))
    if before is not None:
        where.append(t.results.c.sequence < before)
    return _ended(store, ladder, where, most)


def ended_match(store: Store, ladder: str, match_id: str) -> list[EndedMatch]:
    """Return all legs with a result of the encounter of a match, by leg; empty if there is none."""
    own = (
        select(t.fixtures.c.encounter)
        .select_from(t.fixtures.join(t.results))
        .where(t.results.c.tournament == ladder, t.results.c.match_id == storable(match_id))
    )
    found = _ended(store, ladder, [t.fixtures.c.encounter.in_(own)], None)
    return sorted(found, key=lambda match: match.fixture.leg)


def _ended(
    store: Store, ladder: str, where: Sequence[ColumnElement[bool]], most: int | None
) -> list[EndedMatch]:
    query = (
        select(t.fixtures, t.results)
        .select_from(t.fixtures.join(t.results))
        .where(t.results.c.tournament == ladder, *where)
        .order_by(t.results.c.sequence.desc())
        .limit(most)
    )
    with store.reading() as db:
        rows = db.execute(query).all()
        seats: dict[str, list[SeatRow]] = {row.fixture: [] for row in rows}
        of_these = (
            select(t.seat_results)
            .where(t.seat_results.c.tournament == ladder, t.seat_results.c.fixture.in_(list(seats)))
            .order_by(t.seat_results.c.fixture, t.seat_results.c.seat)
        )
        for row in db.execute(of_these):
            seats[row.fixture].append(SeatRow(*(getattr(row, name) for name in _SEATS)))
    return [
        EndedMatch(
            fixture=fixture_of(row),
            sequence=row.sequence,
            match_id=row.match_id,
            termination=row.termination,
            text=row.text,
            deals=row.deals,
            record_hash=row.record_hash,
            ended=row.created,
            seats=tuple(seats[row.fixture]),
        )
        for row in rows
    ]
