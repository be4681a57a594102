"""The bots that one worker keeps running: started when first needed, a bounded number kept.

Process i of a bot plays leg i only, so that no process meets the same deals twice. A process that
forfeited or ended is not used again.
"""

import asyncio
import contextlib
import itertools
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tournament.bots.launch import KILLED, BotProcess
from tournament.bots.leftovers import process_mark
from tournament.bots.logs import match_log, new_log
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.wrapped import Sandbox, SandboxError
from tournament.bots.start import Program, start_bot
from tournament.errors import LaunchError
from tournament.worker.messages import (
    PUBLIC_WORDS,
    BotEnded,
    BotFailure,
    BotSpec,
    BotStarted,
    Failure,
    Message,
    Setup,
)

WARM_ANSWER_S = 1.0
"""How long a bot that was connected a moment ago may take to be so again."""

KILLED_S = 0.25
"""How much later the referee hears of a bot's SIGKILL than of other ends.

Whoever kills everything, as a container's end does, takes this worker and the runner in that time,
and the leg is played again instead of being the bot's loss. A bot gains nothing by killing itself.
"""

LINGER_S = 1.0
"""How long after a match what a bot writes is still taken for a part of it."""

Key = tuple[str, int]
"""Name of the bot and leg index."""


class Gate(Protocol):
    """The part of the referee that bots come in through."""

    def issue_token(self, bot: str, version: str) -> str:
        """Return a new token, which is the bot's identity."""

    async def wait_connected(self, token: str, timeout_s: float) -> object:
        """Wait until the bot has been welcomed. Raises TimeoutError, ConnectionError."""

    def report_exit(self, token: str, reason: str) -> None:
        """Say that the bot's process has ended."""

    def revoke_token(self, token: str) -> None:
        """Let nobody in with this token any more."""


@dataclass(eq=False, slots=True)
class _Running:
    token: str
    process: BotProcess | None = None
    home: Path | None = None
    said_hello: bool = False
    problem: tuple[Failure, str] | None = None
    """Why it can't play, for the organiser; the referee is told in public words."""
    is_reported: bool = False
    """The referee knows that the process has ended, or does not care any more."""

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.is_running


class BotPool:
    """Bots by name and leg. `report` tells the runner about processes."""

    def __init__(
        self,
        gate: Gate,
        address: str,
        setup: Setup,
        sandbox: Sandbox,
        report: Callable[[Message], None],
    ) -> None:
        self._gate = gate
        self._sandbox = sandbox
        self._address = address
        self._setup = setup
        self._report = report
        self._bots = {bot.name: bot for bot in setup.bots}
        self._running: dict[Key, _Running] = {}  # least recently used first
        self._homes = itertools.count()

    async def seat(
        self, names: Collection[str], leg: int, *, fresh: bool, withdrawn: Collection[str]
    ) -> list[str]:
        """Return a token for each bot, in order; every bot that can be started is connected.

        A bot that can't, and one that is withdrawn, gets a token that will never connect.
        """
        keys = [(name, leg) for name in names]
        if fresh:
            await self._retire(keys)
        await self._make_room(keys)
        tokens = await asyncio.gather(
            *(self._token(key, is_withdrawn=key[0] in withdrawn) for key in keys),
            return_exceptions=True,  # all starts have ended, whatever one of them met
        )
        return [_token_or_error(token) for token in tokens]

    def begin_match(self, names: Collection[str], leg: int, match_id: str) -> None:
        """Have what these bots write go to their logs of the match."""
        for process, log in self._logged(names, leg, match_id):
            process.output.begin_match(log)

    def end_match(self, names: Collection[str], leg: int, match_id: str) -> None:
        """Have it go there for a moment yet, for what is under way, and then to their own logs."""
        loop = asyncio.get_running_loop()
        for process, log in self._logged(names, leg, match_id):
            loop.call_later(LINGER_S, process.output.end_match, log)

    def _logged(
        self, names: Collection[str], leg: int, match_id: str
    ) -> Iterator[tuple[BotProcess, Path]]:
        folder = Path(self._setup.log_dir)
        for name in names:
            running = self._running.get((name, leg))
            if running is not None and running.process is not None:
                yield running.process, match_log(folder, name, match_id)

    async def failures(self, names: Collection[str], leg: int) -> tuple[BotFailure, ...]:
        """Return what went wrong with the processes of these bots, which forfeited by them."""
        return tuple([await asyncio.to_thread(self._failure, name, leg) for name in names])

    def _failure(self, name: str, leg: int) -> BotFailure:
        running = self._running[name, leg]
        failure, text = running.problem or (Failure.NOT_READY, self._not_ready())
        if failure is Failure.ENDED:
            text = f"ended with {text}" + ("" if running.said_hello else " before its hello")
        process = running.process
        if process is None or failure is Failure.NOT_STARTED:
            return BotFailure(name, leg, failure, text)
        return BotFailure(name, leg, failure, text, process.last_line(), str(process.output.log))

    def _not_ready(self) -> str:
        startup_ms = self._setup.time_control.get("startup_ms", 0)
        return f"said hello, but not within {startup_ms / 1000:g} s that it was ready to play"

    async def dismiss(self, names: Collection[str], leg: int) -> None:
        """Use the processes of these bots no more."""
        await self._retire([(name, leg) for name in names])

    async def dismiss_ended(self) -> None:
        """Forget bots whose process has ended."""
        await self._retire([key for key, bot in self._running.items() if not bot.is_alive])

    async def close(self) -> None:
        """Stop all bots, at once."""
        await self._retire(list(self._running))

    async def _token(self, key: Key, *, is_withdrawn: bool) -> str:
        running = self._running.pop(key, None)
        if running is not None:
            self._running[key] = running  # the most recently used is the last
            try:
                if not running.is_alive:
                    raise ConnectionError
                await self._gate.wait_connected(running.token, timeout_s=WARM_ANSWER_S)
            except (TimeoutError, ConnectionError):
                await self._retire([key])
                running = None
        if running is None:
            bot = self._bots[key[0]]
            running = _Running(self._gate.issue_token(bot=bot.name, version=bot.version))
            self._running[key] = running
            if is_withdrawn:
                text = "was withdrawn: it forfeits without being started"
                self._report_exit(running, Failure.WITHDRAWN, text)
            else:
                await self._start(bot, key[1], running)
        return running.token

    async def _start(self, bot: BotSpec, leg: int, running: _Running) -> None:
        # What a bot keeps in its home is gone with it; the frozen copy stays as it is.
        running.home = Path(self._setup.socket_dir, f"home-{next(self._homes)}")
        loop = asyncio.get_running_loop()

        def ended(text: str) -> None:
            # From the process's own thread; when the loop is closed nobody is left to tell.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._ended, running, text)

        try:
            running.home.mkdir(mode=0o700, parents=True)
            running.process = start_bot(
                self._sandbox,
                Program(Path(bot.folder), bot.run, Limits(memory_mb=bot.memory_mb, tcp=bot.tcp)),
                address=self._address,
                token=running.token,
                home=running.home,
                log=new_log(Path(self._setup.log_dir), bot.name, leg),
                on_exit=ended,
            )
        except LaunchError as error:
            self._report_exit(running, Failure.NOT_STARTED, str(error))
            return
        except (OSError, SandboxError):
            # Not the bot's fault: nobody forfeits, the leg has no result.
            await self._retire([(bot.name, leg)])
            raise
        pid = running.process.pid
        self._report(BotStarted(pid=pid, mark=process_mark(pid)))
        try:
            await self._gate.wait_connected(running.token, timeout_s=self._setup.launch_s)
        except TimeoutError:
            text = f"said no hello within {self._setup.launch_s:g} s"
            self._report_exit(running, Failure.NO_HELLO, text)
            await asyncio.to_thread(running.process.stop)
        except ConnectionError:
            await asyncio.to_thread(running.process.stop)
        else:
            running.said_hello = True

    def _ended(self, running: _Running, text: str) -> None:
        assert running.process is not None
        self._report(BotEnded(pid=running.process.pid))
        if running.process.start_problem is not None:
            self._report_exit(running, Failure.NOT_STARTED, running.process.start_problem)
        elif text == KILLED:
            loop = asyncio.get_running_loop()
            loop.call_later(KILLED_S, self._report_exit, running, Failure.ENDED, text)
        else:
            self._report_exit(running, Failure.ENDED, text)

    def _report_exit(self, running: _Running, failure: Failure, text: str) -> None:
        if not running.is_reported:
            running.is_reported = True
            running.problem = (failure, text)
            self._gate.report_exit(running.token, PUBLIC_WORDS[failure])

    async def _make_room(self, needed: Collection[Key]) -> None:
        idle = [key for key in self._running if key not in needed]
        surplus = len(idle) + len(needed) - max(self._setup.warm, len(needed))
        await self._retire(idle[: max(0, surplus)])

    async def _retire(self, keys: Collection[Key]) -> None:
        gone = [self._running.pop(key) for key in keys if key in self._running]
        await asyncio.gather(*(self._stop(running) for running in gone))

    async def _stop(self, running: _Running) -> None:
        running.is_reported = True
        self._gate.revoke_token(running.token)
        if running.process is not None:
            await asyncio.to_thread(running.process.stop)
        if running.home is not None:
            await asyncio.to_thread(shutil.rmtree, running.home, ignore_errors=True)


def _token_or_error(token: str | BaseException) -> str:
    if isinstance(token, BaseException):
        raise token
    return token
