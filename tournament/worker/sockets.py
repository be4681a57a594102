"""The folder of a run's sockets: private, short in its path, and gone when the run is.

A run holds a lock in its folder. Whoever can take the lock knows that the run is gone, and may
remove what it left: its last worker does, or else the next run.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "rummy-"
_LOCK = "run.lock"
_PATH_MOST = 100
"""Bytes that a socket's path may have on every system, less a few."""
_LONGEST_NAME = "9999/referee.sock"


@contextmanager
def socket_folder() -> Iterator[Path]:
    """Make a folder for the sockets of one run, and remove it at the end. Raises OSError."""
    parent = _parent()
    for folder in parent.glob(f"{PREFIX}*"):
        remove_abandoned(folder)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    try:
        new = folder / "new.lock"
        lock = os.open(new, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            new.rename(folder / _LOCK)  # it never goes by its name without being held
            yield folder
        finally:
            os.close(lock)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(folder: Path) -> None:
    """Remove a folder of sockets if its run is gone; anything else stays as it is."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return  # somebody else's, or not yet locked
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _parent() -> Path:
    """Return the folder for temporary files, or /tmp where its path is too long for a socket."""
    parent = Path(tempfile.gettempdir())
    longest = parent / f"{PREFIX}12345678" / _LONGEST_NAME
    return parent if len(os.fsencode(longest)) < _PATH_MOST else Path("/tmp")  # noqa: S108
