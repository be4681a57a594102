"""The runner's side of a worker: starts the process, talks to it, leaves nothing of it behind."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Self

from tournament.bots.guard import Guard
from tournament.bots.launch import import_paths
from tournament.bots.leftovers import is_group_running, kill_leftover_group, process_mark
from tournament.bots.output import plain_lines
from tournament.errors import WorkerError
from tournament.worker.messages import (
    LINE_LIMIT_BYTES,
    Acknowledged,
    BotEnded,
    BotStarted,
    Failed,
    Message,
    PlayLeg,
    Ready,
    Result,
    Setup,
    decode,
    encode,
)

COMMAND = (sys.executable, "-m", "tournament.worker")
READY_S = 60.0
STOP_S = 10.0
_GONE_S = 10.0
"""How long processes that were killed may take to be gone."""
LOG_MOST_BYTES = 16 * 1024 * 1024
"""A worker's log that has grown larger is put aside, in place of what was put aside before."""
_LOG_TAIL = 1_500


class WorkerLostError(Exception):
    """The worker ended, or had to be ended, before it answered."""


class NotReadyError(WorkerError):
    """A worker ended while it started: another one may do better."""


class WorkerProcess:
    """A running worker. Make one with `start`."""

    def __init__(
        self, process: asyncio.subprocess.Process, socket_dir: Path, log: Path, guard: Guard
    ) -> None:
        self._process = process
        self._socket_dir = socket_dir
        self._log = log
        self._guard = guard
        self._bots: dict[int, str] = {}
        guard.watch(self.pid, process_mark(self.pid), is_worker=True)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @classmethod
    async def start(
        cls,
        setup: Setup,
        *,
        log_dir: Path,
        number: int,
        guard: Guard,
        command: Sequence[str] = COMMAND,
    ) -> Self:
        """Start a worker and wait until it is ready. Raises WorkerError or NotReadyError.

        The folder of its socket is made, and is removed when it stops. The guard hears of it and
        of its bots.
        """
        log = log_dir / f"worker-{number}.log"
        socket_dir = Path(setup.socket_dir)
        try:
            socket_dir.mkdir(mode=0o700)  # noqa: ASYNC240 - as short as it gets
            with _private_log(log) as log_file:
                starting = asyncio.ensure_future(
                    asyncio.create_subprocess_exec(
                        *command,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        stderr=log_file,
                        env=_environment(),
                        limit=LINE_LIMIT_BYTES,
                        # Ctrl-C is for the runner, which then ends its workers in order.
                        start_new_session=True,
                    )
                )
                try:
                    process = await asyncio.shield(starting)
                except asyncio.CancelledError:
                    # Only a process that has started can be ended in order.
                    await cls(await starting, socket_dir, log, guard).stop(grace_s=0)
                    raise
        except OSError as error:
            shutil.rmtree(socket_dir, ignore_errors=True)
            raise NotReadyError(f"worker {number} can't be started: {error}") from error
        worker = cls(process, socket_dir, log, guard)
        try:
            async with asyncio.timeout(READY_S):
                await worker._send(setup)
                answer = await worker._answer()
        except WorkerLostError as error:
            await worker.stop(grace_s=0)
            raise NotReadyError(worker._not_ready(number, str(error))) from error
        except TimeoutError as error:
            await worker.stop(grace_s=0)
            why = f"no answer within {READY_S:g} s"
            raise WorkerError(worker._not_ready(number, why)) from error
        except BaseException:
            await worker.stop(grace_s=0)
            raise
        if not isinstance(answer, Ready):
            await worker.stop(grace_s=0)
            raise WorkerError(f"worker {number} began with {answer!r}: expected Ready")
        return worker

    async def play(self, leg: PlayLeg, *, limit_s: float) -> Result | Failed:
        """Have a leg played. Raises WorkerLostError when no answer comes."""
        self._put_log_aside()
        try:
            async with asyncio.timeout(limit_s):
                await self._send(leg)
                answer = await self._answer()
        except TimeoutError:
            raise WorkerLostError(f"the worker gave no answer within {limit_s:g} s") from None
        if not isinstance(answer, Result | Failed) or answer.fixture_id != leg.fixture_id:
            raise WorkerLostError(f"the worker answered a leg with {answer!r}")
        return answer

    async def acknowledge(self, fixture_id: str) -> None:
        """Tell the worker that a leg is done with, so that it may begin another."""
        # Should it be gone, the next leg will find out.
        with contextlib.suppress(WorkerLostError):
            await self._send(Acknowledged(fixture_id))

    async def stop(self, grace_s: float = STOP_S) -> None:
        """End the worker and all its bots, and wait until they are gone."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        # What is still in the pipe is read, so that the worker can't hang in writing to it.
        draining = asyncio.create_task(self._drain())
        try:
            async with asyncio.timeout(grace_s):
                await self._process.wait()
        except TimeoutError:
            if self._process.returncode is None:
                # Not `kill()`, which may take the end from asyncio, which then complains.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
            await self._process.wait()
        finally:
            await draining
            for pid, mark in self._bots.items():
                kill_leftover_group(pid, mark)
            await self._bots_are_gone()
            for pid in self._bots:
                self._guard.forget(pid)
            self._bots.clear()
            self._guard.forget(self.pid)
            shutil.rmtree(self._socket_dir, ignore_errors=True)

    async def _bots_are_gone(self) -> None:
        """Wait for bots that were killed: a busy machine takes a while to end them."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GONE_S):
                while any(map(is_group_running, self._bots)):  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(0.01)

    async def _drain(self) -> None:
        with contextlib.suppress(WorkerLostError):
            while True:
                await self._answer()

    async def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(encode(message))
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise WorkerLostError("the worker has ended") from None

    async def _answer(self) -> Message:
        """Return the next message that is not about processes."""
        assert self._process.stdout is not None
        while True:
            try:
                line = await self._process.stdout.readline()
            except ValueError as error:
                raise WorkerLostError(f"the worker sent too long a line: {error}") from error
            if not line.endswith(b"\n"):
                raise WorkerLostError("the worker has ended")
            try:
                message = decode(line)
            except ValueError as error:
                raise WorkerLostError(str(error)) from error
            if isinstance(message, BotStarted):
                self._bots[message.pid] = message.mark
                self._guard.watch(message.pid, message.mark)
            elif isinstance(message, BotEnded):
                self._bots.pop(message.pid, None)
                self._guard.forget(message.pid)
            else:
                return message

    def _put_log_aside(self) -> None:
        """Keep the log within bounds. The worker, which appends to it, need not know."""
        # Without it, or without room for a copy, matches go on.
        with contextlib.suppress(OSError):
            if self._log.stat().st_size > LOG_MOST_BYTES:
                shutil.copyfile(self._log, self._log.with_suffix(".old.log"))
                os.truncate(self._log, 0)

    def _not_ready(self, number: int, why: str) -> str:
        return f"worker {number} did not become ready ({why}); {self._log_tail()}"

    def _log_tail(self) -> str:
        try:
            tail = plain_lines(self._log.read_bytes()[-_LOG_TAIL:])
        except OSError as error:
            return f"{self._log} can't be read: {error.strerror}"
        return f"{self._log} ends with:\n{tail}" if tail else f"it wrote nothing to {self._log}"


def _private_log(path: Path) -> IO[bytes]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def _environment() -> dict[str, str]:
    """Return this process's environment with the packages found again, installed or not."""
    paths = [*import_paths(), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
