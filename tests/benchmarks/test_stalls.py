"""The stall proof, small: how it judges, and a short run of it (the figures are in RESULTS.md)."""

from typing import Any

import pytest

from referee.bench.stalls import Truth, bench_stalls, judge
from referee.bench.stalls_client import DEAF, LATE, PROMPT

MS = 1_000
QUEUED = 1_000 * MS
LEFT = 50 * MS


def test_overlap_with_the_true_stalls() -> None:
    truth = Truth([(10, 20), (15, 30), (50, 60)])
    assert truth.overlap_us(0, 100) == 30
    assert truth.overlap_us(12, 25) == 13
    assert truth.overlap_us(30, 50) == 0
    assert truth.overlap_us(25, 55) == 10
    assert truth.overlap_us(70, 90) == 0
    assert Truth([]).overlap_us(0, 100) == 0


def told(role: str, *, is_up: bool, forgiven_ms: int = 0) -> list[dict[str, Any]]:
    """A match with one judged decision of seat 0."""
    forfeit = "time" if role == DEAF and is_up else None
    judged = [[0, 1, QUEUED, LEFT, is_up, 55 * MS, forgiven_ms * MS, 0]]
    return [
        {
            "match": "m",
            "table": 0,
            "has_result": True,
            "forfeits": [forfeit, None],
            "decisions": 2,
            "forgiven_us": 0,
            "judged": judged,
        }
    ]


def moments(received_ms: int, written_ms: int, *, on_purpose: int = 0) -> dict[Any, list[int]]:
    """The diary of that decision, from when it was queued."""
    received, written = QUEUED + received_ms * MS, QUEUED + written_ms * MS
    return {("m", 0, 1): [received, written, written if written_ms else 0, on_purpose]}


@pytest.mark.parametrize(
    ("received_ms", "written_ms", "stall_ms", "slept_ms", "kind"),
    [
        (1, 2, (10, 200), (0, 0), "false_strikes"),
        (1, 49, (60, 260), (0, 0), "false_strikes"),
        (1, 240, (3, 203), (0, 0), "false_strikes"),
        (150, 151, (1, 149), (0, 0), "false_strikes"),
        (1, 52, (60, 260), (0, 0), "bots_own"),
        (1, 0, (60, 260), (0, 0), "bots_own"),
        (70, 71, (200, 300), (2, 69), "bots_own"),
        (70, 71, (200, 300), (0, 0), "unclear"),
        (240, 260, (3, 203), (0, 0), "unclear"),
    ],
)
def test_a_strike_is_judged(
    received_ms: int,
    written_ms: int,
    stall_ms: tuple[int, int],
    slept_ms: tuple[int, int],
    kind: str,
) -> None:
    stall, slept = ([(QUEUED + a * MS, QUEUED + b * MS)] for a, b in (stall_ms, slept_ms))
    diary = moments(received_ms, written_ms)
    report = judge(told(PROMPT, is_up=True), diary, [(PROMPT, PROMPT)], Truth(stall), slept)
    assert report.strikes == 1
    assert getattr(report, kind) == 1
    assert report.is_clean == (kind != "false_strikes")
    assert len(report.evidence) == (kind != "bots_own")


@pytest.mark.parametrize(
    ("is_up", "forgiven_ms", "stall_ms", "kind"),
    [
        (True, 0, (0, 0), "late_caught"),
        (False, 0, (0, 0), "late_missed"),
        (False, 19, (0, 0), "late_missed"),
        (False, 20, (0, 0), "late_by_heartbeat"),
        (False, 0, (10, 40), "late_excused"),
    ],
)
def test_a_late_answer_is_judged(
    is_up: bool, forgiven_ms: int, stall_ms: tuple[int, int], kind: str
) -> None:
    truth = Truth([(QUEUED + stall_ms[0] * MS, QUEUED + stall_ms[1] * MS)])
    match = told(LATE, is_up=is_up, forgiven_ms=forgiven_ms)
    report = judge(match, moments(1, 101, on_purpose=1), [(LATE, PROMPT)], truth)
    assert (report.late_answers, getattr(report, kind)) == (1, 1)
    assert report.is_clean == (kind != "late_missed")


def test_a_deaf_bot_must_lose() -> None:
    for is_up in (True, False):
        report = judge(told(DEAF, is_up=is_up), {}, [(DEAF, PROMPT)], Truth([]))
        assert (report.deaf_matches, report.deaf_missed) == (1, not is_up)
        assert report.is_clean == is_up


def test_a_strike_without_a_diary_is_not_explained_away() -> None:
    report = judge(told(PROMPT, is_up=True), {}, [(PROMPT, PROMPT)], Truth([]))
    assert (report.strikes, report.unclear, report.bots_own) == (1, 1, 0)


def test_short_run() -> None:
    said: list[str] = []
    report = bench_stalls(150, 16, said.append)
    assert report.is_clean, report
    assert report.matches >= 150
    assert report.kinds.keys() == {"sleep", "spin", "collect", "sigstop"}, report.kinds
    assert report.late_answers > 20
    seen = report.late_caught + report.late_excused + report.late_by_heartbeat
    assert seen == report.late_answers
    assert report.late_caught > 0
    assert report.deaf_matches > 0
    # What is unclear lies in gRPC's threads and in queues: rare, even on a busy machine.
    assert report.unclear <= report.decisions / 1_000, report
    assert said
