"""`tournament logs`, and both commands as they are called from a shell."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tournament.fakes import command, environment
from tests.tournament.told_why import log_of, played, stored
from tournament.commands.logs import logs
from tournament.errors import StoreError, TournamentError, UsageError

WROTE = b"\x1b[2Jthinking\r\n\xffodd\tbytes\nlast line"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data folder with one match played of two, lost by bot0, which wrote something."""
    stored(tmp_path / "rummy-data", played("crash"), legs=1, reasons="bot0 ended with exit code 1")
    log_of(tmp_path / "rummy-data", "bot0").write_bytes(WROTE)
    return tmp_path / "rummy-data"


def test_a_pipe_gets_what_was_written_byte_by_byte(data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tournament", "logs", "0", "bot0"],
        cwd=data.parent,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, WROTE, b"")


def test_a_terminal_obeys_nothing_of_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    logs(match="0", bot=None, data=data)
    assert terminal.getvalue() == "\\x1b[2Jthinking\n\ufffdodd\tbytes\nlast line\n"


def test_of_a_huge_log_the_end_is_shown(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_of(data, "bot0").write_bytes(b"x" * 3_000_000 + b"the end")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    logs(match="m-1", bot="bot0", data=data)
    text = terminal.getvalue()
    assert len(text) == 1024 * 1024 + 1
    assert text.endswith("xthe end\n")


def test_no_output_is_said(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs(match="0", bot="bot1", data=data)
    assert "bot1 has no logs here: there is no folder" in capsys.readouterr().err.replace("\n", " ")
    log_of(data, "bot1", "another").write_bytes(b"something")
    logs(match="0", bot="bot1", data=data)
    written = capsys.readouterr()
    assert "bot1 wrote nothing in match 0, or it is no longer kept" in written.err
    logs(match="1", bot="bot0", data=data)
    assert "match 1 has not been played to its end" in capsys.readouterr().err
    assert written.out == ""


def test_what_is_asked_wrongly_is_explained(data: Path) -> None:
    with pytest.raises(StoreError, match="no match '7'"):
        logs(match="7", bot="bot0", data=data)
    with pytest.raises(UsageError, match="'bot2' is not in it: match 0 is between bot0, bot1"):
        logs(match="0", bot="bot2", data=data)
    with pytest.raises(UsageError, match="say which bot"):
        logs(match="1", bot=None, data=data)
    log_of(data, "bot0").unlink()
    log_of(data, "bot0").mkdir()
    with pytest.raises(TournamentError, match=r"m-1\.log can't be read: Is a directory"):
        logs(match="0", bot="bot0", data=data)


def test_why_from_a_shell(data: Path) -> None:
    done = command("why", "0", "--format", "json", cwd=data.parent)
    assert (done.returncode, done.stderr) == (0, "")
    body = json.loads(done.stdout)
    assert (body["match"]["bot"], body["match"]["forfeit"]) == ("bot0", "crash")
    assert body["match"]["process"] == "ended with exit code 1"
    assert [row["line"] for row in body["log"]][-1] == "last line"
    log_of(data, "bot0").unlink()
    done = command("why", "m-1", "bot0", cwd=data.parent)
    assert done.returncode == 0
    assert "what bot0 wrote outside of matches, as before its first one, is in" in done.stderr
    for words, code, text in (
        (("why", "9", "bot0"), 1, "The nearest: 1 (positions are 0–1)"),
        (("why", "0", "bot7"), 2, "'bot7' is not in it"),
        (("why", "1", "bot0"), 1, "has no record yet"),
        (("logs", "0"), 0, "bot0 wrote nothing in match 0"),
    ):
        done = command(*words, cwd=data.parent)
        assert (done.returncode, done.stdout) == (code, "")
        assert text in done.stderr
        assert "Traceback" not in done.stderr
