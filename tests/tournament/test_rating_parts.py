"""The parts of a fit alone: tails, linear algebra, Student's t, what one result says."""

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournament.rating_oracle import table, truncated
from tournament.rating import student, truncation
from tournament.rating.environment import make_environment
from tournament.rating.extrapolation import Extrapolation
from tournament.rating.linear import cholesky, dot, inverse, solve
from tournament.rating.results import Kind, connected, count_kinds, kind_of
from tournament.rating.site import update

ENVIRONMENT = make_environment()


@pytest.mark.parametrize("x", [-5.0, -20.0, -29.9, -30.1, -37.0, -50.0, -300.0])
def test_the_tail_of_a_win_is_what_integration_says(x: float) -> None:
    mean, variance = truncated(x, 1.0, 0.0, math.inf)
    v, w = ENVIRONMENT.v_win(x, 0.0), ENVIRONMENT.w_win(x, 0.0)
    assert x + v == pytest.approx(mean, rel=1e-4)
    assert 1 - w == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize("distance", [0.0, 2.0, 20.0, 30.5, -30.5, 50.0, -300.0])
@pytest.mark.parametrize("margin", [0.0125, 0.5])
def test_the_tail_of_a_draw_is_what_integration_says(distance: float, margin: float) -> None:
    mean, variance = truncated(distance, 1.0, -margin, margin)
    v, w = ENVIRONMENT.v_draw(distance, margin), ENVIRONMENT.w_draw(distance, margin)
    assert distance + v == pytest.approx(mean, abs=1e-4 * margin + 1e-9 * abs(distance))
    assert 1 - w == pytest.approx(variance, rel=1e-2)


def test_a_sure_win_teaches_nothing_and_an_impossible_draw_is_a_point() -> None:
    assert ENVIRONMENT.w_win(60.0, 0.1) == 0
    assert truncation.between(40.0, 0.0) == (-40.0, truncation.ALMOST_ALL)


def test_tails_go_on_where_the_package_gives_up() -> None:
    at = truncation.FAR
    below, beyond = ENVIRONMENT.w_win(-at + 1e-6, 0.0), ENVIRONMENT.w_win(-at - 1e-6, 0.0)
    assert below == pytest.approx(beyond, abs=1e-9)
    assert truncation.tail_ratio(at - 1e-9) == pytest.approx(truncation.tail_ratio(at), rel=1e-9)


@given(st.integers(1, 8), st.randoms())
def test_linear_algebra(size: int, chance: random.Random) -> None:
    root = [[chance.uniform(-1, 1) for _ in range(size)] for _ in range(size)]
    matrix = [[dot(a, b) + (a is b) for b in root] for a in root]
    lower = cholesky(matrix)
    right = [chance.uniform(-5, 5) for _ in range(size)]
    solution = solve(lower, right)
    assert [dot(row, solution) for row in matrix] == pytest.approx(right, abs=1e-9)
    inverted = inverse(lower)
    for i, row in enumerate(matrix):
        products = [dot(row, column) for column in inverted]
        assert products == pytest.approx([float(i == j) for j in range(size)], abs=1e-9)


@pytest.mark.parametrize(
    ("probability", "freedom", "expected"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 3, 3.1824),
        (0.95, 10, 1.8125),
        (0.975, 30, 2.0423),
        (0.995, 120, 2.6174),
        (0.975, 1e7, 1.95996),
        (0.5, 4, 0.0),
    ],
)
def test_students_table(probability: float, freedom: float, expected: float) -> None:
    assert student.quantile(probability, freedom) == pytest.approx(expected, abs=5e-5)


@given(st.floats(-50, 50), st.floats(0.5, 2e6))
def test_student_is_symmetric_and_a_probability(t: float, freedom: float) -> None:
    assert 0 <= student.cdf(t, freedom) <= 1
    assert student.cdf(t, freedom) + student.cdf(-t, freedom) == pytest.approx(1, abs=1e-12)


def test_student_with_one_and_two_degrees_has_closed_forms() -> None:
    for t in (-7.0, -0.3, 0.0, 0.2, 1.0, 9.0):
        assert student.cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-12)
        expected = 0.5 + t / (2 * math.sqrt(2 + t * t))
        assert student.cdf(t, 2) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("probability", [0.4, 1.0, math.nan])
def test_a_quantile_needs_a_probability(probability: float) -> None:
    with pytest.raises(ValueError, match=r"from 0.5 up to 1"):
        student.quantile(probability, 3)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[float], list[float], list[int]]:
    size = draw(st.integers(2, 6))
    means = draw(st.lists(st.floats(10, 40), min_size=size, max_size=size))
    variances = draw(st.lists(st.floats(0.05, 70), min_size=size, max_size=size))
    steps = draw(st.lists(st.sampled_from([0, 1, 1]), min_size=size - 1, max_size=size - 1))
    return means, variances, [sum(steps[:i]) for i in range(size)]


@given(tables())
def test_a_site_holds_what_the_packages_rate_finds(
    drawn: tuple[list[float], list[float], list[int]],
) -> None:
    """Prior and site together, as one normal distribution, are the rated bots."""
    means, variances, ranks = drawn
    site = update(ENVIRONMENT, means, variances, ranks)
    size = range(len(means))
    matrix = [[site.stiffness[i][j] + (i == j) / variances[i] for j in size] for i in size]
    lower = cholesky(matrix)
    rated_means = solve(lower, [site.pulls[i] + means[i] / variances[i] for i in size])
    covariance = inverse(lower)
    groups = [(ENVIRONMENT.create_rating(means[i], math.sqrt(variances[i])),) for i in size]
    for i, (rated,) in enumerate(ENVIRONMENT.rate(groups, ranks=ranks, min_delta=1e-6)):
        assert rated_means[i] == pytest.approx(rated.mu, abs=1e-4)
        assert math.sqrt(covariance[i][i]) == pytest.approx(rated.sigma, abs=1e-4)
        added = 1 / covariance[i][i] - 1 / variances[i]
        assert site.precisions[i] == pytest.approx(added, abs=1e-4)
        # Only differences are known: whatever moves all bots together changes nothing.
        assert sum(site.stiffness[i]) == pytest.approx(0, abs=1e-9)
    assert sum(site.pulls) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("ranks", [[0, 1], [0, 0], [0, 1, 1], [0, 1, 2, 3]])
def test_a_site_is_what_integration_finds(ranks: list[int]) -> None:
    size = range(len(ranks))
    means, variances = [20 + 3.0 * i for i in size], [4.0 + i for i in size]
    site = update(ENVIRONMENT, means, variances, ranks)
    margin = ENVIRONMENT.beta * math.sqrt(2) * ENVIRONMENT.ppf(0.505)
    ties = [a == b for a, b in pairwise(ranks)]
    _, expected = table(means, variances, ties, margin)
    for i in size:
        assert 1 / (1 / variances[i] + site.precisions[i]) == pytest.approx(expected[i], abs=1e-5)


def test_kinds_and_groups() -> None:
    assert kind_of({"z": 4, "b": 2, "a": 4}) == Kind(("b", "a", "z"), (0, 1, 1))
    assert count_kinds([]) == {}
    kinds = [Kind(("c", "b"), (0, 1)), Kind(("e", "d"), (0, 1)), Kind(("b", "f"), (0, 1))]
    assert connected("abcdef", kinds) == dict(zip("abcdef", "abbddb", strict=True))


def test_extrapolation_ends_a_line_that_swings() -> None:
    """Of three distances plain steps make one grow, one creep and one shrink."""
    factors, goal = [-1.5, 0.9, -0.2], [7.0, -2.0, 3.0]
    extrapolation, x = Extrapolation(), [0.0, 0.0, 0.0]
    for _ in range(8):
        after = [g + f * (a - g) for g, f, a in zip(goal, factors, x, strict=True)]
        x = extrapolation.step(after, [b - a for a, b in zip(x, after, strict=True)])
    assert x == pytest.approx(goal, abs=1e-6)
