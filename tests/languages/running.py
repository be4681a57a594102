"""Runs bots as processes, and leaves none of them behind."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.languages.building import BuiltBot

PATIENCE_S = 60.0
"""Longest wait for anything that should happen; most of it takes a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a bot's process ended, and what it printed."""

    code: int
    out: str
    error: str


class Running:
    """A bot's process, in a group of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    async def ended(self, within_s: float = PATIENCE_S) -> Ended:
        """Wait for its end. Raises TimeoutError."""
        async with asyncio.timeout(within_s):
            out, error = await self._process.communicate()
        assert self._process.returncode is not None
        return Ended(self._process.returncode, out.decode(), error.decode())


@asynccontextmanager
async def running(
    bot: BuiltBot, address: str, token: str = "t", **environ: str
) -> AsyncIterator[Running]:
    """Start a bot with what a tournament tells it; at the end it is killed with all its group."""
    told = {"RUMMY_REFEREE": address, "RUMMY_TOKEN": token, **environ}
    process = await asyncio.create_subprocess_exec(
        *bot.argv,
        cwd=bot.folder,
        env=bot.environment(**{name: value for name, value in told.items() if value}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield Running(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()
