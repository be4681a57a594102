"""Order-free TrueSkill: known numbers, a second implementation, any order, any results."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tournament.rating_oracle import expectation_propagation
from tournament.rating import order_free
from tournament.rating.environment import RatedMatch, Rating, make_environment
from tournament.rating.order_free import fit
from tournament.rating.results import connected, kind_of

TEN_PERCENT = make_environment(draw_probability=0.10)
NAMES = "abcdef"


def matches_of(results: Sequence[Mapping[str, int]]) -> list[RatedMatch]:
    return [RatedMatch(i, f"encounter-{i // 2}", places) for i, places in enumerate(results)]


def wins(*pairs: str) -> list[RatedMatch]:
    """Of "ab" a is the winner."""
    return matches_of([{pair[0]: 1, pair[1]: 2} for pair in pairs])


def numbers(ratings: Mapping[str, Rating]) -> list[tuple[float, float]]:
    return [(rating.mu, rating.sigma) for rating in ratings.values()]


@st.composite
def results(draw: st.DrawFn, most: int = 12, times: int = 1) -> list[dict[str, int]]:
    """Results of tables of two to six, ties among them, each up to `times` times."""
    found: list[dict[str, int]] = []
    for _ in range(draw(st.integers(0, most))):
        bots = draw(st.permutations(NAMES))[: draw(st.integers(2, 6))]
        places = {bot: draw(st.integers(1, len(bots))) for bot in bots}
        found += [places] * draw(st.sampled_from([1, 1, times]))
    return found


def test_known_numbers() -> None:
    def known(*pairs: str) -> list[tuple[float, float]]:
        return numbers(fit(wins(*pairs), environment=TEN_PERCENT).ratings)

    assert known("ab", "ba") == [pytest.approx((25, 5.3665), abs=5e-5)] * 2
    assert known("ab", "bc", "ca") == [pytest.approx((25, 5.3665), abs=5e-5)] * 3
    means = [mu for mu, _ in known("ab", "bc", "da")]
    assert means == pytest.approx([26.5734, 23.4266, 18.3344, 31.6656], abs=5e-5)


def test_a_hundred_to_nothing() -> None:
    winner, loser = numbers(fit(wins(*["ab"] * 100)).ratings)
    assert winner[0] == pytest.approx(35.7255, abs=5e-5)
    assert loser[0] == pytest.approx(50 - 35.7255, abs=5e-5)
    assert winner[1] == pytest.approx(loser[1], abs=1e-9)


@given(results(most=1))
def test_one_result_is_the_packages_own_update(found: list[dict[str, int]]) -> None:
    environment = make_environment()
    for match in matches_of(found):
        listed = kind_of(match.places)
        groups = [(environment.create_rating(),)] * len(listed.bots)
        rated = environment.rate(groups, ranks=listed.ranks, min_delta=1e-9)
        ratings = fit([match]).ratings
        for bot, (expected,) in zip(listed.bots, rated, strict=True):
            assert ratings[bot].mu == pytest.approx(expected.mu, abs=1e-5)
            assert ratings[bot].sigma == pytest.approx(expected.sigma, abs=1e-5)


ORACLE_CASES: list[list[dict[str, int]]] = [
    [{"a": 1, "b": 2}] * 6,
    [{"a": 1, "b": 2}, {"b": 1, "a": 2}, {"a": 1, "b": 1}],
    [{"a": 1, "b": 2}, {"b": 1, "c": 2}, {"d": 1, "a": 2}, {"e": 1, "f": 2}],
    [{"a": 1, "b": 2, "c": 3}, {"c": 1, "b": 2, "a": 3}, {"a": 1, "b": 2, "c": 2}],
    [{"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 1, "b": 1, "c": 1, "d": 4}, {"d": 1, "a": 2}],
    [{"a": 1, "b": 2, "c": 2, "d": 4, "e": 5, "f": 6}, {"f": 1, "a": 2}],
]


@pytest.mark.parametrize(
    ("case", "draws"), [*((case, 0.01) for case in ORACLE_CASES), (ORACLE_CASES[1], 0.10)]
)
def test_a_second_implementation_agrees(case: list[dict[str, int]], draws: float) -> None:
    environment = make_environment(draw_probability=draws)
    ratings = fit(matches_of(case), environment=environment).ratings
    for bot, (mu, sigma) in expectation_propagation(case, draws).items():
        assert ratings[bot].mu == pytest.approx(mu, abs=1e-6)
        assert ratings[bot].sigma == pytest.approx(sigma, abs=1e-6)


@pytest.mark.parametrize(("won", "lost"), [(1, 0), (3, 1), (10, 10), (30, 3)])
def test_two_bots_are_where_the_exact_posterior_is(won: int, lost: int) -> None:
    """TrueSkill takes the bots' skills for independent: that is a little off, and no more."""
    environment = make_environment()
    margin = environment.beta * math.sqrt(2) * environment.ppf(0.505)
    noise, spread = environment.beta * math.sqrt(2), environment.sigma * math.sqrt(2)
    total = first = second = 0.0
    for step in range(-6000, 6001):
        gap = step / 100
        chance = environment.cdf((gap - margin) / noise) ** won
        chance *= environment.cdf((-gap - margin) / noise) ** lost
        weight = chance * environment.pdf(gap / spread)
        total, first, second = total + weight, first + weight * gap, second + weight * gap**2
    mean = first / total
    deviation = math.sqrt(second / total - mean**2)
    ratings = fit(wins(*["ab"] * won, *["ba"] * lost)).ratings
    assert ratings["a"].mu - ratings["b"].mu == pytest.approx(mean, abs=0.15 * deviation)


@given(results(most=8, times=50), st.randoms())
@settings(max_examples=15)
def test_any_order_gives_the_same_bits(
    found: list[dict[str, int]], shuffler: random.Random
) -> None:
    shuffled = [dict(shuffler.sample(list(places.items()), len(places))) for places in found]
    shuffler.shuffle(shuffled)
    bots = shuffler.sample(NAMES, 6)
    # Places with gaps are the same places.
    wide = [{bot: 3 * place for bot, place in places.items()} for places in shuffled]
    assert fit(matches_of(wide), bots).ratings == fit(matches_of(found), NAMES).ratings


@given(results(most=6, times=10_000))
@settings(max_examples=25)
def test_any_results_can_be_rated(found: list[dict[str, int]]) -> None:
    rated = fit(matches_of(found), NAMES)
    assert list(rated.ratings) == list(NAMES)
    assert rated.sweeps < order_free.MOST_SWEEPS
    for rating in rated.ratings.values():
        assert math.isfinite(rating.mu)
        assert 0 < rating.sigma <= 25 / 3 + 1e-9
    group_of = connected(NAMES, rated.counts)
    for group in set(group_of.values()):
        means = [rated.ratings[bot].mu for bot in NAMES if group_of[bot] == group]
        assert sum(means) / len(means) == pytest.approx(25, abs=1e-6)


@given(results(most=6, times=20), results(most=3))
@settings(max_examples=12)
def test_a_warm_start_ends_at_the_same_place(
    before: list[dict[str, int]], after: list[dict[str, int]]
) -> None:
    warm = fit(matches_of([*before, *after]), start=fit(matches_of(before)))
    cold = fit(matches_of([*before, *after]))
    for one, two in zip(numbers(warm.ratings), numbers(cold.ratings), strict=True):
        assert one == pytest.approx(two, abs=1e-7)
    assert fit(matches_of([*before, *after]), start=cold).sweeps <= 2


def test_ten_thousand_to_nothing_and_one_upset() -> None:
    chain = [NAMES[i : i + 2] for i in range(5)]
    sure = fit(wins(*chain * 2000)).ratings
    upset = fit(wins(*chain * 2000, "fa")).ratings
    for ratings in (sure, upset):
        means = [ratings[bot].mu for bot in NAMES]
        assert means == sorted(means, reverse=True)
    assert upset["f"].mu > sure["f"].mu


def test_forty_standard_deviations_are_not_too_far() -> None:
    """Twenty steps that nobody ever fell: the last beats the first once, or draws."""
    names = [f"bot-{i:02}" for i in range(21)]
    steps = [{a: 1, b: 2} for a, b in pairwise(names)] * 1000
    plain = fit(matches_of(steps)).ratings
    assert plain[names[0]].mu - plain[names[-1]].mu > 40 * 25 / 6
    for last in ({names[-1]: 1, names[0]: 2}, {names[-1]: 1, names[0]: 1}):
        ratings = fit(matches_of([*steps, last])).ratings
        assert ratings[names[-1]].mu > plain[names[-1]].mu
        assert ratings[names[0]].mu < plain[names[0]].mu


def test_nothing_nobody_and_one_alone() -> None:
    assert fit([]).ratings == {}
    assert fit([], ["b", "a"]).ratings == {"a": Rating(), "b": Rating()}
    assert fit(matches_of([{"a": 1}])).ratings == {"a": Rating()}


def test_draws_alone_leave_all_even() -> None:
    for rating in fit(matches_of([{"a": 1, "b": 1, "c": 1}] * 50)).ratings.values():
        assert rating.mu == pytest.approx(25, abs=1e-9)
        assert rating.sigma < 6
    assert fit(matches_of([{"a": 1, "b": 1}] * 1000)).ratings["a"].sigma < 0.2


def test_groups_that_never_met_do_not_touch_each_other() -> None:
    left, right = wins("ab", "ab", "ba"), wins("cd")
    together = fit([*left, *right]).ratings
    apart = {**fit(left).ratings, **fit(right).ratings}
    for one, two in zip(numbers(together), numbers(apart), strict=True):
        assert one == pytest.approx(two, abs=1e-8)


@given(results(most=4, times=30))
@settings(max_examples=10)
def test_names_do_not_matter(found: list[dict[str, int]]) -> None:
    """Nearly: the package looks ten times at a table, from the first bot on, and then stops."""
    turned = dict(zip(NAMES, reversed(NAMES), strict=True))
    ratings = fit(matches_of(found), NAMES).ratings
    renamed = fit(
        matches_of([{turned[bot]: place for bot, place in places.items()} for places in found]),
        NAMES,
    ).ratings
    for bot in NAMES:
        assert renamed[turned[bot]].mu == pytest.approx(ratings[bot].mu, abs=1e-2)
        assert renamed[turned[bot]].sigma == pytest.approx(ratings[bot].sigma, abs=1e-2)
