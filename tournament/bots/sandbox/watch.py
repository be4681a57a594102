"""Looks at memory and files of bots now and then, for not every machine has control groups.

It sees what processes have written to, shared among them once. A bot can go over for a moment, and
then it is killed.
"""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.sandbox.arguments import SCRATCH
from tournament.bots.sandbox.tree import Tree

EACH_S = 0.2
FILES_MOST = 20_000
"""Files in each folder in memory: their names take memory that no size bounds."""
_MIB = 1024 * 1024
_EXACT = (b"Pss_Anon:", b"Pss_Shmem:")


@dataclass(frozen=True, slots=True)
class _Watched:
    most_bytes: int
    tell: Callable[[str], None]


class MemoryWatch:
    """A thread, while there is something to watch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[Tree, _Watched] = {}
        self._woken = threading.Event()
        self._is_running = False

    def add(self, tree: Tree, most_bytes: int, tell: Callable[[str], None]) -> None:
        """Kill the tree when it goes over; `tell` is called with the reason before."""
        with self._lock:
            self._watched[tree] = _Watched(most_bytes, tell)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, daemon=True, name="memory watch").start()

    def remove(self, tree: Tree) -> None:
        """Look at the tree no more; when this returns nobody does."""
        with self._lock:
            self._watched.pop(tree, None)
            if not self._watched:
                self._woken.set()

    def _run(self) -> None:
        while True:
            self._woken.wait(EACH_S)
            with self._lock:
                self._woken.clear()
                if not self._watched:
                    self._is_running = False
                    return
                for tree, watched in self._watched.items():
                    reason = None if tree.has_ended() else excess(tree, watched.most_bytes)
                    if reason is not None:
                        watched.tell(reason)
                        tree.kill()


def excess(tree: Tree, most_bytes: int) -> str | None:
    """Return in words what a tree has too much of, if anything."""
    try:
        if not tree.is_inside():
            return None  # all processes of this machine would count
        processes = list(tree.processes())
        # Quick and never too low; what is in files and libraries is subtracted only when needed.
        if sum(map(_resident, processes)) > most_bytes:
            used = sum(sum(_exact(process)) for process in processes)
            if used > most_bytes:
                return f"used {used // _MIB} MiB of memory, more than {most_bytes // _MIB}"
        for folder in SCRATCH:
            state = os.statvfs(tree.inside(folder))
            if state.f_files - state.f_ffree > FILES_MOST:
                return f"made more than {FILES_MOST} files in {folder}"
    except OSError:
        return None  # it ends just now
    return None


def _resident(process: Path) -> int:
    try:
        with open(process / "statm", "rb") as file:  # noqa: PTH123 - often done
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0


def _exact(process: Path) -> Iterator[int]:
    try:
        text = (process / "smaps_rollup").read_bytes()
    except OSError:  # it ends just now, or hides: then all counts
        yield _resident(process)
        return
    for line in text.splitlines():
        if line.startswith(_EXACT):
            yield int(line.split()[1]) * 1024


_PAGE = os.sysconf("SC_PAGE_SIZE")
