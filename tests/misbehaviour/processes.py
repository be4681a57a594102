"""What bots do wrong as processes, or with the network between: killed, stopped, cut off."""

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from referee.match.spec import TimeControl
from tests.misbehaviour.arena import ROOT, UNREADY, Bad, misbehaves
from tests.misbehaviour.puppet import PHASES
from tests.service.clients import PATIENCE_S, Client

PUPPET = TimeControl(per_decision_ms=700, bank_ms=0, reconnect_ms=200, startup_ms=20_000)
"""A process on a busy machine needs more than a bot within the test."""


@asynccontextmanager
async def puppet(
    bad: Bad, phase: str, address: str = "", *inside: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A bot process; the match begins when it says hello, or is where it shall stop."""
    process = await asyncio.create_subprocess_exec(
        *inside,
        sys.executable,
        str(ROOT / "tests" / "misbehaviour" / "puppet.py"),
        phase,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}",
            "RUMMY_REFEREE": address or bad.address,
            "RUMMY_TOKEN": bad.token,
            "GRPC_VERBOSITY": "NONE",
        },
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            if phase not in ("connected", "hello"):
                await bad.referee.wait_connected(bad.token, PATIENCE_S)
                bad.began.set()
            assert process.stdout, "it is a pipe"
            assert await process.stdout.readline() == b"here\n"
        bad.began.set()
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _kill_at(phase: str) -> None:
    async def killed(bad: Bad) -> None:
        async with puppet(bad, phase) as process:
            process.kill()
            await process.wait()

    killed.__name__ = f"killed_at_{phase}"
    is_early = phase in PHASES[:3]
    misbehaves(
        "startup" if is_early else "disconnect",
        control=UNREADY if is_early else PUPPET,
        deals=2 if phase == "deal_ended" else 1,
        begins=False,
    )(killed)


for _phase in PHASES:
    _kill_at(_phase)


@misbehaves("crash", control=PUPPET, begins=False)
async def killed_and_seen_by_the_launcher(bad: Bad) -> None:
    async with puppet(bad, "play") as process:
        process.kill()
        code = await process.wait()
        bad.referee.report_exit(bad.token, f"exit code {code}")


@misbehaves("time", time=3, control=PUPPET, begins=False)
async def stopped(bad: Bad) -> None:
    """Its sockets are open, but nobody reads or writes them."""
    async with puppet(bad, "draw") as process:
        process.send_signal(signal.SIGSTOP)
        await bad.over.wait()


@misbehaves(time=1, control=PUPPET, begins=False)
async def stopped_for_a_while_and_replaced(bad: Bad) -> None:
    """A newer session takes over from a process that hangs."""
    async with puppet(bad, "draw") as process:
        process.send_signal(signal.SIGSTOP)
        while not bad.match.seats[0].time_strikes:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
        one = await bad.seated()
        await one.play()


# --- half-open ----------------------------------------------------------------------------------


class Wire:
    """A relay that can go dead without closing anything, as a router that was unplugged."""

    def __init__(self, target: str, path: Path) -> None:
        self.address = f"unix:{path}"
        self.is_dead = asyncio.Event()
        self._target = target.removeprefix("unix:")
        self._path = path
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Wire"]:
        """Listen, and drop all connections in the end."""
        server = await asyncio.start_unix_server(self._connected, self._path)
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._path.unlink(missing_ok=True)

    async def _connected(
        self, bot_reads: asyncio.StreamReader, bot_writes: asyncio.StreamWriter
    ) -> None:
        reader, writer = await asyncio.open_unix_connection(self._target)
        for source, sink in ((bot_reads, writer), (reader, bot_writes)):
            task = asyncio.create_task(self._pass_on(source, sink))
            self._tasks.add(task)

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                if self.is_dead.is_set():
                    await asyncio.Event().wait()
                sink.write(data)
                await sink.drain()
        finally:
            sink.close()


def _wire(bad: Bad) -> Wire:
    folder = Path(bad.address.removeprefix("unix:")).parent
    return Wire(bad.address, folder / f"{secrets.token_hex(4)}.sock")


@misbehaves("time", time=3, control=PUPPET)
async def network_dies_without_a_word(bad: Bad) -> None:
    async with _wire(bad).running() as wire, stream_at(bad, wire.address) as one:
        await one.hello()
        await one.until("match_starting")
        await one.ready(bad.match_id)
        await one.decision()
        wire.is_dead.set()
        await bad.over.wait()


@misbehaves(control=PUPPET)
async def network_dies_and_the_bot_dials_again(bad: Bad) -> None:
    async with _wire(bad).running() as wire, stream_at(bad, wire.address) as one:
        await one.hello()
        await one.until("match_starting")
        await one.ready(bad.match_id)
        await one.decision()
        wire.is_dead.set()
        again = await bad.seated()
        await again.play()


@asynccontextmanager
async def stream_at(bad: Bad, address: str) -> AsyncIterator[Client]:
    """A stream over another address."""
    one = Client(address, bad.token)
    try:
        yield one
    finally:
        await one.close()
