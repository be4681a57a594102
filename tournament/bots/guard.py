"""A process that outlives the run it guards: whatever kills that, it ends what is left behind.

A run tells its guard, over a pipe, of every process that it or its workers start and that ends.
The pipe closes with the run. Unless that ended in order, workers have a moment to end their bots;
what is left then, or at once when no worker is, is killed, and the run's scratch folder removed.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from tournament.bots.leftovers import is_running, kill_leftover_group
from tournament.bots.scratch import remove_abandoned

GRACE_S = 15.0
_POLL_S = 0.05
_STOP_S = 10.0
_WORKER, _OTHER, _ENDED, _DONE = "worker", "other", "ended", "done"
_COMMAND = (sys.executable, "-m", "tournament.bots.guard")


class Guard:
    """The run's side of its guard, which starts with it. As a context it is closed at the end.

    `folder` is a scratch folder of the run. A guard that was killed itself is missed only if the
    run is killed too.
    """

    def __init__(self, folder: Path) -> None:
        packages = str(Path(__file__).resolve().parents[2])
        paths = [packages, os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(  # noqa: S603 - this package's own
            (*_COMMAND, str(folder.absolute())),
            cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is not for it, and killing the run's group does not kill it.
            start_new_session=True,
        )

    def watch(self, pid: int, mark: str, *, is_worker: bool = False) -> None:
        """Note that a process runs, which leads a group of its own; `mark` is its process_mark."""
        self._tell(f"{_WORKER if is_worker else _OTHER} {pid} {mark}")

    def forget(self, pid: int) -> None:
        """Note that a process has ended."""
        self._tell(f"{_ENDED} {pid}")

    def close(self) -> None:
        """End the guard: the run has ended in order and leaves nothing."""
        self._tell(_DONE)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()


def guard(lines: Iterable[str], folder: Path, wait: Callable[[float], None] = time.sleep) -> None:
    """Follow what a run tells until its end; if it was killed, end what it left."""
    workers: dict[int, str] = {}
    others: dict[int, str] = {}
    for line in lines:
        what, *rest = line.split()
        if what == _DONE:
            return
        pid, mark = int(rest[0]), "".join(rest[1:])
        if what == _ENDED:
            workers.pop(pid, None)
            others.pop(pid, None)
        else:
            (workers if what == _WORKER else others)[pid] = mark
    _until(lambda: not any(is_running(pid, mark) for pid, mark in workers.items()), wait)
    for pid, mark in (workers | others).items():
        kill_leftover_group(pid, mark)

    def is_removed() -> bool:
        remove_abandoned(folder)
        return not folder.exists()

    # The lock of the dead may be held for a moment yet.
    _until(is_removed, wait)


def _until(is_so: Callable[[], bool], wait: Callable[[float], None]) -> None:
    """Wait until it is so, for GRACE_S at most."""
    left_s = GRACE_S
    while not is_so() and left_s > 0:
        wait(_POLL_S)
        left_s -= _POLL_S


if __name__ == "__main__":
    guard(sys.stdin, Path(sys.argv[1]))
