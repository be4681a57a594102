"""Healthy bots pass every step; each faulty one fails just the step that is about its fault."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.check.checked import QUICK, by_status, checked, finding, shown
from tests.check.faulty import write_bot
from tournament.bots.find import DEFAULT_BOTS, sample_bot_folders
from tournament.check import room
from tournament.check.report import Settings, Status
from tournament.check.steps.table import STEPS

_SLOW = replace(QUICK, per_decision_ms=100, bank_ms=60_000)
_MATCHES = {"presets", "six_seats", "two_packs", "wild_cards", "rejection", "reconnect", "unknown"}


@pytest.mark.parametrize("name", DEFAULT_BOTS)
async def test_sample_bots_pass(name: str) -> None:
    report = await checked(sample_bot_folders()[name], Settings())
    assert report.may_compete, shown(report)
    assert by_status(report, Status.FAILED) == set()
    assert by_status(report, Status.NOT_RUN) == set()
    assert [one.step for one in report.findings] == [step.key for step in STEPS]
    assert report.bot == name


async def test_a_bot_that_plays_one_match_at_a_time_is_healthy(tmp_path: Path) -> None:
    report = await checked(write_bot(tmp_path, at_once=1))
    assert report.may_compete, shown(report)
    assert by_status(report, Status.NOT_CLAIMED) == {"at_once"}
    assert by_status(report, Status.WARNING) == set()
    draws = finding(report, "presets").verdict.figures["draws"]
    plays = finding(report, "presets").verdict.figures["plays"]
    assert isinstance(draws, int)
    assert isinstance(plays, int)
    assert draws > 0
    assert plays > 0


@pytest.mark.parametrize(
    ("fault", "steps", "said"),
    [
        ("has another name", {"handshake"}, "'somebody-else'"),
        ("has another version", {"handshake"}, "'2'"),
        ("breaks at six", {"six_seats"}, "six are too many"),
        ("breaks with two packs", {"two_packs"}, "two packs are too many"),
        ("errs with wild cards", {"wild_cards"}, "ACTION_TYPE_SWAP"),
        ("acts illegally", {"answers"}, "CARD_XX"),
        ("dies in a second deal", {"presets", "six_seats"}, "one was enough"),
        ("ignores a rejection", {"rejection"}, "was not answered in time"),
        ("dies of a rejection", {"rejection"}, "how rude"),
        ("ends when cut off", {"reconnect"}, "ended with exit code 0"),
        ("dies on an unknown message", {"unknown"}, "what is that?"),
        ("dies on an unknown event", {"unknown"}, "what happened?"),
        ("dies on an unknown reason", {"unknown"}, "ValueError"),
        ("prints much", {"output"}, "262144 bytes"),
    ],
)
async def test_a_fault_fails_its_step(
    tmp_path: Path, fault: str, steps: set[str], said: str
) -> None:
    report = await checked(write_bot(tmp_path, fault))
    assert by_status(report, Status.FAILED) == steps, shown(report)
    assert by_status(report, Status.NOT_RUN) == set(), shown(report)
    assert not report.may_compete
    for one in report.failed:
        verdict = one.verdict
        assert verdict.where is not None
        assert said in f"{verdict.text} {verdict.sent}", verdict


@pytest.mark.parametrize(
    ("fault", "step", "settings", "said"),
    [
        ("hangs when cut off", "reconnect", replace(QUICK, reconnect_ms=500), "did not come back"),
        ("claims two, plays one", "at_once", replace(QUICK, startup_ms=3_000), "not ready in time"),
        ("ignores SIGTERM", "stop", replace(QUICK, stop_s=0.3), "was killed"),
        ("is slow", "time", _SLOW, "p99"),
    ],
)
async def test_what_takes_time_fails_its_step(
    tmp_path: Path, fault: str, step: str, settings: Settings, said: str
) -> None:
    report = await checked(write_bot(tmp_path, fault), settings)
    assert by_status(report, Status.FAILED) == {step}, shown(report)
    assert said in finding(report, step).verdict.text


@pytest.mark.parametrize(
    ("fault", "said", "sent"),
    [
        ("does not start", "broken on purpose", "nothing"),
        ("never says hello", "no hello came within 1 s", "nothing"),
        ("speaks before hello", "refused", "as its first message ping; refused: NO_HELLO"),
    ],
)
async def test_a_bot_that_does_not_come_ends_the_check(
    tmp_path: Path, fault: str, said: str, sent: str
) -> None:
    # The one that never comes takes all of its time; the others end by themselves.
    wait_s = 1.0 if fault == "never says hello" else 30.0
    report = await checked(write_bot(tmp_path, fault), replace(QUICK, launch_s=wait_s))
    assert by_status(report, Status.FAILED) == {"start"}, shown(report)
    verdict = finding(report, "start").verdict
    assert said in verdict.text
    assert verdict.sent == sent
    needing = {step.key for step in STEPS if step.needs_bot}
    assert by_status(report, Status.NOT_RUN) >= needing
    assert "\x1b" not in "".join(report.output) + verdict.text


@pytest.mark.parametrize("sandbox", ["auto", "none"])
async def test_too_much_memory_is_one_fault(tmp_path: Path, sandbox: str) -> None:
    report = await checked(write_bot(tmp_path, "takes memory", memory_mb=128), sandbox=sandbox)
    assert by_status(report, Status.FAILED) == {"memory"}, shown(report)
    verdict = finding(report, "memory").verdict
    assert "128 MiB" in verdict.expected


async def test_too_many_threads_are_seen_where_nothing_holds_them_back(tmp_path: Path) -> None:
    report = await checked(write_bot(tmp_path, "takes threads"), sandbox="none")
    assert by_status(report, Status.FAILED) == {"memory"}, shown(report)
    processes = finding(report, "memory").verdict.figures["processes"]
    assert isinstance(processes, int)
    assert processes >= 70


async def test_a_ping_without_answer_is_a_warning(tmp_path: Path) -> None:
    report = await checked(write_bot(tmp_path, "answers no ping"), replace(QUICK, answer_s=0.3))
    assert by_status(report, Status.WARNING) == {"handshake"}, shown(report)
    assert report.may_compete


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("is never ready", "was not ready in time"),
        ("never answers", "was out of time too often"),
        ("says goodbye", "said goodbye"),
    ],
)
async def test_a_bot_that_plays_no_match_fails_all_that_need_one(
    tmp_path: Path, fault: str, said: str
) -> None:
    """The steps after the first that fails are taken all the same, and in bounded time."""
    if fault == "is never ready":
        settings = replace(QUICK, startup_ms=200)
    else:
        settings = replace(QUICK, per_decision_ms=50, bank_ms=0, reconnect_ms=500)
    report = await checked(write_bot(tmp_path, fault), settings)
    failed = by_status(report, Status.FAILED)
    assert failed >= _MATCHES | {"at_once"}, shown(report)
    assert said in finding(report, "presets").verdict.text
    assert by_status(report, Status.PASSED) >= {"start", "handshake", "stop"}, shown(report)


async def test_a_slow_bot_plays_fewer_turns_of_every_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What uses its time and keeps it gets through the check."""
    slow = write_bot(tmp_path, "thinks long")
    usual = await checked(slow)
    # 30 ms of the 1000 ms count as slow.
    monkeypatch.setattr(room, "QUICK_PART", 0.002)
    cut = await checked(slow)
    for report in (usual, cut):
        assert report.may_compete, shown(report)
        assert by_status(report, Status.NOT_RUN) == set()
    counts = [finding(one, "time").verdict.figures["decisions"] for one in (usual, cut)]
    assert isinstance(counts[0], int)
    assert isinstance(counts[1], int)
    assert 0 < 3 * counts[1] < counts[0]


async def test_the_whole_check_is_bounded(tmp_path: Path) -> None:
    """However long a match may take, the check ends when its time is over."""
    settings = replace(QUICK, startup_ms=600_000, limit_s=3.0)
    report = await checked(write_bot(tmp_path, "is never ready"), settings)
    assert by_status(report, Status.FAILED) == {"presets"}, shown(report)
    assert "the 3 s of a check are over" in finding(report, "presets").verdict.text
    assert by_status(report, Status.NOT_RUN) >= {"six_seats", "rejection", "at_once"}
    assert report.seconds < 60
