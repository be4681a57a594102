"""Checks a record: its chain of hashes, and everything that its secret lets one compute again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import Final

from referee.match.record_lines import (
    DealEndedLine,
    RecordError,
    RecordLines,
    read_record,
    split_lines,
)
from referee.match.replay import replay

MOST_BROKEN_LINKS: Final = 100
"""Broken links of the chain that are told: a file that is no record has as many as lines."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, at a line of the file from 1."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking a record."""

    problems: tuple[Problem, ...]
    """Empty if it is right; else by line: what was changed is at the first or before it."""
    head: str
    """The hash of its last line, in hexadecimal digits."""
    is_anchored: bool = False
    """The head was compared with one from elsewhere: nobody can have written the record anew."""
    match_id: str = ""
    """Empty, as the rest, if the record cannot be read."""
    termination: str = ""
    deals: int = 0
    lines: int = 0

    def anchored(self, head: str) -> "Verdict":
        """The verdict with the head compared with one from elsewhere (hexadecimal digits)."""
        problems = self.problems
        if head != self.head:
            text = f"the head hash is {self.head}, not {head}: this is not the record as it ended"
            problems = (*problems, Problem(max(1, self.lines), text))
        return replace(self, problems=problems, is_anchored=True)


def verify(content: bytes, head: str | None = None) -> Verdict:
    """Check a record (its bytes). `head`: the hash that its last line must have, from elsewhere.

    Without it a record is consistent at best: somebody who knows the secret may have written
    another one that is.
    """
    verdict = _verdict(content)
    return verdict if head is None else verdict.anchored(head)


def _verdict(content: bytes) -> Verdict:
    lines = split_lines(content)
    problems = list(islice(_chain_problems(lines), MOST_BROKEN_LINKS))
    try:
        record = read_record(content)
    except RecordError as error:
        wrong = Problem(error.line, error.text)
        return Verdict(_by_line([wrong, *problems]), head_of(content), lines=len(lines))
    return Verdict(
        problems=_by_line([*problems, *_play_problems(record)]),
        head=head_of(content),
        match_id=record.header.match_id,
        termination=record.end.termination.value,
        deals=sum(isinstance(line, DealEndedLine) for line in record.lines),
        lines=len(lines),
    )


def _by_line(problems: list[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.line))


def head_of(content: bytes) -> str:
    """SHA-256 of the last line, in hexadecimal digits; of nothing if there is none."""
    *_, last = b"", *split_lines(content)
    return sha256(last).hexdigest()


def _play_problems(record: RecordLines) -> Iterator[Problem]:
    try:
        for _ in replay(record):
            pass
    except RecordError as error:
        yield Problem(error.line, error.text)


def _chain_problems(lines: list[bytes]) -> Iterator[Problem]:
    """Each line names the hash of the one before it, the first one none."""
    hashes = [sha256(line).hexdigest() for line in lines]
    number_of = {line_hash: number for number, line_hash in enumerate(hashes, 1)}
    before = ""
    for number, line in enumerate(lines, 1):
        named = _prev_of(line)
        if named is None:
            yield Problem(number, "it does not end with the hash of the line before it")
        elif named != before:
            yield Problem(number, _broken(number, named, number_of.get(named)))
        before = hashes[number - 1]


def _broken(number: int, named: str, other: int | None) -> str:
    if number == 1:
        return "a line before it is missing: it names the hash of one"
    if named == "":
        return "it is a first line: lines before it were added"
    if other is not None:
        return f"it follows line {other}, not line {number - 1}: lines were moved or added"
    return f"line {number - 1} was changed, or a line between the two is missing"


def _prev_of(line: bytes) -> str | None:
    """What the end of a line, `,"prev":"…"}`, says; None if that is not there."""
    body, mark, tail = line.rpartition(b',"prev":"')
    end = tail.rstrip(b"\r\n")
    if not mark or not body.startswith(b"{") or not end.endswith(b'"}'):
        return None
    return end[:-2].decode("ascii", errors="replace")
