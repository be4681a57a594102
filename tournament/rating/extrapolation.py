"""Where repeated sweeps will end, guessed from the last few of them (Anderson, 1965). Pure."""

from collections.abc import Sequence

from tournament.rating.linear import cholesky, dot, solve

DEPTH = 5
"""How many earlier sweeps are looked at."""
WORSE = 3.0
"""A sweep that moves so much more than the one before has left the range of the guess."""


class Extrapolation:
    """Mixes the outcomes of the last sweeps so that their moves would cancel as far as they can.

    It is to a vector what Aitken's rule is to a number.
    """

    def __init__(self) -> None:
        self._past: list[tuple[list[float], list[float]]] = []

    def step(self, outcome: list[float], moves: list[float]) -> list[float]:
        """Return where to sweep next, from what a sweep gave and the moves that it made there."""
        past = self._past
        if past and dot(moves, moves) > WORSE**2 * dot(past[-1][1], past[-1][1]):
            past.clear()
        shares = _shares(moves, [earlier for _, earlier in past])
        mixed = [(1 - sum(shares)) * value for value in outcome]
        for share, (earlier, _) in zip(shares, past, strict=True):
            mixed = [value + share * old for value, old in zip(mixed, earlier, strict=True)]
        past.append((outcome, moves))
        del past[:-DEPTH]
        return mixed


def _shares(moves: Sequence[float], earlier: Sequence[Sequence[float]]) -> list[float]:
    """Return by how much of each earlier sweep to replace the last one: least squares."""
    changes = [[now - then for now, then in zip(moves, old, strict=True)] for old in earlier]
    products = [[dot(left, right) for right in changes] for left in changes]
    largest = max((products[i][i] for i in range(len(products))), default=0.0)
    for i, row in enumerate(products):
        # Sweeps that hardly differ would make the system singular.
        row[i] += 1e-10 * row[i] + 1e-14 * largest + 1e-300
    try:
        return solve(cholesky(products), [dot(change, moves) for change in changes])
    except (ValueError, ZeroDivisionError):
        return [0.0] * len(changes)
