"""The logs of bots' processes: of each bot the latest ones, by process and by match."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

LOGS_KEPT = 40
"""Logs of one bot's processes in a tournament. With the cap of each they take 10 MiB at most."""
MATCH_LOGS_KEPT = 200
"""Logs of one bot's matches in a tournament."""
MATCH_LOG_CAP_BYTES = 64 * 1024
"""All logs of one bot's matches take 14 MiB at most."""


def new_log(folder: Path, bot: str, leg: int) -> Path:
    """Make an empty private log NUMBER-legLEG.log in `folder`/`bot`. Raises OSError.

    Numbers rise through the tournament, whichever worker starts the process, also after a resume.
    The oldest logs go when there are more than LOGS_KEPT.
    """
    place = folder / bot
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    logs = sorted(_numbered(place))
    for _, old in logs[: max(0, len(logs) - LOGS_KEPT + 1)]:
        old.unlink(missing_ok=True)  # another worker may be faster
    number = logs[-1][0] if logs else 0
    while True:
        number += 1
        log = place / f"{number:04}-leg{leg}.log"
        try:
            os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue  # another worker started one at the same moment
        return log


def match_log(folder: Path, bot: str, match_id: str) -> Path:
    """Return where a bot's output in a match is, if it wrote any. `folder` is that of all bots."""
    return folder / bot / f"{match_id}.log"


def make_match_log(log: Path) -> int:
    """Open a private log of a match for appending; the oldest of more than MATCH_LOGS_KEPT go.

    Raises OSError.
    """
    found = []
    with contextlib.suppress(FileNotFoundError):
        for other in log.parent.glob("*.log"):
            if not _is_numbered(other):
                with contextlib.suppress(FileNotFoundError):  # another worker may be faster
                    found.append((other.stat().st_mtime_ns, other))
    for _, old in sorted(found)[: max(0, len(found) - MATCH_LOGS_KEPT + 1)]:
        old.unlink(missing_ok=True)
    return append_to(log)


def append_to(log: Path) -> int:
    """Open a private log for appending. Raises OSError."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _numbered(place: Path) -> Iterator[tuple[int, Path]]:
    for log in place.glob("*.log"):
        if _is_numbered(log):
            yield int(log.name.partition("-")[0]), log


def _is_numbered(log: Path) -> bool:
    number, dash, leg = log.stem.partition("-leg")
    return bool(dash) and number.isdecimal() and leg.isdecimal()
