"""Facts that happened. Each names who may see which part of it; `observation.view` applies that."""

from dataclasses import dataclass
from functools import cache

from referee.engine.actions import Verb, Wild
from referee.engine.cards import Card, Cards
from referee.engine.state import DealTermination, TableMeld


@dataclass(frozen=True, slots=True)
class DealStarted:
    """A deal begins. Each seat sees its own hand, everybody the rest."""

    deal: int
    dealer: int
    hands: tuple[Cards | None, ...]
    """By seat; None where it is not for the recipient."""
    hand_counts: tuple[int, ...]
    upcard: Card
    stock_count: int
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Drew:
    """A seat drew a card. Off the stock, only that seat sees which."""

    seat: int
    from_discard: bool
    card: Card | None


@dataclass(slots=True)
class Melded:
    """A seat laid a new meld. Public."""

    seat: int
    meld: TableMeld


@dataclass(slots=True)
class LaidOff:
    """A seat added cards to a meld. Public."""

    seat: int
    meld_id: int
    meaning: Cards
    """What the added cards stand for."""
    wilds: tuple[Wild, ...]


@dataclass(slots=True)
class Swapped:
    """A seat put a card in the place of a wild one. Public."""

    seat: int
    meld_id: int
    card: Card
    wild: Card


@dataclass(frozen=True, slots=True)
class Discarded:
    """A seat discarded. If `hidden`, only that seat sees which card."""

    seat: int
    card: Card | None
    hidden: bool = False


@dataclass(slots=True)
class Recycled:
    """The discard pile became the stock. Public; the order after a shuffle is not part of it."""

    recycles: int
    stock_count: int
    shuffled: bool
    upcard: Card | None


@dataclass(frozen=True, slots=True)
class DealEnded:
    """A deal is over and scored. Public: all hands are shown."""

    termination: DealTermination
    winner: int | None
    by: Verb | None
    rummy: bool
    points: tuple[int, ...]
    totals: tuple[int, ...]
    hands: tuple[Cards, ...]
    out: tuple[int, ...]
    """All seats that are out of the match after this deal."""


# Most that happens is one of these few hundred events: all matches share them.


@cache
def drew_stock(seat: int, card: Card | None) -> Drew:
    """A draw off the stock; the card is None for those who do not see it."""
    return Drew(seat, from_discard=False, card=card)


@cache
def drew_discard(seat: int, card: Card) -> Drew:
    """A draw off the discard pile."""
    return Drew(seat, from_discard=True, card=card)


@cache
def discarded(seat: int, card: Card) -> Discarded:
    """A discard that everybody sees."""
    return Discarded(seat, card)


@cache
def discarded_hidden(seat: int, card: Card | None) -> Discarded:
    """A discard face down; the card is None for those who do not see it."""
    return Discarded(seat, card, hidden=True)


Event = DealStarted | Drew | Melded | LaidOff | Swapped | Discarded | Recycled | DealEnded
