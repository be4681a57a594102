"""What has happened and not been told yet: it travels with decisions, or soon without one."""

from collections.abc import Callable, Sequence

from referee.engine.events import Event
from referee.match.clock import Clock, Timer
from referee.match.seat import Seat
from referee.match.seat_player import Decision


class News:
    """The events of the current deal on their way to all seats.

    A seat gets what it has not seen with its next decision, or `wait_us` after the oldest of it, or
    when the deal ends: one message for each decision costs much less than two. `on_due` is called
    when `tell_waiting` should be.
    """

    __slots__ = (
        "_clock",
        "_earlier",
        "_events",
        "_on_due",
        "_seats",
        "_timer",
        "_wait_us",
        "watcher",
    )

    def __init__(
        self, seats: Sequence[Seat], clock: Clock, wait_us: int, on_due: Callable[[], None]
    ) -> None:
        self._seats = seats
        self._clock = clock
        self._wait_us = wait_us
        self._on_due = on_due
        self._timer: Timer | None = None
        self._events: list[Event] = []
        """Of the current deal."""
        self._earlier = 0
        """Number of events of earlier deals."""
        self.watcher: Callable[[Sequence[Event]], None] | None = None
        """Told at once, and everything."""

    def add(self, events: Sequence[Event]) -> None:
        """Something has happened."""
        now, before = self._clock.now_us(), len(self._events)
        for seat in self._seats:
            if seat.shown == before:
                seat.waiting_since_us = now
        self._events += events
        if self._timer is None:
            self._timer = self._clock.call_at(now + self._wait_us, self._on_due)
        if self.watcher is not None:
            self.watcher(events)

    def tell(self, seat: Seat, decision: Decision | None = None) -> None:
        """Tell a seat all that it has not seen yet, and perhaps a decision."""
        unseen = self._events[seat.shown :]
        if unseen or decision is not None:
            first = self._earlier + seat.shown + 1
            seat.shown = len(self._events)
            seat.player.update(first, unseen, decision)

    def tell_again(self, seat: Seat, decision: Decision | None) -> None:
        """Tell a returning player the whole deal, under the same numbers."""
        seat.shown = 0
        self.tell(seat, decision)

    def tell_waiting(self) -> None:
        """Tell the seats that have waited long enough; look again when the next one has."""
        self._timer = None
        old = self._clock.now_us() - self._wait_us
        waiting = [seat for seat in self._seats if seat.shown < len(self._events)]
        for seat in waiting:
            if seat.waiting_since_us <= old:
                self.tell(seat)
        later = [seat.waiting_since_us for seat in waiting if seat.waiting_since_us > old]
        if later:
            self._timer = self._clock.call_at(min(later) + self._wait_us, self._on_due)

    def tell_all(self) -> None:
        """Tell everybody everything."""
        for seat in self._seats:
            self.tell(seat)

    def begin_deal(self) -> None:
        """The deal is over and told: only the number of its events counts from now on."""
        self._earlier += len(self._events)
        self._events = []
        for seat in self._seats:
            seat.shown = 0

    def cancel(self) -> None:
        """Nobody will be told without asking any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
