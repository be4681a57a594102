"""Threads beside a busy loop: batch threads while it is busy, ordinary ones before and after."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import cast

import pytest

from referee.service.scheduling import BUSY, IDLE, LOOK_S, Scheduling, set_batch
from referee.service.server import Referee


class Loop:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now_s = 7.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        """Seconds."""
        return self.now_s

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> "Timer":
        """Remember a call; there is one at the most."""
        self.due.append((self.now_s + delay_s, callback))
        return Timer(self)

    def go_on(self) -> None:
        """Come to the next call."""
        [(self.now_s, callback)] = self.due
        self.due.clear()
        callback()


class Timer:
    """A call that may be called off."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def cancel(self) -> None:
        """Call it off."""
        self._loop.due.clear()


class Watched:
    """A scheduling whose thread runs as much as `part` says."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.spent_s = 100.0
        self.told: list[bool] = []
        self.refuses = False
        loop = cast("asyncio.AbstractEventLoop", self.loop)
        self.scheduling = Scheduling(loop, self._tell, lambda: self.spent_s)
        self.scheduling.start()

    def _tell(self, is_batch: bool) -> None:
        if self.refuses:
            raise PermissionError
        self.told.append(is_batch)

    def run(self, part: float) -> bool:
        """Have the thread run for a part of the time; whether the others are batch threads then."""
        self.spent_s += part * LOOK_S
        self.loop.go_on()
        return self.scheduling.is_batch


def test_busy_for_a_while_and_idle_again() -> None:
    watched = Watched()
    parts = [0.0, IDLE + 0.1, BUSY + 0.01, IDLE + 0.01, 1.0, IDLE - 0.01, BUSY - 0.01, BUSY + 0.01]
    assert [watched.run(part) for part in parts] == [
        False, False, True, True, True, False, False, True,
    ]  # fmt: skip
    # Told again while it lasts, for threads that have come meanwhile.
    assert watched.told == [True, True, True, False, True]


def test_at_the_end_all_threads_are_ordinary() -> None:
    watched = Watched()
    assert watched.run(1.0)
    watched.scheduling.stop()
    assert watched.told == [True, False]
    assert not watched.loop.due
    watched.scheduling.stop()
    assert watched.told == [True, False]


def test_where_it_is_not_allowed_nothing_more_is_tried() -> None:
    watched = Watched()
    watched.refuses = True
    assert not watched.run(1.0)
    assert not watched.loop.due
    watched.scheduling.stop()
    assert watched.told == []


def test_where_it_is_allowed_no_more_the_end_is_quiet() -> None:
    watched = Watched()
    assert watched.run(1.0)
    watched.refuses = True
    watched.scheduling.stop()
    assert not watched.scheduling.is_batch
    assert not watched.loop.due


@contextmanager
def another_thread() -> Iterator[int]:
    """The number of a thread that waits."""
    end, begun = threading.Event(), threading.Event()
    numbers = []

    def wait() -> None:
        numbers.append(threading.get_native_id())
        begun.set()
        end.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    begun.wait()
    yield numbers[0]
    end.set()
    thread.join()


if sys.platform == "linux":

    def test_the_kernel_hears_of_the_other_threads_alone() -> None:
        with another_thread() as number:
            set_batch(True)
            assert os.sched_getscheduler(number) == os.SCHED_BATCH
            # And so are the processes that it starts.
            assert os.sched_getscheduler(0) == os.SCHED_OTHER
            set_batch(False)
            assert os.sched_getscheduler(number) == os.SCHED_OTHER

    async def test_a_busy_referee_has_batch_threads_until_it_is_closed(
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("referee.service.scheduling.BUSY", 0.0)
        referee = Referee()
        await referee.listen("127.0.0.1:0")
        with another_thread() as number:
            seen = [os.sched_getscheduler(number)]
            while seen[-1] != os.SCHED_BATCH:
                await asyncio.sleep(0.01)
                seen.append(os.sched_getscheduler(number))
            await referee.close(0)
            seen.append(os.sched_getscheduler(number))
        changes = [after for before, after in pairwise([-1, *seen]) if before != after]
        assert changes == [os.SCHED_OTHER, os.SCHED_BATCH, os.SCHED_OTHER]
