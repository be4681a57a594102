"""Runs the yard as root, where the tests are root, and as an ordinary user."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
USERS = ("root", "ordinary") if os.geteuid() == 0 else ("ordinary",)
NOBODY = 65534
_LIMIT_S = 120.0
_PARTS = (
    "tournament/errors.py",
    "tournament/bots/__init__.py",
    "tournament/bots/scratch.py",
    "tournament/bots/sandbox",
)
_PYTHONS = (sys.executable, "/usr/bin/python3")


@contextmanager
def world_readable() -> Iterator[Path]:
    """Copy the sandbox and the yard to where every user can read them."""
    with tempfile.TemporaryDirectory(prefix="sandbox-", dir="/tmp") as name:
        folder = Path(name)
        for part in _PARTS:
            target = folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
            copy(ROOT / part, target)
        (folder / "tournament" / "__init__.py").touch()
        shutil.copytree(Path(__file__).parent / "attacks", folder / "attacks")
        shutil.copyfile(Path(__file__).parent / "yard.py", folder / "yard.py")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield folder


def _as(user: str) -> dict[str, Any]:
    if user == "ordinary" and os.geteuid() == 0:
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return {}


def _python(user: str) -> str:
    """Return an interpreter that the user can start: that of the tests may lie in a home."""
    for python in _PYTHONS:
        command = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            found = subprocess.run(command, check=False, cwd="/", capture_output=True, **_as(user))
        except OSError:
            continue
        if found.returncode == 0:
            return python
    raise AssertionError(f"no Python 3.11 for the user {user}: tried {', '.join(_PYTHONS)}")


def attacked(folder: Path, user: str, tier: str, attack: str) -> dict[str, Any]:
    """Run an attack in a tier as a user, and return the yard's report."""
    done = subprocess.run(
        [_python(user), "-B", str(folder / "yard.py"), tier, attack],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "TMPDIR": "/tmp"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_LIMIT_S,
        check=False,
        **_as(user),
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4_000:]
    report = json.loads(done.stdout)
    assert isinstance(report, dict)
    return report
