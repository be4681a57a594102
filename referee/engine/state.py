"""Where a deal stands, and what the match brought into it."""

from dataclasses import dataclass, field
from enum import Enum

from referee.engine.actions import Verb, Wild
from referee.engine.cards import JOKER, Card, Cards
from referee.engine.melds import MeldTables, Shape, meld_tables
from referee.engine.ruleset import RuleSet
from referee.engine.shuffle import Shuffler

Out = tuple[tuple[int, ...], ...]
"""Eliminated seats, first out first; seats that share a place are in one group."""


class Phase(Enum):
    """The part of a turn."""

    DRAW = "draw"
    PLAY = "play"
    OVER = "over"


class DealTermination(Enum):
    """Why a deal ended."""

    WENT_OUT = "went_out"
    EXHAUSTED = "exhausted"
    TURN_CAP = "turn_cap"


class TableMeld:
    """A meld on the table. Grown melds are new objects, so a copied table shares them safely."""

    __slots__ = ("meld_id", "shape", "wilds")

    def __init__(self, meld_id: int, shape: Shape, wilds: tuple[Wild, ...] = ()) -> None:
        self.meld_id = meld_id
        """From 1."""
        self.shape = shape
        self.wilds = wilds
        """Sorted wild cards with their meanings; all other cards are natural."""

    def wild_for(self, card: Card) -> Wild | None:
        """The wild a swap with this card takes: the joker first, then deuces C D H S."""
        standing = [wild for wild in self.wilds if wild[1] == card]
        return min(standing, key=lambda wild: (wild[0] != JOKER, wild[0])) if standing else None


@dataclass(slots=True)
class State:
    """One deal within a match. `apply` changes it; `copy` gives an independent one."""

    rules: RuleSet
    deal: int
    """Number of the deal in the match, from 1."""
    dealer: int
    totals: tuple[int, ...]
    """Points before this deal, by seat."""
    out: Out
    shuffler: Shuffler
    hands: list[Cards]
    """By seat; 0 for an eliminated seat."""
    stock: list[Card]
    """The LAST card is drawn first."""
    discards: bytearray
    """Cards, oldest first; the last one is the upcard. All but its end is only ever copied."""
    table: list[TableMeld]
    turn: int
    played: list[bool]
    """Has melded, laid off or swapped in an earlier turn of this deal, by seat."""
    phase: Phase = Phase.DRAW
    taken: Card | None = None
    """Face taken from the discard pile in this turn."""
    played_now: bool = False
    """The seat on turn has melded, laid off or swapped in this turn."""
    melds_now: int = 0
    """New melds in this turn."""
    recycles: int = 0
    turns: int = 0
    """Turns finished in this deal by all seats."""
    ended: DealTermination | None = None
    winner: int | None = None
    """The seat that went out."""
    by: Verb | None = None
    """How it went out."""
    hidden_discard: bool = False
    """The last discard lies face down."""
    tables: MeldTables = field(init=False, compare=False, repr=False)
    turn_cap: int = field(init=False, compare=False, repr=False)
    """Finished turns that end the deal."""

    def __post_init__(self) -> None:
        """Work out what stays the same all deal long."""
        rules = self.rules
        self.turn_cap = rules.turn_cap_per_seat * len(self.seats_in())
        self.tables = meld_tables(
            ace_high=rules.ace == "high_or_low", any_suits=rules.set_suits == "any"
        )

    @property
    def seats(self) -> int:
        """Seats of the match, eliminated ones included."""
        return len(self.hands)

    def copy(self) -> "State":
        """An independent state; cards, melds and rules are shared, being immutable."""
        twin = object.__new__(State)
        for name in _SHARED:
            setattr(twin, name, getattr(self, name))
        for name in _COPIED:
            setattr(twin, name, getattr(self, name)[:])
        return twin

    def is_in(self, seat: int) -> bool:
        """Whether a seat was still in when this deal began."""
        return all(seat not in group for group in self.out)

    def seats_in(self) -> list[int]:
        """Seats still in when this deal began, upwards."""
        return [seat for seat in range(self.seats) if self.is_in(seat)]

    def next_seat(self, seat: int) -> int:
        """The next seat still in, to the left."""
        following = (seat + 1) % self.seats
        while not self.is_in(following):
            following = (following + 1) % self.seats
        return following


_COPIED = ("hands", "stock", "discards", "table", "played")
_SHARED = tuple(name for name in State.__slots__ if name not in _COPIED)
