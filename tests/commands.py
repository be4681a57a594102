"""Runs the command `referee` for tests."""

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from referee.cli import app

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}",
    "COLUMNS": "200",
    "NO_COLOR": "1",
}


def referee(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end. Whatever happens, no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "referee", *arguments],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


def explanation(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """What a command that had to fail says, in one line; nothing on standard output."""
    assert done.returncode == code, done.stderr
    assert not done.stdout
    return " ".join(done.stderr.split())


def within(*arguments: str) -> subprocess.CompletedProcess[str]:
    """As `referee`, but within this process: a start costs half a second, and there are many."""
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def refused(*arguments: str, code: int = 2) -> str:
    """What a command says that must fail."""
    return explanation(within(*arguments), code)
