"""Has standings computed in a process of its own, again and again while results come in."""

import asyncio
import contextlib
import json
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from tournament.ladder.standing import NOTHING_YET, Standings, read, tail_bytes

COMMAND: Final = (sys.executable, "-m", "tournament.ladder.rater")
_LINE_BYTES: Final = 64 * 1024 * 1024
_KEPT: Final = 4
"""Standings that are kept for those who read them page by page."""
_log = structlog.get_logger()


class RaterError(RuntimeError):
    """The process that computes standings has ended, or said what cannot be read."""


class Ratings:
    """The latest standings. `run` keeps them up to date."""

    def __init__(
        self, data: Path, url: str | None, ladder: str, *, every_s: float = 5.0, share: float = 0.25
    ) -> None:
        """Compute every `every_s` at most, and no more than this `share` of the time."""
        self._asked = json.dumps({"data": str(data), "url": url, "ladder": ladder})
        self._every_s = every_s
        self._share = share
        self._process: Process | None = None
        self._news = asyncio.Event()
        self._kept: dict[int, Standings] = {0: NOTHING_YET}
        self.latest = NOTHING_YET
        self.on_computed: Callable[[Standings], None] | None = None

    def numbered(self, number: int) -> Standings | None:
        """Return earlier standings, if they are still kept."""
        return self._kept.get(number)

    def results_came(self) -> None:
        """There is something new to compute from."""
        self._news.set()

    async def run(self) -> None:
        """Compute whenever there is something new, until cancelled."""
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                pause_s = self._every_s
                try:
                    await self.compute()
                    pause_s = max(pause_s, self.latest.seconds * (1 / self._share - 1))
                except RaterError as error:
                    _log.error("standings could not be computed", why=str(error))
                    self._news.set()
                await asyncio.sleep(pause_s)
        finally:
            await self.close()

    async def compute(self) -> None:
        """Compute now. Raises RaterError."""
        process = self._process or await self._started()
        assert process.stdin is not None, "it was started with pipes"
        assert process.stdout is not None, "it was started with pipes"
        try:
            process.stdin.write(b"again\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
            if not line.endswith(b"\n"):
                raise RaterError(f"its process ended with exit code {await process.wait()}")
            head = json.loads(line)
            tail = await process.stdout.readexactly(tail_bytes(head))
        except (OSError, ValueError, asyncio.IncompleteReadError, RaterError) as error:
            await self.close()
            raise RaterError(str(error)) from error
        now_ms = time.time_ns() // 1_000_000
        found = read(head, tail, number=self.latest.number + 1, computed_ms=now_ms)
        self.latest = self._kept[found.number] = found
        self._kept.pop(found.number - _KEPT, None)
        if self.on_computed is not None:
            self.on_computed(found)

    async def _started(self) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=PIPE, stdout=PIPE, limit=_LINE_BYTES, start_new_session=True
        )
        assert self._process.stdin is not None, "it was started with pipes"
        self._process.stdin.write(f"{self._asked}\n".encode())
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
