"""The record of a match: JSON lines, each carrying the hash of the one before it.

Line 1 is the header, then a line for each decision and each deal's end, then the match's end with
the secret. `prev` of a line is the SHA-256 of the line before it (its bytes with the newline); the
head, which stands in the result, is the SHA-256 of the last line.
"""

import json
from hashlib import sha256
from typing import Final

FORMAT: Final = 1


class Record:
    """Lines as they come. Values are written once and never changed."""

    __slots__ = ("_lines", "_prev")

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._prev = ""

    def add(self, kind: str, **fields: object) -> None:
        """Add a line."""
        text = json.dumps(
            {"kind": kind, **fields, "prev": self._prev}, separators=(",", ":"), ensure_ascii=False
        )
        line = text.encode() + b"\n"
        self._lines.append(line)
        self._prev = sha256(line).hexdigest()

    @property
    def head(self) -> bytes:
        """SHA-256 of the last line."""
        return bytes.fromhex(self._prev)

    @property
    def content(self) -> bytes:
        """All lines."""
        return b"".join(self._lines)
