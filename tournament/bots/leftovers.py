"""Tells processes apart whose numbers may have been given away again."""

import contextlib
import os
import signal
from pathlib import Path

_STATE, _GROUP, _START = 0, 2, 19
"""Fields of /proc/PID/stat after the name."""


def process_mark(pid: int) -> str:
    """Return what tells this process from later ones with its number: its start, where known."""
    fields = _stat(pid)
    return fields[_START] if fields else ""


def is_running(pid: int, mark: str) -> bool:
    """Return whether the process with this mark has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # somebody else's by now
    fields = _stat(pid)
    return not fields or (fields[_START] == mark and fields[_STATE] != "Z")


def kill_leftover_group(pid: int, mark: str) -> None:
    """Kill the process group that `pid` led, unless the number belongs to somebody else by now."""
    now = process_mark(pid)
    if now and now != mark:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def is_group_running(pid: int) -> bool:
    """Return whether any process of the group that `pid` led has not ended."""
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    # Those that have ended stay in the group until somebody asks for how they did.
    stats = [_stat(int(entry.name)) for entry in Path("/proc").glob("[0-9]*")]
    return not stats or any(
        stat[_GROUP] == str(pid) and stat[_STATE] != "Z" for stat in stats if stat
    )


def _stat(pid: int) -> list[str]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return stat.rpartition(")")[2].split()  # the name, in brackets, may hold spaces
