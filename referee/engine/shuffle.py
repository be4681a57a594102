"""The published shuffle: short enough to be written again in any language (docs/shuffle.md)."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, Protocol

from referee.engine.cards import JOKER, RANKS, Card

SEED_BYTES: Final = 32
Suits = tuple[int, ...]
"""For each suit C D H S the one that its cards have in the deck, 0–3."""
SAME_SUITS: Final[Suits] = (0, 1, 2, 3)


class Shuffler(Protocol):
    """Where the order of cards comes from: chance is an argument of the engine."""

    def deal(self, deck: Sequence[Card]) -> list[Card]:
        """Order in which a whole deck is dealt, first card first."""
        ...

    def recycle(self, number: int, cards: Sequence[Card]) -> list[Card]:
        """Order, first drawn first, of recycled cards (oldest discard first) at recycle 1, 2, …."""
        ...


def _numbers(seed: bytes, label: str) -> Iterator[int]:
    """32-bit numbers of the stream for a label."""
    prefix = seed + label.encode("ascii")
    block = 0
    while True:
        digest = sha256(prefix + block.to_bytes(8, "big")).digest()
        for start in range(0, len(digest), 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def shuffled(cards: Sequence[Card], seed: bytes, label: str) -> list[Card]:
    """Fisher–Yates from the last card down, on the stream of `seed` (32 bytes) and `label`."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {len(seed)} bytes: it must have {SEED_BYTES}")
    numbers = _numbers(seed, label)
    order = list(cards)
    for last in range(len(order) - 1, 0, -1):
        bound = last + 1
        limit = (1 << 32) - (1 << 32) % bound
        number = next(numbers)
        while number >= limit:
            number = next(numbers)
        other = number % bound
        order[last], order[other] = order[other], order[last]
    return order


def own_suits(salt: bytes) -> Suits:
    """How a leg with this salt (32 bytes) exchanges the suits, if it does: label `suits`."""
    return tuple(shuffled(SAME_SUITS, salt, "suits"))


class SeededShuffler:
    """All shuffles of one deal from its seed (32 bytes), with suits exchanged in its deck."""

    __slots__ = ("_seed", "_suits")

    def __init__(self, seed: bytes, suits: Suits = SAME_SUITS) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {len(seed)} bytes: it must have {SEED_BYTES}")
        self._seed = seed
        self._suits = suits

    def deal(self, deck: Sequence[Card]) -> list[Card]:
        """Label `deal`."""
        order = shuffled(deck, self._seed, "deal")
        if self._suits == SAME_SUITS:
            return order
        ranks = len(RANKS)
        return [
            card if card == JOKER else self._suits[card // ranks] * ranks + card % ranks
            for card in order
        ]

    def recycle(self, number: int, cards: Sequence[Card]) -> list[Card]:
        """Label `recycle-1`, `recycle-2`, …."""
        return shuffled(cards, self._seed, f"recycle-{number}")


def deal_seed(secret: bytes, deal: int) -> bytes:
    """Seed of deal 1, 2, … of an encounter with this secret (32 bytes). Raises ValueError."""
    if len(secret) != SEED_BYTES:
        raise ValueError(f"the secret has {len(secret)} bytes: it must have {SEED_BYTES}")
    return sha256(secret + b"rummy-deal" + deal.to_bytes(8, "big")).digest()


def commitment(salt: bytes, secret: bytes) -> bytes:
    """What is shown before a leg: it fixes the secret without telling it."""
    return sha256(salt + secret).digest()
