"""A data folder with bots, and whole runs in it through real worker and bot processes.

Only the referee inside the workers is a fake: fake_worker.py.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tournament.fakes import bot_folder, clean_temp
from tournament.bots.find import find_bots
from tournament.bots.sandbox.choose import choose
from tournament.config import Config
from tournament.runner import run
from tournament.runner.progress import LineProgress
from tournament.runner.runner import Unplayed
from tournament.store.store import Store

COMMAND = (sys.executable, str(Path(__file__).with_name("fake_worker.py")))


class Stage:
    """A data folder, bots, and what the run said."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = root / "data"
        self.marks = root / "marks"
        self.marks.mkdir()
        self.temp = root
        self.said: list[str] = []
        self.store = Store.open(self.data)

    def begin(
        self, *names: str, encounters: int = 2, seats: int = 2, config: Config | None = None
    ) -> str:
        """Store a tournament between bots of these names, made if need be."""
        for name in names:
            if not (self.root / "bots" / name).exists():
                bot_folder(self.root / "bots", name)
        bots = find_bots([str(self.root / "bots" / name) for name in names])
        config = config or Config(encounters=encounters, seats=seats)
        return run.begin(self.store, self.data, config, bots, None, sandbox=choose("none"))

    async def play(self, tournament: str, workers: int = 2) -> list[Unplayed]:
        """Play it with fake referees."""
        return await run.play(
            self.store,
            self.data,
            self.store.tournament(tournament),
            workers=workers,
            progress=LineProgress(self.said.append),
            sandbox="none",
            command=COMMAND,
        )


@contextmanager
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """Make a stage, and see that nothing is left of it."""
    stage = Stage(tmp_path)
    monkeypatch.setenv("FAKE_MARKS", str(stage.marks))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with stage.store, clean_temp(monkeypatch) as stage.temp:
        yield stage
    assert not processes_of(stage.root), "processes were left behind"


def processes_of(root: Path) -> list[int]:
    """Return the processes that run in, or were given, something of this test's folder."""
    found = []
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            where = str((proc / "cwd").readlink())
            alive = (proc / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            continue
        if where.startswith(str(root)) and alive:
            found.append(int(proc.name))
    return found


async def until(condition: Callable[[], bool], limit_s: float = 60.0) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.02)
