"""A bot behind a network of its own that goes dead: packets vanish, nothing is closed.

With root and iproute2 that is a network namespace; without, a relay that stops passing on bytes.
"""

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from referee.service.server import Referee
from tests.misbehaviour.arena import Bad, Behaviour, Expected, healthy_match, misbehave
from tests.misbehaviour.processes import PUPPET, Wire, puppet
from tests.service.clients import PATIENT

Cut = Callable[[], Awaitable[object]]


async def run(*command: str) -> bool:
    """Whether a command succeeds."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    return await process.wait() == 0


class Namespace:
    """A network of two machines: this one and the bot's."""

    def __init__(self) -> None:
        tag = secrets.token_hex(3)
        self.name = f"rummy-{tag}"
        self._here, self._there = f"rh{tag}", f"rt{tag}"
        self._net = f"10.231.{secrets.randbelow(256)}"
        self.host = f"{self._net}.1"

    async def up(self) -> bool:
        """Make it; whether that is possible here."""
        if os.geteuid() != 0 or shutil.which("ip") is None:
            return False
        peer = ("peer", "name", self._there, "netns", self.name)
        commands = (
            ("ip", "netns", "add", self.name),
            ("ip", "link", "add", self._here, "type", "veth", *peer),
            ("ip", "addr", "add", f"{self.host}/30", "dev", self._here),
            ("ip", "link", "set", self._here, "up"),
            ("ip", "-n", self.name, "addr", "add", f"{self._net}.2/30", "dev", self._there),
            ("ip", "-n", self.name, "link", "set", self._there, "up"),
        )
        for command in commands:
            if not await run(*command):
                await self.down()
                return False
        return True

    async def cut(self) -> bool:
        """Take the bot's end out of the wall."""
        return await run("ip", "-n", self.name, "link", "set", self._there, "down")

    async def down(self) -> None:
        """Remove it."""
        await run("ip", "netns", "del", self.name)


@asynccontextmanager
async def network(folder: Path) -> AsyncIterator[tuple[Referee, str, str, tuple[str, ...], Cut]]:
    """A referee, its address here and for the bot, how to start the bot, and how to cut it off."""
    async with AsyncExitStack() as stack:
        space = Namespace()
        referee = Referee(policy=PATIENT)
        stack.push_async_callback(referee.close, 0.5)
        if await space.up():
            stack.push_async_callback(space.down)
            [address] = await referee.listen(f"{space.host}:0")
            yield referee, address, address, ("ip", "netns", "exec", space.name), space.cut
            return
        [address] = await referee.listen(f"unix:{folder}/r.sock")
        wire = await stack.enter_async_context(Wire(address, folder / "wire.sock").running())

        async def cut() -> None:
            wire.is_dead.set()

        yield referee, address, wire.address, (), cut


async def test_network_of_its_own_goes_dead(tmp_path: Path) -> None:
    async with network(tmp_path) as (referee, address, for_bot, inside, cut):

        async def cut_off(bad: Bad) -> None:
            async with puppet(bad, "draw", for_bot, *inside) as process:
                await cut()
                await bad.over.wait()
                assert process.returncode is None

        behaviour = Behaviour("cut off", cut_off, Expected("time"), control=PUPPET, begins=False)
        result = await misbehave(behaviour, referee, address)
        assert [seat.forfeit for seat in result.seats] == ["time", None], result.text
        assert result.seats[0].time_strikes == 3
        await healthy_match(referee, address)
