"""The store from an event loop: calls run in threads, in which nothing else waits for them.

Writes are done one after another in the order in which they were asked for, by one thread; reading
what somebody asked for must not hold them up, so others do that.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

_READERS = 2

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


class Desk:
    """Threads for one store."""

    def __init__(self) -> None:
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="ladder writes")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="ladder reads")

    async def write(
        self, call: Callable[_Given, _Answer], *given: _Given.args, **named: _Given.kwargs
    ) -> _Answer:
        """Return what a call that writes returns, when it is durable. Raises what it raises."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, partial(call, *given, **named))

    async def read(
        self, call: Callable[_Given, _Answer], *given: _Given.args, **named: _Given.kwargs
    ) -> _Answer:
        """Return what a call that only reads returns. Raises what it raises."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, partial(call, *given, **named))

    def close(self) -> None:
        """Wait for what is being written, and end the threads."""
        self._writer.shutdown()
        self._readers.shutdown(cancel_futures=True)
