"""A worker: one process, one event loop, one referee on a private socket, one leg after another.

Started by the runner as `python -m tournament.worker`; messages.py says what goes over its pipes.
It ends, and its bots with it, when the runner is gone.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from referee.engine.presets import make_ruleset
from referee.match.outcome import Forfeit, MatchResult, Termination
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from tournament.bot_pool import BotPool, Gate
from tournament.messages import (
    LINE_LIMIT_BYTES,
    Acknowledged,
    Failed,
    Message,
    PlayLeg,
    Ready,
    Result,
    Setup,
    decode,
    encode,
)
from tournament.sockets import remove_abandoned

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
        [address] = await self._referee.listen(f"unix:{setup.socket_dir}/referee.sock")
        pool = BotPool(self._referee, address, setup, self._send)
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
        result = await self._referee.play(match_spec(setup, leg), tokens)
        failures = await pool.failures(_failed(leg.seats, result), leg.leg)
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


async def _serve(make_referee: Callable[[], RefereeLike], output: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT_BYTES)
    pipe, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer
    )

    def send(message: Message) -> None:
        # A runner that is gone does not read; the end of stdin tells the same.
        with contextlib.suppress(BrokenPipeError):
            left = memoryview(encode(message))
            while left:
                left = left[os.write(output, left) :]

    working = asyncio.current_task()
    assert working is not None
    loop.add_signal_handler(signal.SIGTERM, working.cancel)
    try:
        await Worker(make_referee(), reader, send).run()
    finally:
        pipe.close()


def _make_referee() -> RefereeLike:
    from referee.service.server import Referee  # noqa: PLC0415 - after stdout is out of reach

    return Referee()


def main(make_referee: Callable[[], RefereeLike] = _make_referee) -> None:
    """Serve the runner at the other end of stdin and stdout."""
    # Stdout is for messages alone: whatever else prints goes to the log.
    output = os.dup(1)
    os.dup2(2, 1)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(make_referee, output))


if __name__ == "__main__":
    main()
