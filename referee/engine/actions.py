"""What a seat can do: six verbs, and the actions made of them."""

from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final

from referee.engine.cards import Card, Cards, add_all, add_card, multiset


class Verb(Enum):
    """The kinds of action; the values are their words in text."""

    DRAW_STOCK = "draw stock"
    DRAW_DISCARD = "draw discard"
    MELD = "meld"
    LAY_OFF = "lay"
    SWAP = "swap"
    DISCARD = "discard"


class Reason(Enum):
    """Why an action is rejected. They are tested in this order; the first that holds is given."""

    MALFORMED = "malformed"
    DEAL_OVER = "deal_over"
    NOT_YOUR_TURN = "not_your_turn"
    WRONG_PHASE = "wrong_phase"
    CARD_NOT_IN_HAND = "card_not_in_hand"
    STOCK_EMPTY = "stock_empty"
    NO_UPCARD = "no_upcard"
    NO_SUCH_MELD = "no_such_meld"
    MELD_LIMIT = "meld_limit"
    LAYOFF_GATE = "layoff_gate"
    BAD_WILD = "bad_wild"
    NOT_A_MELD = "not_a_meld"
    DOES_NOT_FIT = "does_not_fit"
    SAME_CARD = "same_card"
    MUST_DISCARD = "must_discard"
    STRANDS_TURN = "strands_turn"


Wild = tuple[Card, Card]
"""A wild card and the card it stands for."""


class IllegalAction(Exception):
    """An action that the rules do not allow now. Nothing has changed."""

    def __init__(self, action: "Action", reason: Reason) -> None:
        super().__init__(f"{action.verb.value}: {reason.value}")
        self.action = action
        self.reason = reason


class MalformedAction(ValueError):
    """Text or bytes that are no action at all; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a seat does. Make it with the functions below, which share equal ones."""

    verb: Verb
    naturals: Cards = 0
    """Cards that stand for themselves."""
    wilds: tuple[Wild, ...] = ()
    """Wild cards with their meanings, sorted."""
    meld_id: int = 0
    """The meld on the table that is meant, from 1; 0 where none is."""
    used: Cards = field(init=False, compare=False)
    """All cards that leave the hand."""
    meaning: Cards = field(init=False, compare=False)
    """What those cards stand for."""
    size: int = field(init=False, compare=False)
    """How many cards leave the hand."""
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Work out what follows from the fields."""
        used = meaning = self.naturals
        if self.wilds:
            used = add_all(used, multiset(face for face, _ in self.wilds))
            meaning = add_all(meaning, multiset(stands_for for _, stands_for in self.wilds))
        object.__setattr__(self, "used", used)
        object.__setattr__(self, "meaning", meaning)
        object.__setattr__(self, "size", used.bit_count())
        fields = (self.verb.value, self.naturals, self.wilds, self.meld_id)
        object.__setattr__(self, "_hash", hash(fields))

    def __hash__(self) -> int:
        """Known from the start: actions are the keys of the caches of their texts and bytes."""
        return self._hash


DRAW_STOCK: Final = Action(Verb.DRAW_STOCK)
DRAW_DISCARD: Final = Action(Verb.DRAW_DISCARD)
DISCARDS: Final = tuple(Action(Verb.DISCARD, add_card(0, card)) for card in range(53))
"""The discard of each card, by card."""


@lru_cache(maxsize=1 << 14)
def meld(naturals: Cards, wilds: tuple[Wild, ...] = ()) -> Action:
    """Lay a new meld."""
    return Action(Verb.MELD, naturals, wilds)


@lru_cache(maxsize=1 << 16)
def lay_off(meld_id: int, naturals: Cards, wilds: tuple[Wild, ...] = ()) -> Action:
    """Add cards to a meld."""
    return Action(Verb.LAY_OFF, naturals, wilds, meld_id)


@lru_cache(maxsize=1 << 12)
def swap(meld_id: int, card: Card) -> Action:
    """Put a card in the place of the wild one that stands for it."""
    return Action(Verb.SWAP, 1 << card, (), meld_id)


def discard(card: Card) -> Action:
    """End the turn."""
    return DISCARDS[card]
