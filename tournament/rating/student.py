"""Student's t distribution, with any positive number of degrees of freedom. Pure."""

import math
from statistics import NormalDist

MANY = 1e6
"""From so many degrees of freedom on it is the normal distribution to six digits."""
_TINY = 1e-300


def cdf(t: float, freedom: float) -> float:
    """Return the probability of a value below `t`."""
    if freedom >= MANY:
        return NormalDist().cdf(t)
    tail = _beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return 1 - tail if t > 0 else tail


def quantile(probability: float, freedom: float) -> float:
    """Return the t below which values lie with `probability`, between 0.5 and 1, by halving."""
    if not 0.5 <= probability < 1:
        raise ValueError(f"a probability from 0.5 up to 1 is needed, not {probability}")
    low, high = 0.0, 1.0
    while cdf(high, freedom) < probability:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if cdf(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) (DLMF 8.17)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # The fraction converges fast on the other side.
        return 1 - _beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x)) / a
    # The continued fraction 8.17.22, forwards by Lentz's method.
    value, upper, lower = 1.0, 1.0, 0.0
    for step in range(1, 300):
        half = step // 2
        if step % 2:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        lower = 1 / _away(1 + term * lower)
        upper = _away(1 + term / upper)
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return front / value


def _away(value: float) -> float:
    """Keep a divisor away from 0."""
    return value if abs(value) > _TINY else _TINY
