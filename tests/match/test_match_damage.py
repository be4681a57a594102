"""Records that were damaged, or changed by somebody who left the chain as it was."""

import random

import pytest

from referee.match.outcome import MatchResult
from referee.match.verify import verify
from tests.match.fakes import lines_of
from tests.match.lies import FORFEITED, LOST, RICH, SHORT
from tests.scale import cases, repeating

FILE = __file__


def check_found(damaged: bytes, line: int, result: MatchResult, *, is_last: bool = False) -> None:
    """The damage is found with the head; and without it at its line or a neighbour's."""
    anchored = verify(damaged, result.record_hash.hex())
    assert anchored.problems, damaged
    alone = verify(damaged)
    assert alone.problems or is_last, damaged
    if alone.problems:
        found = alone.problems[0]
        assert abs(found.line - line) <= 1, (line, found)


@pytest.mark.parametrize("result", [RICH, SHORT, LOST], ids=["rich", "short", "lost"])
def test_every_line_is_missed_and_every_line_too_much_is_found(result: MatchResult) -> None:
    lines = result.record.splitlines(keepends=True)
    chance = random.Random(10)
    for at, line in enumerate(lines):
        if 12 < at < len(lines) - 3 and at % 60:
            continue  # More of the same.
        others = [*lines[:at], *lines[at + 1 :]]
        check_found(b"".join(others), min(at + 1, len(others)), result)
        check_found(b"".join([*lines[:at], line, *lines[at:]]), at + 1, result)
        check_found(b"".join(lines[:at]), at, result)
        check_found(b"".join([*lines, line]), len(lines) + 1, result)
        to = chance.choice([place for place in range(len(lines)) if place != at])
        moved = [*others[:to], line, *others[to:]]
        check_found(b"".join(moved), min(at, to) + 1, result)
        if at:
            swapped = [*lines[: at - 1], line, lines[at - 1], *lines[at + 1 :]]
            check_found(b"".join(swapped), at, result)


def test_any_changed_byte_is_found() -> None:
    seed = "bytes"
    for case in cases(300):
        chance = random.Random(f"{seed} {case}")
        result = chance.choice((RICH, SHORT, LOST, FORFEITED))
        content = result.record
        place = chance.randrange(len(content))
        byte = bytes([chance.choice((chance.randrange(256), *b'0129"[]{},:\\ \r\n'))])
        damaged = chance.choice(
            (
                content[:place] + byte + content[place + 1 :],
                content[:place] + byte + content[place:],
                content[:place] + content[place + 1 :],
                content[:place]
                + bytes([content[place] ^ 1 << chance.randrange(8)])
                + content[place + 1 :],
            )
        )
        if damaged == content:
            continue
        line = content.count(b"\n", 0, place) + 1
        is_last = line == content.count(b"\n")
        with repeating(FILE, "test_any_changed_byte_is_found", seed, case):
            check_found(damaged, line, result, is_last=is_last)


def test_something_behind_the_end_is_found() -> None:
    for more in (b"\n", b" ", b"{}\n", b"\x00", SHORT.record):
        check_found(SHORT.record + more, len(lines_of(SHORT.record)) + 1, SHORT)


def test_another_record_is_found_by_its_head() -> None:
    verdict = verify(SHORT.record, RICH.record_hash.hex())
    assert [problem.line for problem in verdict.problems] == [len(lines_of(SHORT.record))]
    assert "head" in verdict.problems[0].text
