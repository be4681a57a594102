"""Sets and runs as tables: every valid meld is known by the multiset of the cards it stands for."""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Final

from referee.engine.cards import (
    FACES,
    Card,
    Cards,
    faces_of,
    multiset,
    remove_all,
)

_SUIT: Final = 0x1FFF
_RANK_BITS: Final = tuple(sum(1 << 13 * suit + rank for suit in range(4)) for rank in range(13))


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One valid meld by what its cards stand for. There is one object for each in a table."""

    cards: tuple[Card, ...]
    """In print order: sets C D H S, runs upwards."""
    mask: Cards
    is_set: bool
    adjacent: Cards = field(default=0, compare=False)
    """Faces of which one copy, alone, makes a bigger valid meld."""
    extensions: tuple[Cards, ...] = field(default=(), compare=False)
    """All multisets whose addition makes a bigger valid meld; single cards first."""


class MeldTables:
    """The valid melds of one family of rules; get one with `meld_tables`."""

    def __init__(self, *, ace_high: bool, any_suits: bool) -> None:
        self.any_suits = any_suits
        shapes = [*_runs(ace_high=ace_high), *_sets(any_suits=any_suits)]
        self.shapes: dict[Cards, Shape] = {}
        """Every valid meld, by the multiset of its cards."""
        for cards, is_set in shapes:
            mask = multiset(cards)
            self.shapes.setdefault(mask, Shape(cards, mask, is_set))
        self.by_size: tuple[Shape, ...] = tuple(
            sorted(self.shapes.values(), key=lambda shape: len(shape.cards))
        )
        """The same, smaller ones first."""
        self._link()
        self.runs_by_suit: tuple[dict[int, tuple[Shape, ...]], ...] = ({}, {}, {}, {})
        self.sets_by_rank: tuple[dict[Cards, tuple[Shape, ...]], ...] = tuple({} for _ in range(13))

    def _link(self) -> None:
        """Fill in what can be laid off on each meld."""
        groups: dict[tuple[bool, int], list[Shape]] = {}
        for shape in self.shapes.values():
            place = shape.cards[0] % 13 if shape.is_set else shape.cards[0] // 13
            groups.setdefault((shape.is_set, place), []).append(shape)
        for group in groups.values():
            for shape in group:
                extensions = sorted(
                    (
                        remove_all(bigger.mask, shape.mask)
                        for bigger in group
                        if bigger is not shape and bigger.mask & shape.mask == shape.mask
                    ),
                    key=lambda cards: (cards.bit_count(), cards),
                )
                adjacent = sum(cards for cards in extensions if cards.bit_count() == 1)
                object.__setattr__(shape, "extensions", tuple(extensions))
                object.__setattr__(shape, "adjacent", adjacent)

    def runs_in(self, suit: int, bits: int) -> tuple[Shape, ...]:
        """Runs of a suit whose cards are all in `bits` (13 bits, ace lowest), shorter first."""
        known = self.runs_by_suit[suit].get(bits)
        if known is None:
            cards = bits << 13 * suit
            known = self._contained(cards, is_set=False, place=suit)
            self.runs_by_suit[suit][bits] = known
        return known

    def sets_in(self, rank: int, cards: Cards) -> tuple[Shape, ...]:
        """Sets that are contained in `cards`, which hold nothing but this rank."""
        known = self.sets_by_rank[rank].get(cards)
        if known is None:
            known = self._contained(cards, is_set=True, place=rank)
            self.sets_by_rank[rank][cards] = known
        return known

    def _contained(self, cards: Cards, *, is_set: bool, place: int) -> tuple[Shape, ...]:
        found = [
            shape
            for mask, shape in self.shapes.items()
            if mask & cards == mask
            and shape.is_set is is_set
            and (shape.cards[0] % 13 if is_set else shape.cards[0] // 13) == place
        ]
        return tuple(sorted(found, key=lambda shape: (len(shape.cards), shape.mask)))

    def all_in(self, cards: Cards) -> list[Shape]:
        """Every meld that is contained in a multiset: runs by suit, then sets by rank."""
        found: list[Shape] = []
        for suit in range(4):
            bits = cards >> 13 * suit & _SUIT
            if bits & bits >> 1 or bits & 1:
                found += self.runs_in(suit, bits)
        for rank in ranks_with_three(cards):
            found += self.sets_in(rank, rank_part(cards, rank))
        return found


def rank_part(cards: Cards, rank: int) -> Cards:
    """All cards of a rank, with their copies, out of a multiset."""
    bits = _RANK_BITS[rank]
    return cards & (bits | bits << 53 | bits << 106 | bits << 159)


def ranks_with_three(cards: Cards) -> list[int]:
    """Ranks of which the multiset holds three cards or more, copies included."""
    low, copies = cards & FACES, cards >> 53
    clubs, diamonds, hearts, spades = low, low >> 13, low >> 26, low >> 39
    three = clubs & diamonds & (hearts | spades) | hearts & spades & (clubs | diamonds)
    three &= _SUIT
    found = list(faces_of(three)) if three else []
    if copies:
        for rank in range(13):
            if not three >> rank & 1 and rank_part(cards, rank).bit_count() >= 3:
                found.append(rank)
        found.sort()
    return found


def _runs(*, ace_high: bool) -> list[tuple[tuple[Card, ...], bool]]:
    """Runs of 3–13 cards; the 13-card run is listed from the ace only."""
    found = []
    for suit in range(4):
        for length in range(3, 14):
            last_start = 13 - length + (1 if ace_high and length < 13 else 0)
            for start in range(last_start + 1):
                ranks = [(start + step) % 13 for step in range(length)]
                found.append((tuple(13 * suit + rank for rank in ranks), False))
    return found


def _sets(*, any_suits: bool) -> list[tuple[tuple[Card, ...], bool]]:
    """Sets of 3 and 4; where suits do not matter a suit may come up to four times."""
    choose = combinations_with_replacement if any_suits else combinations
    return [
        (tuple(13 * suit + rank for suit in suits), True)
        for rank in range(13)
        for size in (3, 4)
        for suits in choose(range(4), size)
    ]


@lru_cache(maxsize=4)
def meld_tables(*, ace_high: bool, any_suits: bool) -> MeldTables:
    """The tables of a family of rules; made once, about 10 ms."""
    return MeldTables(ace_high=ace_high, any_suits=any_suits)
