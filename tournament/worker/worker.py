"""A worker: one process, one event loop, one referee on a private socket, one leg after another.

Started by the runner as `python -m tournament.worker`; messages.py says what goes over its pipes.
It ends, and its bots with it, when the runner is gone.
"""

import asyncio
import contextlib
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from referee.engine.presets import make_ruleset
from referee.match.outcome import Forfeit, MatchResult, Termination
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.wrapped import SandboxError
from tournament.bots.scratch import remove_abandoned
from tournament.worker.messages import (
    Acknowledged,
    Failed,
    Message,
    PlayLeg,
    Ready,
    Result,
    Setup,
    decode,
)
from tournament.worker.pool import BotPool, Gate

Send = Callable[[Message], None]


class RefereeLike(Gate, Protocol):
    """What a worker asks of its referee."""

    async def listen(self, *addresses: str) -> list[str]:
        """Listen, and return the addresses that bots dial."""

    async def play(self, spec: MatchSpec, tokens: Sequence[str]) -> MatchResult:
        """Referee one match between the bots of these tokens, by seat."""

    async def close(self) -> None:
        """End all sessions and let go of the address."""


class Worker:
    """Plays the legs that come in over `reader` and answers with `send`."""

    def __init__(self, referee: RefereeLike, reader: asyncio.StreamReader, send: Send) -> None:
        self._referee = referee
        self._reader = reader
        self._send = send

    async def run(self) -> None:
        """Work until the runner closes the pipe."""
        setup = await self._next()
        if setup is None:
            return
        if not isinstance(setup, Setup):
            raise TypeError(f"the first message must be a Setup, not {setup!r}")
        try:
            sandbox = choose(setup.sandbox, hidden=[Path(folder) for folder in setup.hidden])
        except SandboxError as error:
            # It worked for the runner a moment ago, which shows what the log ends with.
            sys.stderr.write(f"{error}\n")
            return
        [address] = await self._referee.listen(f"unix:{setup.socket_dir}/referee.sock")
        pool = BotPool(self._referee, address, setup, sandbox, self._send)
        try:
            self._send(Ready())
            while (message := await self._next()) is not None:
                if not isinstance(message, PlayLeg):
                    raise TypeError(f"expected a PlayLeg, not {message!r}")
                if not await self._leg(setup, pool, message):
                    return
        finally:
            await pool.close()
            await self._referee.close()
            # The runner does so too, unless it is gone.
            shutil.rmtree(setup.socket_dir, ignore_errors=True)
            remove_abandoned(Path(setup.socket_dir).parent)

    async def _next(self) -> Message | None:
        line = await self._reader.readline()
        return decode(line) if line.endswith(b"\n") else None

    async def _leg(self, setup: Setup, pool: BotPool, leg: PlayLeg) -> bool:
        """Play a leg and wait until it is acknowledged; False if the runner has gone meanwhile."""
        playing = asyncio.create_task(self._outcome(setup, pool, leg))
        answer = asyncio.create_task(self._next())
        try:
            await asyncio.wait({playing, answer}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                return False
            self._send(playing.result())
            message = await answer
        finally:
            for task in (playing, answer):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        if message is None:
            return False
        if message != Acknowledged(leg.fixture_id):
            raise TypeError(f"expected {leg.fixture_id} to be acknowledged, not {message!r}")
        return True

    async def _outcome(self, setup: Setup, pool: BotPool, leg: PlayLeg) -> Result | Failed:
        try:
            return await self._play(setup, pool, leg)
        except Exception as error:  # noqa: BLE001 - whatever it is, no bot is to blame
            traceback.print_exc(file=sys.stderr)
            return Failed(leg.fixture_id, f"{type(error).__name__}: {error}")

    async def _play(self, setup: Setup, pool: BotPool, leg: PlayLeg) -> Result:
        tokens = await pool.seat(leg.seats, leg.leg, fresh=leg.fresh, withdrawn=leg.withdrawn)
        pool.begin_match(leg.seats, leg.leg, leg.match_id)
        result = await self._referee.play(match_spec(setup, leg), tokens)
        failures = await pool.failures(_failed(leg.seats, result), leg.leg)
        pool.end_match(leg.seats, leg.leg, leg.match_id)
        if not result.has_result:
            await pool.dismiss(leg.seats, leg.leg)
        seats = zip(leg.seats, result.seats, strict=True)
        await pool.dismiss([name for name, seat in seats if seat.forfeit is not None], leg.leg)
        await pool.dismiss_ended()
        return Result(leg.fixture_id, result, failures)


def _failed(names: Sequence[str], result: MatchResult) -> list[str]:
    """Return the bots whose processes are the reason for how the match ended."""
    if result.termination is Termination.NOT_STARTED:
        return list(names)
    seats = zip(names, result.seats, strict=True)
    return [name for name, seat in seats if seat.forfeit in (Forfeit.CRASH, Forfeit.STARTUP)]


def match_spec(setup: Setup, leg: PlayLeg) -> MatchSpec:
    """Return what the referee needs to know about a leg."""
    versions = {bot.name: bot.version for bot in setup.bots}
    return MatchSpec(
        match_id=leg.match_id,
        rules=make_ruleset(setup.preset, setup.overrides),
        seats=tuple(
            SeatSpec(bot=name, version=versions[name], randomness=randomness)
            for name, randomness in zip(leg.seats, leg.randomness, strict=True)
        ),
        secret=leg.secret,
        salt=leg.salt,
        first_dealer=leg.first_dealer,
        time_control=TimeControl(**setup.time_control),
    )
