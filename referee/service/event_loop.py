"""The event loop of a process that serves.

gRPC's poller hands the loop an event for each message that was read or written, and a byte in a
socket to wake it. Woken, it takes all events that are there, and one byte: the loop is then woken
once more for each byte that is left, to find nothing. With many bots that is a tenth of its time;
and when a few hundred bytes have heaped up, the poller waits for room, and the bots with it.
"""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, TypeVar, TypeVarTuple

_Args = TypeVarTuple("_Args")
_Result = TypeVar("_Result")
_MOST_BYTES: Final = 4_096


class ServingLoop(asyncio.SelectorEventLoop):
    """An event loop that takes what gRPC woke it with all at once."""

    merges_wakes = True
    """Off, it is as asyncio made it: for measuring what comes of it."""

    def add_reader(self, fd: Any, callback: Callable[[*_Args], Any], *args: *_Args) -> None:
        """As asyncio's; the reader of gRPC's socket finds the last byte only."""
        if isinstance(fd, socket.socket) and _is_grpcs(callback):
            super().add_reader(fd, self._on_wakes, fd, partial(callback, *args))
        else:
            super().add_reader(fd, callback, *args)

    def _on_wakes(self, wakes: socket.socket, take_events: Callable[[], Any]) -> None:
        if self.merges_wakes:
            # One byte has to stay: without it gRPC would not look for events.
            waiting = len(wakes.recv(_MOST_BYTES, socket.MSG_PEEK))
            if waiting > 1:
                wakes.recv(waiting - 1)
        take_events()


def _is_grpcs(callback: Callable[..., Any]) -> bool:
    method = callback.func if isinstance(callback, partial) else callback
    return type(getattr(method, "__self__", None)).__module__.startswith("grpc.")


def run(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a program on a loop of its own, as `asyncio.run` does."""
    with asyncio.Runner(loop_factory=ServingLoop) as runner:
        return runner.run(main)
