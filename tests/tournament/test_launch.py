"""A bot's process: its end is noticed, its group is killed, its output is kept within bounds."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tournament.bots.launch import BotProcess, program_argv, scrubbed_environment
from tournament.bots.leftovers import kill_leftover_group, process_mark
from tournament.bots.output import LOG_CAP_BYTES
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.wrapped import Wrapped
from tournament.errors import LaunchError

LIMIT_S = 60.0


class Exits:
    """Collects what on_exit is told."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.came = threading.Event()

    def __call__(self, text: str) -> None:
        """Take what on_exit is told."""
        self.texts.append(text)
        self.came.set()


def wrapped(argv: list[str], folder: Path, limits: Limits | None = None) -> Wrapped:
    return choose("none" if limits is None else "rlimits").wrap(
        program_argv(argv),
        folder=folder,
        environment=scrubbed_environment(folder, os.environ),
        socket=None,
        limits=limits or Limits(),
    )


def start(
    tmp_path: Path,
    script: str,
    *,
    on_exit: Callable[[str], None] = lambda _: None,
    log_cap_bytes: int = LOG_CAP_BYTES,
) -> BotProcess:
    (tmp_path / "bot.py").write_text(script)
    return BotProcess(
        ["python3", "bot.py"],
        wrapped=wrapped(["python3", "bot.py"], tmp_path),
        log=tmp_path / "logs" / "bot.log",
        log_cap_bytes=log_cap_bytes,
        on_exit=on_exit,
    )


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def written(path: Path) -> Callable[[], bool]:
    return lambda: path.exists() and path.read_text().endswith("\n")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("raise SystemExit(0)", "exit code 0"),
        ("raise SystemExit(7)", "exit code 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal SIGKILL"),
    ],
)
def test_an_end_is_reported_once(tmp_path: Path, script: str, expected: str) -> None:
    exits = Exits()
    process = start(tmp_path, script, on_exit=exits)
    assert exits.came.wait(LIMIT_S)
    process.stop()
    assert exits.texts == [expected]
    assert process.exit_text == expected
    assert not process.is_running
    with pytest.raises(ChildProcessError):  # reaped
        os.waitpid(process.pid, os.WNOHANG)


def test_a_process_is_asked_to_end_before_it_is_killed(tmp_path: Path) -> None:
    script = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (open("asked", "w").write("yes\\n"), sys.exit(3)))
open("up", "w").write("yes\\n")
time.sleep(600)
"""
    process = start(tmp_path, script)
    until(written(tmp_path / "up"))
    process.stop(grace_s=LIMIT_S)
    assert process.exit_text == "exit code 3"
    assert (tmp_path / "asked").exists()


def test_a_process_that_will_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    script = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("child", "w").write(f"{child.pid}\\n")
time.sleep(600)
"""
    process = start(tmp_path, script)
    until(written(tmp_path / "child"))
    child = int((tmp_path / "child").read_text())
    process.stop(grace_s=0.1)
    assert process.exit_text == "signal SIGKILL"
    until(lambda: has_ended(child))


def test_children_do_not_outlive_a_process_that_ends_by_itself(tmp_path: Path) -> None:
    script = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("child", "w").write(f"{child.pid}\\n")
"""
    process = start(tmp_path, script)
    assert process.wait(LIMIT_S)
    until(lambda: has_ended(int((tmp_path / "child").read_text())))


def test_output_is_kept_up_to_the_cap_and_never_blocks(tmp_path: Path) -> None:
    script = """
import sys
print("begin", flush=True)
for _ in range(3000):
    sys.stderr.write("x" * 999 + "\\n")
"""
    process = start(tmp_path, script, log_cap_bytes=1000)
    assert process.wait(LIMIT_S)
    process.stop()
    log = tmp_path / "logs" / "bot.log"
    text = log.read_text()
    assert text.startswith("begin\nxxx")
    kept, _, end = text.partition("\n(the log's cap is reached: of what follows only the end is ")
    assert (len(kept), len(end) < 5000, end.endswith("xxx\n")) == (1000, True, True)
    assert oct(log.stat().st_mode)[-3:] == "600"


def test_a_process_has_a_session_of_its_own_and_no_input(tmp_path: Path) -> None:
    script = """
import os, sys
print(os.getsid(0) == os.getpid() == os.getpgid(0), repr(sys.stdin.read()))
"""
    process = start(tmp_path, script)
    assert process.wait(LIMIT_S)
    process.stop()
    assert (tmp_path / "logs" / "bot.log").read_text() == "True ''\n"


@pytest.mark.parametrize("argv", [["./no-such-program"], ["bot\0"]])
def test_what_cannot_be_started_is_named(tmp_path: Path, argv: list[str]) -> None:
    with pytest.raises(LaunchError, match="could not be started"):
        BotProcess(argv, wrapped=wrapped(argv, tmp_path), log=tmp_path / "log")


def test_what_the_machine_lacks_is_no_fault_of_the_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(OSError, match="no more processes"):
        BotProcess(["true"], wrapped=wrapped(["true"], tmp_path), log=tmp_path / "log")


def test_a_log_that_cannot_be_written_is_no_fault_of_the_bot(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        BotProcess(["true"], wrapped=wrapped(["true"], tmp_path), log=tmp_path / "file" / "log")


def test_python_means_this_interpreter() -> None:
    assert program_argv(["python3", "bot.py"]) == [sys.executable, "bot.py"]
    assert program_argv(["python", "-m", "x"]) == [sys.executable, "-m", "x"]
    assert program_argv(["./python3"]) == ["./python3"]


def test_the_environment_is_an_allow_list(tmp_path: Path) -> None:
    environ = {"PATH": "/bin", "LANG": "C", "AWS_SECRET": "x", "HOME": "/root", "LD_PRELOAD": "y"}
    kept = scrubbed_environment(tmp_path, environ)
    assert (kept["PATH"], kept["LANG"], kept["HOME"]) == ("/bin", "C", str(tmp_path))
    assert not {"AWS_SECRET", "LD_PRELOAD"} & kept.keys()


def test_a_bot_can_import_the_stubs_and_the_sample_bots(tmp_path: Path) -> None:
    process = start(tmp_path, "import rummy.referee.v1.play_pb2, sample_bots.client")
    assert process.wait(LIMIT_S)
    process.stop()
    assert process.exit_text == "exit code 0", (tmp_path / "logs" / "bot.log").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="limits hold on Linux only")
def test_memory_is_limited(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("x = bytearray(2 << 30)")
    argv = ["python3", "bot.py"]
    process = BotProcess(
        argv, wrapped=wrapped(argv, tmp_path, Limits(memory_mb=512)), log=tmp_path / "log"
    )
    assert process.wait(LIMIT_S)
    process.stop()
    assert process.last_line() == "MemoryError"


def test_leftovers_are_killed_only_if_they_are_the_same_process(tmp_path: Path) -> None:
    process = start(tmp_path, "import time; time.sleep(600)")
    mark = process_mark(process.pid)
    kill_leftover_group(process.pid, "another start")
    assert process.is_running
    kill_leftover_group(process.pid, mark)
    assert process.wait(LIMIT_S)
    process.stop()
    assert process.exit_text == f"signal {signal.SIGKILL.name}"
    kill_leftover_group(process.pid, mark)  # nothing there any more
