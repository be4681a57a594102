"""What a match is after its end: termination (why), outcome (places, totals) and text are apart."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Forfeit(StrEnum):
    """What a seat did wrong to lose the match."""

    ILLEGAL = "illegal"
    TIME = "time"
    DISCONNECT = "disconnect"
    CRASH = "crash"
    STARTUP = "startup"
    RESIGN = "resign"
    PROTOCOL = "protocol"


FAULTS: Final = {
    Forfeit.ILLEGAL: "made too many illegal choices",
    Forfeit.TIME: "was out of time too often",
    Forfeit.DISCONNECT: "was disconnected for too long",
    Forfeit.CRASH: "ended its process",
    Forfeit.STARTUP: "was not ready in time",
    Forfeit.RESIGN: "said goodbye",
    Forfeit.PROTOCOL: "broke the protocol repeatedly",
}
"""Each for people, after a name."""


class Termination(StrEnum):
    """Why a match ended."""

    COMPLETED = "completed"
    FORFEIT = "forfeit"
    ADJUDICATED = "adjudicated"
    ABORTED = "aborted"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class SeatResult:
    """What a match was for one seat. `place` is from 1 (1 1 3 when shared), 0 without a result."""

    place: int
    total: int
    forfeit: Forfeit | None
    decisions: int
    charged_us: int
    forgiven_us: int
    longest_us: int
    illegal_strikes: int
    time_strikes: int


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A finished match. `record` holds its lines (bytes, each ending in a newline)."""

    match_id: str
    termination: Termination
    text: str
    seats: tuple[SeatResult, ...]
    deals: int
    record: bytes = field(repr=False)
    record_hash: bytes

    @property
    def has_result(self) -> bool:
        """Whether the places count: a match that was aborted or never began has none."""
        return self.termination not in (Termination.ABORTED, Termination.NOT_STARTED)
