"""The README, followed to the letter."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.e2e.commands import ROOT, processes_under

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    pattern = rf"^```{language}\n(.*?)^```$"
    return re.findall(pattern, README, flags=re.DOTALL | re.MULTILINE)


def _commands() -> list[str]:
    return [line for block in _blocks("sh") for line in block.splitlines()]


def _fresh_clone(target: Path) -> Path:
    """The files of this checkout as git would hand them out, changes that are not committed too."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / name)
    return target


def test_the_first_command_plays_a_tournament_in_a_fresh_clone(tmp_path: Path) -> None:
    first = _commands()[0]
    assert first.startswith("python3 -m venv"), first
    clone = _fresh_clone(tmp_path / "clone")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    result = subprocess.run(
        ["bash", "-c", first],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    order = [result.stdout.index(bot) for bot in ("counting", "greedy", "random")]
    assert order == sorted(order), result.stdout
    assert (clone / "rummy-data" / "rummy.sqlite3").is_file()
    assert processes_under(clone) == []


def test_ci_calls_the_readmes_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    [command] = [line for line in _commands() if line.endswith("-m pytest -n auto")]
    assert f"\n{command}\n" in script


def test_the_readmes_bot_may_compete(tmp_path: Path) -> None:
    [program] = _blocks("python")
    manifest = next(block for block in _blocks("toml") if block.startswith("name ="))
    (tmp_path / "my-bot").mkdir()
    (tmp_path / "my-bot" / "bot.py").write_text(program, encoding="utf-8")
    (tmp_path / "my-bot" / "bot.toml").write_text(manifest, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "tournament", "check", "my-bot"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "my-bot 1 may compete" in checked.stdout


def test_the_readmes_bot_plays_against_a_house_bot(tmp_path: Path) -> None:
    [program] = _blocks("python")
    assert len(program.splitlines()) <= 32
    (tmp_path / "bot.py").write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"}
    socket = f"unix:{tmp_path}/referee.sock"
    server = subprocess.Popen(
        [sys.executable, "-m", "referee", "serve", "--play", "greedy", "--listen", socket],
        env=environment,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        while '"event": "house bot' not in (line := server.stderr.readline()):
            assert line, "the server ended early"
        bot = subprocess.run(
            [sys.executable, "bot.py"],
            cwd=tmp_path,
            env={**environment, "RUMMY_REFEREE": socket},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        server.send_signal(signal.SIGTERM)
        _, log = server.communicate(timeout=60)
    assert bot.returncode == 0, bot.stderr
    assert '"event": "match ended"' in log
    assert server.returncode == 0
    assert processes_under(tmp_path) == []
