"""The guard: what a killed run leaves is ended, what ended in order is left alone."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tournament.fakes import bot_folder, environment, freeze_here
from tournament.bots.find import find_bots
from tournament.bots.guard import GRACE_S, guard
from tournament.bots.leftovers import is_running, process_mark
from tournament.errors import FreezeError

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("up", "w").write("yes")
while True:
    time.sleep(1)
"""

FREEZE = """
import pathlib
from tests.tournament.fakes import freeze_here
from tournament.bots.find import find_bots
freeze_here(find_bots([{folder!r}])[0], pathlib.Path({data!r}))
"""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
    )
    yield process
    process.kill()
    process.wait()


def no_wait(_seconds: float) -> None:
    """Pass no time."""


def test_what_a_killed_run_left_is_killed(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]"
) -> None:
    guard([f"other {sleeper.pid} {process_mark(sleeper.pid)}\n"], tmp_path / "gone", no_wait)
    assert sleeper.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize("line", ["ended {}", "done"])
def test_what_ended_in_order_is_left_alone(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]", line: str
) -> None:
    begun = f"other {sleeper.pid} {process_mark(sleeper.pid)}\n"
    guard([begun, line.format(sleeper.pid) + "\n"], tmp_path / "gone", no_wait)
    assert is_running(sleeper.pid, process_mark(sleeper.pid))


def test_a_number_that_belongs_to_somebody_else_by_now_is_left_alone(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]"
) -> None:
    guard([f"other {sleeper.pid} 12345\n"], tmp_path / "gone", no_wait)
    assert sleeper.poll() is None


def test_workers_get_time_to_end_in_order(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]"
) -> None:
    waited: list[float] = []
    mark = process_mark(sleeper.pid)
    guard([f"worker {sleeper.pid} {mark}\n"], tmp_path / "gone", waited.append)
    assert sum(waited) == pytest.approx(GRACE_S)
    assert sleeper.wait(60) == -signal.SIGKILL
    waited.clear()
    guard([f"worker {sleeper.pid} {mark}\n"], tmp_path / "gone", waited.append)
    assert waited == []


def test_a_build_dies_with_whoever_began_it(tmp_path: Path) -> None:
    changes = {"build": ["python3", "bot.py"]}
    bot_folder(tmp_path / "bots", "mine", STUBBORN, changes)
    data = tmp_path / "data"
    script = FREEZE.format(folder=str(tmp_path / "bots" / "mine"), data=str(data))
    runner = subprocess.Popen([sys.executable, "-c", script], env=environment())
    until(lambda: bool(list(data.glob("bots/.new-*/bot/up"))))
    assert running_in(data)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    until(lambda: not running_in(data))
    until(lambda: not list(data.glob("bots/.new-*")))


def test_an_interrupted_build_leaves_nothing(tmp_path: Path) -> None:
    script = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {STUBBORN!r}])
open("begun", "w")
{STUBBORN}
"""
    bot_folder(tmp_path / "bots", "mine", script, {"build": ["python3", "bot.py"]})
    data = tmp_path / "data"
    code = FREEZE.format(folder=str(tmp_path / "bots" / "mine"), data=str(data))
    runner = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stderr=subprocess.DEVNULL
    )
    until(lambda: len(running_in(data)) == 2)
    runner.send_signal(signal.SIGINT)
    runner.wait(60)
    assert running_in(data) == []
    assert list((data / "bots").iterdir()) == []


def test_a_failing_build_shows_the_end_of_its_output(tmp_path: Path) -> None:
    script = "print('much'); print('what is wrong'); raise SystemExit(3)"
    bot_folder(tmp_path / "bots", "mine", script, {"build": ["python3", "bot.py"]})
    [bot] = find_bots([str(tmp_path / "bots" / "mine")])
    with pytest.raises(FreezeError, match=r"(?s)ended with exit code 3:\nmuch\nwhat is wrong"):
        freeze_here(bot, tmp_path / "data")
    assert list((tmp_path / "data" / "bots").iterdir()) == []


def test_what_a_killed_freeze_left_is_removed_by_the_next(tmp_path: Path) -> None:
    bot_folder(tmp_path / "bots", "mine")
    [bot] = find_bots([str(tmp_path / "bots" / "mine")])
    data = tmp_path / "data"
    left = data / "bots" / ".new-dead"
    left.mkdir(parents=True)
    (left / "run.lock").touch()
    copy = freeze_here(bot, data)
    assert list((data / "bots").iterdir()) == [copy]


def running_in(folder: Path) -> list[int]:
    """Return the processes that run below a folder."""
    found = []
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            is_below = (proc / "cwd").readlink().is_relative_to(folder)
            if is_below and (proc / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(int(proc.name))
        except OSError:
            continue
    return found
