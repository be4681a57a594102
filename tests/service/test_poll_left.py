"""What is left of sessions of `PollService` that were opened and abandoned: nothing."""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from referee.service.mailbox import Mailbox
from referee.service.poll_service import _Polled
from referee.service.session import Session
from rummy.referee.v1 import play_pb2
from tests.service.fake_stream import settle
from tests.service.poll_clients import Poller, Refused, desk


async def _opened(bot: Poller) -> None:
    await bot.hello()


async def _cancelled(bot: Poller) -> None:
    call = asyncio.create_task(bot.hello())
    await settle(1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


async def _waited(bot: Poller) -> None:
    await bot.hello()
    call = asyncio.create_task(bot.next(60_000))
    await settle()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


async def _refused(bot: Poller) -> None:
    with pytest.raises(Refused, match="BAD_HELLO"):
        await bot.ask(hello=play_pb2.Hello(bot="x" * 65))


def _left() -> dict[str, int]:
    """What of sessions is in memory, and the tasks and timers of the loop."""
    gc.collect()
    kinds = (Session, Mailbox, _Polled)
    found = {kind.__name__: sum(type(one) is kind for one in gc.get_objects()) for kind in kinds}
    loop: Any = asyncio.get_running_loop()
    timers = [handle for handle in loop._scheduled if not handle.cancelled()]
    return {**found, "tasks": len(asyncio.all_tasks()), "timers": len(timers)}


@pytest.mark.parametrize("leave", [_opened, _cancelled, _waited, _refused])
async def test_nothing_is_left_of_abandoned_sessions(
    leave: Callable[[Poller], Coroutine[Any, Any, None]],
) -> None:
    async with desk(lost_s=0.2) as one:
        _, warm = one.bot()
        await warm.hello()
        await one.until_quiet()
        await settle()
        before = _left()
        for _ in range(100):
            await leave(one.bot()[1])
        await one.until_quiet()
        await settle()
        after = _left()
        assert after == before


@pytest.mark.parametrize("leave", [_opened, _cancelled, _waited])
async def test_sessions_that_were_taken_over_are_not_kept(
    leave: Callable[[Poller], Coroutine[Any, Any, None]],
) -> None:
    """However fast a token opens them, and long before they would be lost."""
    async with desk(lost_s=3_600) as one:
        _, bot = one.bot()
        await bot.hello()
        await settle()
        before = _left()
        for _ in range(100):
            await leave(bot)
        await bot.hello()
        await settle()
        assert _left() == before
        assert await bot.next(wait_ms=1) == []
