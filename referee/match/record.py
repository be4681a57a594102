"""The record of a match: JSON lines, each carrying the hash of the one before it.

Line 1 is the header, then a line for each decision and each deal's end, then the match's end with
the secret. `prev` of a line is the SHA-256 of the line before it (its bytes with the newline); the
head, which stands in the result, is the SHA-256 of the last line.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

FORMAT: Final = 1


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Record:
    """Lines as they come. Values are written once and never changed."""

    __slots__ = ("_lines", "_prev")

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._prev = ""

    def add(self, kind: str, **fields: object) -> None:
        """Add a line."""
        self._add(_json({"kind": kind, **fields})[:-1])

    def add_decision(
        self,
        seat: int,
        decision_id: int,
        deal: int,
        actions: Sequence[str],
        *,
        charged_us: int,
        forgiven_us: int,
        rejected: str = "",
        forced: Sequence[str] = (),
    ) -> None:
        """Add the line of a decision. Written by hand: there is one for each choice of a match.

        Texts of actions and reasons hold nothing that JSON would escape.
        """
        played = ",".join([f'"{action}"' for action in actions])
        line = (
            f'{{"kind":"decision","seat":{seat},"id":{decision_id},"deal":{deal},'
            f'"actions":[{played}],'
            f'"charged_us":{charged_us},"forgiven_us":{forgiven_us}'
        )
        if rejected:
            line += f',"rejected":"{rejected}"'
        if forced:
            line += f',"forced":{_json(forced)}'
        self._add(line)

    def _add(self, unfinished: str) -> None:
        line = f'{unfinished},"prev":"{self._prev}"}}\n'.encode()
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
