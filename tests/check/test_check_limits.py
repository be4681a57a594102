"""From which figures on a step warns or fails: time, memory, processes, output."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.match.outcome import MatchResult, SeatResult, Termination
from referee.match.spec import TimeControl
from tests.scale import repeatable
from tournament.bots.output import LOG_CAP_BYTES
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.limits import Limits
from tournament.bots.start import Program
from tournament.check.report import Settings, Status
from tournament.check.room import Played, Room
from tournament.check.steps.resources import memory, output, time_use
from tournament.check.subject import Launched
from tournament.check.usage import Peak
from tournament.check.wire import Script, Seen, Wire

_SETTINGS = Settings(per_decision_ms=1_000)
_MIB = 1024 * 1024


def room_of(subject: Any) -> Room:
    return Room(None, subject, Wire(), _SETTINGS, [])  # type: ignore[arg-type] # no referee


def played(charged_us: list[int], *, strikes: int = 0, used_bank: bool = False) -> Played:
    """A match in which the bot, at seat 0, was charged this."""
    lines = [{"kind": "match"}]
    for number, us in enumerate(charged_us, 1):
        lines.append({"kind": "decision", "seat": 0, "id": number, "charged_us": us})  # type: ignore[dict-item]
        lines.append({"kind": "decision", "seat": 1, "id": number, "charged_us": 10**9})  # type: ignore[dict-item]
    record = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    seats = tuple(SeatResult(1, 0, None, 1, 0, 0, 0, 0, late) for late in (strikes, 0))
    result = MatchResult("m", Termination.COMPLETED, "", seats, 1, record, b"")
    seen = Seen("m", Script())
    seen.used_bank = used_bank
    return Played(result, seen, 0, TimeControl())


async def time_of(*matches: Played) -> Status:
    room = room_of(SimpleNamespace())
    room.on_presets += matches[:1]
    room.special += matches[1:]
    return (await time_use(room)).status


async def test_times_near_and_beyond_the_limit() -> None:
    quick = [1_000] * 99
    assert await time_of() is Status.NOT_RUN
    assert await time_of(played(quick)) is Status.PASSED
    # One of a hundred may take longer.
    assert await time_of(played([*quick, 999_000])) is Status.PASSED
    assert await time_of(played(quick), played([600_000, 600_000])) is Status.WARNING
    assert await time_of(played(quick), played([1_100_000, 1_100_000])) is Status.FAILED
    assert await time_of(played([*quick, 1_100_000], used_bank=True)) is Status.WARNING
    assert await time_of(played([*quick, 1_100_000], strikes=1)) is Status.FAILED


@repeatable
@given(st.lists(st.integers(0, 2_000_000), min_size=1, max_size=300))
def test_a_time_fails_when_more_than_one_of_a_hundred_is_beyond(times: list[int]) -> None:
    room = room_of(SimpleNamespace())
    room.on_presets.append(played(times))
    step = time_use(room)
    try:
        step.send(None)  # it waits for nothing
    except StopIteration as end:
        verdict = end.value
    beyond = sum(us > 1_000_000 for us in times)
    assert (verdict.status is Status.FAILED) is (beyond > len(times) - -(-99 * len(times) // 100))
    assert verdict.figures["decisions"] == len(times)
    assert verdict.figures["worst_ms"] == max(times) / 1_000


def launched(tmp_path: Path) -> Launched:
    """A bot that was never started."""
    program = Program(tmp_path, ("true",), Limits(memory_mb=100, processes=10))
    return Launched(
        None,  # type: ignore[arg-type] # it is never started
        choose("none"),
        program,
        name="b",
        version="1",
        address="unix:nowhere",
        scratch=tmp_path,
        settings=_SETTINGS,
        guard=None,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("used_mb", "processes", "status"),
    [
        (80, 8, Status.PASSED),
        (81, 1, Status.WARNING),
        (1, 9, Status.WARNING),
        (100, 10, Status.WARNING),
        (101, 1, Status.FAILED),
        (1, 11, Status.FAILED),
    ],
)
async def test_memory_and_processes(
    tmp_path: Path, used_mb: int, processes: int, status: Status
) -> None:
    subject = launched(tmp_path)
    subject.peak = Peak(used_mb * _MIB, processes, looks=1)
    assert (await memory(room_of(subject))).status is status


async def test_what_the_sandbox_ended_fails_whatever_was_seen(tmp_path: Path) -> None:
    subject = launched(tmp_path)
    assert (await memory(room_of(subject))).status is Status.NOT_RUN
    subject.killed.append("used 200 MiB of memory, more than 100")
    verdict = await memory(room_of(subject))
    assert verdict.status is Status.FAILED
    assert "used 200 MiB" in verdict.text


@pytest.mark.parametrize(
    ("size", "status"), [(LOG_CAP_BYTES - 1, Status.PASSED), (LOG_CAP_BYTES, Status.FAILED)]
)
async def test_output_that_fills_a_log(tmp_path: Path, size: int, status: Status) -> None:
    subject = launched(tmp_path)
    log = tmp_path / "output"
    log.write_bytes(b"x" * size)
    subject.logs += [tmp_path / "never-made", log]
    verdict = await output(room_of(subject))
    assert verdict.status is status
    assert verdict.figures["printed_bytes"] == size
