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
        _remove(folder)


def remove_abandoned(folder: Path) -> None:
    """Remove a scratch folder if its process is gone; anything else stays as it is."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return  # somebody else's, or not yet locked
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(folder)
    finally:
        os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a scratch folder, its lock last.

    Workers that outlive their run may still be putting something in it. Then the lock stays, and
    by that the last of them, or the next run, knows the folder for what it is.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != _LOCK:
                path.unlink(missing_ok=True)
        (folder / _LOCK).unlink(missing_ok=True)
        try:
            folder.rmdir()
        except OSError:
            (folder / _LOCK).touch(mode=0o600)
            raise
