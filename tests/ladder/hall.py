"""`tournament ladder` as a process."""

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.service.serving import Server, running

QUICK = ("--set", "match_end=fixed_deals", "--set", "deals=1")


class Hall(Server):
    """A ladder that is being served; its log lines are JSON."""

    stop_s = 60
    address = ""


@contextmanager
def hall(folder: Path, *arguments: str, listen: str = "127.0.0.1:0") -> Iterator[Hall]:
    """Serve a ladder whose data is in `folder`/data."""
    folder.mkdir(exist_ok=True)
    log = folder / f"log-{time.monotonic_ns()}"
    words = ["ladder", "--data", "data", "--listen", listen, *arguments]
    with running(Hall, ["tournament", *words], folder, log) as found:
        found.address = found.wait_for("listening")["address"]
        yield found


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
