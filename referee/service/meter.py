"""Plain counts of one referee, kept where things happen and read by whoever shows them.

Nothing here waits, locks or allocates much: a decision costs a search in a short tuple and a few
additions, and nothing at all for a referee without a meter.
"""

from bisect import bisect_left
from collections import Counter
from typing import Final

from referee.match.clock import SeatClock
from referee.match.outcome import Forfeit, MatchResult, Termination
from referee.match.seat_player import Rejected
from referee.match.spec import TimeControl
from referee.service.bots import Bot, SeatOfBot
from referee.service.messages import MatchMessages

BOUNDS_US: Final = (
    *(100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000),
    *(1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000),
)
"""Upper bounds, themselves included, of what decisions are sorted by."""


class Meter:
    """What has been counted since the start. Changed on the event loop alone."""

    def __init__(self) -> None:
        self.decisions_by_time = [0] * (len(BOUNDS_US) + 1)
        """Decisions by what they were charged: for each bound, then those above the last."""
        self.charged_us = 0
        self.forgiven_us = 0
        self.rejections: Counter[str] = Counter()
        """By reason; the reasons are the referee's own words, so there are few."""
        self.matches: Counter[str] = Counter({kind.value: 0 for kind in Termination})
        self.forfeits: Counter[str] = Counter({kind.value: 0 for kind in Forfeit})

    def decided(self, charged_us: int, forgiven_us: int) -> None:
        """A decision has ended, answered or not."""
        self.decisions_by_time[bisect_left(BOUNDS_US, charged_us)] += 1
        self.charged_us += charged_us
        self.forgiven_us += forgiven_us

    def ended(self, result: MatchResult) -> None:
        """A match has ended."""
        self.matches[result.termination.value] += 1
        for seat in result.seats:
            if seat.forfeit is not None:
                self.forfeits[seat.forfeit.value] += 1


class MeteredClock(SeatClock):
    """A seat's clock that tells a meter what each decision took."""

    __slots__ = ("_meter",)

    def __init__(self, control: TimeControl, meter: Meter) -> None:
        super().__init__(control)
        self._meter = meter

    def charge(self, spent_us: int, forgiven_us: int, *, with_reconnect: bool) -> None:
        """Book it, and count it."""
        super().charge(spent_us, forgiven_us, with_reconnect=with_reconnect)
        self._meter.decided(spent_us, forgiven_us)


class MeteredSeat(SeatOfBot):
    """A bot's seat that tells a meter what was rejected."""

    __slots__ = ("_meter",)

    def __init__(self, bot: Bot, number: int, messages: MatchMessages, meter: Meter) -> None:
        super().__init__(bot, number, messages)
        self._meter = meter

    def rejected(self, rejected: Rejected) -> None:
        """Tell the bot, and count it."""
        self._meter.rejections[rejected.reason] += 1
        super().rejected(rejected)
