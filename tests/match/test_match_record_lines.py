"""Reading a record that somebody wrote to do harm: it is refused, soon, and that is all."""

import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from referee.match.record_lines import RecordError, RecordLines, read_record, split_lines
from referee.match.replay import replay
from referee.match.verify import verify
from tests.match.fakes import lines_of
from tests.match.tampering import Trouble, rechained, troubled_table, written
from tests.scale import cases, repeating

FILE = __file__
MOST_S = 5.0
"""For a megabyte; it takes less than one second, on a machine that has nothing else to do."""
MEGABYTE = 1_000_000


def some_record(chance: random.Random, steps: int = 60) -> bytes:
    return Trouble(troubled_table(chance), chance).play(steps).record


RECORDS = [some_record(random.Random(f"record {number}")) for number in range(12)]


def check_harmless(content: bytes) -> RecordLines | None:
    """Reading it raises RecordError at most, `verify` nothing at all; the record if it is one."""
    verdict = verify(content)
    assert all(1 <= problem.line <= max(1, verdict.lines) for problem in verdict.problems)
    assert all(len(problem.text) <= 300 for problem in verdict.problems)
    try:
        record = read_record(content)
        for _ in replay(record):
            pass
    except RecordError:
        assert verdict.problems
        return None
    return record


# --- what is read -----------------------------------------------------------------------------


def test_lines_are_what_was_written() -> None:
    content = next(one for one in RECORDS if b'"away"' in one and b'"forced"' in one)
    record, lines = read_record(content), lines_of(content)
    header, end = record.header, record.end
    assert header.rules.to_dict() == lines[0]["rules"]
    assert header.bots == tuple(seat["bot"] for seat in lines[0]["seats"])
    assert header.versions == tuple(seat["version"] for seat in lines[0]["seats"])
    assert header.commitment.hex() == lines[0]["commitment"]
    assert (header.illegal_tolerated, header.time_tolerated) == (3, 2)
    assert len(record.lines) == len(lines) - 2
    for typed, line in zip(record.lines, lines[1:-1], strict=True):
        names = {"id": "decision_id", "away": "was_away"}
        for key in set(line) - {"kind", "prev"}:
            value = getattr(typed, names.get(key, key))
            assert (list(value) if isinstance(value, tuple) else value) == line[key]
    assert [one.hex() for one in end.randomness] == lines[-1]["randomness"]
    assert (end.secret.hex(), end.text) == (lines[-1]["secret"], lines[-1]["text"])


def test_a_newline_alone_ends_a_line() -> None:
    assert split_lines(b"") == []
    assert split_lines(b"a\rb\x0bc\xe2\x80\xa8d\ne") == [b"a\rb\x0bc\xe2\x80\xa8d\n", b"e"]


def test_texts_may_hold_anything() -> None:
    lines = lines_of(RECORDS[0])
    odd = '" \\ \n \r \x00 \x7f \u2028 ü 🂡'
    lines[0]["match_id"] = lines[0]["seats"][0]["bot"] = lines[-1]["text"] = odd
    content = written(lines)
    assert verify(content).problems == ()
    assert read_record(content).header.bots[0] == odd


def test_error_says_where_and_is_not_too_long() -> None:
    lines = lines_of(RECORDS[0])
    lines[1]["x" * 10_000] = 1
    with pytest.raises(RecordError, match=r"^line 2: .*unknown here$") as caught:
        read_record(written(lines))
    assert (caught.value.line, len(caught.value.text) < 100) == (2, True)


# --- garbage ------------------------------------------------------------------------------------


def any_value(chance: random.Random, levels: int = 3) -> Any:
    """Something JSON can say, and some that it should not."""
    if levels and chance.random() < 0.2:
        inner = [any_value(chance, levels - 1) for _ in range(chance.randrange(4))]
        return inner if chance.random() < 0.5 else {str(any_text(chance)): one for one in inner}
    return chance.choice(
        (
            None,
            True,
            False,
            0,
            1,
            2,
            -1,
            201,
            2**31,
            2**53 - 1,
            2**63,
            10**400,
            0.5,
            1e308,
            float("nan"),
            float("inf"),
            any_text(chance),
            any_text(chance),
        )
    )


def any_text(chance: random.Random) -> str:
    return chance.choice(
        (
            "",
            "0",
            "decision",
            "match_ended",
            "completed",
            "time",
            "time_up",
            "plan_past_turn",
            "draw stock",
            "discard XX",
            "meld XX=2C XX=2C XX=2C XX=2C" * chance.randrange(1, 9),
            "lay 7H on 1",
            "lay 7H on 999999999999999999",
            "swap XX on 1",
            "00" * 32,
            "\x00",
            "\ud800",
            "none",
            "basic",
            "7H",
            "x" * chance.randrange(1_000),
        )
    )


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place inside a value: the list or object, and the index or key."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places_in(value[key])


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A record with some values exchanged, lines moved, and a chain that fits again."""
    lines = lines_of(content)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(lines))
        match chance.randrange(8):
            case 0 if len(lines) > 2:
                del lines[at]
            case 1:
                lines.insert(at, dict(chance.choice(lines)))
            case 2:
                lines[at][any_text(chance)] = any_value(chance)
            case 3:
                others = chance.choice(lines)
                lines[at].update({key: others[key] for key in others if chance.random() < 0.3})
            case _:
                inner, key = chance.choice(list(places_in(lines[at])))
                inner[key] = any_value(chance)
    try:
        return written(lines)
    except UnicodeEncodeError:  # Half of a surrogate pair.
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_changed_records_do_no_harm() -> None:
    seed = "changed"
    found = 0
    for case in cases(400):
        with repeating(FILE, "test_changed_records_do_no_harm", seed, case):
            chance = random.Random(f"{seed} {case}")
            content = mutated(chance.choice(RECORDS), chance)
            found += check_harmless(content) is None
    assert found, "some change must be a fault"


def test_garbage_does_no_harm() -> None:
    seed = "garbage"
    for case in cases(400):
        with repeating(FILE, "test_garbage_does_no_harm", seed, case):
            chance = random.Random(f"{seed} {case}")
            pieces = [
                chance.choice(
                    (
                        chance.randbytes(chance.randrange(20)),
                        json.dumps(any_value(chance)).encode(),
                        json.dumps({"kind": any_text(chance), "x": any_value(chance)}).encode(),
                        chance.choice(chance.choice(RECORDS).splitlines(keepends=True)),
                        b"\n",
                        b'{"kind":"match","prev":""}\n',
                    )
                )
                for _ in range(chance.randrange(6))
            ]
            assert check_harmless(b"".join(pieces)) is None


# --- large files --------------------------------------------------------------------------------


def with_line(number: int, **new: object) -> bytes:
    """A record of which one line has other values; `number` from 1, or -1 for the last."""
    lines = lines_of(PLAIN)
    lines[number - 1 if number > 0 else number].update(new)
    return written(lines)


PLAIN = next(one for one in RECORDS if one.count(b"\n") > 20 and b'"rejected":"wrong' in one)
REJECTED = next(
    number
    for number, line in enumerate(lines_of(PLAIN), 1)
    if line.get("rejected") == "wrong_phase"
)


def padded(old: bytes, new: bytes) -> bytes:
    lines = PLAIN.splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if old in line)
    lines[at] = lines[at].replace(old, new, 1)
    return rechained(lines)


def forced_lines() -> bytes:
    lines = lines_of(PLAIN)
    line = {"kind": "forced", "seat": 0, "deal": 1, "actions": ["draw stock", "discard KD"]}
    return written([lines[0], *[dict(line) for _ in range(MEGABYTE // 150)], lines[-1]])


CARDS = " XX=6H" * (MEGABYTE // 6)
HOSTILE: dict[str, Callable[[], bytes]] = {
    "newlines": lambda: b"\n" * MEGABYTE,
    "carriage returns": lambda: b"\r" * MEGABYTE,
    "objects": lambda: b"{}\n" * (MEGABYTE // 3),
    "brackets": lambda: b"[" * MEGABYTE,
    "objects in objects": lambda: b'{"kind":' * (MEGABYTE // 8),
    "one number": lambda: b"9" * MEGABYTE,
    "one text": lambda: b'"' + b"x" * MEGABYTE + b'"\n',
    "escapes": lambda: b'"' + b"\\u0041" * (MEGABYTE // 6) + b'"\n',
    "many first lines": lambda: PLAIN.splitlines(keepends=True)[0] * (MEGABYTE // 1_500),
    "many last lines": lambda: PLAIN + PLAIN.splitlines(keepends=True)[-1] * (MEGABYTE // 700),
    "record after record": lambda: PLAIN * (MEGABYTE // len(PLAIN)),
    "forced lines": forced_lines,
    "actions": lambda: with_line(2, actions=["draw stock"] * (MEGABYTE // 13)),
    "long action": lambda: with_line(2, actions=["meld" + CARDS]),
    "long action tried": lambda: with_line(REJECTED, tried="meld" + CARDS),
    "long lay-off tried": lambda: with_line(REJECTED, tried=f"lay{CARDS} on 1"),
    "wilds of one meaning tried": lambda: with_line(REJECTED, tried="meld" + " XX=6H" * 32),
    "forced": lambda: with_line(2, forced=["draw stock"] * (MEGABYTE // 13)),
    "seats": lambda: with_line(1, seats=[{"bot": "", "version": ""}] * (MEGABYTE // 25)),
    "randomness": lambda: with_line(-1, randomness=["00" * 32] * (MEGABYTE // 67)),
    "totals": lambda: with_line(-1, totals=[0] * (MEGABYTE // 2)),
    "places of lists": lambda: with_line(-1, places=[[0]] * (MEGABYTE // 4)),
    "keys": lambda: with_line(2, **{str(key): 0 for key in range(MEGABYTE // 9)}),
    "rules": lambda: with_line(
        1, rules={"preset": "basic"} | dict.fromkeys(map(str, range(99_999)), 0)
    ),
    "seats of a rule": lambda: with_line(
        1, rules={"preset": "basic", "packs": dict.fromkeys(map(str, range(99_999)), 1)}
    ),
    "text of the end": lambda: with_line(-1, text="x" * MEGABYTE),
    "long reason": lambda: with_line(REJECTED, rejected="x" * MEGABYTE),
    "long kind": lambda: with_line(2, kind="x" * MEGABYTE),
    "long key": lambda: with_line(2, **{"x" * MEGABYTE: 1}),
    "numbers": lambda: padded(b'"charged_us":', b'"charged_us":' + b"9" * 4_290),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_megabyte_takes_no_time(case: str) -> None:
    content = HOSTILE[case]()
    begin = time.process_time()
    record = check_harmless(content)
    assert time.process_time() - begin < 2 * MOST_S, "it was read and played twice"
    assert (record is None) == (case != "text of the end")


def test_depth_is_refused_at_any_depth_of_the_caller() -> None:
    def deep(calls: int, content: bytes) -> None:
        if calls:
            deep(calls - 1, content)
        else:
            check_harmless(content)

    for levels in (4, 5, 100, 500, 700, 800, 900, 950, 2_000):
        nested = b"[" * levels + b"]" * levels
        content = padded(b'"actions":', b'"actions":' + nested + b',"x":')
        for calls in (0, 50, 300, 500):
            deep(calls, content)
        deep(100, nested + b"\n")
