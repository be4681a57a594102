"""Writes messages to a stream, one after another, without a task of its own.

The coroutine of a write is stepped by hand, and goes on when the future that it waits for is done.
At any time there is one write at the most: two on one stream can hang it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

_TOGETHER: Final = 16


class WritableStream(Protocol):
    """The part of a gRPC stream that is written to."""

    def write(self, message: bytes) -> Coroutine[Any, Any, None]:
        """Send a message; waits while the other side does not read."""
        ...


class Writes:
    """The writes of all streams that are about to begin.

    They begin in the next round of the event loop, not at once: following each other they wake the
    process at the other end less often, which is what a send costs most by. But no more than
    `_TOGETHER` wait for each other: their bots can think while the messages of others are handled,
    and what they need is still in the processor's caches.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due: list[Callable[[], None]] = []

    def begin_soon(self, begin: Callable[[], None]) -> None:
        """Have it called in the next round of the loop, or by this call."""
        self._due.append(begin)
        if len(self._due) == _TOGETHER:
            self._begin_all()
        elif len(self._due) == 1:
            self._loop.call_soon(self._begin_all)

    def _begin_all(self) -> None:
        due, self._due = self._due, []
        for begin in due:
            begin()


class Outbox:
    """The messages that are to be written to one stream."""

    __slots__ = (
        "_due",
        "_emptied",
        "_loop",
        "_messages",
        "_stream",
        "_write",
        "_writes",
        "backlog",
        "is_broken",
    )

    def __init__(self, stream: WritableStream, writes: Writes) -> None:
        self._stream = stream
        self._writes = writes
        self._loop = asyncio.get_running_loop()
        self._messages: deque[bytes] = deque()
        self._write: Coroutine[Any, Any, None] | None = None
        """The write that is under way."""
        self._emptied: asyncio.Future[None] | None = None
        self._due = False
        """A write begins soon."""
        self.backlog = 0
        """Bytes that have not been handed to the stream."""
        self.is_broken = False
        """A write has failed: the stream is gone, and nothing more is written."""

    def put(self, message: bytes) -> None:
        """Write this after all that was put before."""
        if self.is_broken:
            return
        self._messages.append(message)
        self.backlog += len(message)
        if self._write is None and not self._due:
            self._due = True
            self._writes.begin_soon(self._begin)

    def _begin(self) -> None:
        self._due = False
        self._write_on()

    def _write_on(self) -> None:
        """Begin writes until one has to wait, or nothing is left."""
        while self._messages:
            message = self._messages.popleft()
            self.backlog -= len(message)
            self._write = self._stream.write(message)
            if not self._step():
                return
        if self._emptied is not None and not self._emptied.done():
            self._emptied.set_result(None)

    def _step(self) -> bool:
        """Let the write go on; whether it has ended, well or not."""
        assert self._write is not None, "a write is under way"
        try:
            waits_for = self._write.send(None)
        except StopIteration:
            self._write = None
            return True
        except Exception:  # noqa: BLE001 - whatever it is, the stream is gone; its reader sees it
            self._write = None
            self.is_broken = True
            self._messages.clear()
            return True
        if waits_for is None:  # just for a round of the loop
            self._loop.call_soon(self._resume)
        else:
            # The mark with which a future is handed to whoever runs the coroutine.
            waits_for._asyncio_future_blocking = False  # noqa: SLF001 - asyncio's protocol
            waits_for.add_done_callback(self._resume)
        return False

    def _resume(self, _done: object = None) -> None:
        if self._write is not None and self._step():
            self._write_on()

    async def empty(self, timeout_s: float) -> bool:
        """Wait until all has been written, or the time is over; whether it has."""
        if self._write is None and not self._messages:
            return True
        self._emptied = self._loop.create_future()
        done, _ = await asyncio.wait({self._emptied}, timeout=timeout_s)
        return bool(done)

    def drop(self) -> None:
        """Write nothing more; a write that is under way ends by itself with the call."""
        self.is_broken = True
        self._messages.clear()
