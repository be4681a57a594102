"""Cards, and multisets of cards as integers.

A card is its face: 0–51 for suit·13 + rank (suits C D H S, ranks A 2 … K), 52 for the joker.

A multiset of cards is one integer of layers, 53 bits each: layer k has the bit of a face when the
multiset holds more than k copies of it. So with one pack a hand is a plain bit set, the lowest
layer is always the set of faces, and `part & whole == part` asks whether `part` is contained.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

_T = TypeVar("_T")

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
JOKER: Final = 52
CARD_TEXTS: Final = (*(rank + suit for suit in SUITS for rank in RANKS), "XX")
"""Text of each card, by card."""

LAYER: Final = 53
FACES: Final = (1 << LAYER) - 1
"""Mask of the lowest layer."""
_FACE_BYTES: Final = 7
JOKER_BIT: Final = 1 << JOKER
DEUCES: Final = (1, 14, 27, 40)
_COPIES: Final = sum(1 << layer * LAYER for layer in range(16))
"""Times a face's bit: that face in all layers.

A hand holds at most four copies of a face (jokers); a meld of four and twelve wild cards of a hand
that are all declared to be the same card make sixteen, and are refused for what they are.
"""
_CARD_BY_TEXT: Final = {text: card for card, text in enumerate(CARD_TEXTS)}

Card = int
Cards = int
"""A multiset of cards."""


def add_card(cards: Cards, card: Card) -> Cards:
    """One copy more."""
    bit = 1 << card
    while cards & bit:
        bit <<= LAYER
    return cards | bit


def remove_card(cards: Cards, card: Card) -> Cards:
    """One copy less; the card must be there."""
    bit = 1 << card
    while cards & (bit << LAYER):
        bit <<= LAYER
    return cards ^ bit


def add_all(cards: Cards, more: Cards) -> Cards:
    """The sum of two multisets."""
    if not (cards & more or cards >> LAYER or more >> LAYER):
        return cards | more
    while more:
        layer = more & FACES
        raised = layer * _COPIES
        cards = (cards & ~raised) | ((cards << LAYER | FACES) & raised)
        more >>= LAYER
    return cards


def remove_all(cards: Cards, part: Cards) -> Cards:
    """The difference of two multisets; `part` must be contained in `cards`."""
    if not cards >> LAYER:
        return cards ^ part
    while part:
        layer = part & FACES
        lowered = layer * _COPIES
        cards = (cards & ~lowered) | ((cards >> LAYER) & lowered)
        part >>= LAYER
    return cards


def count_of(cards: Cards, card: Card) -> int:
    """Copies of a card."""
    return (cards & _COPIES << card).bit_count()


def multiset(cards: Iterable[Card]) -> Cards:
    """Multiset of a sequence of cards."""
    total = 0
    for card in cards:
        total = add_card(total, card)
    return total


def faces_of(cards: Cards) -> Iterator[Card]:
    """The different faces in a multiset, upwards."""
    faces = cards & FACES
    while faces:
        bit = faces & -faces
        yield bit.bit_length() - 1
        faces ^= bit


ByByte = tuple[tuple[tuple[_T, ...], ...], ...]
"""Things that belong to faces, by each byte of a set of faces and each of its values."""


def by_byte(things: Sequence[_T]) -> ByByte[_T]:
    """The table of one thing for each face, by face.

    Seven look-ups in small tables that all matches share are faster than to ask for each face, and
    the processor's caches hold them.
    """
    eights = [things[begin : begin + 8] for begin in range(0, _FACE_BYTES * 8, 8)]
    return tuple(
        tuple(
            tuple(thing for place, thing in enumerate(eight) if value >> place & 1)
            for value in range(256)
        )
        for eight in eights
    )


def things_of(table: ByByte[_T], faces: Cards) -> list[_T]:
    """The things of the faces in a set, upwards."""
    first, second, third, fourth, fifth, sixth, seventh = table
    a, b, c, d, e, f, g = faces.to_bytes(_FACE_BYTES, "little")
    return [*first[a], *second[b], *third[c], *fourth[d], *fifth[e], *sixth[f], *seventh[g]]


_FACES_BY_BYTE: Final = by_byte(range(JOKER + 1))


def cards_of(cards: Cards) -> list[Card]:
    """All cards of a multiset, upwards, copies side by side."""
    if not cards >> LAYER:
        return things_of(_FACES_BY_BYTE, cards)
    return [face for face in faces_of(cards) for _ in range(count_of(cards, face))]


class MalformedCard(ValueError):
    """Text that is no card; the message says what is allowed."""


def parse_card(text: str) -> Card:
    """Read `7H`, `TC`, `XX`. Raises MalformedCard."""
    card = _CARD_BY_TEXT.get(text)
    if card is None:
        raise MalformedCard(f"{text!r} is no card: cards are written as 7H, TC or XX")
    return card


def cards_text(cards: Iterable[Card]) -> str:
    """Text of cards in the given order, single spaces between them."""
    return " ".join([CARD_TEXTS[card] for card in cards])


def full_deck(packs: int, jokers: int) -> list[Card]:
    """All cards in the order before the shuffle: pack after pack, then the jokers."""
    return [*list(range(52)) * packs, *[JOKER] * jokers]
