"""A folder in which real tournaments are played, killed and resumed, and looked over after that.

Everything that belongs to it has its working directory in it, or in a sandbox sees a part of it, so
what is left can be found.
"""

import atexit
import fcntl
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from signal import SIGKILL, SIGSTOP

from tests.crashes.finished import (
    FILE,
    Finished,
    leaderboard_bytes,
    planned_tournaments,
    read_finished,
    stored_rows,
)
from tests.crashes.killer import ALL, BOT, RUNNER, WORKER, Kill

ROOT = Path(__file__).resolve().parents[2]
PLAN_FILE = "plan.toml"
_KILLER = Path(__file__).with_name("killer.py")
_GONE_S = 30.0
_COMMAND_S = 240.0
KILLED = -SIGKILL


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played. A seed makes it repeatable."""

    bots: tuple[str, ...] = ("random", "greedy", "counting")
    encounters: int = 2
    seed: int = 7
    workers: int = 2
    more: tuple[str, ...] = ()
    file: str = ""
    """What a tournament file says, if there is one."""

    @property
    def words(self) -> tuple[str, ...]:
        """The command that begins it."""
        numbers = {"encounters": self.encounters, "seed": self.seed, "workers": self.workers}
        options = [word for name, number in numbers.items() for word in (f"--{name}", str(number))]
        rules = ("--rules", "basic", "--set", "target=50")
        file = [PLAN_FILE] if self.file else []
        return ("run", *file, *self.more, *rules, *options, "--bots", *self.bots)


@dataclass(slots=True)
class Arena:
    """One data folder and what its commands did."""

    folder: Path
    kept: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """Every result that was seen stored. It must never change."""

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def temp(self) -> Path:
        """The folder for temporary files."""
        return self.folder / "t"

    def environment(self) -> dict[str, str]:
        """Return what the commands run with."""
        paths = os.pathsep.join([str(ROOT), str(ROOT / "proto")])
        own = {"PYTHONPATH": paths, "TMPDIR": str(self.temp), "PYTHONPYCACHEPREFIX": _byte_code()}
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return {**inherited, **own, "COLUMNS": "200"}

    def start(
        self, *words: str, kill: Kill | None = None, before: Sequence[str] = ()
    ) -> "subprocess.Popen[str]":
        """Start `tournament` with these words, a kill in wait, and other words before it all."""
        argv = [sys.executable, "-m", "tournament"]
        if kill is not None:
            placed = replace(
                kill, hits=str(self._note("hits")), acknowledged=str(self._note("acknowledged"))
            )
            argv = [sys.executable, str(_KILLER), json.dumps(asdict(placed))]
        return subprocess.Popen(
            [*before, *argv, *words, "--data", str(self.data)],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, *words: str, kill: Kill | None = None, before: Sequence[str] = ()
    ) -> "subprocess.CompletedProcess[str]":
        """Run `tournament` to its end, and see that it leaves no process."""
        return self.finish(self.start(*words, kill=kill, before=before))

    def finish(self, process: "subprocess.Popen[str]") -> "subprocess.CompletedProcess[str]":
        """Wait for a command to end, and for all that it started."""
        try:
            out, err = process.communicate(timeout=_COMMAND_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
            process.communicate()
            raise
        done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
        assert "Traceback" not in err, err
        self.wait_until_alone()
        return done

    def begin_or_resume(self, plan: Plan) -> "subprocess.CompletedProcess[str]":
        """Do what a user would: begin, or go on with what is there."""
        return self.run(*self.next_words(plan))

    def next_words(self, plan: Plan) -> tuple[str, ...]:
        """Return the command that begins, or that goes on with the one tournament that is there."""
        if plan.file:
            (self.folder / PLAN_FILE).write_text(plan.file, encoding="utf-8")
        begun = planned_tournaments(self.data)
        return ("resume", "--workers", str(plan.workers)) if begun else plan.words

    def _note(self, name: str) -> Path:
        return self.folder / name

    def is_finished(self) -> bool:
        """Whether the tournament is marked as finished."""
        return [one.status for one in planned_tournaments(self.data)] == ["finished"]

    def take_hit(self) -> str | None:
        """Return the phase that was hit by the last kill, once."""
        note = self._note("hits")
        if not note.exists():
            return None
        phase = note.read_text(encoding="utf-8").strip()
        note.unlink()
        return phase

    def check_stored(self) -> int:
        """Nothing that was stored has changed or gone, nor what was said to be. Return how many."""
        now: dict[str, tuple[object, ...]] = stored_rows(self.data)
        changed = {key for key, row in self.kept.items() if now.get(key) != row}
        assert not changed, f"results that were stored have changed or are gone: {changed}"
        if self._note("acknowledged").exists():
            said = self._note("acknowledged").read_text(encoding="utf-8").split()
            assert len(said) == len(set(said)), "a result was stored twice"
            assert set(said) <= now.keys(), "a result that was acknowledged is not stored"
        self.kept = now
        return len(now)

    def finished(self) -> tuple[Finished, str]:
        """Return the finished tournament and its leaderboard, and see that nothing is left."""
        self.check_stored()
        board = self.run("leaderboard", "--format", "json")
        assert board.returncode == 0, board.stderr
        self.check_clean()
        return read_finished(self.data), leaderboard_bytes(board.stdout)

    # What is left

    def processes(self) -> dict[int, str]:
        """Return the living processes that work in this folder, by number."""
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with suppress(OSError):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX" and self._works_here(entry):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(entry.name)] = command
        return found

    def _works_here(self, process: Path) -> bool:
        if (process / "cwd").readlink().is_relative_to(self.folder):
            return True
        if (process / "ns" / "mnt").readlink() == Path("/proc/self/ns/mnt").readlink():
            return False
        # Inside a sandbox the copy has another name; where it comes from stands in its mounts.
        return f"/{self.folder.name}/" in (process / "mountinfo").read_text()

    def wait_until_alone(self) -> None:
        """Wait until no process is left. Raises AssertionError, after it killed what was."""
        deadline = time.monotonic() + _GONE_S
        while left := self.processes():
            if time.monotonic() > deadline:
                for pid in left:
                    with suppress(ProcessLookupError):
                        os.kill(pid, SIGKILL)
                raise AssertionError(f"processes were left: {left}")
            time.sleep(0.02)

    def check_clean(self) -> None:
        """No process, socket, lock, open file or half-made thing is left."""
        assert self.processes() == {}
        left = sorted(map(str, self.temp.rglob("*")))
        assert left == [], f"temporary files are left: {left}"
        assert open_files_below(self.folder) == []
        half = [path.name for path in (self.data / "bots").iterdir() if path.name.startswith(".")]
        assert half == [], "half-made copies of bots are left"
        for lock in (self.data / "locks").glob("*"):
            assert not is_held(lock), f"{lock} is held"
        side_files = [path.name for path in self.data.glob(f"{FILE}-*")]
        assert side_files == [], "the database was not closed"

    # Kills at random

    def kill_at_random(self, process: "subprocess.Popen[str]", chance: random.Random) -> str | None:
        """Kill runner, a worker or all of it; None if it ended before.

        All of it is killed as a machine dies: nobody gets to do anything in between.
        """
        tree = self.processes()
        workers = [pid for pid, line in tree.items() if "tournament.worker" in line]
        if process.poll() is not None:
            return None
        target = chance.choice((RUNNER, WORKER, ALL) if workers else (RUNNER, ALL))
        if target == RUNNER:
            doomed = [process.pid]
        elif target == WORKER:
            doomed = [chance.choice(workers)]
        else:
            os.kill(process.pid, SIGSTOP)
            doomed = list(self.processes())
            chance.shuffle(doomed)
        for pid in doomed:
            with suppress(ProcessLookupError):
                os.kill(pid, SIGKILL)
        return target


def is_held(lock: Path) -> bool:
    """Whether some process holds the lock of a file."""
    file = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def open_files_below(folder: Path) -> list[str]:
    """Return what any process has open below a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            target = entry.readlink()
            if target.is_relative_to(folder):
                found.append(f"{entry} -> {target}")
    return found


@cache
def _byte_code() -> str:
    """Return a folder that keeps compiled modules for this run of the tests: a quicker start."""
    folder = tempfile.mkdtemp(prefix="rk-pyc-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def arena() -> Iterator[Arena]:
    """Make an arena of a short name, for paths of sockets have a limit; nothing outlives it."""
    with tempfile.TemporaryDirectory(prefix="rk-", dir="/tmp") as name:
        here = Arena(Path(name))
        here.temp.mkdir()
        try:
            yield here
        finally:
            for pid in here.processes():
                with suppress(ProcessLookupError):
                    os.kill(pid, SIGKILL)
            here.wait_until_alone()


def uninterrupted(plan: Plan) -> tuple[Finished, str]:
    """Play the plan without any kill."""
    with arena() as here:
        done = here.run(*here.next_words(plan))
        assert done.returncode == 0, done.stderr
        return here.finished()


def hit(
    here: Arena, plan: Plan, kill: Kill, words: Sequence[str] = ()
) -> "subprocess.CompletedProcess[str]":
    """Begin or go on with the plan, or do what `words` say, until the kill.

    See that it hit, and that nothing is lost.
    """
    done = here.run(*(words or here.next_words(plan)), kill=kill)
    assert here.take_hit() == kill.phase, f"{kill} never came: {done.stderr}"
    if kill.target in (RUNNER, ALL):
        assert done.returncode == KILLED, done.stderr
    elif kill.target in (WORKER, BOT):
        assert done.returncode == 0, done.stderr
    here.check_stored()
    return done
