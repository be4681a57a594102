"""What is read from the store, against the same computed from all that was put into it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from sqlalchemy import Connection, event

from referee.match.outcome import Forfeit, MatchResult, Termination
from tests.scale import cases, repeating
from tests.tournament.conftest import Place
from tests.tournament.fakes import entry, match_result, store_plan
from tournament.errors import StoreError
from tournament.report.results import load
from tournament.schedule.fixtures import Encounter, Entrant, Fixture
from tournament.schedule.round_robin import round_robin
from tournament.store import queries
from tournament.store.store import Store
from tournament.store.stored import EncounterScore, RoundCount

COUNT = 4
"""Tournaments in one store: none may see anything of the others."""


@dataclass
class Told:
    """What a store was told of one tournament: its plan, results as they came in, aborts."""

    identity: str
    bots: tuple[str, ...]
    plan: list[Encounter]
    results: list[tuple[Fixture, MatchResult, str]] = field(default_factory=list)
    aborts: dict[str, int] = field(default_factory=dict)

    def result_of(self, leg: Fixture) -> MatchResult | None:
        """Return the result of a leg, None if it has none."""
        return next((result for known, result, _ in self.results if known == leg), None)


def _tell(store: Store, identity: str, chance: Random) -> Told:
    """Plan a tournament of up to three rounds, and play some of it in any order."""
    bots = tuple(sorted("abcde"[: chance.randint(3, 5)]))
    seats = chance.choice([2, 2, 3])
    told = Told(identity, bots, store_plan(store, bots, identity=identity, seats=seats))
    entrants = [Entrant(item.bot, item.content_hash) for item in map(entry, bots)]
    for number in range(1, chance.randint(1, 3)):
        more = round_robin(entrants, seats=seats, encounters=number + 1, rules="rules")
        later = _moved([e for e in more if e.number == number], told.plan, number)
        secrets = {item.encounter_id: bytes([number]) * 32 for item in later}
        salts = {leg.fixture_id: bytes(32) for item in later for leg in item.legs}
        store.add_encounters(identity, later, secrets, salts)
        told.plan += later
    legs = [leg for item in told.plan for leg in item.legs]
    for leg in chance.sample(legs, chance.randint(0, len(legs))):
        if chance.random() < 0.1:
            store.note_abort(identity, leg.fixture_id, "stalled")
            told.aborts[leg.fixture_id] = 1
            continue
        result = _result(leg, chance, identity)
        reasons = chance.choice(["", "because"])
        assert store.save_result(identity, leg.fixture_id, result, reasons=reasons)
        told.results.append((leg, result, reasons))
    return told


def _moved(later: list[Encounter], plan: list[Encounter], number: int) -> list[Encounter]:
    """Put encounters behind a plan, as a round of their own."""
    position = sum(len(item.legs) for item in plan)
    moved = []
    for item in later:
        legs = tuple(replace(leg, position=position + leg.leg) for leg in item.legs)
        position += len(legs)
        moved.append(replace(item, legs=legs, round=number))
    return moved


def _result(leg: Fixture, chance: Random, identity: str) -> MatchResult:
    seats = range(len(leg.seats))
    kinds = [Forfeit.CRASH, Forfeit.STARTUP, Forfeit.ILLEGAL]
    forfeits = {seat: chance.choice(kinds) for seat in seats if chance.random() < 0.4}
    match_id = f"{identity}-{leg.fixture_id}"
    if chance.random() < 0.1:
        return match_result([0 for _ in seats], termination=Termination.NOT_STARTED,
                            forfeits=forfeits, match_id=match_id)  # fmt: skip
    places = [chance.randint(1, len(leg.seats)) for _ in seats]
    kind = Termination.FORFEIT if forfeits else Termination.COMPLETED
    return match_result(places, termination=kind, forfeits=forfeits, match_id=match_id)


def _expected_failures(told: Told) -> dict[str, int]:
    counts = dict.fromkeys(told.bots, 0)
    for leg, result, _ in told.results:
        for bot, seat in zip(leg.seats, result.seats, strict=True):
            is_failure = (
                seat.forfeit in (Forfeit.CRASH, Forfeit.STARTUP)
                or result.termination is Termination.NOT_STARTED
            )
            counts[bot] = counts[bot] + 1 if is_failure else 0
    return counts


def _expected_scores(told: Told) -> list[EncounterScore]:
    rows = []
    for item in told.plan:
        results = [told.result_of(leg) for leg in item.legs]
        played = [result for result in results if result is not None]
        scores = None
        if len(played) == len(item.legs) and all(result.has_result for result in played):
            scores = {
                bot: sum(
                    _beaten([seat.place for seat in result.seats], leg.seats.index(bot))
                    for leg, result in zip(item.legs, played, strict=True)
                )
                / len(item.legs)
                for bot in item.bots
            }
        rows.append(
            EncounterScore(
                encounter_id=item.encounter_id,
                round=item.round,
                number=item.number,
                bots=item.legs[0].seats,
                legs=len(item.legs),
                played=len(played),
                scores=scores,
            )
        )
    return rows


def _beaten(places: list[int], index: int) -> float:
    worse = sum(place > places[index] for place in places)
    same = places.count(places[index]) - 1
    return (worse + same / 2) / (len(places) - 1)


def _expected_rounds(told: Told) -> list[RoundCount]:
    numbers = sorted({item.round for item in told.plan})
    parts = [[item for item in told.plan if item.round == number] for number in numbers]
    return [
        RoundCount(
            round=number,
            encounters=len(part),
            matches=sum(told.result_of(leg) is not None for item in part for leg in item.legs),
            planned=sum(len(item.legs) for item in part),
        )
        for number, part in zip(numbers, parts, strict=True)
    ]


def _check(store: Store, told: Told) -> None:
    identity = told.identity
    legs = [leg for item in told.plan for leg in item.legs]
    assert queries.failures_in_a_row(store, identity) == _expected_failures(told)
    found = queries.encounter_scores(store, identity)
    for score, wanted in zip(found, _expected_scores(told), strict=True):
        assert score == replace(wanted, scores=score.scores)
        assert score.scores == (None if wanted.scores is None else pytest.approx(wanted.scores))
    assert queries.round_counts(store, identity) == _expected_rounds(told)
    planned = queries.legs_per_encounter(store, identity)
    assert list(planned.items()) == [(item.encounter_id, len(item.legs)) for item in told.plan]
    number = {leg: count for count, (leg, _, _) in enumerate(told.results, start=1)}
    reasons = {leg: text for leg, _, text in told.results}
    rows = queries.matches(store, identity)
    assert [row.fixture for row in rows] == legs
    assert [row.sequence for row in rows] == [number.get(leg) for leg in legs]
    assert [row.reasons for row in rows] == [reasons.get(leg, "") for leg in legs]
    assert [row.aborts for row in rows] == [told.aborts.get(leg.fixture_id, 0) for leg in legs]
    for leg, row in zip(legs, rows, strict=True):
        result = told.result_of(leg)
        places = [seat.place for seat in result.seats] if result else []
        assert row.match_id == (result.match_id if result else "")
        assert [seat.place for seat in row.seats] == places
    results = queries.leg_results(store, identity)
    assert [leg.position for leg in results] == [leg.position for leg in legs if leg in number]
    assert [leg.seats for leg in results] == [row.seats for row in rows if row.sequence]
    whole = {score.encounter_id for score in found if score.scores is not None}
    counted = queries.counted_legs(store, identity)
    assert counted == [leg for leg in results if leg.encounter_id in whole]
    [played] = queries.played_tournaments(store, [identity])
    assert (played.id, played.seed, played.legs) == (identity, None, counted)
    assert {name: version.bot for name, version in played.entrants.items()} == {
        bot: bot for bot in told.bots
    }
    for item in told.plan[:2]:
        for leg in item.legs:
            names = [leg.fixture_id, str(leg.position)]
            result = told.result_of(leg)
            names += [result.match_id] if result else []
            for name in names:
                details = queries.match_details(store, identity, name)
                assert details.match == rows[leg.position]
                assert list(details.legs) == [rows[other.position] for other in item.legs]


def test_what_is_read_is_what_was_told(store: Store) -> None:
    for case in cases(3):
        with repeating(__file__, f"test_what_is_read_is_what_was_told[{_kind(store)}]", "", case):
            chance = Random(case)
            told = [_tell(store, f"t{case}-{number}", chance) for number in range(COUNT)]
            for one in told:
                _check(store, one)


def _kind(store: Store) -> str:
    return "postgresql" if store.name.startswith("postgresql:") else "sqlite"


@pytest.mark.parametrize("match", ["", "nothing", "99", "-1", "²", "1" * 30, "a\0b", "\udcff", "%"])
def test_a_match_that_is_not_there_is_an_error(store: Store, match: str) -> None:
    store_plan(store)
    with pytest.raises(StoreError, match=r"has no match .* in tournament 't1': allowed is"):
        queries.match_details(store, "t1", match)


def test_a_match_is_found_in_its_own_tournament_only(store: Store) -> None:
    leg = store_plan(store, identity="t1")[0].legs[0]
    store_plan(store, identity="t2")
    store.save_result("t1", leg.fixture_id, match_result([1, 2], match_id="m1"))
    assert queries.match_details(store, "t1", "m1").match.fixture == leg
    with pytest.raises(StoreError, match="has no match 'm1' in tournament 't2'"):
        queries.match_details(store, "t2", "m1")
    assert queries.match_details(store, "t2", leg.fixture_id).match.seats == ()


def test_a_result_that_comes_in_while_one_reads_is_seen_wholly_or_not_at_all(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    seats_of = queries._seats
    with place.open() as store, place.open() as writer:
        legs = iter([leg for item in store_plan(store) for leg in item.legs])

        def seats(db: Connection, *more: object) -> object:
            found = seats_of(db, *more)  # type: ignore[arg-type]
            assert writer.save_result("t1", next(legs).fixture_id, match_result([1, 2]))
            return found

        monkeypatch.setattr(queries, "_seats", seats)
        assert queries.leg_results(store, "t1") == []
        assert [bool(row.termination) for row in queries.matches(store, "t1")] == [
            True,
            *[False] * 5,
        ]
        assert len(queries.counted_legs(store, "t1")) == 2
        assert [len(row.seats) for row in queries.matches(store, "t1")][:3] == [2, 2, 2]


@contextmanager
def _statements(store: Store) -> Iterator[list[str]]:
    found: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        found.append(statement)

    event.listen(store._database.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(store._database.engine, "before_cursor_execute", note)


def test_the_number_of_queries_does_not_grow_with_the_results(store: Store) -> None:
    counts = []
    for number, encounters in enumerate((1, 5)):
        identity = f"t{number}"
        plan = store_plan(store, identity=identity, encounters=encounters)
        for leg in [leg for item in plan for leg in item.legs]:
            store.save_result(identity, leg.fixture_id, match_result([1, 2], match_id="m"))
        with _statements(store) as found:
            load(store, identity)
            queries.counted_legs(store, identity)
            queries.matches(store, identity)
            queries.encounter_scores(store, identity)
            queries.failures_in_a_row(store, identity)
            queries.round_counts(store, identity)
            queries.match_details(store, identity, "0")
            store.pending(identity)
            store.tournament(identity)
            store.tournaments()
        counts.append(len(found))
    assert counts[0] == counts[1]


def test_no_view_reads_secrets_or_records(store: Store) -> None:
    plan = store_plan(store)
    store.save_result("t1", plan[0].legs[0].fixture_id, match_result([1, 2]))
    with _statements(store) as found:
        load(store, "t1")
        queries.counted_legs(store, "t1")
        queries.encounter_scores(store, "t1")
        queries.failures_in_a_row(store, "t1")
        queries.leg_results(store, "t1")
    assert found
    assert [text for text in found if ".secret" in text or "records" in text] == []
