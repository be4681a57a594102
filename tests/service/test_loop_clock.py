"""The clock of the event loop: what it notices when the loop stands still."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from referee.service.loop_clock import BEAT_US, LoopClock


@pytest.fixture
async def clock() -> AsyncIterator[LoopClock]:
    one = LoopClock(asyncio.get_running_loop())
    one.start()
    yield one
    one.stop()


def block(milliseconds: float) -> None:
    """Stand still, as a long computation on the loop would."""
    time.sleep(milliseconds / 1_000)


async def test_stall_is_noticed_while_it_lasts_and_afterwards(clock: LoopClock) -> None:
    await asyncio.sleep(0.02)
    begin = clock.now_us()
    block(100)
    end = clock.now_us()
    seen = clock.stalled_us(begin, end)
    # At most one beat of a stall goes unseen.
    assert 100_000 - BEAT_US - 2_000 <= seen <= end - begin
    await asyncio.sleep(0.03)
    assert clock.stalled_us(begin, end) == pytest.approx(seen, abs=2_000)
    assert clock.total_stalled_us >= seen - 2_000


async def test_only_the_overlap_counts(clock: LoopClock) -> None:
    await asyncio.sleep(0.02)
    begin = clock.now_us()
    block(60)
    middle = clock.now_us()
    block(60)
    await asyncio.sleep(0.02)
    end = clock.now_us()
    whole = clock.stalled_us(begin, end)
    first, second = clock.stalled_us(begin, middle), clock.stalled_us(middle, end)
    # The beat itself comes a little before the stall is looked at.
    assert whole == pytest.approx(first + second, abs=2_000)
    assert first >= 60_000 - BEAT_US - 2_000
    assert second >= 60_000
    assert clock.stalled_us(begin - 10_000_000, begin - 5_000_000) == 0
    assert clock.stalled_us(begin, begin) == 0


async def test_never_more_than_the_span(clock: LoopClock) -> None:
    await asyncio.sleep(0.02)
    begin = clock.now_us()
    block(30)
    await asyncio.sleep(0)
    for since, until in ((begin, begin + 7), (begin + 10_000, begin + 10_001)):
        assert 0 <= clock.stalled_us(since, until) <= until - since


async def test_calls_back_at_its_moment_and_not_when_cancelled(clock: LoopClock) -> None:
    called: list[int] = []
    due = clock.now_us() + 30_000
    clock.call_at(due, lambda: called.append(clock.now_us()))
    clock.call_at(due, lambda: called.append(0)).cancel()
    clock.call_at(0, lambda: called.append(1))
    await asyncio.sleep(0.01)
    assert called == [1]
    await asyncio.sleep(0.2)
    assert len(called) == 2
    assert called[1] >= due - 2_000


async def test_stalls_are_counted(clock: LoopClock) -> None:
    await asyncio.sleep(0.02)
    before, before_us = clock.stalls, clock.total_stalled_us
    for number in (1, 2):
        block(30)
        await asyncio.sleep(0.02)
        # A busy machine adds some of its own.
        assert clock.stalls >= before + number
    assert clock.total_stalled_us - before_us >= 2 * (30_000 - BEAT_US - 2_000)


async def test_stopped_clock_forgets_the_beat() -> None:
    clock = LoopClock(asyncio.get_running_loop())
    clock.start()
    clock.stop()
    clock.stop()
    begin = clock.now_us()
    block(20)
    assert clock.stalled_us(begin, clock.now_us()) == 0
