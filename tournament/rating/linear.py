"""Linear algebra on lists of rows, for the few hundred bots of a tournament. Pure."""

import math
from collections.abc import Sequence
from operator import mul

Matrix = list[list[float]]


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the sum of the products; what is longer is cut."""
    return float(sum(map(mul, left, right)))


def cholesky(matrix: Sequence[Sequence[float]]) -> Matrix:
    """Return the lower triangle L, rows of growing length, of a positive definite L·Lᵀ."""
    lower: Matrix = []
    for i, values in enumerate(matrix):
        row: list[float] = []
        for j in range(i):
            row.append((values[j] - dot(row, lower[j])) / lower[j][j])
        row.append(math.sqrt(values[i] - dot(row, row)))
        lower.append(row)
    return lower


def solve(lower: Matrix, right: Sequence[float]) -> list[float]:
    """Return x of L·Lᵀ·x = right."""
    half: list[float] = []
    for row, value in zip(lower, right, strict=True):
        half.append((value - dot(half, row)) / row[-1])
    # Back substitution by columns of Lᵀ, which are rows of L.
    for i in range(len(lower) - 1, -1, -1):
        row = lower[i]
        half[i] /= row[-1]
        x = half[i]
        for j in range(i):
            half[j] -= row[j] * x
    return half


def inverse(lower: Matrix) -> Matrix:
    """Return the inverse of L·Lᵀ."""
    size = len(lower)
    columns = []
    for i in range(size):
        unit = [0.0] * size
        unit[i] = 1.0
        columns.append(solve(lower, unit))
    return columns  # Symmetric, so columns are rows.
