"""Time as an argument, and what it costs a seat (docs/judgement.md). All in microseconds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from referee.match.spec import TimeControl


class Timer(Protocol):
    """A call that is due."""

    def cancel(self) -> None:
        """Forget it; harmless when it has been made."""
        ...


class Clock(Protocol):
    """A monotonic clock that knows when the referee itself stood still."""

    def now_us(self) -> int:
        """Microseconds since some fixed moment."""
        ...

    def stalled_us(self, since_us: int, until_us: int) -> int:
        """Microseconds of a time span in which the referee could not see an answer."""
        ...

    def call_at(self, when_us: int, callback: Callable[[], None]) -> Timer:
        """Call back at a moment, or soon if that has passed."""
        ...


@dataclass(slots=True)
class SeatClock:
    """The time of one seat in a match. What is spent takes the decision's time, then the bank."""

    control: TimeControl
    decision_left_us: int = 0
    bank_left_us: int = field(init=False)
    reconnect_left_us: int = field(init=False)
    charged_us: int = 0
    forgiven_us: int = 0
    longest_us: int = 0
    last_charged_us: int = 0
    last_forgiven_us: int = 0
    decisions: int = 0

    def __post_init__(self) -> None:
        """Fill the budgets."""
        self.bank_left_us = self.control.bank_ms * 1_000
        self.reconnect_left_us = self.control.reconnect_ms * 1_000

    def grant(self) -> None:
        """A part of a turn begins: its own time is full."""
        self.decision_left_us = self.control.per_decision_ms * 1_000

    def left_after(self, spent_us: int) -> tuple[int, int]:
        """What is left of the decision's time and of the bank when this much has been spent."""
        left = self.decision_left_us - spent_us
        return (left, self.bank_left_us) if left >= 0 else (0, max(0, self.bank_left_us + left))

    def budget_us(self, *, with_reconnect: bool) -> int:
        """What is left for the pending decision; the reconnect time if the connection was lost."""
        left = self.decision_left_us + self.bank_left_us
        if with_reconnect:
            left += self.reconnect_left_us
        return max(0, min(left, self.control.match_cap_ms * 1_000 - self.charged_us))

    def charge(self, spent_us: int, forgiven_us: int, *, with_reconnect: bool) -> None:
        """A decision has ended: book what it took and what of the whole was forgiven."""
        self.decisions += 1
        self.charged_us += spent_us
        self.forgiven_us += forgiven_us
        self.last_charged_us, self.last_forgiven_us = spent_us, forgiven_us
        if spent_us > self.longest_us:  # noqa: PLR1730 - a call for each decision
            self.longest_us = spent_us
        own = self.decision_left_us + self.bank_left_us
        self.decision_left_us, self.bank_left_us = self.left_after(spent_us)
        if with_reconnect and spent_us > own:
            self.reconnect_left_us = max(0, self.reconnect_left_us - (spent_us - own))
