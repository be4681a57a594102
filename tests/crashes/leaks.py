"""Plays many matches and looks at what the processes hold, early and late."""

import time
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from tests.crashes.arena import Arena, Plan, arena
from tests.crashes.finished import stored_count
from tests.crashes.killer import children

_LOOK_EVERY_S = 0.1
_EARLY, _LATE = (0.2, 0.4), (0.8, 1.0)
"""The parts of the matches during which it is looked for what is held at most."""
_PAIRS, _LEGS = 3, 2
_MORE = {"files": 4, "threads": 8}
"""What may be open by chance at one look and not at another, and threads that a pool may add."""
_FOR_A_BOT = {"files": 4, "threads": 3}
"""What a worker holds for each of its bots: a pipe, a log, a connection, and who watches them."""
_MEMORY_RATIO = 1.35
"""What caches and fragments may add to a process that is warm, whatever it plays."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a process holds at a moment."""

    files: int
    memory_kib: int
    threads: int
    children: int

    def most(self, other: "Look | None") -> "Look":
        """Return the higher of each figure."""
        if other is None:
            return self
        return Look(*map(max, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class Growth:
    """What runner and workers held at most, early and late in the run."""

    matches: int
    seconds: float
    early: dict[str, Look]
    late: dict[str, Look]
    sockets: int
    bots: int
    workers: int

    def rows(self) -> list[tuple[str, str, int, int]]:
        """Return process, figure, early and late."""
        return [
            (kind, figure, getattr(self.early[kind], figure), getattr(self.late[kind], figure))
            for kind in ("runner", "worker")
            for figure in ("files", "memory_kib", "threads")
        ]

    @property
    def is_bounded(self) -> bool:
        """Whether nothing grows with the number of matches."""
        return not self.faults()

    def faults(self) -> list[str]:
        """Say what grew."""
        found = []
        for kind, figure, early, late in self.rows():
            if figure == "memory_kib":
                most = round(early * _MEMORY_RATIO)
            else:
                more = max(0, self.late[kind].children - self.early[kind].children)
                most = early + _MORE[figure] + more * _FOR_A_BOT[figure]
            if late > most:
                found.append(f"{kind}: {figure} grew from {early} to {late}")
        if self.sockets > self.workers:
            found.append(f"{self.sockets} sockets for {self.workers} workers")
        return found


def watch_matches(matches: int, workers: int = 2) -> Growth:
    """Play at least `matches` matches of three bots, look on, and see that nothing is left.

    Raises AssertionError if something is.
    """
    plan = Plan(encounters=-(-matches // (_PAIRS * _LEGS)), workers=workers)
    planned = plan.encounters * _PAIRS * _LEGS
    with arena() as here:
        began = time.monotonic()
        process = here.start(*plan.words)
        early: dict[str, Look] = {}
        late: dict[str, Look] = {}
        sockets = bots = 0
        while process.poll() is None:
            part = stored_count(here.data) / planned
            seen = _looks(process.pid)
            for held, (begin, end) in ((early, _EARLY), (late, _LATE)):
                if begin <= part <= end:
                    held.update({kind: look.most(held.get(kind)) for kind, look in seen.items()})
            sockets = max(sockets, len(list(here.temp.rglob("*.sock"))))
            bots = max(bots, _bots(here))
            time.sleep(_LOOK_EVERY_S)
        done_with = here.finish(process)
        assert done_with.returncode == 0, done_with.stderr
        seconds = time.monotonic() - began
        here.finished()
    assert early.keys() == late.keys() == {"runner", "worker"}, "it was over before a look"
    return Growth(planned, seconds, early, late, sockets, bots, workers)


def _looks(runner: int) -> dict[str, Look]:
    """Return what the runner holds, and the most that one of its workers does."""
    seen = {"runner": look} if (look := _look(runner)) else {}
    for pid in children(runner):
        if (look := _look(pid)) and look.children:
            seen["worker"] = look.most(seen.get("worker"))
    return seen


def _look(pid: int) -> Look | None:
    with suppress(OSError, KeyError):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        status = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        memory, threads = int(status["VmRSS"][0]), int(status["Threads"][0])
        return Look(files, memory, threads, len(children(pid)))
    return None


def _bots(here: Arena) -> int:
    copies = here.data / "bots"
    found = 0
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            found += entry.readlink().is_relative_to(copies)
    return found
