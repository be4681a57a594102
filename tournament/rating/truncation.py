"""Moments of a truncated standard normal far out in its tails. Pure.

The trueskill package computes them as ratios of probabilities, which are 0/0 beyond 38 standard
deviations: it raises FloatingPointError there. Here the same moments are taken from the ratio of
tail to density, which has a series of its own.

`v` is how far the mean moves and `w` by what part the variance shrinks, in the words of Herbrich,
Minka and Graepel, "TrueSkill: A Bayesian Skill Rating System" (2006).
"""

import math

FAR = 30.0
"""From here on the series of the tail is exact to the last digits."""
ALMOST_ALL = 1 - 1e-9
"""The largest part of a variance that a result can take away."""


def tail_ratio(x: float) -> float:
    """Return P(X > x) / density(x) of a standard normal, for any x that is not far below 0."""
    if x < FAR:
        return math.erfc(x / math.sqrt(2)) * math.exp(x * x / 2) * math.sqrt(math.pi / 2)
    series = 1.0
    for odd in (13, 11, 9, 7, 5, 3, 1):  # 1 − 1/x²·(1 − 3/x²·(1 − 5/x²·…))
        series = 1 - odd * series / (x * x)
    return series / x


def above(x: float) -> tuple[float, float]:
    """Return v and w of a win where the loser was expected `-x` above the winner, x below 0."""
    v = 1 / tail_ratio(-x)
    return v, min(max(v * (v + x), 0.0), ALMOST_ALL)


def between(distance: float, margin: float) -> tuple[float, float]:
    """Return v and w of a draw: a difference within ±margin, expected `distance` above 0.

    `distance` may not be below `margin`. v is negative: the mean moves down to the margin.
    """
    near, far = distance - margin, distance + margin
    decay = math.exp(-2 * margin * distance)  # density(far) / density(near)
    mass = tail_ratio(near) - decay * tail_ratio(far)
    if mass <= 0:  # Too narrow to tell its ends apart: a single point.
        return -distance, ALMOST_ALL
    v = (decay - 1) / mass
    return v, min(max(v * v + (decay * far - near) / mass, 0.0), ALMOST_ALL)
