"""Cards as text faces, the deck and the published shuffle, for the brute-force reference.

It imports the standard library only and never the engine.
"""

import hashlib
from collections.abc import Iterator, Sequence

RANKS = "A23456789TJQK"
SUITS = "CDHS"
JOKER = "XX"
FACES = tuple(rank + suit for suit in SUITS for rank in RANKS)
DEUCES = tuple("2" + suit for suit in SUITS)


def deck(packs: int, jokers: int) -> list[str]:
    """Return all cards before the shuffle, pack after pack, jokers last (docs/rules.md 11)."""
    return list(FACES) * packs + [JOKER] * jokers


def own_face(card: str) -> str:
    """Return the face of a card of a meld without its meaning: XX of XX=4H (docs/rules.md 3)."""
    return card.split("=", maxsplit=1)[0]


def meaning(card: str) -> str:
    """Return the face that a card of a meld stands for: 4H of XX=4H and of 4H (docs/rules.md 3)."""
    return card.rsplit("=", maxsplit=1)[-1]


def has_meaning(card: str) -> bool:
    """Tell whether a card of a meld is a wild that stands for another face (docs/rules.md 3)."""
    return "=" in card


def numbers(seed: bytes, label: str) -> Iterator[int]:
    """Yield the 32-bit numbers of the stream of a label (docs/rules.md 11)."""
    block = 0
    while True:
        data = hashlib.sha256(seed + label.encode("ascii") + block.to_bytes(8, "big")).digest()
        for start in range(0, len(data), 4):
            yield int.from_bytes(data[start : start + 4], "big")
        block += 1


def number_below(stream: Iterator[int], limit: int) -> int:
    """Read one number below `limit`, without bias (docs/rules.md 11)."""
    fair = 2**32 - 2**32 % limit
    while True:
        number = next(stream)
        if number < fair:
            return number % limit


def shuffled(cards: Sequence[str], seed: bytes, label: str) -> list[str]:
    """Return the cards after the published shuffle; the first is drawn first (docs/rules.md 11)."""
    order = list(cards)
    stream = numbers(seed, label)
    for last in range(len(order) - 1, 0, -1):
        other = number_below(stream, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def deal_seed(secret: bytes, deal: int) -> bytes:
    """Return the seed of deal 1, 2, ... of an encounter (docs/rules.md 11)."""
    return hashlib.sha256(secret + b"rummy-deal" + deal.to_bytes(8, "big")).digest()


def commitment(salt: bytes, secret: bytes) -> bytes:
    """Return the commitment of a leg (docs/rules.md 11)."""
    return hashlib.sha256(salt + secret).digest()
