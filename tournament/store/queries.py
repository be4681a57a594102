"""Reads results from the store, in plan order whatever order they came in.

Each function sees one moment of the database, also while a tournament is being played.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import fields
from itertools import islice

from sqlalchemy import Connection, false, func, not_, or_, select
from sqlalchemy.sql.expression import ColumnElement

from referee.match.outcome import Forfeit, Termination
from tournament.errors import StoreError
from tournament.statistics.scores import seat_score
from tournament.statistics.standings import LegResult, SeatRow, counted
from tournament.statistics.versions import BotVersion, PlayedTournament
from tournament.store import schema as t
from tournament.store.plans import storable
from tournament.store.store import Store
from tournament.store.stored import (
    EncounterScore,
    MatchDetails,
    MatchRow,
    RoundCount,
    fixture_of,
)

_POSITION_MOST = 2**31 - 1
"""More than any plan has; what PostgreSQL takes for an Integer."""

# What SeatRow holds, in the order of its fields: by name it would take twice as long.
_SEAT_COLUMNS = [t.seat_results.c[item.name] for item in fields(SeatRow)]

_FORFEITS = {forfeit.value: forfeit for forfeit in Forfeit}
_TERMINATIONS = {termination.value: termination for termination in Termination}


def leg_results(store: Store, tournament: str) -> list[LegResult]:
    """Return all stored legs in plan order."""
    with store.reading() as db:
        return _leg_results(db, tournament)


def legs_per_encounter(store: Store, tournament: str) -> dict[str, int]:
    """Return how many legs each encounter of the plan has, in plan order."""
    with store.reading() as db:
        return _legs_per_encounter(db, tournament)


def counted_legs(store: Store, tournament: str) -> list[LegResult]:
    """Return the stored legs that count, those of whole encounters, in plan order."""
    with store.reading() as db:
        return counted(_leg_results(db, tournament), _counting(db, tournament))


def legs_that_count(store: Store, tournament: str) -> dict[str, int]:
    """Return the encounters of the plan that count, with their numbers of legs, in plan order.

    Those are all, or, of a test that is decided, those up to the one that decided it: others were
    under way by then.
    """
    with store.reading() as db:
        return _counting(db, tournament)


def played_tournaments(store: Store, tournaments: Sequence[str]) -> list[PlayedTournament]:
    """Return who played in each of these tournaments, and the legs that count.

    An entrant of a ladder, which is called `name@version`, goes by its bot's name.
    Whether their rules, clock and seats are the same is for the caller to see to.
    """
    return [
        PlayedTournament(
            id=identity,
            seed=_seed(store.tournament(identity).config.get("seed")),
            entrants={
                entry.bot: BotVersion(
                    entry.bot.removesuffix(f"@{entry.version}"), entry.version, entry.content_hash
                )
                for entry in store.entries(identity)
            },
            legs=counted_legs(store, identity),
        )
        for identity in tournaments
    ]


def _seed(value: object) -> int | None:
    return value if isinstance(value, int) else None


def first_seats(store: Store, tournament: str) -> tuple[str, ...]:
    """Return the bots of the plan's first match, by seat."""
    query = select(t.fixtures).where(
        t.fixtures.c.tournament == tournament, t.fixtures.c.position == 0
    )
    return fixture_of(store.rows(query)[0]).seats


def encounter_scores(store: Store, tournament: str) -> list[EncounterScore]:
    """Return every planned encounter with its scores, if it is whole, in plan order."""
    with store.reading() as db:
        planned = db.execute(
            select(t.fixtures, t.encounters.c.number, t.encounters.c.round)
            .select_from(t.fixtures.join(t.encounters))
            .where(t.fixtures.c.tournament == tournament)
            .order_by(t.fixtures.c.position)
        ).all()
        legs = _leg_results(db, tournament)
    stored: dict[str, list[LegResult]] = defaultdict(list)
    for leg in legs:
        stored[leg.encounter_id].append(leg)
    count = Counter(row.encounter for row in planned)
    first = {row.encounter: row for row in reversed(planned)}
    return [
        EncounterScore(
            encounter_id=encounter,
            round=first[encounter].round,
            number=first[encounter].number,
            bots=fixture_of(first[encounter]).seats,
            legs=count[encounter],
            played=len(stored[encounter]),
            scores=_scores(stored[encounter], count[encounter]),
        )
        for encounter in count  # in the order of first appearance: plan order
    ]


def _scores(legs: Sequence[LegResult], planned: int) -> dict[str, float] | None:
    if sum(leg.has_result for leg in legs) < planned:
        return None
    sums: dict[str, float] = defaultdict(float)
    for leg in legs:
        for index, seat in enumerate(leg.seats):
            sums[seat.bot] += seat_score(leg, index)
    return {bot: score / planned for bot, score in sorted(sums.items())}


def failures_in_a_row(store: Store, tournament: str) -> dict[str, int]:
    """Return, for every bot, how many of its latest results in a row it failed in.

    It failed where it forfeited by a crash or by not starting, and where nobody was ever ready.
    Results count as they came in.
    """
    failed = or_(
        t.seat_results.c.forfeit.in_([Forfeit.CRASH.value, Forfeit.STARTUP.value]),
        t.results.c.termination == Termination.NOT_STARTED.value,
    )
    rows = (
        select(t.seat_results.c.bot, t.results.c.sequence)
        .select_from(t.seat_results.join(t.results))
        .where(t.seat_results.c.tournament == tournament)
    )
    bots = select(t.entries.c.bot).where(t.entries.c.tournament == tournament)
    fine = rows.where(not_(func.coalesce(failed, false()))).subquery()
    last = func.max(fine.c.sequence).label("last")
    last_fine = select(fine.c.bot, last).group_by(fine.c.bot)
    with store.reading() as db:
        counts = dict.fromkeys(sorted(db.execute(bots).scalars()), 0)
        until = {row.bot: row.last for row in db.execute(last_fine)}
        for bot, sequence in db.execute(rows.where(failed)):
            counts[bot] += sequence > until.get(bot, 0)
    return counts


def round_counts(store: Store, tournament: str) -> list[RoundCount]:
    """Return how far each planned round is."""
    round_ = t.encounters.c.round
    query = (
        select(
            round_,
            func.count(t.fixtures.c.encounter.distinct()).label("encounters"),
            func.count(t.results.c.fixture).label("matches"),
            func.count().label("planned"),
        )
        .select_from(t.fixtures.join(t.encounters).outerjoin(t.results))
        .where(t.fixtures.c.tournament == tournament)
        .group_by(round_)
        .order_by(round_)
    )
    return [
        RoundCount(
            round=row.round, encounters=row.encounters, matches=row.matches, planned=row.planned
        )
        for row in store.rows(query)
    ]


def matches(store: Store, tournament: str) -> list[MatchRow]:
    """Return every planned match with its result if there is one, in plan order."""
    with store.reading() as db:
        return _matches(db, tournament)


def match_details(store: Store, tournament: str, match: str) -> MatchDetails:
    """Return one match of a tournament by its id, its fixture's id, or its position in the plan.

    Raises StoreError when there is none.
    """
    match = storable(match)
    ways = [t.fixtures.c.fixture == match, t.results.c.match_id == match]
    if match.isascii() and match.isdigit() and int(match) <= _POSITION_MOST:
        ways.append(t.fixtures.c.position == int(match))
    with store.reading() as db:
        for way in ways:
            found = db.execute(
                select(t.fixtures.c.fixture, t.fixtures.c.encounter)
                .select_from(t.fixtures.outerjoin(t.results))
                .where(t.fixtures.c.tournament == tournament, way)
            ).first()
            if found is not None:
                legs = _matches(db, tournament, found.encounter)
                [chosen] = [leg for leg in legs if leg.fixture.fixture_id == found.fixture]
                return MatchDetails(match=chosen, legs=tuple(legs))
    raise StoreError(
        f"{store.name} has no match {match!r} in tournament {tournament!r}: allowed is the id of a"
        " match or of a fixture, or a position, as `tournament matches` lists them"
    )


def record(store: Store, tournament: str, fixture: str) -> bytes:
    """Return the lines of a match's record."""
    query = select(t.records.c.data).where(
        t.records.c.tournament == tournament, t.records.c.fixture == fixture
    )
    rows = store.rows(query)
    if not rows:
        raise StoreError(f"{store.name} has no record of {fixture!r} in {tournament!r}")
    try:
        return zlib.decompress(rows[0].data)
    except zlib.error as error:
        raise StoreError(
            f"{store.name}: the record of {fixture!r} in {tournament!r} is damaged ({error})"
        ) from error


def _leg_results(db: Connection, tournament: str) -> list[LegResult]:
    seats = _seats(db, tournament)
    query = (
        select(
            t.fixtures.c.fixture,
            t.fixtures.c.encounter,
            t.fixtures.c.position,
            t.fixtures.c.first_dealer,
            t.results.c.has_result,
            t.results.c.termination,
        )
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
            first_dealer=row.first_dealer,
            termination=_TERMINATIONS[row.termination],
        )
        for row in db.execute(query).all()
    ]


def _counting(db: Connection, tournament: str) -> dict[str, int]:
    query = select(t.tournaments.c.counted).where(t.tournaments.c.id == tournament)
    most = db.execute(query).scalar()
    return dict(islice(_legs_per_encounter(db, tournament).items(), most))


def _legs_per_encounter(db: Connection, tournament: str) -> dict[str, int]:
    query = (
        select(t.fixtures.c.encounter, func.count().label("legs"))
        .where(t.fixtures.c.tournament == tournament)
        .group_by(t.fixtures.c.encounter)
        .order_by(func.min(t.fixtures.c.position))
    )
    return {row.encounter: row.legs for row in db.execute(query).all()}


def _matches(db: Connection, tournament: str, encounter: str | None = None) -> list[MatchRow]:
    """Return the planned matches of a tournament, or of one encounter."""
    where = [t.fixtures.c.tournament == tournament]
    if encounter is not None:
        where.append(t.fixtures.c.encounter == encounter)
    seats = _seats(db, tournament, None if encounter is None else where)
    query = (
        select(
            t.fixtures,
            t.encounters.c.number,
            t.encounters.c.round,
            t.results.c.match_id,
            t.results.c.termination,
            t.results.c.text,
            t.results.c.reasons,
            t.results.c.deals,
            t.results.c.record_hash,
            t.results.c.sequence,
        )
        .select_from(t.fixtures.join(t.encounters).outerjoin(t.results))
        .where(*where)
        .order_by(t.fixtures.c.position)
    )
    return [
        MatchRow(
            fixture=fixture_of(row),
            number=row.number,
            match_id=row.match_id or "",
            termination=row.termination or "",
            text=row.abort_text if row.text is None else row.text,
            deals=row.deals,
            record_hash=row.record_hash or "",
            seats=seats.get(row.fixture, ()),
            round=row.round,
            reasons=row.reasons or "",
            aborts=row.aborts,
            sequence=row.sequence,
        )
        for row in db.execute(query).all()
    ]


def _seats(
    db: Connection, tournament: str, fixtures: Sequence[ColumnElement[bool]] | None = None
) -> dict[str, tuple[SeatRow, ...]]:
    """Return what happened at the seats of all matches, or of those of some fixtures."""
    query = (
        select(t.seat_results.c.fixture, *_SEAT_COLUMNS)
        .where(t.seat_results.c.tournament == tournament)
        .order_by(t.seat_results.c.fixture, t.seat_results.c.seat)
    )
    if fixtures is not None:
        chosen = select(t.fixtures.c.fixture).where(*fixtures)
        query = query.where(t.seat_results.c.fixture.in_(chosen))
    seats: dict[str, list[SeatRow]] = defaultdict(list)
    for fixture, bot, place, total, forfeit, *numbers in db.execute(query).all():
        seat = SeatRow(bot, place, total, forfeit and _FORFEITS[forfeit], *numbers)
        seats[fixture].append(seat)
    return {fixture: tuple(rows) for fixture, rows in seats.items()}
