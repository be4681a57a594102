"""Tells processes apart whose numbers may have been given away again."""

import contextlib
import os
import signal
from pathlib import Path


def process_mark(pid: int) -> str:
    """Return what tells this process from later ones with its number: its start, where known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    # The name, in brackets, may hold spaces; the start time is the 20th field after it.
    return stat.rpartition(")")[2].split()[19]


def kill_leftover_group(pid: int, mark: str) -> None:
    """Kill the process group that `pid` led, unless the number belongs to somebody else by now."""
    now = process_mark(pid)
    if now and now != mark:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
