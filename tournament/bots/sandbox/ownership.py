"""Who owns a bot's files: a user of its own while it is built, the launcher ever after."""

import contextlib
import os
import stat
from pathlib import Path


def give(folder: Path, user: int) -> None:
    """Make a folder and all in it a user's. Raises OSError."""
    for path in _all(folder):
        os.chown(path, user, user, follow_symlinks=False)


def make_readable(folder: Path) -> None:
    """Make a folder and all in it the launcher's, readable by all users and special to none.

    What the launcher may not change stays as it is; links are not followed.
    """
    for path in _all(folder):
        with contextlib.suppress(OSError):
            os.chown(path, os.geteuid(), os.getegid(), follow_symlinks=False)
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and mode & 0o100):
                path.chmod(0o755)
            elif stat.S_ISREG(mode):
                path.chmod(0o644)


def _all(folder: Path) -> list[Path]:
    found = [folder]
    for path, folders, files in os.walk(folder):
        found += [Path(path, name) for name in (*folders, *files)]
    return found
