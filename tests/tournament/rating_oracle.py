"""Expectation propagation written a second time, plainly and slowly, to compare ratings with.

Nothing of it is shared with the package or with tournament.rating: every result has a message of
its own, a match is a dense normal distribution of all its performances, truncated moments come
from numerical integration, and steps are halved until nothing moves.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import NormalDist

MU, SIGMA, BETA = 25.0, 25 / 3, 25 / 6


def expectation_propagation(
    results: Sequence[Mapping[str, int]], draw_probability: float, sweeps: int = 300
) -> dict[str, tuple[float, float]]:
    """Mu and sigma of every bot from places by bot, 1 the best."""
    margin = NormalDist().inv_cdf((draw_probability + 1) / 2) * math.sqrt(2) * BETA
    bots = sorted({bot for result in results for bot in result})
    listed = [sorted(result, key=lambda bot: (result[bot], bot)) for result in results]
    ties = [
        [result[a] == result[b] for a, b in pairwise(order)]
        for result, order in zip(results, listed, strict=True)
    ]
    messages = [dict.fromkeys(order, (0.0, 0.0)) for order in listed]
    posterior: dict[str, tuple[float, float]] = {}
    for _ in range(sweeps):
        posterior = {
            bot: (
                SIGMA**-2 + sum(m[bot][0] for m in messages if bot in m),
                SIGMA**-2 * MU + sum(m[bot][1] for m in messages if bot in m),
            )
            for bot in bots
        }
        moved = 0.0
        renewed = []
        for order, tied, old in zip(listed, ties, messages, strict=True):
            cavities = [
                (posterior[bot][0] - old[bot][0], posterior[bot][1] - old[bot][1]) for bot in order
            ]
            means = [weighted / precision for precision, weighted in cavities]
            variances = [1 / precision for precision, _ in cavities]
            new_means, new_variances = table(means, variances, tied, margin)
            message = {}
            for i, bot in enumerate(order):
                target = (
                    1 / new_variances[i] - cavities[i][0],
                    new_means[i] / new_variances[i] - cavities[i][1],
                )
                moved = max(moved, *(abs(a - b) for a, b in zip(target, old[bot], strict=True)))
                message[bot] = (
                    (old[bot][0] + target[0]) / 2,
                    (old[bot][1] + target[1]) / 2,
                )
            renewed.append(message)
        messages = renewed
        if moved < 1e-10:
            break
    else:
        raise AssertionError("the oracle has not settled")
    return {bot: (weighted / pi, pi**-0.5) for bot, (pi, weighted) in posterior.items()}


def table(
    means: Sequence[float], variances: Sequence[float], tied: Sequence[bool], margin: float
) -> tuple[list[float], list[float]]:
    """Means and variances of skills after one result, from dense conditioning on neighbours."""
    size = len(means)
    differences = size - 1
    sites = [(0.0, 0.0)] * differences  # precision, precision · mean
    for _ in range(500):
        moved = 0.0
        for j in range(differences):
            mean, variance = _neighbours(means, variances, sites)
            pi, weighted = sites[j]
            cavity = 1 / variance[j] - pi
            center = (mean[j] / variance[j] - weighted) / cavity
            low, high = (-margin, margin) if tied[j] else (margin, math.inf)
            new_mean, new_variance = truncated(center, 1 / cavity, low, high)
            target = (1 / new_variance - cavity, new_mean / new_variance - center * cavity)
            moved = max(moved, abs(target[0] - pi), abs(target[1] - weighted))
            sites[j] = target
        if moved < 1e-12:
            break
    # Observations t_j of s_j − s_{j+1} with noise: posterior precision by the information form.
    noise = [
        [
            (2 * BETA**2 + 1 / sites[i][0]) if i == j else (-(BETA**2) if abs(i - j) == 1 else 0.0)
            for j in range(differences)
        ]
        for i in range(differences)
    ]
    inverse = _invert(noise)
    seen = [[float(i == j) - float(i == j + 1) for i in range(size)] for j in range(differences)]
    values = [weighted / pi for pi, weighted in sites]
    precision = [
        [
            (1 / variances[a] if a == b else 0.0)
            + sum(
                seen[i][a] * inverse[i][j] * seen[j][b]
                for i in range(differences)
                for j in range(differences)
            )
            for b in range(size)
        ]
        for a in range(size)
    ]
    pulls = [
        means[a] / variances[a]
        + sum(
            seen[i][a] * inverse[i][j] * values[j]
            for i in range(differences)
            for j in range(differences)
        )
        for a in range(size)
    ]
    covariance = _invert(precision)
    return (
        [sum(x * y for x, y in zip(row, pulls, strict=True)) for row in covariance],
        [covariance[i][i] for i in range(size)],
    )


def _neighbours(
    means: Sequence[float], variances: Sequence[float], sites: Sequence[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """Means and variances of the differences of neighbours' performances, given the sites."""
    count = len(sites)
    spread = [v + BETA**2 for v in variances]
    prior = [
        [
            spread[i] + spread[i + 1]
            if i == j
            else (-spread[max(i, j)] if abs(i - j) == 1 else 0.0)
            for j in range(count)
        ]
        for i in range(count)
    ]
    information = _invert(prior)
    expected = [a - b for a, b in pairwise(means)]
    pulls = [
        sum(information[i][j] * expected[j] for j in range(count)) + sites[i][1]
        for i in range(count)
    ]
    for i in range(count):
        information[i][i] += sites[i][0]
    covariance = _invert(information)
    return (
        [sum(covariance[i][j] * pulls[j] for j in range(count)) for i in range(count)],
        [covariance[i][i] for i in range(count)],
    )


def truncated(mean: float, variance: float, low: float, high: float) -> tuple[float, float]:
    """Mean and variance of a normal between two limits, by Simpson's rule."""
    deviation = math.sqrt(variance)
    nearest = min(max(mean, low), high)
    reach = 12 * deviation
    if nearest != mean:  # Far out a density falls much faster.
        reach = min(reach, 40 * variance / abs(nearest - mean))
    left, right = max(low, nearest - reach), min(high, nearest + reach)
    steps = 400
    width = (right - left) / steps
    total = first = second = 0.0
    for i in range(steps + 1):
        x = left + i * width
        weight = 1 if i in (0, steps) else 4 if i % 2 else 2
        # Relative to the density at the nearest point, which may be tiny itself.
        log_density = ((nearest - mean) ** 2 - (x - mean) ** 2) / (2 * variance)
        density = weight * math.exp(log_density)
        total += density
        first += density * (x - nearest)
        second += density * (x - nearest) ** 2
    shift = first / total
    return nearest + shift, second / total - shift**2


def _invert(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Gauss and Jordan."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i:
                factor = rows[r][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[size:] for row in rows]
