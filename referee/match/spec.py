"""What a match is before it begins: who, under which rules, on which decks, with which clock."""

from dataclasses import dataclass, field

from referee.engine.ruleset import RuleSet
from referee.engine.shuffle import SAME_SUITS, Suits, commitment, own_suits


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Thinking time of each seat in a match; all in milliseconds (docs/judgement.md)."""

    per_decision_ms: int = 1_000
    bank_ms: int = 30_000
    startup_ms: int = 10_000
    reconnect_ms: int = 30_000
    match_cap_ms: int = 300_000

    def __post_init__(self) -> None:
        """Raise ValueError naming the field that is out of range."""
        for name, least in (
            ("per_decision_ms", 1),
            ("bank_ms", 0),
            ("startup_ms", 1),
            ("reconnect_ms", 0),
            ("match_cap_ms", 1),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= 86_400_000:
                raise ValueError(
                    f"{name} is {value!r}: allowed are whole milliseconds {least}–86400000"
                )


@dataclass(frozen=True, slots=True)
class SeatSpec:
    """Who sits at a seat. `randomness` (32 bytes) is told to that bot alone."""

    bot: str
    version: str
    randomness: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """One match. `secret` (32 bytes) makes every deck, `salt` (32 bytes) hides it in commitments.

    `first_dealer` is the seat that deals first. With `has_own_suits` the salt exchanges the suits
    of every deck: other legs with the same secret look different.
    """

    match_id: str
    rules: RuleSet
    seats: tuple[SeatSpec, ...]
    secret: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    first_dealer: int = 0
    time_control: TimeControl = TimeControl()
    has_own_suits: bool = False

    @property
    def suits(self) -> Suits:
        """How the suits of every deck are exchanged."""
        return own_suits(self.salt) if self.has_own_suits else SAME_SUITS

    @property
    def commitment(self) -> bytes:
        """What is told before the match, and can be checked when secret and salt are revealed."""
        return commitment(self.salt, self.secret)
