"""Records written anew by a liar, with a chain that fits: rules, keys, types and spelling."""

from collections.abc import Callable
from hashlib import sha256

import pytest

from referee.match.verify import verify
from tests.match.lies import (
    DISCARDED,
    HEADER,
    LAST,
    RICH,
    WRONG_PHASE,
    Lie,
    check_found_alone,
    drop,
    inside,
    put,
    reordered,
    take,
)
from tests.match.tampering import rechained

BIG = 2**53

LIES: dict[str, tuple[Lie, int, str]] = {
    # Rules.
    "no such preset": (inside(HEADER, "rules", "preset", new="mine"), HEADER, "preset is"),
    "target": (inside(HEADER, "rules", "target", new=100), LAST, "was not over"),
    "hand size": (inside(HEADER, "rules", "hand_size", "3", new=8), DISCARDED, "card_not_in_hand"),
    "no such target": (inside(HEADER, "rules", "target", new=51), HEADER, "allowed are"),
    "rule left out": (lambda lines: lines[0]["rules"].pop("ace"), HEADER, "every field"),
    "rule by another word": (
        inside(HEADER, "rules", "max_melds_per_turn", new="none"),
        HEADER,
        "every field",
    ),
    "rule unknown": (inside(HEADER, "rules", "luck", new=1), HEADER, "no rule"),
    "rules in another order": (reordered(HEADER, "rules"), HEADER, "order"),
    "seats of a rule in another order": (reordered(HEADER, "rules", "packs"), HEADER, "order"),
    # Keys.
    "another format": (put(HEADER, format=2), HEADER, "reads 1"),
    "another kind": (put(DISCARDED, kind="pause"), DISCARDED, "kind is 'pause'"),
    "kind of a deal": (put(HEADER, kind="deal"), HEADER, "begins with"),
    "no end": (drop(LAST), LAST - 1, "end is missing"),
    "key added": (put(DISCARDED, note="x"), DISCARDED, "unknown"),
    "key added to a seat": (inside(HEADER, "seats", 1, "elo", new=1), HEADER, "unknown"),
    "key added to the time control": (
        inside(HEADER, "time_control", "delay_ms", new=1),
        HEADER,
        "unknown",
    ),
    "key missing": (take(DISCARDED, "charged_us"), DISCARDED, "missing"),
    "tried missing": (take(WRONG_PHASE, "tried"), WRONG_PHASE, "missing"),
    "tried without a reason": (take(WRONG_PHASE, "rejected"), WRONG_PHASE, "unknown"),
    "no reason": (put(WRONG_PHASE, rejected=""), WRONG_PHASE, "not empty"),
    "no forced actions": (put(DISCARDED, forced=[]), DISCARDED, "not empty"),
    "keys in another order": (reordered(DISCARDED), DISCARDED, "order"),
    "keys of a seat in another order": (reordered(HEADER, "seats", 0), HEADER, "order"),
    # Types.
    "text for a number": (put(DISCARDED, seat="2"), DISCARDED, "seat is"),
    "true for a number": (put(DISCARDED, id=True), DISCARDED, "id is true"),
    "fraction": (put(DISCARDED, charged_us=0.5), DISCARDED, "charged_us is 0.5"),
    "fraction that is whole": (put(DISCARDED, charged_us=0.0), DISCARDED, "charged_us is 0.0"),
    "negative": (put(DISCARDED, charged_us=-1), DISCARDED, "charged_us is -1"),
    "not a number": (put(DISCARDED, charged_us=float("nan")), DISCARDED, "charged_us is NaN"),
    "huge": (put(DISCARDED, charged_us=BIG), DISCARDED, f"to {BIG - 1}"),
    "huge total": (put(LAST, totals=[BIG, 0, 0]), LAST, "a list of numbers"),
    "number for a list": (put(DISCARDED, actions=1), DISCARDED, "actions is 1"),
    "number in a list": (put(DISCARDED, actions=["discard KD", 1]), DISCARDED, "a list of texts"),
    "list for a text": (put(LAST, text=[]), LAST, "text is []"),
    "list for an object": (put(HEADER, rules=[]), HEADER, "rules is []"),
    "text for a seat": (inside(HEADER, "seats", 1, new="me"), HEADER, "must be an object"),
    "upper case": (put(LAST, salt=str.upper), LAST, "lower case"),
    "short secret": (put(LAST, secret="00"), LAST, "64 hexadecimal"),
    "short randomness": (put(LAST, randomness=["00"] * 3), LAST, "64 hexadecimal"),
    "too much time": (inside(HEADER, "time_control", "bank_ms", new=BIG), HEADER, "bank_ms"),
    "no time": (inside(HEADER, "time_control", "per_decision_ms", new=0), HEADER, "milliseconds"),
    "nested": (put(DISCARDED, actions=[[["discard KD"]]]), DISCARDED, "nested"),
    "long action": (put(DISCARDED, actions=["meld" + " KD" * 99]), DISCARDED, "characters"),
}


@pytest.mark.parametrize("case", LIES)
def test_lie_is_found_without_the_head(case: str) -> None:
    check_found_alone(RICH, *LIES[case])


# --- lies in the spelling -------------------------------------------------------------------------


def replaced(line: int, old: bytes, new: bytes) -> Callable[[list[bytes]], object]:
    """Put other bytes in a line."""

    def lie(lines: list[bytes]) -> None:
        assert old in lines[line - 1], lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new, 1)

    return lie


SPELLINGS: dict[str, tuple[Callable[[list[bytes]], object], str]] = {
    "space": (replaced(DISCARDED, b",", b", "), "spelled"),
    "space in front": (replaced(DISCARDED, b"{", b" {"), "spelled"),
    "whole fraction": (replaced(DISCARDED, b'"id":2', b'"id":2.0'), "id is 2.0"),
    "exponent": (replaced(DISCARDED, b'"id":2', b'"id":2e0'), "spelled"),
    "minus zero": (replaced(DISCARDED, b'_us":0', b'_us":-0'), "spelled"),
    "escape": (replaced(DISCARDED, b"discard", rb"\u0064iscard"), "spelled"),
    "escaped solidus": (replaced(DISCARDED, b"discard", rb"\/iscard"), "spelled"),
    "half of a pair": (replaced(DISCARDED, b"discard", rb"\ud800"), "not JSON"),
    "key twice": (replaced(DISCARDED, b'"id":2', b'"id":1,"id":2'), "spelled"),
    "not a number": (replaced(DISCARDED, b'"id":2', b'"id":NaN'), "id is NaN"),
    "infinite": (replaced(DISCARDED, b'"id":2', b'"id":-Infinity'), "id is -Infinity"),
    "many digits": (replaced(DISCARDED, b'"id":2', b'"id":' + b"9" * 9_999), "not JSON"),
    "many digits, just few enough": (
        replaced(DISCARDED, b'"id":2', b'"id":' + b"9" * 4_300),
        "id is 999",
    ),
    "deep": (
        replaced(DISCARDED, b'"id":2', b'"id":' + b"[" * 99_999 + b"]" * 99_999),
        "nested",
    ),
    "deep enough to be read": (
        replaced(DISCARDED, b'"id":2', b'"id":' + b"[" * 900 + b"]" * 900),
        "nested",
    ),
    "no UTF-8": (replaced(DISCARDED, b"discard", b"\xff"), "not JSON"),
    "byte order mark": (replaced(DISCARDED, b"{", b"\xef\xbb\xbf{"), "spelled"),
    "carriage return": (replaced(DISCARDED, b"{", b"\r{"), "spelled"),
    "zero byte": (replaced(DISCARDED, b"discard", b"\x00"), "not JSON"),
    "list": (replaced(DISCARDED, b"{", b"[{"), "not JSON"),
    "empty line": (lambda lines: lines.insert(DISCARDED - 1, b"\n"), "not JSON"),
}


@pytest.mark.parametrize("case", SPELLINGS)
def test_other_spelling_is_found(case: str) -> None:
    lie, word = SPELLINGS[case]
    lines = RICH.record.splitlines(keepends=True)
    lie(lines)
    problems = [one for one in verify(rechained(lines)).problems if one.line == DISCARDED]
    assert any(word in problem.text for problem in problems), problems


def test_other_ends_of_lines_are_found() -> None:
    for content in (
        RICH.record.replace(b"\n", b"\r\n"),
        RICH.record.replace(b"\n", b"\r"),
        RICH.record.replace(b"\n", b""),
        RICH.record.decode().encode("utf-16"),
    ):
        assert verify(content).problems[0].line == 1
    assert verify(RICH.record[:-1]).problems[0].line == LAST


def test_empty_file_is_found() -> None:
    verdict = verify(b"")
    assert [(one.line, one.text) for one in verdict.problems] == [(1, "the file is empty")]
    assert verdict.head == sha256(b"").hexdigest()
    assert len(verify(b"", "00" * 32).problems) == 2
