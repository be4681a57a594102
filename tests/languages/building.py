"""Builds the bots of other languages, as a tournament does: in a copy of the folder, elsewhere.

What is built stays in the folder for temporary files, by content, so that the next session finds
it there. RUMMY_BUILDS names another place.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.languages.languages import Language
from tests.languages.vectors import VECTORS
from tournament.bots.folder import content_hash, read_bot_folder
from tournament.bots.launch import build_environment, program_argv, scrubbed_environment

ROOT: Final = Path(__file__).resolve().parents[2]
PROTO: Final = ROOT / "proto"
_LIMIT_S: Final = 1_800
_DONE: Final = "done"


@dataclass(frozen=True, slots=True)
class BuiltBot:
    """A bot that is ready to be run in its folder."""

    name: str
    version: str
    folder: Path
    argv: tuple[str, ...]
    build_s: float
    """Seconds that the build took, 0 if it was there already."""

    def environment(self, **more: str) -> dict[str, str]:
        """What a tournament gives to a bot's process, and `more`."""
        return {**scrubbed_environment(self.folder, os.environ), **more}


def built(row: Language) -> BuiltBot:
    """Build a language's bot, once a session at most. Raises AssertionError with the output."""
    done = _attempt(row)
    assert isinstance(done, BuiltBot), done
    return done


@cache
def _attempt(row: Language) -> BuiltBot | str:
    """Build a language's bot, or say why that failed: it would fail for the next test too."""
    try:
        return _build(row)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return str(error)


def _build(row: Language) -> BuiltBot:
    source = ROOT / "sample_bots" / row.name
    place = _builds()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / row.name
        _copy(source, copy)
        key = sha256(f"{content_hash(copy)} {_proto_hash()}".encode()).hexdigest()[:16]
        home = place / f"{row.name}-{key}"
        lock = _lock(home)
        manifest = read_bot_folder(copy)
        folder, done = home / row.name, home / _DONE
        took = 0.0
        if not done.exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            shutil.copytree(copy, folder)
            begin = time.monotonic()
            _run(row.name, manifest.build, folder, build_environment(folder, os.environ))
            took = time.monotonic() - begin
            done.touch()
    fcntl.flock(lock, fcntl.LOCK_SH)  # held until this process ends: nobody removes it
    _remove_older(place, row.name, home)
    return BuiltBot(manifest.name, manifest.version, folder, manifest.run, took)


def python_bot() -> BuiltBot:
    """The greedy bot in Python, where it stands."""
    manifest = read_bot_folder(ROOT / "sample_bots" / "greedy")
    argv = tuple(program_argv(manifest.run))
    return BuiltBot(manifest.name, manifest.version, manifest.path, argv, 0.0)


def check(row: Language, name: str) -> None:
    """Run one of a language's own checks. Raises AssertionError with its output."""
    bot = built(row)
    environ = {**os.environ, "RUMMY_PROTO": str(PROTO), "RUMMY_VECTORS": str(VECTORS)}
    _run(f"{row.name}: {name}", row.checks[name], bot.folder, environ)


def _run(what: str, argv: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
    done = subprocess.run(
        argv,
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_LIMIT_S,
        check=False,
    )
    text = done.stdout.decode(errors="replace")
    assert done.returncode == 0, f"{what}: {list(argv)} ended with {done.returncode}:\n{text}"


def _builds() -> Path:
    user = os.getuid()
    default = Path(tempfile.gettempdir()) / f"rummy-builds-{user}"
    place = Path(os.environ.get("RUMMY_BUILDS") or default)
    place.mkdir(mode=0o700, exist_ok=True)
    assert place.stat().st_uid == user, f"{place} belongs to somebody else"
    return place


def _copy(source: Path, target: Path) -> None:
    """Copy what git would hand out, changes that are not committed too, and nothing built."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=source,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def _proto_hash() -> str:
    digest = sha256()
    for file in sorted(PROTO.glob("rummy/**/*.proto")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _lock(home: Path) -> int:
    """Lock a build's folder alone; the lock goes with the process."""
    lock = os.open(f"{home}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _remove_older(place: Path, name: str, current: Path) -> None:
    """Remove builds of other contents that nobody uses."""
    for home in place.glob(f"{name}-*"):
        if home.suffix == ".lock" or home == current:
            continue
        lock = os.open(f"{home}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(home, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(lock)


if __name__ == "__main__":
    from tests.languages.languages import language

    for wanted in sys.argv[1:]:
        print(built(language(wanted)))  # noqa: T201
