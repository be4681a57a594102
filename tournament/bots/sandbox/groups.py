"""Control groups: the kernel's own bounds on a tree of processes, where the launcher may make any.

Version 2 where its controllers are, else version 1. A group is a folder in each hierarchy.
"""

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.sandbox.limits import Limits

_NEEDED = ("memory", "pids")
_WANTED = (*_NEEDED, "cpu")
_PREFIX = "rummy-"
_MIB = 1024 * 1024
_EMPTY_S = 2.0
_FIRST_VERSION, _SECOND_VERSION = "cgroup", "cgroup2"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A folder to make groups in, and what can be bounded there."""

    folder: Path
    controllers: frozenset[str]
    is_second_version: bool


class Group:
    """One group, empty when it is made."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    @property
    def doors(self) -> list[Path]:
        """The files that a process writes 0 to in order to join."""
        return [folder / "cgroup.procs" for folder in self._folders]

    def kill(self) -> None:
        """Kill every process in it."""
        for folder in self._folders:
            try:
                (folder / "cgroup.kill").write_text("1")
            except OSError:  # the first version, or an old kernel
                for pid in _members(folder):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)

    def reason(self) -> str | None:
        """Return in words why the kernel killed something in it, if it did."""
        for folder in self._folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    lines = (folder / name).read_text().split("\n")
                    counts = dict(line.split(" ", 1) for line in lines if " " in line)
                    if int(counts.get("oom_kill", "0")) > 0:
                        return "used more memory than it may"
        return None

    def remove(self) -> None:
        """Kill what is left, wait until it is gone, and remove the group."""
        deadline = time.monotonic() + _EMPTY_S
        for folder in self._folders:
            while not _removed(folder) and time.monotonic() < deadline:
                self.kill()
                time.sleep(0.005)


class Groups:
    """Makes groups."""

    def __init__(self, hierarchies: Sequence[Hierarchy]) -> None:
        self._hierarchies = hierarchies
        self._numbers = itertools.count(1)

    def create(self, limits: Limits) -> Group:
        """Make a group with these limits. Raises OSError."""
        name = f"{_PREFIX}{os.getpid()}-{next(self._numbers)}"
        made: list[Path] = []
        try:
            for hierarchy in self._hierarchies:
                folder = hierarchy.folder / name
                folder.mkdir()
                made.append(folder)
                for file, value in settings(limits, hierarchy).items():
                    # A kernel without swap, or without groups for it, lacks some of them.
                    if file in ESSENTIAL or (folder / file).exists():
                        (folder / file).write_text(value)
        except OSError:
            Group(made).remove()
            raise
        return Group(made)

    def remove_abandoned(self) -> None:
        """Remove the groups of launchers that were killed."""
        for hierarchy in self._hierarchies:
            for folder in hierarchy.folder.glob(f"{_PREFIX}*-*"):
                pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
                if pid.isdecimal() and not Path("/proc", pid).exists():
                    _removed(folder)


ESSENTIAL = ("memory.max", "pids.max", "memory.limit_in_bytes")


def settings(limits: Limits, hierarchy: Hierarchy) -> dict[str, str]:
    """Return what to write to which file of a new group, in order."""
    # What lies in /tmp and /dev/shm counts as memory too, and so does a little of bubblewrap.
    memory = str((limits.memory_mb + 2 * limits.disk_mb + 16) * _MIB)
    files: dict[str, str] = {}
    if "memory" in hierarchy.controllers:
        files |= (
            {"memory.max": memory, "memory.swap.max": "0", "memory.oom.group": "1"}
            if hierarchy.is_second_version
            else {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
        )
    if "pids" in hierarchy.controllers:
        files["pids.max"] = str(limits.processes + 4)  # bubblewrap's own
    if "cpu" in hierarchy.controllers:
        files |= (
            {"cpu.weight": str(limits.cpu_weight)}
            if hierarchy.is_second_version
            else {"cpu.shares": str(limits.cpu_weight * 1024 // 100)}
        )
    return files


def find_groups(
    mounts: Path = Path("/proc/self/mounts"), own: Path = Path("/proc/self/cgroup")
) -> Groups | None:
    """Return where groups can be made that bound memory and processes, tried out, or None."""
    try:
        mounted = [line.split() for line in mounts.read_text().splitlines()]
        paths = _own_paths(own.read_text())
    except OSError:
        return None
    second = [Path(words[1]) for words in mounted if words[2] == _SECOND_VERSION]
    for top in second:
        place = top / paths.get("", "/").lstrip("/")
        # Processes and groups with controllers exclude each other, but for the top.
        for folder in (place, place.parent, top):
            if folder.is_relative_to(top):
                found = Hierarchy(folder, _controllers(folder), is_second_version=True)
                if found.controllers.issuperset(_NEEDED) and _works([found]):
                    return Groups([found])
    first = []
    for controller in _WANTED:
        for words in mounted:
            if words[2] == _FIRST_VERSION and controller in words[3].split(","):
                folder = Path(words[1]) / paths.get(controller, "/").lstrip("/")
                first.append(Hierarchy(folder, frozenset({controller}), is_second_version=False))
                break
    known = {controller for one in first for controller in one.controllers}
    return Groups(first) if known.issuperset(_NEEDED) and _works(first) else None


def _works(hierarchies: Sequence[Hierarchy]) -> bool:
    """Try to make a group, and whether a process of this user may join it."""
    groups = Groups(hierarchies)
    try:
        groups.remove_abandoned()
        group = groups.create(Limits())
    except OSError:
        return False
    try:
        return all(os.access(door, os.W_OK) for door in group.doors)
    finally:
        group.remove()


def _controllers(folder: Path) -> frozenset[str]:
    try:
        return frozenset((folder / "cgroup.subtree_control").read_text().split())
    except OSError:
        return frozenset()


def _own_paths(text: str) -> Mapping[str, str]:
    """Return the group of this process for each controller; the second version's is ''."""
    paths = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


def _members(folder: Path) -> list[int]:
    try:
        return [int(word) for word in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
