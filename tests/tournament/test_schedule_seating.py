"""Who sits after whom is even: over a whole plan, and in every set of bots that meets again."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.schedule.balance import balance
from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.plan import first_plan

Pair = tuple[str, str]


def names(bots: int) -> list[str]:
    return [f"bot-{number}" for number in range(bots)]


def plan(
    bots: int,
    seats: int,
    *,
    encounters: int = 1,
    tables: int | None = None,
    challengers: int = 0,
) -> list[Encounter]:
    return first_plan(
        [Entrant(name, f"{number:064x}") for number, name in enumerate(names(bots))],
        format="gauntlet" if challengers else "round_robin",
        seats=seats,
        encounters=encounters,
        rules="rules",
        challengers=names(bots)[:challengers],
        tables=tables,
    )


@st.composite
def plans(draw: st.DrawFn) -> list[Encounter]:
    """Draw a plan of any format for three to six seats."""
    seats = draw(st.integers(3, 6))
    bots = draw(st.integers(seats, 8))
    kind = draw(st.sampled_from(["encounters", "gauntlet", "tables"]))
    if kind == "tables":
        return plan(bots, seats, tables=draw(st.integers(1, 120)))
    challengers = draw(st.integers(1, bots)) if kind == "gauntlet" else 0
    return plan(bots, seats, encounters=draw(st.integers(1, 5)), challengers=challengers)


def circle(order: Sequence[str]) -> Iterator[Pair]:
    """Yield each bot with the one that sits right after it."""
    return zip(order, (*order[1:], order[0]), strict=True)


def leads(planned: Sequence[Encounter]) -> dict[Pair, float]:
    """Return by how much each pair that meets follows more often than one in seats - 1 times."""
    followed = Counter(pair for encounter in planned for pair in circle(encounter.bots))
    met = Counter(pair for encounter in planned for pair in permutations(encounter.bots, 2))
    others = len(planned[0].bots) - 1
    return {pair: followed[pair] - times / others for pair, times in met.items()}


def by_set(planned: Sequence[Encounter]) -> dict[frozenset[str], list[Encounter]]:
    found: dict[frozenset[str], list[Encounter]] = {}
    for encounter in planned:
        found.setdefault(frozenset(encounter.bots), []).append(encounter)
    return found


def spread(values: Sequence[float]) -> float:
    return max(abs(value) for value in values)


@given(plans())
def test_nobody_sits_after_the_same_bot_too_often(planned: list[Encounter]) -> None:
    assert spread([*leads(planned).values()]) <= 3
    for encounters in by_set(planned).values():
        assert spread([*leads(encounters).values()]) <= 3


@given(plans())
def test_each_encounter_takes_a_circle_with_the_least_lead(planned: list[Encounter]) -> None:
    others = len(planned[0].bots) - 1
    lead: Counter[Pair] = Counter()
    own: Counter[tuple[frozenset[str], Pair]] = Counter()
    for encounter in planned:
        table = frozenset(encounter.bots)

        def cost(order: Sequence[str], table: frozenset[str] = table) -> int:
            return sum(lead[pair] + own[table, pair] * others for pair in circle(order))

        assert cost(encounter.bots) == min(map(cost, permutations(encounter.bots)))
        lead.subtract(permutations(encounter.bots, 2))
        for pair in circle(encounter.bots):
            lead[pair] += others
            own[table, pair] += 1


@given(seats=st.integers(3, 6), encounters=st.integers(1, 150), by_tables=st.booleans())
def test_bots_that_always_meet_follow_each_other_equally_often(
    seats: int, encounters: int, by_tables: bool
) -> None:
    if by_tables:
        planned = plan(seats, seats, tables=encounters)
    else:
        planned = plan(seats, seats, encounters=encounters)
    assert len(planned) == encounters
    assert spread([*leads(planned).values()]) <= 1


@pytest.mark.parametrize(
    ("bots", "seats", "keys", "least", "most"),
    [
        (4, 4, {"encounters": 30}, 10, 10),
        (4, 4, {"tables": 30}, 10, 10),
        (6, 6, {"tables": 20}, 3, 5),
        (6, 6, {"encounters": 20}, 3, 5),
        (6, 4, {"encounters": 6}, 12, 12),
        (6, 3, {"encounters": 1}, 2, 2),
        (40, 3, {"encounters": 1}, 19, 19),
        (40, 3, {"tables": 9_880}, 19, 19),
        (20, 4, {"encounters": 1}, 50, 52),
        (12, 5, {"encounters": 1}, 29, 31),
    ],
)
def test_how_even_well_known_plans_are(
    bots: int, seats: int, keys: dict[str, int], least: int, most: int
) -> None:
    follows = balance(plan(bots, seats, **keys), names(bots)).follows
    assert least <= follows.least <= follows.most <= most


def test_a_set_that_meets_again_does_not_keep_its_circle() -> None:
    # Other sets could make up for it over the whole plan, and must not be left to.
    for encounters in by_set(plan(7, 6, encounters=20)).values():
        assert spread([*leads(encounters).values()]) <= 3
    first, second, third = plan(3, 3, encounters=3)
    assert {*circle(first.bots)}.isdisjoint(circle(second.bots))
    assert {*circle(first.bots)} == {*circle(third.bots)}


def test_in_a_gauntlet_everybody_sits_before_and_after_the_challenger() -> None:
    planned = plan(12, 4, encounters=2, challengers=1)
    lead = leads(planned)
    assert spread([lead[pair] for pair in lead if "bot-0" in pair]) <= 2


@given(bots=st.integers(2, 8), encounters=st.integers(1, 5), challengers=st.integers(0, 8))
def test_with_two_seats_every_second_encounter_begins_with_the_other_one(
    bots: int, encounters: int, challengers: int
) -> None:
    planned = plan(bots, 2, encounters=encounters, challengers=min(bots, challengers))
    for repeated in by_set(planned).values():
        assert [encounter.number for encounter in repeated] == list(range(encounters))
        for before, after in pairwise(repeated):
            assert after.bots == before.bots[::-1]


def test_two_seat_plans_are_what_they_always_were() -> None:
    planned = plan(3, 2, encounters=2)
    assert [encounter.bots for encounter in planned] == [
        ("bot-1", "bot-2"), ("bot-0", "bot-2"), ("bot-0", "bot-1"),
        ("bot-2", "bot-1"), ("bot-2", "bot-0"), ("bot-1", "bot-0"),
    ]  # fmt: skip
    legs = [leg.fixture_id for encounter in planned for leg in encounter.legs]
    assert (legs[0], legs[-1]) == ("87fe567b2fceea2a", "e65948925e353139")
