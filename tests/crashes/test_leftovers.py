"""Whoever is killed, no process of a tournament outlives it: not a bot that never ends by itself.

And who kills a bot alone, from outside, makes it crash: no more than that leg changes.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from signal import SIGKILL

import pytest

from tests.crashes.arena import Arena, arena, hit
from tests.crashes.chains import MID_LEG, SHORT, uninterrupted_once
from tests.crashes.finished import read_finished
from tests.crashes.killer import BOT, Kill

_STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(1)
"""
_MANIFEST = """
name = "stubborn"
version = "1"
author = "nobody"
language = "python"
run = ["python3", "bot.py"]
"""
_SEEN_S = 60.0
_RUNNER, _WORKER = "-m tournament run", "-m tournament.worker"


@pytest.mark.parametrize(
    ("killed", "manifest"),
    [
        pytest.param((_RUNNER,), _MANIFEST, id="runner"),
        pytest.param((_RUNNER, _WORKER), _MANIFEST, id="runner and worker"),
        pytest.param(
            (_RUNNER,), _MANIFEST + 'build = ["python3", "bot.py"]\n', id="runner in a build"
        ),
    ],
)
def test_a_stubborn_process_is_gone(killed: tuple[str, ...], manifest: str) -> None:
    with arena() as here:
        folder = here.folder / "stubborn"
        folder.mkdir()
        (folder / "bot.py").write_text(_STUBBORN, encoding="utf-8")
        (folder / "bot.toml").write_text(manifest, encoding="utf-8")
        process = here.start("run", "--workers", "1", "--bots", str(folder), "greedy")
        _wait_for(lambda: any("bot.py" in line for line in here.processes().values()))
        for pid, line in here.processes().items():
            if any(words in line for words in killed):
                os.kill(pid, SIGKILL)
        here.finish(process)


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SEEN_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_bot_that_is_killed_alone_crashes_and_only_that_leg_changes() -> None:
    plan = replace(SHORT, workers=1)
    expected, _ = uninterrupted_once(plan)
    with arena() as here:
        hit(here, plan, Kill(MID_LEG, "applied", 20, BOT))
        now = read_finished(here.data)
        _check_left(here)
    assert now.fixtures == expected.fixtures
    pairs = zip(now.results, expected.results, strict=True)
    [(crashed, undisturbed)] = [pair for pair in pairs if pair[0] != pair[1]]
    fixture, termination = crashed[:2]
    assert (termination, undisturbed[1]) == ("forfeit", "completed")
    seats = [row for row in now.seats if row[0] == fixture]
    assert sorted((place, forfeit or "") for *_, place, _, forfeit, _, _, _ in seats) == [
        (1, ""),
        (2, "crash"),
    ]
    assert [row for row in now.seats if row[0] != fixture] == [
        row for row in expected.seats if row[0] != fixture
    ]
    for other, record in now.records.items():
        whole = expected.records[other]
        # Up to the crash it was the same match, on the same deals.
        assert record == whole if other != fixture else record[:-2] == whole[: len(record) - 2]
        assert len(record) > 10


def _check_left(here: Arena) -> None:
    here.check_stored()
    here.check_clean()
