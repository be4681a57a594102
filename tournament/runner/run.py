"""Begins a tournament, checks that one may go on, and has it played."""

import itertools
import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from tournament.bots.builds import build_rights
from tournament.bots.folder import BotFolder, changed_files, content_hash, read_bot_folder
from tournament.bots.frozen import freeze, frozen_folder, is_intact
from tournament.bots.guard import Guard
from tournament.bots.sandbox.limits import MEMORY_MB
from tournament.bots.sandbox.wrapped import Sandbox, check_trust
from tournament.config import WORKERS_MOST, Config, differences, from_table, read_config
from tournament.errors import ConfigError, ResumeError, UsageError
from tournament.runner.chance import salts_for, secrets_for
from tournament.runner.course import Course, WholePlan
from tournament.runner.early_stop import EarlyStop, early_stop, sprt_of
from tournament.runner.progress import ProgressView
from tournament.runner.rounds import Rounds
from tournament.runner.runner import Runner, Unplayed
from tournament.runner.worker_process import COMMAND, WorkerProcess
from tournament.schedule.fixtures import Entrant
from tournament.schedule.formats import LADDER, SWISS, TEST
from tournament.store.queries import failures_in_a_row, round_counts
from tournament.store.store import Store
from tournament.store.stored import FINISHED, Entry, Tournament
from tournament.worker.messages import BotSpec, Setup
from tournament.worker.sockets import socket_folder

_FILES_NAMED = 5


def new_id() -> str:
    """Return an id for a tournament that begins now."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def begin(
    store: Store,
    data_dir: Path,
    config: Config,
    bots: Sequence[BotFolder],
    file: Path | None,
    tournament: str | None = None,
    *,
    sandbox: Sandbox,
    build_network: bool | None = None,
    build_caches: bool | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> str:
    """Plan a tournament, freeze its bots, store the plan with its secrets, and return the id.

    Builds may do what build_rights says. `tell` hears of what takes long.
    Interrupted or killed it leaves no half tournament: the plan is stored as a whole, and last.
    """
    plan = config.first_plan([Entrant(bot.name, bot.content_hash) for bot in bots])
    untrusted = untrusted_among(config, bots)
    check_trust(sandbox, untrusted)
    config = replace(config, untrusted=untrusted)
    for bot in bots:
        rights = build_rights(
            bot,
            is_untrusted=bot.name in untrusted,
            network=build_network,
            caches=build_caches,
        )
        freeze(
            bot,
            data_dir,
            sandbox=sandbox,
            build_network=rights.has_network,
            build_caches=rights.has_caches,
            tell=tell,
        )
    by_encounter = secrets_for(config.seed, plan)
    stored = config.to_dict()
    if file is not None:
        # A resume says what changed in the file, so what it said is kept.
        stored |= {"file": str(file.resolve()), "file_table": read_config(file)}
    tournament = tournament or new_id()
    store.create_tournament(
        tournament,
        config=stored,
        config_hash=config.hash,
        entries=[entry_of(bot) for bot in bots],
        plan=plan,
        secrets=by_encounter,
        salts=salts_for(config.seed, plan, by_encounter),
    )
    return tournament


def untrusted_among(config: Config, bots: Iterable[BotFolder]) -> tuple[str, ...]:
    """Return the names of the bots that nobody vouches for. Raises ConfigError."""
    bots = list(bots)
    marked = config.untrusted_among([bot.name for bot in bots])
    return tuple(bot.name for bot in bots if bot.is_untrusted or bot.name in marked)


def entry_of(bot: BotFolder) -> Entry:
    """Return a bot as the store keeps it."""
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
    """Return the latest tournament that is not finished. Raises ResumeError.

    A ladder is never finished, and goes on in its own way.
    """
    for tournament in store.tournaments():
        if tournament.status != FINISHED and not is_ladder(tournament):
            return tournament
    raise ResumeError(f"{store.name} has no unfinished tournament: `tournament run` begins one")


def is_ladder(tournament: Tournament) -> bool:
    """Whether it is a standing ladder, which `tournament ladder` plays."""
    return tournament.config.get("format") == LADDER


def check_unchanged(
    store: Store, data_dir: Path, tournament: Tournament, *, sandbox: Sandbox
) -> None:
    """Raise ResumeError if bots, file or rules are not what the tournament was begun with.

    Sources that are gone do no harm: bots play from their frozen copies. A copy that is gone or was
    changed is made again from its source. Raises SandboxError if the sandbox is too weak for a bot.
    """
    if is_ladder(tournament):
        raise UsageError(f"{tournament.id} is a ladder: `tournament ladder` goes on with it")
    if stored_config(tournament).hash != tournament.config_hash:
        raise ResumeError(
            f"tournament {tournament.id} was begun under rules or defaults that this version of"
            " rummy-referee reads differently: resume it with the version that began it"
        )
    entries = store.entries(tournament.id)
    untrusted = stored_config(tournament).untrusted_among([entry.bot for entry in entries])
    check_trust(sandbox, untrusted)
    try:
        for entry in entries:
            _check_bot(entry, data_dir, sandbox, is_untrusted=entry.bot in untrusted)
        _check_file(tournament)
    except UsageError as error:
        raise ResumeError(f"tournament {tournament.id} can't go on: {error}") from error


def _check_bot(entry: Entry, data_dir: Path, sandbox: Sandbox, *, is_untrusted: bool) -> None:
    copy, folder = frozen_folder(data_dir, entry.content_hash), Path(entry.folder)
    ignore = entry.manifest.get("ignore", [])
    assert isinstance(ignore, list)
    if folder == copy:  # it was submitted: the copy is all there is
        if not is_intact(copy):
            raise ResumeError(f"the copy of {entry.bot} is gone or was changed: {copy}")
        return
    is_same = folder.is_dir() and content_hash(folder, ignore) == entry.content_hash
    if not is_intact(copy):
        if not is_same:
            raise ResumeError(
                f"the copy of {entry.bot} that the tournament is played with"
                f" {'was changed' if copy.is_dir() else 'is gone'}: {copy}. It is made again when"
                f" {folder} is as it was"
            )
        bot = read_bot_folder(folder)
        rights = build_rights(bot, is_untrusted=is_untrusted)
        freeze(
            bot,
            data_dir,
            sandbox=sandbox,
            build_network=rights.has_network,
            build_caches=rights.has_caches,
        )
    elif folder.is_dir() and not is_same:
        built = bool(entry.manifest.get("build"))
        files = changed_files(copy, folder, built=built, ignore=ignore)
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


def make_setup(
    config: Config, entries: Sequence[Entry], data_dir: Path, log_dir: Path, sandbox: str
) -> Setup:
    """Return what every worker is told once; `sandbox` is the tier's name."""
    return Setup(
        socket_dir="",  # each worker gets its own
        log_dir=str(log_dir / "bots"),
        sandbox=sandbox,
        hidden=(str(data_dir.resolve()),),
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
        memory_mb=limits.get("memory_mb", MEMORY_MB),
        tcp=limits.get("tcp", False),
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
    sandbox: str,
    command: Sequence[str] = COMMAND,
) -> list[Unplayed]:
    """Play what is pending, by as many rounds as there are, and return what could not be played.

    Workers start bots in the tier named `sandbox`, and in no other. Whoever calls it holds the
    tournament's lock.
    """
    if tournament.status == FINISHED:
        return []
    config = stored_config(tournament)
    log_dir = log_folder(data_dir, tournament.id)
    setup = make_setup(config, store.entries(tournament.id), data_dir, log_dir, sandbox)
    pending = store.pending(tournament.id)
    _begin_progress(store, tournament, config, len(pending), progress)
    course = _course(store, tournament.id, config, progress)
    try:
        with socket_folder() as sockets, Guard(sockets) as guard:
            numbers = itertools.count()

            async def make_worker() -> WorkerProcess:
                number = next(numbers)
                own = replace(setup, socket_dir=str(sockets / str(number)))
                return await WorkerProcess.start(
                    own, log_dir=log_dir, number=number, guard=guard, command=command
                )

            runner = Runner(
                tournament=tournament.id,
                legs=pending,
                course=course,
                store=store,
                make_worker=make_worker,
                workers=workers,
                progress=progress,
                leg_limit_s=leg_limit_s(config, setup.launch_s),
                warm=setup.warm,
                failures_in_a_row=failures_in_a_row(store, tournament.id),
            )
            unplayed = await runner.run()
    finally:
        progress.end()
    if course.is_decided or not store.pending(tournament.id):
        counted = course.looked_at if isinstance(course, EarlyStop) else None
        store.set_status(tournament.id, FINISHED, counted=counted)
    return unplayed


def _course(store: Store, tournament: str, config: Config, progress: ProgressView) -> Course:
    """Return how the plan of the tournament goes on."""
    if config.format == SWISS:
        rounds = config.rounds or 1
        return Rounds(store, tournament, config, lambda number: progress.round(number, rounds))
    if config.format == TEST:
        return early_stop(store, tournament, sprt_of(config))
    return WholePlan()


def _begin_progress(
    store: Store, tournament: Tournament, config: Config, pending: int, progress: ProgressView
) -> None:
    done = tournament.planned - pending
    if config.format != SWISS:
        progress.begin(done=done, planned=tournament.planned, is_most=config.format == TEST)
        return
    bots = len(store.entries(tournament.id))
    progress.begin(done=done, planned=config.match_count(bots))
    progress.round(len(round_counts(store, tournament.id)), config.rounds or 1)


def leg_limit_s(config: Config, launch_s: float) -> float:
    """Return a time that no leg takes unless the worker itself is stuck."""
    clock = config.time_control
    each_ms = clock.startup_ms + clock.match_cap_ms + clock.bank_ms + clock.reconnect_ms
    return 2 * launch_s + config.seats * each_ms / 1000 + 60
