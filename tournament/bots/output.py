"""What a process writes: kept in one log after another, each with a cap, and never lost between."""

import contextlib
import os
import threading
from pathlib import Path

from tournament.bots.logs import MATCH_LOG_CAP_BYTES, append_to, make_match_log

LOG_CAP_BYTES = 256 * 1024
_TAIL_BYTES, _LINE_MOST = 4_096, 300
_CAPPED = b"\n(the log's cap is reached: of what follows only the end is kept)\n"


class Output:
    """Where a process's output goes: its own log, and while it plays that of the match.

    One thread writes while another may say where to go on.
    """

    def __init__(self, log: Path, cap_bytes: int = LOG_CAP_BYTES) -> None:
        """Begin with the process's own log. Raises OSError."""
        self._lock = threading.Lock()
        self._own = self._current = _Log(log, cap_bytes, append_to(log))
        self._has_played = False
        self._is_closed = False

    @property
    def log(self) -> Path:
        """The log that is written to now; the process's own if nothing was written to it yet."""
        with self._lock:
            return (self._current if self._current.is_there else self._own).path

    def write(self, chunk: bytes) -> None:
        """Keep some output. A full disk loses it: it must not stop the process."""
        with self._lock:
            self._current.write(chunk)

    def begin_match(self, log: Path) -> None:
        """Go on in the log of a match, which is made when something is written to it.

        The log of a process's first match begins with what it said before.
        """
        with self._lock:
            self._leave()
            self._current = _Log(log, MATCH_LOG_CAP_BYTES)
            if not self._has_played:
                self._has_played = True
                self._current.write(self._own.content())
            if self._is_closed:
                self._current.close()

    def end_match(self, log: Path) -> None:
        """Go on in the process's own log, unless another match has begun since."""
        with self._lock:
            if self._current.path == log:
                self._leave()
                self._current = self._own

    def last_line(self) -> str:
        """Return the last line of the current log that is not blank, cut, or an empty text."""
        with self._lock:
            tail = self._current.tail
        lines = [line.strip() for line in tail.decode(errors="replace").splitlines()]
        last = next((line for line in reversed(lines) if line), "")
        return one_line(last[:_LINE_MOST])

    def close(self) -> None:
        """End the logs: the process writes no more."""
        with self._lock:
            self._is_closed = True
            self._current.close()
            self._own.close()

    def _leave(self) -> None:
        if self._current is not self._own:
            self._current.close()


class _Log:
    """One file: its beginning up to the cap, and the end of what came after."""

    def __init__(self, path: Path, cap_bytes: int, file: int | None = None) -> None:
        self.path = path
        self.tail = b""
        self._cap = self._left = cap_bytes
        self._file = file
        self._is_closed = False
        self._is_capped = False

    @property
    def is_there(self) -> bool:
        return self._file is not None

    def write(self, chunk: bytes) -> None:
        if not chunk or self._is_closed:
            return
        self.tail = (self.tail + chunk)[-_TAIL_BYTES:]
        if self._left > 0:
            self._append(chunk[: self._left])
        if len(chunk) > self._left and not self._is_capped:
            self._is_capped = True
            self._append(_CAPPED)
        self._left = max(0, self._left - len(chunk))

    def content(self) -> bytes:
        """Return what is in the file, as far as it can be read, and the end if that is not."""
        try:
            content = self.path.read_bytes()[: self._cap]
        except OSError:
            return self.tail
        return content + self.tail if self._is_capped else content

    def close(self) -> None:
        if self._is_capped and not self._is_closed:
            self._append(self.tail)
        if self._file is not None and not self._is_closed:
            os.close(self._file)
        self._is_closed = True

    def _append(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            if self._file is None:
                self._file = make_match_log(self.path)
            while data:
                data = data[os.write(self._file, data) :]


def one_line(text: str) -> str:
    """Return the text without what a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)


def plain_lines(output: bytes) -> str:
    """Return output of a program for people: without what a terminal would obey, in its lines."""
    lines = output.decode(errors="replace").expandtabs().splitlines()
    return "\n".join(one_line(line).rstrip() for line in lines).strip()
