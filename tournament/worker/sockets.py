"""The folder of a run's sockets: private, short in its path, and gone when the run is.

When a run is killed its last worker removes the folder, or else the next run.
"""

import os
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

from tournament.bots.scratch import scratch_folder

PREFIX = "rummy-"
_PATH_MOST = 100
"""Bytes that a socket's path may have on every system, less a few."""
_LONGEST_NAME = "9999/referee.sock"


def socket_folder() -> AbstractContextManager[Path]:
    """Make a folder for the sockets of one run, and remove it at the end. Raises OSError."""
    return scratch_folder(_parent(), PREFIX)


def _parent() -> Path:
    """Return the folder for temporary files, or /tmp where its path is too long for a socket."""
    parent = Path(tempfile.gettempdir())
    longest = parent / f"{PREFIX}12345678" / _LONGEST_NAME
    return parent if len(os.fsencode(longest)) < _PATH_MOST else Path("/tmp")  # noqa: S108
