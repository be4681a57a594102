"""Checks a record: its chain of hashes, and everything that its secret lets one compute again."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from referee.match.record_lines import DealEndedLine, RecordError, RecordLines, read_record
from referee.match.replay import replay


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, at a line of the file from 1."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking a record."""

    problems: tuple[Problem, ...]
    """Empty if it is right."""
    head: str
    """The hash of its last line, in hexadecimal digits."""
    is_anchored: bool
    """The head was compared with one from elsewhere: nobody can have written the record anew."""
    match_id: str = ""
    """Empty, as the rest, if the record cannot be read."""
    termination: str = ""
    deals: int = 0
    lines: int = 0


def verify(content: bytes, head: str | None = None) -> Verdict:
    """Check a record (its bytes). `head`: the hash that its last line must have, from elsewhere.

    Without it a record is consistent at best: somebody who knows the secret may have written
    another one that is.
    """
    found_head = head_of(content)
    problems = list(_chain_problems(content))
    if head is not None and head != found_head:
        last = len(content.splitlines())
        text = f"the head hash is {found_head}, not {head}: this is not the record as it was given"
        problems.append(Problem(last, text))
    try:
        record = read_record(content)
    except RecordError as error:
        problems.insert(0, Problem(error.line, error.text))
        return Verdict(tuple(problems), found_head, is_anchored=head is not None)
    problems += _play_problems(record)
    return Verdict(
        problems=tuple(problems),
        head=found_head,
        is_anchored=head is not None,
        match_id=record.header.match_id,
        termination=record.end.termination.value,
        deals=sum(isinstance(line, DealEndedLine) for line in record.lines),
        lines=len(record.lines) + 2,
    )


def head_of(content: bytes) -> str:
    """SHA-256 of the last line, in hexadecimal digits; of nothing if there is none."""
    lines = content.splitlines(keepends=True)
    return sha256(lines[-1] if lines else b"").hexdigest()


def _play_problems(record: RecordLines) -> Iterator[Problem]:
    try:
        for _ in replay(record):
            pass
    except RecordError as error:
        yield Problem(error.line, error.text)


def _chain_problems(content: bytes) -> Iterator[Problem]:
    """Each line names the hash of the one before it, the first one none."""
    lines = content.splitlines(keepends=True)
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
    if not mark or not body.startswith(b"{") or not tail.endswith(b'"}\n'):
        return None
    return tail[:-3].decode("ascii", errors="replace")
