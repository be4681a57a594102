"""Tournaments of known skills, with the deals of an encounter mirrored, for tests of ratings."""

import math
import random
from collections.abc import Sequence
from itertools import combinations

from tournament.rating.environment import BETA, RatedMatch

DRAW_MARGIN = 0.0738
"""What draw_probability 0.01 means for the difference of two performances."""


def tables(number: int, seats: int, encounters: int) -> list[tuple[int, ...]]:
    """Every set of `seats` bots out of `number`, so many times."""
    return [*combinations(range(number), seats)] * encounters


def play(
    chance: random.Random, skills: Sequence[float], plan: Sequence[Sequence[int]], luck: float
) -> list[RatedMatch]:
    """All legs of the plan. `luck` is the part of a performance's variance that its seat got.

    Every leg of an encounter has the same luck at each seat, and the bots change seats.
    """
    matches: list[RatedMatch] = []
    for encounter, bots in enumerate(plan):
        seats = [chance.gauss(0, BETA * math.sqrt(luck)) for _ in bots]
        for leg in range(len(bots)):
            performance = {
                bot: skills[bot]
                + seats[(i + leg) % len(bots)]
                + chance.gauss(0, BETA * math.sqrt(1 - luck))
                for i, bot in enumerate(bots)
            }
            places: dict[str, int] = {}
            order = sorted(bots, key=lambda bot: -performance[bot])
            place = 1
            for i, bot in enumerate(order):
                if i and performance[order[i - 1]] - performance[bot] > DRAW_MARGIN:
                    place = i + 1
                places[f"bot-{bot}"] = place
            matches.append(RatedMatch(len(matches), f"encounter-{encounter}", places))
    return matches
