"""How the kernel schedules the threads that bring a busy event loop its messages.

gRPC reads and writes in threads of its own. Woken by a message, an ordinary one takes the processor
from whoever has it: from the loop in the middle of a decision, or from the bot that was about to
send the next. Batch threads wait until it is free, and then find several messages at once, which
costs far less. While the loop has little to do they are ordinary threads: then they should wake at
once, however busy the machine is with something else.
"""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

LOOK_S: Final = 0.1
BUSY, IDLE = 0.5, 0.3
"""Parts of the time that the loop's thread runs: from the first on the others are batch threads,
below the second no more. Where other processes take the processors it falls below by that."""


def set_batch(is_batch: bool) -> None:
    """Make all other threads of this process batch threads, or ordinary ones. Raises OSError.

    Does nothing on systems without such threads, and where somebody has chosen how the process is
    scheduled. Processes that this thread starts, as bots are, are ordinary ones.
    """
    if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_OTHER:
        policy = os.SCHED_BATCH if is_batch else os.SCHED_OTHER
        for number in [int(task.name) for task in Path("/proc/self/task").iterdir()]:
            if number != threading.get_native_id():
                with contextlib.suppress(ProcessLookupError):  # it has ended
                    os.sched_setscheduler(number, policy, os.sched_param(0))


class Scheduling:
    """Looks now and then how busy the loop is. All methods are called on the loop's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        set_batch: Callable[[bool], None] = set_batch,
        cpu_s: Callable[[], float] = time.thread_time,
    ) -> None:
        self._loop = loop
        self._set_batch = set_batch
        self._cpu_s = cpu_s
        self._looked_s = self._spent_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.is_batch = False

    def start(self) -> None:
        """Begin to look; `stop` ends it."""
        self._looked_s, self._spent_s = self._loop.time(), self._cpu_s()
        self._timer = self._loop.call_later(LOOK_S, self._look)

    def stop(self) -> None:
        """Look no more, and leave ordinary threads behind."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.is_batch:
            self.is_batch = False
            with contextlib.suppress(OSError):  # where it is not allowed, they stay as they are
                self._set_batch(False)

    def _look(self) -> None:
        part = (self._cpu_s() - self._spent_s) / (self._loop.time() - self._looked_s)
        was_batch, self.is_batch = self.is_batch, part >= (IDLE if self.is_batch else BUSY)
        try:
            if self.is_batch or was_batch:  # there may be new threads
                self._set_batch(self.is_batch)
        except OSError:
            self.is_batch = False  # where it is not allowed, all stays as it is
            return
        self.start()
