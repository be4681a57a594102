"""The clock of an event loop, with a heartbeat that notices when the loop stood still."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic_ns
from typing import Final

from referee.match.clock import Timer

BEAT_US: Final = 5_000
_LATE_US: Final = 1_000
"""A beat that is later than this is a stall."""
_KEPT: Final = 20_000
"""Stalls remembered: more than any decision lasts, even when every beat is late."""


class LoopClock:
    """A `Clock` on asyncio. While the loop stands still no answer can be seen: nobody's time.

    A stall lasts from the moment when a beat was due to the moment when it came; if it came later
    than by a whole beat, from the beat before: what came in just after that lay there too.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._stalls: deque[tuple[int, int]] = deque(maxlen=_KEPT)
        self._due_us = 0
        self._beat: asyncio.TimerHandle | None = None
        self.stalls = 0
        """Stalls that have ended, since the beginning."""
        self.total_stalled_us = 0
        """Their length together."""

    def start(self) -> None:
        """Begin to beat; `stop` ends it."""
        self._due_us = self.now_us() + BEAT_US
        self._beat = self._loop.call_later(BEAT_US / 1e6, self._on_beat)

    def stop(self) -> None:
        """Stop beating."""
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None

    def _on_beat(self) -> None:
        now = self.now_us()
        if now - self._due_us > _LATE_US:
            begin = self._stall_begin(now)
            self._stalls.append((begin, now))
            self.stalls += 1
            self.total_stalled_us += now - begin
        self._due_us = now + BEAT_US
        self._beat = self._loop.call_later(BEAT_US / 1e6, self._on_beat)

    def _stall_begin(self, now: int) -> int:
        return self._due_us if now - self._due_us <= BEAT_US else self._due_us - BEAT_US

    def now_us(self) -> int:
        """Microseconds of the monotonic clock."""
        return monotonic_ns() // 1_000

    def stalled_us(self, since_us: int, until_us: int) -> int:
        """Overlap of a time span with the stalls, the one that has not ended yet included."""
        total = 0
        if self._beat is not None and until_us - self._due_us > _LATE_US:
            total = until_us - max(since_us, self._stall_begin(until_us))
        for begin, end in reversed(self._stalls):
            if end <= since_us:
                break
            total += max(0, min(end, until_us) - max(begin, since_us))
        return total

    def call_at(self, when_us: int, callback: Callable[[], None]) -> Timer:
        """Call back on the loop."""
        return self._loop.call_later(max(0, when_us - self.now_us()) / 1e6, callback)
