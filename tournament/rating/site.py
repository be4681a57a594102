"""What one result says about its bots: the update of the trueskill package, with its inner parts.

`TrueSkill.rate()` builds a factor graph of the match, runs it and returns new ratings. Here the
same graph is built and run by the same package, and what it found about the differences between
neighbours is read from it as well: `rate()` throws that away, and with it how the bots' skills
hang together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tournament.rating.linear import Matrix, dot

INNER_PRECISION = 1e-6
"""When the package may stop looking again at the neighbours of a table of three or more."""


@dataclass(frozen=True, slots=True)
class Site:
    """A result as a normal likelihood of the skills s of its bots, best place first.

    `pulls` − `stiffness`·s is its gradient; `precisions` are what it adds to the precision of each
    bot when those of the others are uncertain too.
    """

    pulls: tuple[float, ...]
    stiffness: Matrix
    precisions: tuple[float, ...]


def update(
    environment: Any, means: Sequence[float], variances: Sequence[float], ranks: Sequence[int]
) -> Site:
    """Return what a result says to bots of whom everything else says `means` and `variances`."""
    groups = [
        (environment.create_rating(mean, variance**0.5),)
        for mean, variance in zip(means, variances, strict=True)
    ]
    weights = [(1.0,)] * len(groups)
    builders = environment.factor_graph_builders(groups, ranks, weights)
    # Two bots need one look: there is no other neighbour to hear from.
    precision = float("inf") if len(groups) == 2 else INNER_PRECISION
    _, performances, _, _, truncations = environment.run_schedule(*builders, precision)
    precisions = tuple(float(factor.mean[factor].pi) for factor in performances)
    found = [factor.var[factor] for factor in truncations]
    pulls, stiffness = _between_skills(
        [max(float(message.pi), 0.0) for message in found],
        [float(message.tau) for message in found],
        float(environment.beta) ** 2,
    )
    return Site(pulls, stiffness, precisions)


def _between_skills(
    precisions: Sequence[float], weighted: Sequence[float], noise: float
) -> tuple[tuple[float, ...], Matrix]:
    """Turn messages about differences of neighbours' performances into one about skills.

    With D the differences of neighbours and Π = diag(precisions), the stiffness is
    Dᵀ·(noise·D·Dᵀ + Π⁻¹)⁻¹·D, and the pulls are Dᵀ·(noise·D·Dᵀ + Π⁻¹)⁻¹·Π⁻¹·weighted.
    """
    size = len(precisions)
    if size == 1:  # The common case, without loops.
        scale = 1 + 2 * noise * precisions[0]
        stiff, pull = precisions[0] / scale, weighted[0] / scale
        return (pull, -pull), [[stiff, -stiff], [-stiff, stiff]]
    # (noise·D·Dᵀ + Π⁻¹)⁻¹ = (1 + Π·noise·D·Dᵀ)⁻¹·Π: no division by a precision of 0.
    system = [
        [float(i == j) + noise * precisions[i] * _shared(i, j) for j in range(size)]
        for i in range(size)
    ]
    columns = [
        _eliminate(system, [precisions[i] if row == i else 0.0 for row in range(size)])
        for i in range(size)
    ]
    forces = _eliminate(system, weighted)
    inner = [[0.0, *row, 0.0] for row in ([0.0] * size, *columns, [0.0] * size)]
    padded = [0.0, *forces, 0.0]
    # Bot i is in difference i with +1 (to the next) and in difference i − 1 with −1.
    stiffness = [
        [
            inner[i + 1][j + 1] - inner[i][j + 1] - inner[i + 1][j] + inner[i][j]
            for j in range(size + 1)
        ]
        for i in range(size + 1)
    ]
    return tuple(padded[i + 1] - padded[i] for i in range(size + 1)), stiffness


def _shared(one: int, two: int) -> float:
    """Return D·Dᵀ at two differences: neighbouring ones share a bot, with opposite signs."""
    return 2.0 if one == two else -1.0 if abs(one - two) == 1 else 0.0


def _eliminate(system: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solve a small system that is dominated by its diagonal, so that no rows need to change."""
    rows = [[*row, value] for row, value in zip(system, right, strict=True)]
    for i, pivot in enumerate(rows):
        for row in rows[i + 1 :]:
            factor = row[i] / pivot[i]
            if factor:
                row[i:] = [a - factor * b for a, b in zip(row[i:], pivot[i:], strict=True)]
    solution: list[float] = []
    for i in range(len(rows) - 1, -1, -1):
        known = rows[i][i + 1 : -1]
        solution.insert(0, (rows[i][-1] - dot(known, solution)) / rows[i][i])
    return solution
