"""Files that users name: read in one piece, and shown without doing harm to a terminal."""

from pathlib import Path

_MOST_BYTES = 64 << 20
"""More than any record has: 200 deals of hundreds of turns."""


class UnreadableError(Exception):
    """A file that cannot be had; the message says why."""


def content_of(file: Path) -> bytes:
    """All of a file. Raises UnreadableError."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"it cannot be read: {error.strerror}") from error
    if len(content) > _MOST_BYTES:
        raise UnreadableError(f"it has more than {_MOST_BYTES >> 20} MiB: no record is so long")
    return content


def printable(line: str) -> str:
    """Return the text with its control characters spelled out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def shown_path(path: Path) -> str:
    """The path as text that stays on its line and sends no orders to a terminal."""
    text = str(path)
    return text if text.isprintable() else repr(text)
