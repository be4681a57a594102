"""A bot that has no stream, but polls, is led through the same steps."""

import asyncio

import grpc

from tests.check.checked import QUICK, by_status, finding, shown
from tests.service.poll_clients import Refused, poller
from tournament.check.check import check_elsewhere
from tournament.check.report import Status
from tournament.worker.sockets import socket_folder


async def _poll(address: str, token: str) -> None:
    """Play matches until the referee is done with the bot; a status that asks for it: hello."""
    async with poller(address, token) as bot:
        await bot.hello()
        while True:
            try:
                if await bot.play() is None:
                    return
            except Refused as refused:
                if refused.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                    return  # the check is over, and its referee has gone
                if refused.code is not grpc.StatusCode.INTERNAL:
                    raise
                await bot.hello()


async def test_a_bot_that_polls_may_compete() -> None:
    bots: list[asyncio.Task[None]] = []

    def tell(address: str, token: str) -> None:
        bots.append(asyncio.create_task(_poll(address, token)))

    with socket_folder() as scratch:
        report = await check_elsewhere(
            None,
            address="127.0.0.1:0",
            credentials=None,
            scratch=scratch,
            tell=tell,
            wait_s=60.0,
            settings=QUICK,
        )
        [bot] = bots
        await bot
    assert report.may_compete, shown(report)
    assert by_status(report, Status.NOT_SEEN) == {"memory", "stop", "output"}
    assert by_status(report, Status.NOT_CLAIMED) == {"at_once"}
    assert by_status(report, Status.WARNING) <= {"time"}, shown(report)
    assert "polls" in finding(report, "start").verdict.text
    assert "came back" in finding(report, "reconnect").verdict.text
    assert (report.bot, report.version) == ("poller", "1")
