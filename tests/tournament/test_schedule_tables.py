"""Balanced tables: who plays, meets, sits and follows how often."""

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tournament.schedule.balance import Spread, balance
from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.tables import balanced_tables, design

SIZES = st.tuples(st.integers(3, 30), st.integers(3, 6), st.integers(1, 150)).filter(
    lambda size: size[0] >= size[1]
)


def field(bots: int) -> list[Entrant]:
    return [Entrant(f"bot-{number}", f"{number:064x}") for number in range(bots)]


def plan(bots: int, seats: int, tables: int) -> list[Encounter]:
    return balanced_tables(field(bots), seats=seats, tables=tables, rules="rules")


@given(SIZES)
@example((7, 5, 27))  # where tables share most of their bots
@example((8, 6, 11))
@example((12, 6, 14))
def test_appearances_are_equal_and_meetings_near_their_mean(size: tuple[int, int, int]) -> None:
    bots, seats, tables = size
    found = design(*size)
    assert len(found) == tables
    assert all(len(set(table)) == seats for table in found)
    plays = Counter(bot for table in found for bot in table)
    counts = [plays[bot] for bot in range(bots)]
    assert max(counts) - min(counts) <= 1
    met = Counter(pair for table in found for pair in combinations(sorted(table), 2))
    mean = tables * comb(seats, 2) / comb(bots, 2)
    assert all(abs(met[pair] - mean) <= 2 for pair in combinations(range(bots), 2))


@given(SIZES)
def test_the_report_says_what_the_plan_is(size: tuple[int, int, int]) -> None:
    bots, seats, tables = size
    planned = plan(*size)
    names = [entrant.bot for entrant in field(bots)]
    report = balance(planned, names)
    legs = [leg for encounter in planned for leg in encounter.legs]
    in_legs = [sum(bot in leg.seats for leg in legs) for bot in names]
    spread = Spread(min(in_legs) // seats, sum(in_legs) / seats / bots, max(in_legs) // seats)
    assert report.appearances == spread
    together = [
        sum(one in encounter.bots and other in encounter.bots for encounter in planned)
        for one, other in combinations(names, 2)
    ]
    assert (report.meetings.least, report.meetings.most) == (min(together), max(together))
    after = Counter((leg.seats[seat - 1], leg.seats[seat]) for leg in legs for seat in range(seats))
    assert report.follows.most == max(after.values()) / seats
    assert report.follows.mean == pytest.approx(tables * seats / (bots * (bots - 1)))
    assert report.seat_difference == 0
    assert (report.seats.least, report.seats.most) == (spread.least, spread.most)


@given(st.integers(3, 9), st.integers(3, 5), st.integers(1, 3), st.integers(0, 10))
def test_enough_tables_are_every_set_equally_often_and_a_balanced_rest(
    bots: int, seats: int, whole: int, more: int
) -> None:
    if bots < seats:
        return
    sets = comb(bots, seats)
    more %= sets
    met = Counter(frozenset(encounter.bots) for encounter in plan(bots, seats, whole * sets + more))
    assert len(met) == sets
    assert all(count >= whole for count in met.values())
    assert sum(met.values()) == whole * sets + more
    if not more:
        assert set(met.values()) == {whole}


@given(st.integers(3, 8), st.integers(3, 6), st.integers(1, 120))
def test_a_set_that_meets_again_meets_on_other_deals(bots: int, seats: int, tables: int) -> None:
    if bots < seats:
        return
    planned = plan(bots, seats, tables)
    met: Counter[frozenset[str]] = Counter()
    for encounter in planned:
        table = frozenset(encounter.bots)
        assert encounter.number == met[table]
        met[table] += 1
    assert len({encounter.encounter_id for encounter in planned}) == tables
    legs = [leg for encounter in planned for leg in encounter.legs]
    assert len({leg.fixture_id for leg in legs}) == len(legs)
    assert [leg.position for leg in legs] == list(range(len(legs)))


@pytest.mark.parametrize(("bots", "seats", "tables"), [(9, 3, 48), (10, 4, 90), (12, 6, 44)])
def test_nobody_follows_the_same_bot_too_often(bots: int, seats: int, tables: int) -> None:
    report = balance(plan(bots, seats, tables), [entrant.bot for entrant in field(bots)])
    assert report.follows.most - report.follows.mean <= 3
    assert report.follows.mean - report.follows.least <= 3


def test_the_plan_depends_on_the_entrants_and_not_on_their_order() -> None:
    there = plan(7, 4, 20)
    back = balanced_tables(field(7)[::-1], seats=4, tables=20, rules="rules")
    assert there == back
    other = [Entrant(entrant.bot, f"f{entrant.content_hash[1:]}") for entrant in field(7)]
    changed = balanced_tables(other, seats=4, tables=20, rules="rules")
    assert [e.bots for e in changed] != [e.bots for e in there]


def test_the_largest_plan_is_still_balanced() -> None:
    bots = 60
    planned = plan(bots, 3, 20_000)
    report = balance(planned, [entrant.bot for entrant in field(bots)])
    assert report.appearances == Spread(1_000, 1_000.0, 1_000)
    assert report.meetings.most - report.meetings.least <= 4


@pytest.mark.parametrize(
    ("bots", "seats", "tables", "text"),
    [
        (4, 2, 5, "tables are for 3–6 seats: with 2 every pair meets anyway"),
        (4, 7, 5, "seats is 7: allowed are 2–6"),
        (2, 3, 5, "there are 2 bots: a table of 3 seats needs 3"),
        (4, 3, 0, "tables is 0: allowed is 1 or more"),
        (4, 4, 50_001, "50001 tables of 4 seats make 200004 matches: allowed are 200000; take"),
    ],
)
def test_impossible_tables_are_refused_by_name(
    bots: int, seats: int, tables: int, text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        plan(bots, seats, tables)
