"""Limits of means by Student's t, and limits of scores against a search of their own."""

import math
from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scale import repeatable
from tournament.statistics.intervals import (
    deviance,
    mean_interval,
    score_interval,
    student_limit,
    superiority,
)

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
scores = st.lists(st.sampled_from(QUARTERS), min_size=2, max_size=60)


@pytest.mark.parametrize(
    ("freedom", "limit"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (30, 2.042),
     (120, 1.980), (100_000, 1.960)],
)  # fmt: skip
def test_students_limits_are_those_of_the_tables(freedom: int, limit: float) -> None:
    assert student_limit(freedom) == pytest.approx(limit, abs=6e-4)


def test_a_mean_without_bounds_has_students_interval() -> None:
    interval = mean_interval([10, 12, 14, 18])
    assert interval.mean == 13.5
    assert interval.high is not None
    # s² = 35/3; 3.18245 · √(35/12)
    assert interval.high - 13.5 == pytest.approx(5.43502, abs=1e-4)
    assert interval.low == pytest.approx(27 - interval.high)


@pytest.mark.parametrize("values", [[], [7.0], [7.0, 7.0, 7.0]])
def test_what_does_not_scatter_has_no_interval(values: list[float]) -> None:
    interval = mean_interval(values)
    assert interval.mean == (7 if values else None)
    assert (interval.low, interval.high) == (None, None)


def searched_deviance(counts: dict[float, int], middle: float) -> float:
    """The same by search among five probabilities with this mean, without multipliers.

    Of any three scores the outer two can give to the inner one so that neither sum nor mean
    changes; all other probabilities are reached in this way.
    """
    numbers = [counts.get(score, 0) for score in QUARTERS]
    shares = [math.comb(4, k) * middle**k * (1 - middle) ** (4 - k) for k in range(5)]
    before = -math.inf
    while (found := _likelihood(numbers, shares)) - before > 1e-10:
        before = found
        for low, inner, high in combinations(range(5), 3):
            weights = {low: high - inner, inner: low - high, high: inner - low}
            least = max(-shares[index] / weights[index] for index in (low, high))
            most = -shares[inner] / weights[inner]
            step = _best_step(numbers, shares, weights, least, most)
            shares = _moved(shares, weights, step)
    total = sum(numbers)
    return 2 * (sum(n * math.log(n / total) for n in numbers if n) - found)


def _best_step(
    numbers: list[int], shares: list[float], weights: dict[int, int], low: float, high: float
) -> float:
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if _likelihood(numbers, _moved(shares, weights, left)) < _likelihood(
            numbers, _moved(shares, weights, right)
        ):
            low = left
        else:
            high = right
    return (low + high) / 2


def _moved(shares: list[float], weights: dict[int, int], step: float) -> list[float]:
    return [max(0.0, share + weights.get(k, 0) * step) for k, share in enumerate(shares)]


def _likelihood(numbers: list[int], shares: list[float]) -> float:
    return sum(n * math.log(max(p, 1e-300)) for n, p in zip(numbers, shares, strict=True) if n)


@pytest.mark.parametrize(
    "counts",
    [
        (1, 2, 4, 2, 1),
        (3, 1, 0, 0, 5),
        (0, 0, 7, 0, 0),
        (0, 0, 0, 0, 9),
        (0, 1, 0, 6, 0),
        (12, 0, 1, 0, 0),
    ],
)
@pytest.mark.parametrize("middle", [0.1, 0.45, 0.5, 0.9])
def test_the_deviance_is_that_of_the_best_distribution(
    counts: tuple[int, ...], middle: float
) -> None:
    by_score = dict(zip(QUARTERS, counts, strict=True))
    expected = searched_deviance(by_score, middle)
    assert deviance(by_score, middle) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@repeatable
@given(scores)
def test_limits_hold_the_mean_and_stay_between_0_and_1(found: list[float]) -> None:
    interval = score_interval(found)
    assert interval.mean is not None
    assert interval.low is not None
    assert interval.high is not None
    assert 0 <= interval.low <= interval.mean <= interval.high <= 1
    assert interval.low < interval.high
    assert interval.mean == pytest.approx(sum(found) / len(found))


@repeatable
@given(scores)
def test_limits_are_where_the_deviance_is_students(found: list[float]) -> None:
    interval = score_interval(found)
    counts = Counter(found)
    for limit in (interval.low, interval.high):
        assert limit is not None
        if 1e-9 < limit < 1 - 1e-9:
            allowed = student_limit(len(found) - 1) ** 2
            assert deviance(counts, limit) == pytest.approx(allowed, rel=1e-5)


@repeatable
@given(scores)
def test_the_other_bots_limits_are_the_mirrored_ones(found: list[float]) -> None:
    interval, mirrored = score_interval(found), score_interval([1 - score for score in found])
    assert interval.low is not None
    assert interval.high is not None
    assert mirrored.low == pytest.approx(1 - interval.high, abs=1e-9)
    assert mirrored.high == pytest.approx(1 - interval.low, abs=1e-9)


@repeatable
@given(scores)
def test_superiority_and_limits_say_the_same(found: list[float]) -> None:
    interval, likelihood = score_interval(found), superiority(found)
    assert likelihood is not None
    assert interval.low is not None
    mirrored = superiority([1 - score for score in found])
    assert mirrored == pytest.approx(1 - likelihood, abs=1e-9)
    if abs(interval.low - 0.5) > 1e-6:
        assert (likelihood > 0.975) == (interval.low > 0.5)


@repeatable
@given(scores, st.randoms(use_true_random=False))
def test_the_order_of_scores_does_not_matter(found: list[float], chance: Random) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)
    assert score_interval(shuffled) == score_interval(found)
    assert superiority(shuffled) == superiority(found)


def test_equal_results_are_no_certainty() -> None:
    few, many = score_interval([1.0] * 5), score_interval([1.0] * 500)
    assert few.low is not None
    assert many.low is not None
    assert few.high == many.high == 1
    # Ones alone: the best distribution of mean m has m of its weight at 1, and loses −2·n·ln m.
    assert few.low == pytest.approx(math.exp(-(student_limit(4) ** 2) / 10))
    assert many.low == pytest.approx(math.exp(-(student_limit(499) ** 2) / 1000))
    halves = score_interval([0.5] * 100)
    assert halves.low is not None
    assert halves.high is not None
    assert halves.low < 0.495
    assert halves.high > 0.505


def test_superiority_of_a_shut_out() -> None:
    # 2 · 10 · ln 2 is lost when ten wins of ten must come from even chances; t of 9 degrees.
    assert superiority([1.0] * 10) == pytest.approx(0.99763, abs=1e-5)
    assert superiority([0.0] * 10) == pytest.approx(0.00237, abs=1e-5)


def test_a_single_score_says_nothing_of_its_error() -> None:
    assert (score_interval([0.75]).mean, score_interval([0.75]).low) == (0.75, None)
    assert score_interval([]).mean is None
    assert superiority([1.0]) is None
    assert superiority([]) is None
    assert superiority([0.5, 0.5]) == 0.5


@pytest.mark.parametrize(
    ("weights", "number"),
    [
        ((1, 2, 4, 2, 1), 25),
        ((1, 0, 2, 0, 1), 10),
        ((0, 1, 8, 1, 0), 100),
        ((1, 1, 8, 10, 80), 100),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    weights: tuple[int, ...], number: int
) -> None:
    chance = Random(11)
    true = sum(a * b for a, b in zip(QUARTERS, weights, strict=True)) / sum(weights)
    runs, held = 1_500, 0
    for _ in range(runs):
        interval = score_interval(chance.choices(QUARTERS, weights, k=number))
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= true <= interval.high
    # Three standard deviations of 1,500 tries below 95 %; few scores of few kinds are wider.
    assert 0.933 <= held / runs <= 0.985
