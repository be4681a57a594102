"""`tournament ladder` as a process."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ENVIRONMENT

QUICK = ("--set", "match_end=fixed_deals", "--set", "deals=1")


class Hall:
    """A ladder that is being served; its log lines are JSON."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self.process = process
        self.address = ""
        self._log = log

    @property
    def text(self) -> str:
        """Standard error so far."""
        return self._log.read_text()

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Log lines of an event."""
        parsed = [json.loads(line) for line in self.text.splitlines() if line.startswith("{")]
        return [line for line in parsed if line["event"] == event]

    def wait_for(self, event: str, timeout_s: float = 40.0) -> dict[str, Any]:
        """The first log line of an event."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            found = self.lines(event)
            if found:
                return found[0]
            assert self.process.poll() is None, f"it ended:\n{self.text}"
            time.sleep(0.05)
        pytest.fail(f"no {event!r} within {timeout_s} s:\n{self.text}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def hall(folder: Path, *arguments: str, listen: str = "127.0.0.1:0") -> Iterator[Hall]:
    """Serve a ladder whose data is in `folder`/data."""
    folder.mkdir(exist_ok=True)
    log = folder / f"log-{time.monotonic_ns()}"
    words = ["ladder", "--data", "data", "--listen", listen, *arguments]
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "tournament", *words],
            cwd=folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            text=True,
        )
    found = Hall(process, log)
    try:
        found.address = found.wait_for("listening")["address"]
        yield found
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert "Traceback" not in found.text, found.text


def memory_mb(pid: int) -> float:
    """Resident memory of a process, in megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def children(pid: int) -> list[int]:
    """Processes that a process has started and that still run."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
