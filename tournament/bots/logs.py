"""The logs of bots' processes: a file for each, and of each bot the latest ones only."""

import os
from collections.abc import Iterator
from pathlib import Path

LOGS_KEPT = 40
"""Logs of one bot in a tournament. With the cap of each (launch.py) they take 10 MiB at most."""


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


def _numbered(place: Path) -> Iterator[tuple[int, Path]]:
    for log in place.glob("*-leg*.log"):
        number = log.name.partition("-")[0]
        if number.isdecimal():
            yield int(number), log
