"""The processes of one bubblewrap, seen from outside through the first one inside."""

import contextlib
import json
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

_BEGIN_S = 10.0


class Tree:
    """All processes below one process id namespace; they die with its first one."""

    def __init__(self, first: int) -> None:
        """`first` is its process id outside. Raises OSError when it has ended already."""
        self._first = first
        self._handle = os.pidfd_open(first)

    def kill(self) -> None:
        """Kill every process."""
        with contextlib.suppress(OSError):  # gone, or closed
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def has_ended(self, timeout_s: float = 0.0) -> bool:
        """Return whether every process is gone, within the time."""
        try:
            return bool(select.select([self._handle], [], [], timeout_s)[0])
        except (OSError, ValueError):  # closed
            return True

    def is_inside(self) -> bool:
        """Return whether it sees files of its own by now. Raises OSError when it has ended.

        Until bubblewrap has changed its root, `inside` names this machine's own files.
        """
        root, own = os.stat(self.inside("/")), os.stat("/")  # noqa: PTH116 - often done
        return (root.st_dev, root.st_ino) != (own.st_dev, own.st_ino)

    def inside(self, path: str) -> Path:
        """Return how to name a path inside from outside."""
        return Path(f"/proc/{self._first}/root{path}")

    def processes(self) -> Iterator[Path]:
        """Yield the folders of /proc for each process; any may vanish. Raises OSError."""
        proc = self.inside("/proc")
        for name in os.listdir(proc):  # noqa: PTH208 - half the time of iterdir, and often done
            if name.isdecimal():
                yield proc / name

    def close(self) -> None:
        """Let go of it."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def tree_of(info: int) -> Tree | None:
    """Read what bubblewrap tells about itself in the descriptor `info`; None if it never began."""
    text = b""
    while select.select([info], [], [], _BEGIN_S)[0]:
        chunk = os.read(info, 4096)
        if not chunk:
            break
        text += chunk
    try:
        return Tree(int(json.loads(text)["child-pid"]))
    except (ValueError, KeyError, OSError):
        return None
