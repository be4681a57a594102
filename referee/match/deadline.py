"""When the pending decision is out of time, with all that is forgiven taken into account."""

from collections.abc import Callable
from typing import Final

from referee.match.clock import Clock, Timer

LOOK_AGAIN_US: Final = 5_000
"""How long after the end of its time an answer that already lay in the buffer still counts."""
AFTER_STALL_US: Final = 25_000
"""The same for a decision with a stall: then it takes longer to read what many bots have sent."""


class Deadline:
    """One timer for all decisions of a match: it is moved only when it would come too late.

    `budget_us` tells what the pending decision may spend; `expired` is called, with what it spent
    and what was forgiven, when that is gone.
    """

    __slots__ = (
        "_asked_us",
        "_budget_us",
        "_clock",
        "_due_us",
        "_expired",
        "_granted_us",
        "_timer",
    )

    def __init__(
        self,
        clock: Clock,
        budget_us: Callable[[], int],
        expired: Callable[[int, int], None],
    ) -> None:
        self._clock = clock
        self._budget_us = budget_us
        self._expired = expired
        self._asked_us: int | None = None
        self._timer: Timer | None = None
        self._due_us = 0
        self._granted_us = 0
        """What the pending decision may spend."""

    def begin(self) -> None:
        """A decision is put now."""
        self._asked_us = now = self._clock.now_us()
        self._granted_us = self._budget_us()
        self._call_by(now + self._granted_us)

    def end(self) -> None:
        """No decision is pending. The timer may still come, and does nothing then."""
        self._asked_us = None

    def budget_changed(self) -> None:
        """The pending decision may spend more or less than before."""
        if self._asked_us is not None:
            spent_us, _ = self.measure()
            self._granted_us = self._budget_us()
            self._call_by(self._clock.now_us() + max(0, self._granted_us - spent_us))

    def cancel(self) -> None:
        """Nothing will be called any more."""
        self._asked_us = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def measure(self) -> tuple[int, int]:
        """Since the pending decision was put: time that counts, and time that was the referee's."""
        assert self._asked_us is not None, "a decision is pending"
        now = self._clock.now_us()
        total = now - self._asked_us
        forgiven = min(total, self._clock.stalled_us(self._asked_us, now))
        return total - forgiven, forgiven

    def is_over(self, spent_us: int) -> bool:
        """Whether an answer that comes now is too late."""
        over_us = spent_us - self._granted_us
        return over_us > LOOK_AGAIN_US and over_us > self._grace_us()

    def _grace_us(self) -> int:
        """How long an answer may still be read that came in time."""
        assert self._asked_us is not None, "a decision is pending"
        is_disturbed = self._clock.stalled_us(self._asked_us, self._clock.now_us())
        return AFTER_STALL_US if is_disturbed else LOOK_AGAIN_US

    def _call_by(self, due_us: int) -> None:
        if self._timer is not None:
            if self._due_us <= due_us:
                return
            self._timer.cancel()
        self._due_us = due_us
        self._timer = self._clock.call_at(due_us, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._asked_us is None:
            return
        now = self._clock.now_us()
        spent_us, forgiven_us = self.measure()
        left_us = self._granted_us - spent_us
        if left_us <= 0 and (forgiven_us or now - self._due_us > LOOK_AGAIN_US):
            # The loop was late: an answer may lie in a buffer. Let it be read first.
            left_us += self._grace_us()
        if left_us > 0:
            self._call_by(now + left_us)
        else:
            self._expired(spent_us, forgiven_us)
