"""Begins a tournament, checks that one may go on, and has it played."""

import fcntl
import itertools
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from tournament.bots.folder import BotFolder, changed_files, content_hash
from tournament.bots.frozen import freeze, frozen_folder
from tournament.config import WORKERS_MOST, Config, differences, from_table, read_config
from tournament.errors import ConfigError, ResumeError, UsageError
from tournament.runner.progress import ProgressView
from tournament.runner.runner import Runner, Unplayed
from tournament.runner.worker_process import COMMAND, WorkerProcess
from tournament.schedule import seeds
from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.round_robin import round_robin
from tournament.store.store import Store
from tournament.store.stored import FINISHED, Entry, Tournament
from tournament.worker.messages import BotSpec, Setup
from tournament.worker.sockets import socket_folder

_FILES_NAMED = 5


def begin(
    store: Store, data_dir: Path, config: Config, bots: Sequence[BotFolder], file: Path | None
) -> str:
    """Freeze the bots, plan the tournament, store the plan with its secrets, and return its id."""
    try:
        plan = round_robin(
            [Entrant(bot.name, bot.content_hash) for bot in bots],
            seats=config.seats,
            encounters=config.encounters,
            rules=config.rules_hash,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    for bot in bots:
        freeze(bot, data_dir)
    now = datetime.now(UTC)
    tournament = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    by_encounter = {e.encounter_id: _secret(config.seed, e.encounter_id) for e in plan}
    stored = config.to_dict()
    if file is not None:
        # A resume says what changed in the file, so what it said is kept.
        stored |= {"file": str(file.resolve()), "file_table": read_config(file)}
    store.create_tournament(
        tournament,
        config=stored,
        config_hash=config.hash,
        entries=[_entry(bot) for bot in bots],
        plan=plan,
        secrets=by_encounter,
        salts=_salts(config.seed, plan, by_encounter),
    )
    return tournament


def _secret(seed: int | None, encounter_id: str) -> bytes:
    if seed is None:
        return secrets.token_bytes(seeds.SECRET_BYTES)
    return seeds.seeded_secret(seed, encounter_id)


def _salts(
    seed: int | None, plan: Sequence[Encounter], by_encounter: dict[str, bytes]
) -> dict[str, bytes]:
    return {
        leg.fixture_id: secrets.token_bytes(seeds.SECRET_BYTES)
        if seed is None
        else seeds.seeded_salt(by_encounter[encounter.encounter_id], leg.leg)
        for encounter in plan
        for leg in encounter.legs
    }


def _entry(bot: BotFolder) -> Entry:
    return Entry(
        bot=bot.name,
        version=bot.version,
        author=bot.author,
        language=bot.language,
        content_hash=bot.content_hash,
        folder=str(bot.path),
        manifest=bot.manifest,
    )


def stored_config(tournament: Tournament) -> Config:
    """Return the configuration that a tournament was begun with."""
    table = {k: v for k, v in tournament.config.items() if k not in ("file", "file_table")}
    try:
        return from_table(table, f"tournament {tournament.id}", stored=True)
    except ConfigError as error:
        raise ResumeError(f"{error}; it was begun by another version of rummy-referee") from error


def latest_unfinished(store: Store) -> Tournament:
    """Return the latest tournament that is not finished. Raises ResumeError."""
    for tournament in store.tournaments():
        if tournament.status != FINISHED:
            return tournament
    raise ResumeError(f"{store.path} has no unfinished tournament: `tournament run` begins one")


def check_unchanged(store: Store, data_dir: Path, tournament: Tournament) -> None:
    """Raise ResumeError if bots, file or rules are not what the tournament was begun with.

    Sources that are gone do no harm: bots play from their frozen copies.
    """
    if stored_config(tournament).hash != tournament.config_hash:
        raise ResumeError(
            f"tournament {tournament.id} was begun under rules or defaults that this version of"
            " rummy-referee reads differently: resume it with the version that began it"
        )
    try:
        for entry in store.entries(tournament.id):
            _check_bot(entry, frozen_folder(data_dir, entry.content_hash))
        _check_file(tournament)
    except UsageError as error:
        raise ResumeError(f"tournament {tournament.id} can't go on: {error}") from error


def _check_bot(entry: Entry, copy: Path) -> None:
    if not copy.is_dir():
        raise ResumeError(
            f"the copy of {entry.bot} that the tournament is played with is gone: {copy}"
        )
    folder = Path(entry.folder)
    if not folder.is_dir() or content_hash(folder) == entry.content_hash:
        return
    files = changed_files(copy, folder, built=bool(entry.manifest.get("build")))
    what = ", ".join(files[:_FILES_NAMED]) or "a file was removed"
    more = f" and {len(files) - _FILES_NAMED} more" if len(files) > _FILES_NAMED else ""
    raise ResumeError(
        f"{folder} changed since {entry.bot} began the tournament: {what}{more}."
        f" Put it back (the copy that is played is {copy}), or begin a new tournament with"
        " `tournament run`"
    )


def _check_file(tournament: Tournament) -> None:
    file = tournament.config.get("file")
    table = tournament.config.get("file_table")
    if isinstance(file, str) and isinstance(table, dict) and Path(file).exists():
        changed = differences(table, read_config(Path(file)))
        if changed:
            raise ResumeError(
                f"{file} changed since the tournament began: {'; '.join(changed)}."
                " Put it back, or begin a new tournament with `tournament run`"
            )


def log_folder(data_dir: Path, tournament: str) -> Path:
    """Return where a tournament's workers and bots leave their output."""
    return data_dir.resolve() / "logs" / tournament


@contextmanager
def playing_alone(data_dir: Path, tournament: str) -> Iterator[None]:
    """Keep any other process from playing the same tournament meanwhile. Raises ResumeError."""
    path = data_dir / "locks" / f"{tournament}.lock"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ResumeError(
                f"tournament {tournament} is being played by another process: wait for it"
            ) from None
        yield
    finally:
        os.close(lock)


def make_setup(config: Config, entries: Sequence[Entry], data_dir: Path, log_dir: Path) -> Setup:
    """Return what every worker is told once."""
    return Setup(
        socket_dir="",  # each worker gets its own, and one for its bots' logs
        log_dir=str(log_dir),
        preset=config.preset,
        overrides=config.overrides,
        time_control=asdict(config.time_control),
        bots=tuple(_bot_spec(entry, data_dir) for entry in entries),
        warm=max(8, 4 * config.seats),
    )


def _bot_spec(entry: Entry, data_dir: Path) -> BotSpec:
    manifest = entry.manifest
    run, limits = manifest["run"], manifest["limits"]
    assert isinstance(run, list)
    assert isinstance(limits, dict)
    return BotSpec(
        name=entry.bot,
        version=entry.version,
        folder=str(frozen_folder(data_dir, entry.content_hash)),
        run=tuple(run),
        memory_mb=limits.get("memory_mb"),
    )


def worker_count(workers: int) -> int:
    """Return how many workers that means: 0 is one for each core of this process."""
    if not 0 <= workers <= WORKERS_MOST:
        raise UsageError(f"workers is {workers}: allowed is a whole number 0–{WORKERS_MOST}")
    if workers:
        return workers
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


async def play(
    store: Store,
    data_dir: Path,
    tournament: Tournament,
    *,
    workers: int,
    progress: ProgressView,
    command: Sequence[str] = COMMAND,
) -> list[Unplayed]:
    """Play what is pending, and return what could not be played."""
    config = stored_config(tournament)
    log_dir = log_folder(data_dir, tournament.id)
    numbers = itertools.count()
    setup = make_setup(config, store.entries(tournament.id), data_dir, log_dir)

    pending = store.pending(tournament.id)
    with socket_folder() as sockets:

        async def make_worker() -> WorkerProcess:
            number = next(numbers)
            own = replace(
                setup,
                socket_dir=str(sockets / str(number)),
                log_dir=str(log_dir / f"worker-{number}-bots"),
            )
            return await WorkerProcess.start(own, log_dir=log_dir, number=number, command=command)

        progress.begin(done=tournament.planned - len(pending), planned=tournament.planned)
        runner = Runner(
            tournament=tournament.id,
            legs=pending,
            store=store,
            make_worker=make_worker,
            workers=workers,
            progress=progress,
            leg_limit_s=leg_limit_s(config, setup.launch_s),
            warm=setup.warm,
        )
        try:
            unplayed = await runner.run()
        finally:
            progress.end()
    if not store.pending(tournament.id):
        store.set_status(tournament.id, FINISHED)
    return unplayed


def leg_limit_s(config: Config, launch_s: float) -> float:
    """Return a time that no leg takes unless the worker itself is stuck."""
    clock = config.time_control
    each_ms = clock.startup_ms + clock.match_cap_ms + clock.bank_ms + clock.reconnect_ms
    return 2 * launch_s + config.seats * each_ms / 1000 + 60
