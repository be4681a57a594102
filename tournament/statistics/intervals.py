"""What can be said about a mean from few results. Pure.

A score lies between 0 and 1 and is often 0 or 1, so the usual mean ± t·s/√n would leave that range
and would claim certainty when all results are equal. The limits here are those of the profile
likelihood: of all distributions on 0–1 with a given mean, which one fits the results best, and how
much worse does it fit than no condition at all?
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import mean, stdev

from tournament.rating import student

COVERAGE = 0.95
"""What part of all intervals should hold the true value."""

_STEPS = 200
"""More than halving a number's bits takes."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its limits; None where nothing can be said."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None


@cache
def student_limit(freedom: int) -> float:
    """Return the t that is exceeded on both sides together in 1 − COVERAGE of all cases."""
    return student.quantile((1 + COVERAGE) / 2, freedom)


def mean_interval(values: Sequence[float]) -> Interval:
    """Return mean and Student's interval of values that have no bounds.

    Fewer than two values, or all equal, say nothing of how far they scatter: then no limits.
    """
    if not values:
        return Interval()
    middle = mean(values)
    spread = stdev(values) if len(values) > 1 else 0.0
    if not spread:
        return Interval(middle)
    half = student_limit(len(values) - 1) * spread / math.sqrt(len(values))
    return Interval(middle, middle - half, middle + half)


def score_interval(scores: Iterable[float]) -> Interval:
    """Return mean and limits of independent scores from 0 to 1, which the limits never leave.

    Limits are the means whose deviance reaches t² (Student's, for few results). One score alone
    has none.
    """
    counts = tuple(sorted(Counter(scores).items()))
    total = sum(count for _, count in counts)
    if not total:
        return Interval()
    middle = math.fsum(score * count for score, count in counts) / total
    if total < 2:
        return Interval(middle)
    mirrored = tuple((1 - score, count) for score, count in reversed(counts))
    low, high = 1 - _upper_limit(mirrored), _upper_limit(counts)
    return Interval(middle, min(middle, low), max(middle, high))


def superiority(scores: Iterable[float]) -> float | None:
    """Return how likely a true mean above ½ is: Student's probability of the signed deviance.

    It passes 97.5 % exactly where the lower limit of `score_interval` passes ½.
    """
    counts = dict(sorted(Counter(scores).items()))
    total = sum(counts.values())
    if total < 2:
        return None
    excess = math.fsum((score - 0.5) * count for score, count in counts.items())
    return student.cdf(math.copysign(math.sqrt(deviance(counts, 0.5)), excess), total - 1)


def deviance(counts: Mapping[float, float], middle: float) -> float:
    """Return twice the log-likelihood that scores lose when their true mean must be `middle`.

    `counts` are numbers of independent scores by score, 0–1, and 0 < `middle` < 1. The best
    distribution with that mean may also give weight to 0 and 1 where nothing was observed. It
    divides each share by 1 + tilt·(middle − score): one number to find, of a concave function.
    """
    total = math.fsum(counts.values())
    excess = math.fsum((middle - score) * count for score, count in counts.items()) / total
    if abs(excess) < 1e-15:
        return 0.0
    sign = math.copysign(1.0, excess)
    gaps = [(sign * (middle - score), count) for score, count in counts.items() if count]
    low, high = 0.0, 1 / (1 - middle if excess > 0 else middle)
    tilt = min(high / 2, excess * sign * total / math.fsum(n * gap * gap for gap, n in gaps))
    for _ in range(_STEPS):
        slope = curve = 0.0
        for gap, count in gaps:
            part = gap / (1 + tilt * gap)
            slope += count * part
            curve += count * part * part
        if slope > 0:
            low = tilt
        else:
            high = tilt
        following = tilt + slope / curve
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - tilt) <= 1e-14 * high:
            break
        tilt = following
    return max(0.0, 2 * math.fsum(count * math.log1p(tilt * gap) for gap, count in gaps))


@lru_cache(maxsize=1 << 16)
def _upper_limit(counts: tuple[tuple[float, int], ...]) -> float:
    """Return the mean above that of the scores (sorted) whose deviance is Student's t².

    With A = 1 + tilt·mean and θ = tilt / A the best distribution divides each share by
    A·(1 − θ·score): for each θ from 0 to 1 the mean follows without a search. At θ = 1 weight
    goes to a score of 1 that was not seen.
    """
    if counts[0][0] == 1:
        return 1.0
    total = sum(count for _, count in counts)
    allowed = student_limit(total - 1) ** 2 / (2 * total)
    shares = [(score, count / total) for score, count in counts]

    def spare(theta: float) -> float:
        logs = math.fsum(share * math.log1p(-theta * score) for score, share in shares)
        return allowed - math.log(_scale(shares, theta)) - logs

    if counts[-1][0] < 1 and spare(1.0) >= 0:
        logs = math.fsum(share * math.log1p(-score) for score, share in shares)
        return -math.expm1(logs - allowed)
    theta = _last_positive(spare)
    scale = _scale(shares, theta)
    return (scale - 1) / (theta * scale)


def _scale(shares: Sequence[tuple[float, float]], theta: float) -> float:
    return math.fsum(share / (1 - theta * score) for score, share in shares)


def _last_positive(function: Callable[[float], float]) -> float:
    """Return where a falling function reaches 0 between 0 and 1, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high or high - low < 1e-13:
            break
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return low
