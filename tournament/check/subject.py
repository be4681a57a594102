"""The bot that is checked: a process that is started, and again when needed, or one elsewhere."""

import asyncio
import contextlib
import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from referee.service.server import Referee
from tournament.bots.guard import Guard
from tournament.bots.launch import BotProcess
from tournament.bots.leftovers import process_mark
from tournament.bots.output import LOG_CAP_BYTES
from tournament.bots.sandbox.wrapped import Sandbox
from tournament.bots.start import Program, start_bot
from tournament.check.report import Settings
from tournament.check.usage import Peak
from tournament.errors import LaunchError
from tournament.report.cells import printable

_WARM_S = 1.0
"""How long a bot that runs may take to be connected again, before it is started anew."""
_TAIL_LINES, _LINE_MOST, _TAIL_BYTES = 20, 300, 16 * 1024


class NotThere(Exception):
    """The bot could not be had; the text says why."""


class Subject(Protocol):
    """Whoever is checked."""

    name: str
    version: str
    """What its hello should say; empty if that is not known."""
    token: str

    @property
    def is_elsewhere(self) -> bool:
        """Whether its process can't be seen."""

    async def ensure(self) -> None:
        """Have it connected. Raises NotThere."""

    def ending(self) -> str:
        """Return in words how its process ended, with its last words; empty while it runs."""


class Launched:
    """A bot that is started here. It is used on the loop of the main thread."""

    is_elsewhere = False

    def __init__(
        self,
        referee: Referee,
        sandbox: Sandbox,
        program: Program,
        *,
        name: str,
        version: str,
        address: str,
        scratch: Path,
        settings: Settings,
        guard: Guard,
    ) -> None:
        """`scratch` takes its homes and logs; `address` is the referee's, `unix:PATH`."""
        self.name = name
        self.version = version
        self.token = ""
        self.program = program
        self.peak = Peak()
        self.killed: list[str] = []
        """Why the sandbox ended it, each time that it did."""
        self.logs: list[Path] = []
        self.process: BotProcess | None = None
        self._referee = referee
        self._sandbox = sandbox
        self._address = address
        self._scratch = scratch
        self._settings = settings
        self._guard = guard
        self._home: Path | None = None
        self._pids: dict[str, int] = {}
        """Of the processes that run, by token."""
        self._numbers = itertools.count(1)

    def pid(self) -> int | None:
        """Return the number of its process while it runs."""
        process = self.process
        return process.pid if process is not None and process.is_running else None

    async def ensure(self) -> None:
        """Have it connected, started anew if it must be. Raises NotThere, OSError."""
        if self.pid() is not None:
            with contextlib.suppress(TimeoutError, ConnectionError):
                await self._referee.wait_connected(self.token, _WARM_S)
                return
        await self.stop()
        await self._start()

    async def _start(self) -> None:
        number = next(self._numbers)
        self.token = self._referee.issue_token(self.name, self.version)
        self._home = self._scratch / f"home-{number}"
        self._home.mkdir(mode=0o700)
        self.logs.append(self._scratch / f"output-{number}.log")
        loop = asyncio.get_running_loop()
        token = self.token

        def ended(text: str) -> None:
            # From the process's own thread; when the loop is closed nobody is left to tell.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._ended, token, text)

        try:
            self.process = start_bot(
                self._sandbox,
                self.program,
                address=self._address,
                token=token,
                home=self._home,
                log=self.logs[-1],
                on_exit=ended,
            )
        except LaunchError as error:
            raise NotThere(f"it {error}") from error
        self._pids[token] = self.process.pid
        self._guard.watch(self.process.pid, process_mark(self.process.pid))
        try:
            await self._referee.wait_connected(token, self._settings.launch_s)
        except TimeoutError:
            await self.stop()
            raise NotThere(f"no hello came within {self._settings.launch_s:g} s") from None
        except ConnectionError:
            problem = self.process.start_problem
            raise NotThere(f"it {problem or f'{self.ending()} before its hello'}") from None

    def _ended(self, token: str, text: str) -> None:
        self._guard.forget(self._pids.pop(token))
        reason = text.partition(": ")[2]
        if reason:
            self.killed.append(reason)
        if token == self.token:
            self._referee.report_exit(token, text)

    def ending(self) -> str:
        """Return in words how its process ended, with its last words; empty while it runs."""
        process = self.process
        if process is None or process.exit_text is None:
            return ""
        process.last_line()  # then the log has it all
        words = [line for line in _lines(self.logs[-1:]) if any(map(str.isalpha, line))]
        last = f" (its last words: {words[-1].strip()})" if words else ""
        return f"ended with {process.exit_text}{last}"

    async def stop(self) -> None:
        """End its process and forget its token."""
        process, token, home = self.process, self.token, self._home
        self.token, self._home = "", None
        if process is not None:
            await asyncio.to_thread(process.stop, self._settings.stop_s)
        if token:
            self._referee.revoke_token(token)
        if home is not None:
            await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)

    @property
    def filled_log(self) -> bool:
        """Whether one of its processes has printed more than a log takes."""
        return any(log.exists() and log.stat().st_size >= LOG_CAP_BYTES for log in self.logs)

    @property
    def printed_bytes(self) -> int:
        """What it has printed, as far as logs take it."""
        return sum(log.stat().st_size for log in self.logs if log.exists())

    def tail(self) -> list[str]:
        """Return the last lines of what it printed, safe for any terminal."""
        return _lines(self.logs)[-_TAIL_LINES:]


def _lines(logs: Sequence[Path]) -> list[str]:
    """Return the last lines of some logs that are not blank, cut, and safe for any terminal."""
    text = b"\n".join(log.read_bytes()[-_TAIL_BYTES:] for log in logs if log.exists())
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    return [printable(line[:_LINE_MOST]) for line in lines]


class Elsewhere:
    """A bot that its author starts, with a token that the check has told."""

    is_elsewhere = True

    def __init__(
        self, referee: Referee, *, name: str, version: str, wait_s: float, again_s: float
    ) -> None:
        """`wait_s` is for its first hello, `again_s` for each that follows a lost stream."""
        self.name = name
        self.version = version
        self.token = referee.issue_token(name or "bot", version)
        self._referee = referee
        self._wait_s = wait_s
        self._again_s = again_s

    async def ensure(self) -> None:
        """Wait until it is connected. Raises NotThere."""
        wait_s, self._wait_s = self._wait_s, self._again_s
        try:
            await self._referee.wait_connected(self.token, wait_s)
        except TimeoutError:
            raise NotThere(f"no hello came within {wait_s:g} s") from None

    def ending(self) -> str:
        """Return nothing: its process can't be seen."""
        return ""
