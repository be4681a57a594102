"""Figures of a tournament: by hand where they are counts, by simulation where they estimate."""

from collections.abc import Callable
from random import Random
from statistics import mean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.match.outcome import Forfeit, Termination
from tests.scale import repeatable
from tests.tournament.statistics_cases import bots_of, leg, pair, seat, whole_encounters
from tournament.statistics.standings import LegResult
from tournament.statistics.summary import (
    Forfeits,
    Mirroring,
    Points,
    Terminations,
    TimeUse,
    forfeits,
    mirroring,
    points,
    seat_advantage,
    terminations,
    time_use,
)


def test_nothing_played_has_no_figures() -> None:
    assert seat_advantage([]) == []
    assert mirroring([]) == Mirroring(0, None, None, None)
    assert time_use(["a"], []) == [TimeUse("a", 0, 0, None, None, 0, 0, None, None, None, None)]
    assert forfeits([]) == []
    assert terminations([]) == []
    assert points(["a"], []) == [Points("a", 0, None, None, None, None, None)]
    assert points([], []) == []
    assert time_use([], []) == []


def test_seats_and_dealers_are_counted_apart() -> None:
    # The first dealer wins always: seat 0 in one encounter, seat 1 in the other.
    legs = [
        leg("e", 0, seat("a", 1, total=80), seat("b", 2, total=0)),
        leg("e", 1, seat("b", 1, total=60), seat("a", 2, total=0)),
        leg("f", 2, seat("a", 2, total=0), seat("b", 1, total=40), first_dealer=1),
        leg("f", 3, seat("b", 2, total=0), seat("a", 1, total=20), first_dealer=1),
    ]
    rows = {(row.by, row.index): row for row in seat_advantage(legs)}
    assert list(rows) == [("seat", 0), ("seat", 1), ("dealer_distance", 0), ("dealer_distance", 1)]
    assert [row.score for row in rows.values()] == [0.5, 0.5, 1, 0]
    assert [row.points for row in rows.values()] == [35, 15, 50, 0]
    assert {row.matches for row in rows.values()} == {4}
    assert rows["dealer_distance", 0].high == 1


@repeatable
@given(whole_encounters(), st.randoms(use_true_random=False))
def test_seats_share_the_score_and_no_order_matters(legs: list[LegResult], chance: Random) -> None:
    rows = seat_advantage(legs)
    seats = len(legs[0].seats) if legs else 0
    for by in ("seat", "dealer_distance"):
        own = [row for row in rows if row.by == by]
        assert [row.index for row in own] == list(range(seats))
        assert sum(row.score or 0 for row in own) == pytest.approx(seats / 2)
        assert {row.matches for row in own} <= {len(legs)}
    shuffled = list(legs)
    chance.shuffle(shuffled)
    bots = bots_of(legs)
    assert seat_advantage(shuffled) == rows
    assert mirroring(shuffled) == mirroring(legs)
    assert time_use(bots, shuffled) == time_use(bots, legs)
    assert points(bots, shuffled) == points(bots, legs)
    assert forfeits(shuffled) == forfeits(legs)
    assert terminations(shuffled) == terminations(legs)


def ratio_by_hand(results: list[tuple[float, float]]) -> float:
    """Independent legs would have half the mean of their variances; so much do means have."""
    apart = (variance(one for one, _ in results) + variance(two for _, two in results)) / 4
    return apart / variance((one + two) / 2 for one, two in results)


WORTH = {"W": 1.0, "D": 0.5, "L": 0.0}


def test_mirroring_is_the_ratio_of_variances() -> None:
    results = ["WL", "WL", "LW", "WW", "DL", "WL", "LD"]
    legs = [each for number, result in enumerate(results)
            for each in pair(f"e{number}", 2 * number, result)]  # fmt: skip
    expected = ratio_by_hand([(WORTH[result[0]], WORTH[result[1]]) for result in results])
    found = mirroring(legs)
    assert found.encounters == 7
    assert found.factor == pytest.approx(expected)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < expected < found.high


@pytest.mark.parametrize(
    "results", [["WL"], ["WW", "WW", "WW"], ["WL", "LW"], ["WL", "WL"]], ids=" ".join
)
def test_where_nothing_varies_mirroring_says_nothing(results: list[str]) -> None:
    legs = [each for number, result in enumerate(results)
            for each in pair(f"e{number}", 2 * number, result)]  # fmt: skip
    assert mirroring(legs) == Mirroring(len(results), None, None, None)


def test_one_pair_that_met_twice_has_a_factor_without_limits() -> None:
    found = mirroring(pair("e", 0, "WL") + pair("f", 2, "WW"))
    assert found.factor == pytest.approx(1)  # one leg varies, and the mean by half of it
    assert (found.low, found.high) == (None, None)


def luck(shared: float, chance: Random) -> Callable[[], list[str]]:
    """Encounters whose deals favour one seat with this probability, else legs are independent."""

    def encounter() -> list[str]:
        if chance.random() < shared:
            return [chance.choice(["WL", "LW"])]
        return [chance.choice("WL") + chance.choice("WL")]

    return encounter


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.8])
def test_mirroring_finds_what_shared_deals_save(shared: float) -> None:
    chance = Random(3)
    encounter = luck(shared, chance)
    held = []
    for _ in range(300):
        legs: list[LegResult] = []
        for number in range(120):
            # Three pairs of bots, one of them uneven: what differs between pairs is no luck.
            bots = ("ab", "ac", "bc")[number % 3]
            result = "WW" if bots == "ac" and chance.random() < 0.6 else encounter()[0]
            legs += pair(f"e{number}", 2 * number, result, bots)
        found = mirroring(legs)
        assert found.low is not None
        assert found.high is not None
        held.append((found.low <= true_factor(shared) <= found.high, found.factor or 0))
    assert mean(inside for inside, _ in held) > 0.90
    assert mean(factor for _, factor in held) == pytest.approx(true_factor(shared), rel=0.1)


def test_many_pairs_that_met_only_twice_tell_as_much_as_they_can() -> None:
    chance = Random(5)
    encounter = luck(0.5, chance)
    held = 0
    for _ in range(300):
        legs: list[LegResult] = []
        for number in range(80):
            legs += pair(f"e{number}", 2 * number, encounter()[0], "a" + chr(98 + number // 2))
        found = mirroring(legs)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 2 <= found.high
    assert 0.90 <= held / 300 <= 0.985


def true_factor(shared: float) -> float:
    """From the variances of the two even pairs and the uneven one, legs ±½ about their means."""
    even = (0.25, -0.25 * shared)
    # With 0.6 both won: legs won with 0.8, together with 0.6 + 0.4 · (1 − shared) / 4.
    uneven = (0.8 * 0.2, 0.6 + 0.1 * (1 - shared) - 0.64)
    apart = 2 * (2 * even[0] + uneven[0])
    return apart / (apart + 2 * (2 * even[1] + uneven[1]))


def test_time_is_summed_by_bot() -> None:
    legs = [
        leg("e", 0, seat("b", 1, decisions=4, charged_us=2_000_000, longest_us=1_500_000),
            seat("a", 2, decisions=0, charged_us=0, longest_us=0)),
        leg("e", 1, seat("a", 1, decisions=0, charged_us=0, longest_us=0),
            seat("b", 2, decisions=6, charged_us=3_000_000, longest_us=9_000, forgiven_us=40_000)),
    ]  # fmt: skip
    idle, busy = time_use("ab", legs, per_decision_us=1_000_000, match_cap_us=300_000_000)
    assert idle == TimeUse("a", 2, 0, None, None, 0, 0, 0, 0, None, 0)
    assert busy == TimeUse("b", 2, 10, 500, 1500, 5, 0.04, 2.5, 3, 1.5, 0.01)
    assert (time_use("b", legs[:0])[0].worst_share, time_use("ab", legs)[1].cap_share) == (
        None, None,
    )  # fmt: skip


def test_forfeits_and_terminations_by_kind() -> None:
    legs = [
        leg("e", 0, seat("a", 1), seat("b", 2, Forfeit.TIME), termination=Termination.FORFEIT),
        leg("e", 1, seat("b", 2, Forfeit.CRASH), seat("a", 1), termination=Termination.FORFEIT),
        leg("f", 2, seat("b", 2, Forfeit.TIME), seat("a", 1), termination=Termination.FORFEIT),
        leg("f", 3, seat("a", 1), seat("b", 2)),
        leg("g", 4, seat("a", 0), seat("b", 0), has_result=False,
            termination=Termination.NOT_STARTED),
    ]  # fmt: skip
    assert forfeits(legs[:4]) == [Forfeits("b", "crash", 1, 0.25), Forfeits("b", "time", 2, 0.5)]
    assert terminations(legs) == [
        Terminations("completed", 1, 0.2),
        Terminations("forfeit", 3, 0.6),
        Terminations("not_started", 1, 0.2),
    ]


def test_points_have_an_interval_by_encounters() -> None:
    legs = [
        leg(name, 2 * number + turn, seat("a", 1, total=total), seat("b", 2, total=0))
        for number, (name, totals) in enumerate({"e": (10, 20), "f": (30, 30), "g": (0, 0)}.items())
        for turn, total in enumerate(totals)
    ]
    best, none = points("ab", legs)
    # Means 15, 30, 0: deviation 15, t of two degrees 4.30265.
    assert (best.matches, best.mean, best.least, best.most) == (6, 15, 0, 30)
    assert best.low == pytest.approx(15 - 4.30265 * 15 / 3**0.5, abs=1e-4)
    assert best.high == pytest.approx(15 + 4.30265 * 15 / 3**0.5, abs=1e-4)
    assert none == Points("b", 6, 0, None, None, 0, 0)
