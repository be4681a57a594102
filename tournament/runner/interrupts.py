"""Ctrl-C and SIGTERM end a run in order, at whatever moment they come."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """The work was ended by a signal; all that it had started is gone."""


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt meanwhile, so that it too removes what was begun."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run_until_signal(work: Coroutine[None, None, object], stopping: Callable[[], None]) -> None:
    """Do the work in an event loop. Raises Interrupted when a signal ended it.

    The first signal cancels the work, so that it can end its workers, and calls `stopping`; those
    that follow change nothing.
    """
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        asyncio.run(_until_signal(work, stopping))
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise Interrupted from None
    finally:
        # The loop leaves other ones than it found.
        for number, handler in handlers.items():
            signal.signal(number, handler)


async def _until_signal(work: Coroutine[None, None, object], stopping: Callable[[], None]) -> None:
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in _SIGNALS:
            loop.add_signal_handler(number, lambda: None)  # once is enough
        stopping()
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    await task
