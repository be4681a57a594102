"""Simulated tournaments of known skills: ratings find them, and 95 % bars hold 93–97 % of them.

Seeds are fixed, so the figures are too. The chance that a right 95 % interval is outside the
bounds is told at each of them; docs/rating.md has longer runs.
"""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from tests.tournament.rating_simulation import play, tables
from tournament.rating.error_bars import error_bars
from tournament.rating.order_free import fit


def held(
    skills: Sequence[float], plan: Sequence[Sequence[int]], luck: float, runs: int
) -> tuple[float, float]:
    """Part of the true differences to the next bot, and of true skills, inside of their bars."""
    gaps: list[bool] = []
    levels: list[bool] = []
    middle = sum(skills) / len(skills)
    for seed in range(runs):
        matches = play(random.Random(seed), skills, plan, luck)
        fitted = fit(matches)
        bars = error_bars(fitted, matches)
        for first, second in pairwise(range(len(skills))):
            found = bars.difference(f"bot-{first}", f"bot-{second}")
            assert found is not None
            gaps.append(found.low <= skills[first] - skills[second] <= found.high)
        for bot, skill in enumerate(skills):
            half = bars.half_width(f"bot-{bot}")
            assert half is not None
            off = fitted.ratings[f"bot-{bot}"].mu - 25 - (skill - middle)
            levels.append(abs(off) <= half)
    return sum(gaps) / len(gaps), sum(levels) / len(levels)


@pytest.mark.parametrize(
    ("skills", "encounters", "luck"),
    [
        ([25.0, 25.5, 26.0, 26.5], 30, 0.45),  # A close field, much luck of the deal.
        ([25.0, 25.5, 26.0, 26.5], 30, 0.0),  # The same, legs independent.
        ([16.0, 22.0, 28.0, 34.0], 40, 0.3),  # Neighbours win 85 of 100.
    ],
)
def test_bars_of_two_seats_hold_what_they_say(
    skills: list[float], encounters: int, luck: float
) -> None:
    """300 differences and 400 levels, about 200 of them independent: ± 1.5 points are an error.

    Long runs of these three give 95–97.5; the bounds are two such errors around that.
    """
    for part in held(skills, tables(4, 2, encounters), luck, runs=100):
        assert 0.93 <= part <= 0.995


def test_bars_of_four_seats_hold_what_they_say() -> None:
    """90 differences, 120 levels of four bots at one table: ± 2.5 points are a standard error."""
    skills = [23.0, 25.0, 25.5, 28.0]
    for part in held(skills, [range(4)] * 60, 0.45, runs=30):
        assert 0.9 <= part <= 0.995


def test_few_encounters_make_wide_bars() -> None:
    """Three encounters of two bots: never fewer than 95 in 100, since so little is known."""
    for part in held([25.0, 27.0], tables(2, 2, 3), 0.45, runs=150):
        assert part >= 0.95


@pytest.mark.parametrize("seats", [2, 4])
def test_ratings_recover_skills(seats: int) -> None:
    chance = random.Random(11)
    skills = [25 + chance.gauss(0, 4) for _ in range(6)]
    plan = tables(6, seats, 60 if seats == 2 else 8)
    matches = play(chance, skills, plan, luck=0.3)
    fitted = fit(matches)
    bars = error_bars(fitted, matches)
    middle = sum(skills) / len(skills)
    for bot, skill in enumerate(skills):
        half = bars.half_width(f"bot-{bot}")
        assert half is not None
        assert half < 1.2
        assert fitted.ratings[f"bot-{bot}"].mu - 25 == pytest.approx(skill - middle, abs=1.5 * half)
    order = sorted(range(6), key=lambda bot: skills[bot])
    for low, high in pairwise(order):
        found = bars.difference(f"bot-{high}", f"bot-{low}")
        assert found is not None
        if skills[high] - skills[low] > 1.5:
            assert found.is_significant
            assert found.superiority > 0.975
