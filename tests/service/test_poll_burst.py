"""Hellos that come close together: each session counts as soon as it is let in."""

import asyncio

from tests.service.poll_clients import Refused, desk


async def test_sessions_are_limited_in_one_round_of_the_loop() -> None:
    async with desk(max_sessions=3) as one:
        bots = [one.bot()[1] for _ in range(10)]
        found = await asyncio.gather(*(bot.hello() for bot in bots), return_exceptions=True)
        refused = [answer.reason for answer in found if isinstance(answer, Refused)]
        assert refused == ["SESSIONS"] * 7
        assert one.play.open_sessions == 3


async def test_a_guest_is_let_in_whenever_its_older_session_ends() -> None:
    """The referee forgets a guest without session: not one that is about to have another."""
    async with desk(is_open=True) as one:
        bot = one.poller("guest")
        for rounds in range(20):
            await bot.hello()
            session = one.referee.bot("guest").session
            assert session is not None
            session.close()
            for _ in range(rounds):
                await asyncio.sleep(0)
            await bot.hello()
            assert one.referee.bot("guest").is_connected
