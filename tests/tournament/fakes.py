"""Stand-ins for what the tournament works with: results, plans, bots, workers."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import tournament
from referee.match.outcome import Forfeit, MatchResult, SeatResult, Termination
from tournament.bots.folder import BotFolder
from tournament.bots.frozen import freeze
from tournament.bots.sandbox.choose import choose
from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.round_robin import round_robin
from tournament.store.store import Store
from tournament.store.stored import Entry

ROOT = Path(tournament.__file__).parents[1]

# Connects, shows its token, and stays until the referee or its parent is gone.
BOT = """
import os, socket, sys
print("hello from", sys.argv[1:], flush=True)
link = socket.socket(socket.AF_UNIX)
link.connect(os.environ["RUMMY_REFEREE"].removeprefix("unix:"))
link.sendall(os.environ["RUMMY_TOKEN"].encode() + b"\\n")
while link.recv(1024):
    pass
"""


def bot_folder(
    parent: Path, name: str, script: str = BOT, changes: Mapping[str, object] | None = None
) -> Path:
    """Make a bot's folder with a script in it."""
    folder = parent / name
    folder.mkdir(parents=True)
    keys: dict[str, object] = {
        "name": name,
        "version": "1.0",
        "author": "somebody",
        "language": "python",
        "run": ["python3", "bot.py"],
    } | dict(changes or {})
    lines = [f"{key} = {_toml(value)}" for key, value in keys.items() if value is not None]
    (folder / "bot.toml").write_text("\n".join(lines) + "\n")
    (folder / "bot.py").write_text(script)
    return folder


def freeze_here(bot: BotFolder, data: Path, tell: Callable[[str], None] = print) -> Path:
    """Freeze a bot without a sandbox."""
    return freeze(bot, data, sandbox=choose("none"), build_network=True, tell=tell)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def seat_result(place: int, **changes: object) -> SeatResult:
    """Return what a match was for a seat, with small made-up numbers."""
    values: dict[str, object] = {
        "place": place,
        "total": 100 // max(place, 1),
        "forfeit": None,
        "decisions": 10,
        "charged_us": 20_000,
        "forgiven_us": 0,
        "longest_us": 5_000,
        "illegal_strikes": 0,
        "time_strikes": 0,
    }
    return SeatResult(**(values | changes))  # type: ignore[arg-type]


def match_result(
    places: Sequence[int],
    *,
    termination: Termination = Termination.COMPLETED,
    match_id: str = "m",
    forfeits: Mapping[int, Forfeit] | None = None,
    text: str = "the end",
    record: bytes | None = None,
) -> MatchResult:
    """Return a finished match with these places."""
    record = f"record of {match_id}\n".encode() if record is None else record
    return MatchResult(
        match_id=match_id,
        termination=termination,
        text=text,
        seats=tuple(
            seat_result(place, forfeit=(forfeits or {}).get(seat))
            for seat, place in enumerate(places)
        ),
        deals=3,
        record=record,
        record_hash=hashlib.sha256(record).digest(),
    )


def entry(name: str) -> Entry:
    """Return a bot in a tournament that has no folder."""
    return Entry(
        bot=name,
        version="1.0",
        author="somebody",
        language="python",
        content_hash=hashlib.sha256(name.encode()).hexdigest(),
        folder=f"/nowhere/{name}",
        manifest={"run": ["python3", "bot.py"], "limits": {}},
    )


def store_plan(
    store: Store,
    names: Sequence[str] = ("a", "b", "c"),
    *,
    identity: str = "t1",
    encounters: int = 1,
    seats: int = 2,
    config: Mapping[str, object] | None = None,
) -> list[Encounter]:
    """Store a round-robin between bots of these names and return its plan."""
    entries = [entry(name) for name in names]
    plan = round_robin(
        [Entrant(item.bot, item.content_hash) for item in entries],
        seats=seats,
        encounters=encounters,
        rules="rules",
    )
    store.create_tournament(
        identity,
        config=config or {"format": "round_robin"},
        config_hash="hash",
        entries=entries,
        plan=plan,
        secrets={e.encounter_id: hashlib.sha256(e.encounter_id.encode()).digest() for e in plan},
        salts={leg.fixture_id: b"s" * 32 for e in plan for leg in e.legs},
    )
    return plan


@contextmanager
def clean_temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have temporary files made in a folder of a short name, and see that none is left."""
    with TemporaryDirectory(prefix="tt-", dir="/tmp") as name:
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)
        assert list(Path(name).iterdir()) == [], "files were left behind"


def environment() -> dict[str, str]:
    """Return an environment in which this checkout is found, installed or not."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "proto")])
    return {**os.environ, "PYTHONPATH": paths}


def command(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run `tournament` with these words in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "tournament", *words],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
