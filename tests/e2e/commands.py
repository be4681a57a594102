"""Running the project's commands as a user would, and seeing that nothing stays behind."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(
    arguments: Sequence[str], folder: Path, *, timeout_s: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run `python -m …` in a folder, its output captured."""
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def processes_under(folder: Path) -> list[str]:
    """Command lines of processes whose working directory lies in a folder (Linux only)."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            where = (entry / "cwd").resolve()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # It has ended, or is not ours.
        if where.is_relative_to(folder.resolve()):
            found.append(command)
    return found


def assert_explained(result: subprocess.CompletedProcess[str], code: int) -> None:
    """The command failed as it should: with the exit code, and without a traceback."""
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr, result.stderr
    assert "Traceback" not in result.stdout, result.stdout
