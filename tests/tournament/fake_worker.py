"""A worker whose referee is a fake: it lets bots in by token and makes results up by name.

What a bot's name begins with decides what happens to its matches; marks in the folder FAKE_MARKS
make a fault happen only once.
"""

import asyncio
import hashlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from referee.match.outcome import Forfeit, MatchResult, SeatResult, Termination
from referee.match.spec import MatchSpec
from tournament.worker.__main__ import main


class FakeReferee:
    """Knows bots by token; the alphabet decides who wins."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._inside: dict[str, asyncio.Event] = {}
        self._gone: dict[str, str] = {}
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def listen(self, *addresses: str) -> list[str]:
        """Let bots in at a socket."""
        (address,) = addresses
        self._server = await asyncio.start_unix_server(self._enter, address.removeprefix("unix:"))
        return [address]

    async def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        token = (await reader.readline()).decode().strip()
        if token in self._inside:
            self._inside[token].set()

    def issue_token(self, bot: str, version: str) -> str:
        """Name a bot by a new token."""
        token = f"token-{len(self._names)}-{version}"
        self._names[token] = bot
        self._inside[token] = asyncio.Event()
        return token

    async def wait_connected(self, token: str, timeout_s: float) -> bool:
        """Wait for a token to be shown."""
        async with asyncio.timeout(timeout_s):
            await self._inside[token].wait()
        if token in self._gone:
            raise ConnectionError(self._gone[token])
        return True

    def report_exit(self, token: str, reason: str) -> None:
        """Note that a bot is gone, and why."""
        self._gone[token] = reason
        self._inside[token].set()

    def revoke_token(self, token: str) -> None:
        """Forget a token; one that is not known is an error."""
        del self._names[token]

    async def play(self, spec: MatchSpec, tokens: Sequence[str]) -> MatchResult:
        """Make a result up, after the faults that the names ask for."""
        names = [self._names[token] for token in tokens]
        assert names == [seat.bot for seat in spec.seats]
        for name in names:
            await self._misbehave(name)
        termination = Termination.COMPLETED
        if any(name.startswith("aborter") and _first_time(name) for name in names):
            termination = Termination.ABORTED
        if any(name.startswith("never") for name in names):
            termination = Termination.ABORTED
        missing = [Forfeit.STARTUP if token in self._gone else None for token in tokens]
        order = sorted((gone is not None, name) for gone, name in zip(missing, names, strict=True))
        record = f"{spec.match_id} {spec.secret.hex()}\n".encode()
        return MatchResult(
            match_id=spec.match_id,
            termination=termination,
            text="; ".join(self._gone.get(token, "well played") for token in tokens),
            seats=tuple(
                SeatResult(
                    place=order.index((gone is not None, name)) + 1,
                    total=10,
                    forfeit=gone,
                    decisions=4,
                    charged_us=4_000,
                    forgiven_us=0,
                    longest_us=2_000,
                    illegal_strikes=0,
                    time_strikes=0,
                )
                for gone, name in zip(missing, names, strict=True)
            ),
            deals=1,
            record=record,
            record_hash=hashlib.sha256(record).digest(),
        )

    async def _misbehave(self, name: str) -> None:
        if name.startswith("killer") and _first_time(name):
            os.kill(os.getpid(), signal.SIGKILL)
        if name.startswith("raiser") and _first_time(name):
            raise RuntimeError("the fake referee is broken")
        if name.startswith("sleeper"):
            _first_time(name)
            await asyncio.Event().wait()

    async def close(self) -> None:
        """Let go of all bots."""
        for writer in self._writers:
            writer.close()
        if self._server is not None:
            self._server.close()


def _first_time(name: str) -> bool:
    # Workers run side by side: exactly one of them may make the mark.
    try:
        Path(os.environ["FAKE_MARKS"], name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


if __name__ == "__main__":
    main(FakeReferee)
