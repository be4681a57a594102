"""What has happened and not been told yet: it travels with decisions, or soon without one."""

from collections.abc import Callable, Sequence

from referee.engine.events import Event
from referee.match.clock import Clock, Timer
from referee.match.seat import Seat


class News:
    """The events of the current deal on their way to all seats.

    A seat gets what it has not seen with its next decision, or `wait_us` after the oldest of it, or
    when the deal ends: one message for each decision costs much less than two. `on_due` is called
    when `tell_waiting` should be.
    """

    __slots__ = ("_clock", "_on_due", "_seats", "_timer", "_wait_us", "watcher")

    def __init__(
        self, seats: Sequence[Seat], clock: Clock, wait_us: int, on_due: Callable[[], None]
    ) -> None:
        self._seats = seats
        self._clock = clock
        self._wait_us = wait_us
        self._on_due = on_due
        self._timer: Timer | None = None
        self.watcher: Callable[[Sequence[Event]], None] | None = None
        """Told at once, and everything."""

    def add(self, events: Sequence[Event]) -> None:
        """Something has happened."""
        now = self._clock.now_us()
        for seat in self._seats:
            if seat.shown == len(seat.deal_events):
                seat.waiting_since_us = now
            seat.deal_events += events
        if self._timer is None:
            self._timer = self._clock.call_at(now + self._wait_us, self._on_due)
        if self.watcher is not None:
            self.watcher(events)

    def tell_waiting(self) -> None:
        """Tell the seats that have waited long enough; look again when the next one has."""
        self._timer = None
        old = self._clock.now_us() - self._wait_us
        waiting = [seat for seat in self._seats if seat.shown < len(seat.deal_events)]
        for seat in waiting:
            if seat.waiting_since_us <= old:
                seat.show(None)
        later = [seat.waiting_since_us for seat in waiting if seat.waiting_since_us > old]
        if later:
            self._timer = self._clock.call_at(min(later) + self._wait_us, self._on_due)

    def tell_all(self) -> None:
        """Tell everybody everything."""
        for seat in self._seats:
            seat.show(None)

    def begin_deal(self) -> None:
        """The deal is over and told: the next one begins with nothing."""
        for seat in self._seats:
            seat.begin_deal()

    def cancel(self) -> None:
        """Nobody will be told without asking any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
