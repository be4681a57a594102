"""`tournament check` as a user runs it: reports, exit codes, interrupts, bots from outside."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.check.faulty import write_bot
from tests.service.test_tls import new_key, self_signed
from tournament.bots.find import sample_bot_folders
from tournament.check.report import Finding, Report, Settings, Status, Verdict
from tournament.check.steps.table import STEPS
from tournament.cli import app
from tournament.commands import checking
from tournament.errors import OutputError, UsageError

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 90.0


def environment(folder: Path) -> dict[str, str]:
    """What the command gets: its temporary files lie in a folder that can be looked at."""
    scratch = folder / "t"
    scratch.mkdir(exist_ok=True)
    scratch.chmod(0o755)
    paths = f"{ROOT}:{ROOT / 'proto'}"
    return {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(scratch), "NO_COLOR": "1"}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "tournament", "check", *map(str, arguments)]


def run(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it to its end in a folder. It leaves nothing, and shows no traceback of its own."""
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert list((folder / "t").iterdir()) == []
    return done


@contextmanager
def started(folder: Path, *arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env={**environment(folder), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def is_there(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while is_there(pid):
        assert time.monotonic() < end, f"the process {pid} is left"
        time.sleep(0.05)


# --- reports --------------------------------------------------------------------------------------

_TEXTS = ("step", "title", "status", "text", "sent", "expected", "where")


def hold_schema(report: dict[str, Any]) -> None:
    """The shape that docs/check.md promises."""
    assert list(report) == [
        "bot", "version", "may_compete", "sandbox", "seconds", "settings", "findings", "output",
    ]  # fmt: skip
    for key in ("bot", "version", "sandbox"):
        assert isinstance(report[key], str)
    assert type(report["may_compete"]) is bool
    assert isinstance(report["seconds"], int | float)
    assert all(isinstance(value, int | float) for value in report["settings"].values())
    assert all(isinstance(line, str) and line.isprintable() for line in report["output"])
    assert [one["number"] for one in report["findings"]] == list(range(1, len(STEPS) + 1))
    assert [one["step"] for one in report["findings"]] == [step.key for step in STEPS]
    for one in report["findings"]:
        assert list(one) == ["number", *_TEXTS, "figures", "seconds"]
        assert all(isinstance(one[key], str) for key in _TEXTS)
        assert one["status"] in list(Status)
        assert one["text"]
        assert isinstance(one["seconds"], int | float)
        assert all(isinstance(value, int | float) for value in one["figures"].values())
        if one["status"] == "failed":
            assert one["where"]
    may = not any(one["status"] == "failed" for one in report["findings"])
    assert report["may_compete"] is may


def test_json_of_a_bot_that_may_compete(tmp_path: Path) -> None:
    done = run(tmp_path, "greedy", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    hold_schema(report)
    assert report["may_compete"] is True
    assert report["bot"] == "greedy"
    # Each step's line came on stderr meanwhile.
    assert [line for line in done.stderr.splitlines() if re.match(r" ?\d+  passed", line)]


def test_table_of_a_bot_that_may_not(tmp_path: Path) -> None:
    folder = write_bot(tmp_path, "dies of a rejection")
    done = run(tmp_path, folder)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    numbered = [line for line in lines if re.match(r" ?\d+  \w", line)]
    assert len(numbered) == len(STEPS)
    failed = next(line for line in numbered if "failed" in line)
    assert failed.startswith(" 8  failed")
    assert any(line.strip() == "see:      proto/README.md, Rejections" for line in lines)
    assert "  | how rude" in lines
    assert "may not compete: 14 passed, 1 failed" in lines[-1]


def test_json_of_a_bot_that_may_not(tmp_path: Path) -> None:
    folder = write_bot(tmp_path, "does not start")
    done = run(tmp_path, folder, "--format", "json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    hold_schema(report)
    assert "\x1b" not in done.stdout + done.stderr
    assert any("broken on purpose" in line for line in report["output"])


def test_output_is_shown_when_asked_for(tmp_path: Path) -> None:
    done = run(tmp_path, "random", "--verbose")
    assert done.returncode == 0
    assert "  | random: choice rejected" in done.stdout


# --- wrong use ------------------------------------------------------------------------------------


def refusal(*arguments: str) -> str:
    """What the command says, run in this process, where it must be wrong use."""
    done = CliRunner().invoke(app, ["check", *arguments])
    if isinstance(done.exception, UsageError):
        return str(done.exception)
    assert done.exit_code == 2, done.output
    return " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "there is nothing to check"),
        (["no-such-bot"], "'no-such-bot' is neither"),
        (["greedy", "--format", "csv"], "allowed is table|json"),
        (["greedy", "--wait", "5"], "--wait goes with --address"),
        (["greedy", "--insecure"], "--insecure goes with --address"),
        (["greedy", "--tls-cert", "x"], "--tls-cert goes with --address"),
        (["--address", "nowhere"], "'nowhere' is no address"),
        (["--address", "0.0.0.0:0"], "can be reached from outside"),
        (["--address", "127.0.0.1:0", "--tls-cert", "x"], "without --tls-key"),
        (["--address", "127.0.0.1:0", "--tls-cert", "x", "--tls-key", "y"], "x cannot be read"),
        (["--address", "127.0.0.1:0", "--wait", "0"], "allowed are whole seconds 1–86400"),
        (["greedy", "--sandbox", "box"], "'box'"),
    ],
)
def test_wrong_use_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refusal(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_several_bots_is_refused(tmp_path: Path) -> None:
    write_bot(tmp_path / "bots")
    write_bot(tmp_path / "bots", "is slow")
    assert "2 bots (healthy, is-slow): only one" in refusal(str(tmp_path / "bots"))


def test_wrong_use_has_its_exit_code(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is nothing to check")
    assert not done.stdout


# --- what is shown --------------------------------------------------------------------------------


async def _one_step(_: Path, tell: checking.Tell, doing: checking.Doing) -> Report:
    doing("3  plays [every] preset: match 4")
    finding = Finding(1, "start", "a title", Verdict(Status.PASSED, "went well"), 0.0)
    tell(finding)
    return Report("b", "1", "none", Settings(), [finding], 0.0, [])


def test_a_terminal_shows_what_the_check_is_at() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    checking.show_check(_one_step, console, verbose=False)
    assert "3  plays [every] preset: match 4" in shown.getvalue()
    assert "b 1 may compete" in shown.getvalue()


def test_elsewhere_only_what_came_of_it_is_shown() -> None:
    shown = io.StringIO()
    checking.show_check(_one_step, Console(file=shown), verbose=False)
    assert "match 4" not in shown.getvalue()
    assert len(shown.getvalue().splitlines()) == 2


def test_a_report_that_can_not_be_written() -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="stdout can't be written: No space left"):
        checking.show_check(_one_step, Console(file=Full()), verbose=False)


def test_a_version_that_can_not_be_submitted_is_told(tmp_path: Path) -> None:
    folder = write_bot(tmp_path, "does not start")
    manifest = folder / "bot.toml"
    manifest.write_text(manifest.read_text().replace('version = "1"', 'version = "1/2"'))
    done = run(tmp_path, folder)
    assert "It can't be submitted as it is: " in done.stderr
    assert "version is '1/2'" in done.stderr


# --- interrupts -----------------------------------------------------------------------------------


def test_an_interrupt_ends_cleanly(tmp_path: Path) -> None:
    note = tmp_path / "note"
    folder = write_bot(tmp_path, "is never ready", note=str(note))
    with started(tmp_path, folder, "--sandbox", "none") as process:
        assert process.stdout is not None
        assert [process.stdout.readline()[4:10] for _ in range(2)] == ["passed", "passed"]
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130, stderr
        assert "Traceback" not in stderr
    for pid in map(int, note.read_text().split()):
        assert not is_there(pid)
    assert list((tmp_path / "t").iterdir()) == []


def test_a_killed_check_leaves_nothing(tmp_path: Path) -> None:
    note = tmp_path / "note"
    folder = write_bot(tmp_path, "is never ready", note=str(note))
    with started(tmp_path, folder, "--sandbox", "none") as process:
        assert process.stdout is not None
        assert [process.stdout.readline()[4:10] for _ in range(2)] == ["passed", "passed"]
        process.kill()
        process.wait(PATIENCE_S)
        for pid in map(int, note.read_text().split()):
            wait_until_gone(pid)
    end = time.monotonic() + PATIENCE_S
    while list((tmp_path / "t").iterdir()):
        assert time.monotonic() < end, "the check's folder is left"
        time.sleep(0.05)


# --- bots from outside ----------------------------------------------------------------------------


def dial_in(process: "subprocess.Popen[str]", folder: Path, **more: str) -> tuple[str, str]:
    """Start greedy with what the check has shown, and return what both said at the end."""
    assert process.stderr is not None
    shown: dict[str, str] = {}
    while len(shown) < 2:
        line = process.stderr.readline()
        assert line, "it ended"
        name, _, value = line.strip().partition("=")
        if name.startswith("RUMMY_"):
            shown[name] = value
    bot = subprocess.Popen(
        [sys.executable, str(sample_bot_folders()["greedy"] / "bot.py")],
        cwd=folder,
        env={**environment(folder), **shown, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        stdout, _ = process.communicate(timeout=PATIENCE_S)
        assert bot.wait(PATIENCE_S) == 0
    finally:
        if bot.poll() is None:
            bot.kill()
            bot.wait()
    return stdout, shown["RUMMY_REFEREE"]


def test_a_bot_from_outside(tmp_path: Path) -> None:
    with started(tmp_path, "greedy", "--address", "127.0.0.1:0", "--format", "json") as process:
        stdout, address = dial_in(process, tmp_path)
        assert process.returncode == 0, stdout
    assert re.fullmatch(r"127\.0\.0\.1:\d+", address)
    report = json.loads(stdout)
    hold_schema(report)
    unseen = {one["step"] for one in report["findings"] if one["status"] == "not seen"}
    assert unseen == {"memory", "stop", "output"}
    assert report["sandbox"] == ""
    assert not (tmp_path / "rummy-data").exists()


def test_a_bot_from_outside_over_tls_without_a_folder(tmp_path: Path) -> None:
    key = new_key(tmp_path / "key")
    cert = self_signed(tmp_path / "cert", key)
    files = ("--tls-cert", cert, "--tls-key", key)
    arguments = ("--address", "localhost:0", *files, "--format", "json")
    with started(tmp_path, *arguments) as process:
        stdout, _ = dial_in(process, tmp_path, RUMMY_TLS_CA=str(cert))
        assert process.returncode == 0, stdout
    report = json.loads(stdout)
    hold_schema(report)
    assert (report["bot"], report["version"]) == ("greedy", "1.0.0")


def test_an_address_that_is_taken_is_said_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, "--address", f"127.0.0.1:{port}")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: cannot listen on 127.0.0.1:{port}")


def test_nobody_comes(tmp_path: Path) -> None:
    done = run(tmp_path, "--address", "127.0.0.1:0", "--wait", "1")
    assert done.returncode == 1
    assert "no hello came within 1 s" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("the bot may not compete")
