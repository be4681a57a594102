"""Chance that is the same for everybody who works it out again: orders and dice from hashes.

Nothing secret comes from here; decks do not (see seeds).
"""

from collections.abc import Sequence

from tournament.schedule.fixtures import Entrant, short_hash

_MASK = 2**64 - 1


def drawn_order(entrants: Sequence[Entrant], *purpose: str) -> list[Entrant]:
    """Return the entrants in an order by lot, whatever order they came in.

    The lot of each is a hash of its content, of everybody's, and of the purpose.
    """
    field = short_hash("field", *sorted(entrant.content_hash for entrant in entrants))
    return sorted(
        entrants, key=lambda entrant: short_hash("draw", *purpose, field, entrant.content_hash)
    )


class Dice:
    """Whole numbers that look random and are the same for the same seed (SplitMix64)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((mixed ^ (mixed >> 31)) * limit) >> 64
