"""A runner, or a worker, that is killed at an exact moment: `python killer.py KILL command …`.

It patches what the moment is about and runs the real program; the product knows nothing of it.
KILL is a table in JSON, see `Kill`. When the moment comes a line is added to its file `hits`.
"""

import functools
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event

RUNNER, WORKER, BOT, ALL = "runner", "worker", "bot", "all"
_GONE_S = 10.0


@dataclass(frozen=True, slots=True)
class Kill:
    """Who is killed, and when: at the `nth` passage of `at`, in the process it belongs to.

    `at` is `sql:TEXT` (after a statement that begins so), `commit:TEXT` (before the COMMIT of a
    transaction with such a statement) or a name of `_RUNNER_MOMENTS` or `_WORKER_MOMENTS`.
    """

    phase: str
    at: str
    nth: int = 1
    target: str = RUNNER
    hits: str = ""
    acknowledged: str = ""
    """Where every result that is said to be stored is written down, by its fixture id."""
    root: int = 0
    """The runner's process; it fills this in."""

    @property
    def in_worker(self) -> bool:
        """Whether the moment is one of the worker's."""
        return self.at in _WORKER_MOMENTS


def main() -> None:
    """Run the command or the worker with the kill in wait."""
    kill = Kill(**json.loads(sys.argv[1]))
    if sys.argv[2:] == ["worker"]:
        _worker(kill)
    else:
        sys.argv[1:] = sys.argv[2:]
        _runner(Kill(**{**asdict(kill), "root": os.getpid()}))


# --- killing ------------------------------------------------------------------------------------


class _Moment:
    """Counts passages, and kills at the chosen one."""

    def __init__(self, kill: Kill) -> None:
        self._kill = kill
        self._passages = 0

    def pass_by(self) -> None:
        self._passages += 1
        # In worker processes that are started again the moment has been.
        if self._passages == self._kill.nth and not Path(self._kill.hits).exists():
            Path(self._kill.hits).write_text(f"{self._kill.phase}\n", encoding="utf-8")
            strike(self._kill)


def strike(kill: Kill) -> None:
    """Kill the target. Whoever does it goes last, and can do nothing in between."""
    tree = [kill.root, *descendants(kill.root)]
    workers = children(kill.root)
    bots = [pid for pid in tree if pid != kill.root and pid not in workers]
    if kill.target == BOT:
        _kill_and_wait(bots[:1] if kill.at != "saved" else bots)
        return
    me = os.getpid()
    worker = [me] if me in workers else workers[:1]
    doomed = {RUNNER: [kill.root], WORKER: worker, ALL: tree}[kill.target]
    for pid in sorted(doomed, key=lambda pid: (pid == me, tree.index(pid))):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _kill_and_wait(pids: list[int]) -> None:
    """Kill, and wait until the parent has seen it: until the numbers are free again."""
    for pid in pids:
        with suppress(ProcessLookupError):  # in a sandbox they die with the one above them
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _GONE_S
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """Processes that this one started and that have not been reaped."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, path.read_text(encoding="ascii").split())
    return sorted(found)


def descendants(pid: int) -> list[int]:
    """All processes below this one."""
    return [one for child in children(pid) for one in (child, *descendants(child))]


# --- the runner ---------------------------------------------------------------------------------


def _runner(kill: Kill) -> None:
    from tournament import cli  # noqa: PLC0415 - a worker does not need it
    from tournament.runner import run  # noqa: PLC0415
    from tournament.store.store import Store  # noqa: PLC0415

    moment = _Moment(kill)
    _after(Store, "save_result", lambda arguments: _write_down(kill, arguments[2]))
    if kill.in_worker:
        command = (sys.executable, __file__, json.dumps(asdict(kill)), "worker")
        run.play = functools.partial(run.play, command=command)
    elif kill.at.startswith(("sql:", "commit:")):
        _watch_statements(kill.at, moment)
    else:
        _RUNNER_MOMENTS[kill.at](moment)
    cli.main()


def _write_down(kill: Kill, fixture: str) -> None:
    with Path(kill.acknowledged).open("a", encoding="utf-8") as file:
        file.write(f"{fixture}\n")


def _watch_statements(at: str, moment: _Moment) -> None:
    kind, _, text = at.partition(":")
    open_transactions: set[int] = set()

    def executed(connection: Connection, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith(text):
            open_transactions.add(id(connection))
            if kind == "sql":
                moment.pass_by()

    def committing(connection: Connection) -> None:
        if id(connection) in open_transactions:
            open_transactions.discard(id(connection))
            if kind == "commit":
                moment.pass_by()

    event.listen(Engine, "after_cursor_execute", executed)
    event.listen(Engine, "commit", committing)


def _after(owner: Any, name: str, then: Callable[[tuple[Any, ...]], None]) -> None:
    """Have something done each time a function has returned."""
    whole = getattr(owner, name)

    @functools.wraps(whole)
    def both(*arguments: Any, **named: Any) -> Any:
        answer = whole(*arguments, **named)
        then(arguments)
        return answer

    setattr(owner, name, both)


def _after_async(owner: Any, name: str, then: Callable[[], None]) -> None:
    whole = getattr(owner, name)

    @functools.wraps(whole)
    async def both(*arguments: Any, **named: Any) -> Any:
        answer = await whole(*arguments, **named)
        then()
        return answer

    setattr(owner, name, both)


def _before(owner: Any, name: str, first: Callable[[], None]) -> None:
    whole = getattr(owner, name)

    @functools.wraps(whole)
    def both(*arguments: Any, **named: Any) -> Any:
        first()
        return whole(*arguments, **named)

    setattr(owner, name, both)


def _store_method(name: str) -> Callable[[_Moment], None]:
    def patch(moment: _Moment) -> None:
        from tournament.store.store import Store  # noqa: PLC0415

        _after(Store, name, lambda _: moment.pass_by())

    return patch


def _acknowledged(moment: _Moment) -> None:
    from tournament.runner.worker_process import WorkerProcess  # noqa: PLC0415

    _after_async(WorkerProcess, "acknowledge", moment.pass_by)


def _rating(moment: _Moment) -> None:
    from tournament.rating import order_free  # noqa: PLC0415

    _before(order_free, "update", moment.pass_by)


_RUNNER_MOMENTS: dict[str, Callable[[_Moment], None]] = {
    "saved": _store_method("save_result"),
    "created": _store_method("create_tournament"),
    "added": _store_method("add_encounters"),
    "acknowledged": _acknowledged,
    "rating": _rating,
    "copied": lambda moment: _after(shutil, "copytree", lambda _: moment.pass_by()),
    "copying": lambda moment: _before(shutil, "copystat", moment.pass_by),
}


# --- the worker ---------------------------------------------------------------------------------


def _worker(kill: Kill) -> None:
    from tournament.worker import __main__ as program  # noqa: PLC0415

    _WORKER_MOMENTS[kill.at](_Moment(kill))
    program.main()


def _applied(moment: _Moment) -> None:
    from referee.engine.game import RummyGame  # noqa: PLC0415

    _before(RummyGame, "apply", moment.pass_by)


def _seating(moment: _Moment) -> None:
    from tournament.bots.launch import BotProcess  # noqa: PLC0415

    _before(BotProcess, "__init__", moment.pass_by)


def _answered(moment: _Moment) -> None:
    """After half of a result went through the pipe."""
    write = os.write

    def half(file: int, data: Any) -> int:
        if bytes(data[:18]) != b'{"type": "Result",':
            return write(file, data)
        write(file, data[: len(data) // 2])
        moment.pass_by()
        return len(data) // 2

    os.write = half


_WORKER_MOMENTS: dict[str, Callable[[_Moment], None]] = {
    "applied": _applied,
    "seating": _seating,
    "answered": _answered,
}


if __name__ == "__main__":
    main()
