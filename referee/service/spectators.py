"""What watchers of a match are sent: one log for all of them, and a writer for each.

A watcher is a place in the log. One that is slow has no queue that could grow, and nobody waits
for it.
"""

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import grpc
import structlog

from referee.engine.events import DealStarted, Event
from referee.engine.observation import Observation, has_secret, view
from referee.match.seat import Seat
from referee.service.codec import event_bytes, hand_field, observation_bytes
from referee.service.errors import CallError
from referee.service.session import forget
from referee.service.wire import bytes_field, number_field

MOST_LOG_BYTES: Final = 4 * 1024 * 1024
"""Kept of one match; beyond it the oldest deals are forgotten, but never the current one."""
_OVERHEAD_BYTES: Final = 60
"""What keeping an event costs beside its bytes."""
_MOST_EVENTS: Final = 200
"""Events in one update: about 10 KiB."""
_EVENTS, _OBSERVATION, _DEALT_HANDS, _HANDS = 2, 3, 4, 5
"""Numbers of fields of WatchUpdate."""
_INTERVAL_S: Final = 0.05
"""Between two updates for one watcher: what happens meanwhile comes together."""
_log = structlog.get_logger()


class Turnstile:
    """Lets one waiting task go on in each round of the loop: many never hold up others for long."""

    def __init__(self) -> None:
        self._queue: deque[asyncio.Future[None]] = deque()
        self._is_turning = False

    async def enter(self) -> None:
        """Wait for the turn."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._queue.append(turn)
        if not self._is_turning:
            self._is_turning = True
            loop.call_soon(self._turn)
        await turn

    def _turn(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                break
        self._is_turning = bool(self._queue)
        if self._is_turning:
            asyncio.get_running_loop().call_soon(self._turn)


class WatchableMatch(Protocol):
    """The part of a match that is watched."""

    @property
    def seats(self) -> Sequence[Seat]:
        """All seats."""
        ...

    def watch(self, watcher: Callable[[Sequence[Event]], None]) -> None:
        """Call back with whole events as they happen."""
        ...

    def observe(self, seat: int | None) -> Observation:
        """What a seat (None: a spectator) may know now."""
        ...


class EventLog:
    """The events of one match as bytes, each made once; those of the oldest deals may be gone.

    `first` is the number of the oldest event that is kept, `last` that of the newest.
    """

    def __init__(self, most_bytes: int = MOST_LOG_BYTES) -> None:
        self.first = 1
        self.size = 0
        """Bytes that it takes."""
        self.end: bytes | None = None
        """The last message, once there is one."""
        self.is_broken = False
        self._most_bytes = most_bytes
        self._public: list[bytes] = []
        self._whole: list[bytes] = []
        self._deals: list[int] = []
        """Numbers of the events that began the deals, upwards."""
        self._dealt: dict[int, bytes] = {}
        self._match: WatchableMatch | None = None
        self._states: dict[bool, tuple[int, bytes]] = {}
        """The state after an event, by whether hands are shown."""
        self._idle: list[asyncio.Future[None]] = []

    @property
    def last(self) -> int:
        """Number of the newest event, 0 before the first."""
        return self.first + len(self._public) - 1

    @property
    def before_deal(self) -> int:
        """Number of the last event before the current deal."""
        return self._deals[-1] - 1 if self._deals else 0

    # --- writing --------------------------------------------------------------------------------

    def follow(self, match: WatchableMatch) -> None:
        """Log what happens in a match, before it starts."""
        self._match = match
        match.watch(self.add)

    def add(self, events: Sequence[Event]) -> None:
        """Something has happened. Never raises: a match does not depend on who watches."""
        try:
            self._add(events)
        except Exception as error:  # noqa: BLE001 - whatever it is
            self.is_broken = True
            _log.error("the log for watchers failed", exc_info=error)
        self._wake()

    def _add(self, events: Sequence[Event]) -> None:
        number = self.last
        for event in events:
            number += 1
            public = whole = bytes_field(_EVENTS, event_bytes(view(event, None)))
            if isinstance(event, DealStarted):
                self._deals.append(number)
                hands = [hand_field(_DEALT_HANDS, hand or 0) for hand in event.hands]
                self._dealt[number] = b"".join(hands)
            elif has_secret(event):
                whole = bytes_field(_EVENTS, event_bytes(event))
            self._public.append(public)
            self._whole.append(whole)
            self.size += len(public) + _OVERHEAD_BYTES
        while self.size > self._most_bytes and len(self._deals) > 1:
            self._forget_deal()

    def _forget_deal(self) -> None:
        self._dealt.pop(self._deals.pop(0))
        count = self._deals[0] - self.first
        self.size -= sum(map(len, self._public[:count])) + count * _OVERHEAD_BYTES
        del self._public[:count]
        del self._whole[:count]
        self.first += count

    def close(self, end: bytes) -> None:
        """The match is over: this is the last message. Of the match itself nothing is kept."""
        if self._match is not None and self._public and not self.is_broken:
            for whole in (False, True):
                self._state(whole=whole)
        self._match = None
        self.end = end
        self._wake()

    def _wake(self) -> None:
        for idle in self._idle:
            if not idle.done():
                idle.set_result(None)
        self._idle.clear()

    # --- reading --------------------------------------------------------------------------------

    async def news(self) -> None:
        """Wait until something has happened."""
        idle: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idle.append(idle)
        try:
            await idle
        finally:
            if idle in self._idle:
                self._idle.remove(idle)

    def check(self, after: int) -> None:
        """Raise CallError unless the events after this one are kept, or still to come."""
        if self.is_broken:
            text = "the referee failed; its log says why"
            raise CallError(grpc.StatusCode.INTERNAL, "INTERNAL", text)
        if not self.first - 1 <= after <= self.last:
            text = f"after_event_number is {after}: allowed are {self.first - 1}–{self.last}"
            raise CallError(grpc.StatusCode.OUT_OF_RANGE, "NO_SUCH_EVENT", text)

    def update(self, after: int, *, whole: bool) -> tuple[bytes, int]:
        """A WatchMatchResponse with events after one, and the number of its last event.

        With `whole` all cards are shown. There must be such events.
        """
        begin = after + 1
        end = min(self.last, after + _MOST_EVENTS)
        later = bisect_right(self._deals, begin)
        if later < len(self._deals):
            end = min(end, self._deals[later] - 1)
        events = self._whole if whole else self._public
        parts = [number_field(1, begin), *events[begin - self.first : end + 1 - self.first]]
        if end == self.last:
            parts.append(self._state(whole=whole))
        if whole:
            parts.insert(1, self._dealt.get(begin, b""))
        return bytes_field(2, b"".join(parts)), end

    def _state(self, *, whole: bool) -> bytes:
        """Observation, and hands if all is shown, after the newest event."""
        number, state = self._states.get(whole, (0, b""))
        if number != self.last and self._match is not None:
            state = bytes_field(_OBSERVATION, observation_bytes(self._match.observe(None)))
            if whole:
                hands = [self._match.observe(seat).hand for seat in range(len(self._match.seats))]
                state += b"".join([hand_field(_HANDS, hand) for hand in hands])
            self._states[whole] = self.last, state
        return state


class WatchStream(Protocol):
    """The part of a gRPC stream that a watcher needs."""

    async def write(self, message: bytes) -> None:
        """Send a message; waits while the other side does not read."""
        ...


class Watcher:
    """Writes a log to one stream, from a place in it on. `run` is called once."""

    def __init__(
        self, stream: WatchStream, log: EventLog, turnstile: Turnstile, *, whole: bool, after: int
    ) -> None:
        self._stream = stream
        self._log = log
        self._turnstile = turnstile
        self._whole = whole
        self._after = after
        self._writing_since: float | None = None

    async def run(self, first: bytes, unread_s: float) -> CallError | None:
        """Write this message and then the log to its end; the error to end the stream with.

        A message that the other side does not take for `unread_s` ends it.
        """
        writer = asyncio.create_task(self._write_all(first), name="write spectator")
        # The end of a stream that breaks is noted by gRPC itself.
        writer.add_done_callback(forget)
        try:
            wait_s = unread_s
            while True:
                done, _ = await asyncio.wait({writer}, timeout=wait_s)
                if done:
                    return _error_of(writer)
                since, now = self._writing_since, asyncio.get_running_loop().time()
                wait_s = unread_s - (0.0 if since is None else now - since)
                if wait_s <= 0:
                    text = f"an update was not read for {unread_s:g} s: come back with the number"
                    text += " of the last event that you have"
                    return CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "NOT_READING", text)
        finally:
            writer.cancel()

    async def _write_all(self, first: bytes) -> None:
        log, loop = self._log, asyncio.get_running_loop()
        await self._write(first)
        while True:
            await self._turnstile.enter()
            log.check(self._after)
            if self._after < log.last:
                message, self._after = log.update(self._after, whole=self._whole)
                is_behind = self._after < log.last
                next_s = loop.time() + _INTERVAL_S
                await self._write(message)
                if not is_behind and log.end is None:
                    await asyncio.sleep(next_s - loop.time())
            elif log.end is not None:
                await self._write(log.end)
                return
            else:
                await log.news()

    async def _write(self, message: bytes) -> None:
        self._writing_since = asyncio.get_running_loop().time()
        await self._stream.write(message)
        self._writing_since = None


def _error_of(writer: "asyncio.Task[None]") -> CallError | None:
    error = None if writer.cancelled() else writer.exception()
    if error is None or isinstance(error, CallError):
        return error
    if not isinstance(error, grpc.aio.BaseError):
        _log.error("a watcher failed", exc_info=error)
        text = "the referee failed; its log says why"
        return CallError(grpc.StatusCode.INTERNAL, "INTERNAL", text)
    return None
