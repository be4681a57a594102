"""Folders that a process makes for itself: whatever kills it, the next one removes them.

The process holds a lock in its folder. Whoever can take the lock knows that the process is gone.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = "run.lock"


@contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a private folder in `parent`, and remove it at the end. Raises OSError.

    Folders of the same prefix whose processes are gone are removed first.
    """
    for folder in parent.glob(f"{prefix}*"):
        remove_abandoned(folder)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
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
    """Remove a scratch folder if its process is gone; anything else stays as it is."""
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
