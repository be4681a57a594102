"""Every format through one door: who meets whom, how much it is, and what can't be planned."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.plan import PlanSize, first_plan, plan_size
from tournament.schedule.round_robin import round_robin


def field(bots: int) -> list[Entrant]:
    return [Entrant(f"bot-{number}", f"{number:064x}") for number in range(bots)]


def plan(
    bots: int,
    format_: str,
    *,
    seats: int = 2,
    encounters: int = 1,
    challengers: tuple[str, ...] = (),
    tables: int | None = None,
    rounds: int | None = None,
) -> list[Encounter]:
    return first_plan(
        field(bots),
        format=format_,
        seats=seats,
        encounters=encounters,
        rules="rules",
        challengers=challengers,
        tables=tables,
        rounds=rounds,
    )


@given(
    bots=st.integers(2, 8),
    seats=st.integers(2, 6),
    encounters=st.integers(1, 3),
    challengers=st.integers(1, 8),
)
def test_in_a_gauntlet_every_set_with_a_challenger_meets_equally_often(
    bots: int, seats: int, encounters: int, challengers: int
) -> None:
    if bots < seats or challengers > bots:
        return
    names = [entrant.bot for entrant in field(bots)]
    some = tuple(names[::-1][:challengers])
    planned = plan(bots, "gauntlet", seats=seats, encounters=encounters, challengers=some)
    met = Counter(frozenset(encounter.bots) for encounter in planned)
    assert met == {
        frozenset(table): encounters for table in combinations(names, seats) if {*table} & {*some}
    }
    assert {encounter.round for encounter in planned} == {0}
    legs = [leg for encounter in planned for leg in encounter.legs]
    assert [leg.position for leg in legs] == list(range(len(legs)))
    whole = round_robin(field(bots), seats=seats, encounters=encounters, rules="rules")
    ids = {encounter.encounter_id for encounter in whole}  # and so the deals
    assert {encounter.encounter_id for encounter in planned} <= ids
    size = plan_size(
        bots, format="gauntlet", seats=seats, encounters=encounters, challengers=challengers
    )
    assert size == PlanSize(1, len(planned), len(legs))


@given(bots=st.integers(2, 8), seats=st.integers(2, 6), encounters=st.integers(1, 3))
def test_a_round_robin_is_a_round_robin(bots: int, seats: int, encounters: int) -> None:
    if bots < seats:
        return
    whole = round_robin(field(bots), seats=seats, encounters=encounters, rules="rules")
    assert plan(bots, "round_robin", seats=seats, encounters=encounters) == whole
    size = plan_size(bots, format="round_robin", seats=seats, encounters=encounters)
    assert size == PlanSize(1, len(whole), len(whole) * seats)


def test_single_and_test_are_encounters_of_one_set() -> None:
    single = plan(3, "single", seats=3)
    assert [len(encounter.legs) for encounter in single] == [3]
    test = plan(2, "test", encounters=40)
    assert [encounter.number for encounter in test] == list(range(40))
    assert {frozenset(encounter.bots) for encounter in test} == {frozenset(("bot-0", "bot-1"))}


def test_sizes_of_all_rounds_and_of_tables() -> None:
    swiss = plan_size(9, format="swiss", seats=2, encounters=2, rounds=4)
    assert swiss == PlanSize(4, 4 * 4 * 2, 4 * 4 * 2 * 2)
    assert len(plan(9, "swiss", encounters=2, rounds=4)) == 4 * 2  # the first round
    tables = plan_size(9, format="round_robin", seats=4, encounters=1, tables=7)
    assert tables == PlanSize(1, 7, 28)
    assert len(plan(9, "round_robin", seats=4, tables=7)) == 7


@pytest.mark.parametrize(
    ("bots", "format_", "keys", "text"),
    [
        (4, "gauntlet", {}, "challengers is empty: a gauntlet needs one or more"),
        (
            2,
            "gauntlet",
            {"challengers": ("ghost",)},
            "challengers has 'ghost', which takes no part: allowed are bot-0, bot-1",
        ),
        (
            200,
            "gauntlet",
            {"challengers": ("bot-7",), "encounters": 503},
            "200 bots with 1 challenger at 2 seats in 503 encounters of each set make 200194 match",
        ),
        (4, "swiss", {"rounds": 4}, "rounds is 4: allowed are 1–3 with 4 bots; after that all ha"),
        (5, "swiss", {"rounds": 6}, "rounds is 6: allowed are 1–5 with 5 bots"),
        (5, "swiss", {"rounds": 0}, "rounds is 0: allowed are 1–5"),
        (2, "swiss", {"rounds": 2}, "rounds is 2: allowed is 1 with 2 bots; after that all have"),
        (
            600,
            "round_robin",
            {},
            "600 bots at 2 seats in 1 encounter of each set make 359400 matches: allowed are 2",
        ),
        (5, "swiss", {}, "rounds is missing: a swiss tournament needs it"),
        (5, "swiss", {"rounds": 2, "seats": 3}, "seats is 3: a swiss tournament is for 2"),
        (5, "swiss", {"rounds": 2, "encounters": 0}, "encounters is 0: allowed is 1 or more"),
        (1, "swiss", {"rounds": 1}, "there is 1 bot: a table of 2 seats needs 2"),
        (
            200,
            "swiss",
            {"rounds": 199, "encounters": 6},
            "200 bots in 199 rounds of 6 encounters make 238800 matches: allowed are 200000; take",
        ),
        (3, "test", {}, "there are 3 bots: a test compares 2"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(
    bots: int, format_: str, keys: dict[str, object], text: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its text is what is tested
        plan(bots, format_, **keys)  # type: ignore[arg-type]
    assert str(caught.value).startswith(text)
