"""How much memory and how many processes a tree takes at its peak, as /proc tells (Linux)."""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

EACH_S = 0.1
_PROC = Path("/proc")
_PARENT, _THREADS = 1, 17
"""Fields of /proc/PID/stat after the name."""
_WALLS = "bwrap"
"""Bubblewrap's own processes are none of the bot's."""


@dataclass(slots=True)
class Peak:
    """The most that was seen at one time. `looks` is how often there was something to see."""

    memory_bytes: int = 0
    """Private memory: what lies in files and libraries is not counted."""
    processes: int = 0
    """Threads count as processes."""
    looks: int = 0


def can_be_seen() -> bool:
    """Return whether this system tells."""
    return (_PROC / "self" / "statm").exists()


@asynccontextmanager
async def watching(peak: Peak, root: Callable[[], int | None]) -> AsyncIterator[None]:
    """Look now and then at the tree below the process `root()`, if there is one."""

    async def look() -> None:
        while True:
            pid = root()
            if pid is not None:
                await asyncio.to_thread(look_at, peak, pid)
            await asyncio.sleep(EACH_S)

    task = asyncio.create_task(look()) if can_be_seen() else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def look_at(peak: Peak, root: int) -> None:
    """Take note of what the process `root` and all below it use now."""
    children: dict[int, list[int]] = defaultdict(list)
    threads: dict[int, int] = {}
    for name in os.listdir(_PROC):  # noqa: PTH208 - half the time of iterdir, and often done
        if not name.isdecimal():
            continue
        try:
            head, _, rest = (_PROC / name / "stat").read_text().rpartition(")")
        except (OSError, UnicodeDecodeError):
            continue  # it has just ended, or has no name that can be read
        fields = rest.split()
        children[int(fields[_PARENT])].append(int(name))
        threads[int(name)] = 0 if head.endswith(f"({_WALLS}") else int(fields[_THREADS])
    tree = [root]
    for pid in tree:
        tree += children[pid]
    processes = sum(threads.get(pid, 0) for pid in tree)
    if processes:
        peak.looks += 1
        peak.processes = max(peak.processes, processes)
        memory = sum(_private(pid) for pid in tree if threads.get(pid))
        peak.memory_bytes = max(peak.memory_bytes, memory)


def _private(pid: int) -> int:
    try:
        _, resident, shared, *_ = map(int, (_PROC / str(pid) / "statm").read_text().split())
    except OSError:
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
