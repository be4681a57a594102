"""`tournament run`, `play` and `resume`: have matches played, then show what came of it."""

import asyncio
import shlex
import signal
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated

import typer

from tournament.bots.find import find_bots
from tournament.bots.folder import BotFolder
from tournament.commands.options import (
    DEFAULT_DATA,
    DataOption,
    EncountersOption,
    FormatOption,
    RulesOption,
    SeatsOption,
    SeedOption,
    SetOption,
    WorkersOption,
    file_and_bots,
    rules_of,
)
from tournament.commands.output import people, say
from tournament.commands.views import show_leaderboard, show_matches
from tournament.config import SINGLE, Config, Overrides, from_table, load_config
from tournament.errors import TournamentError, UsageError
from tournament.report.views import Format
from tournament.runner import run
from tournament.runner.progress import make_progress
from tournament.schedule.fixtures import MATCHES_MOST
from tournament.schedule.round_robin import match_count
from tournament.statistics.standings import counted
from tournament.store.queries import leg_results, legs_per_encounter
from tournament.store.store import Store

UNPLAYED_EXIT, INTERRUPTED_EXIT = 3, 130
LONG_PLAN = 20_000
"""Matches whose planning takes longer than somebody waits without a word."""


def run_command(
    *,
    arguments: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE.toml", help="What to play; options are put over it."),
    ] = None,
    bots: Annotated[
        list[str] | None,
        typer.Option(
            "--bots",
            metavar="FOLDER...",
            help="Folders of bots, or names of sample bots; more may follow.",
        ),
    ] = None,
    rules: RulesOption = None,
    changes: SetOption = None,
    seats: SeatsOption = None,
    encounters: EncountersOption = None,
    workers: WorkersOption = None,
    seed: SeedOption = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Play a new tournament and show its leaderboard.

    Without arguments the sample bots random, greedy and counting play a small round-robin.
    Folders of bots in FILE.toml are relative to it; those after --bots to where you are.

    \b
    Examples:
      tournament run
      tournament run --bots my-bot random greedy --encounters 50
      tournament run cup.toml --rules standard --set target=200
    """  # noqa: D301 - \b keeps the lines below it as they are
    file, texts = file_and_bots(arguments or [], bots)
    options = Overrides(
        seats=seats,
        encounters=encounters,
        workers=workers,
        seed=seed,
        preset=rules,
        rules=rules_of(changes or []),
        bots=texts,
    )
    config = load_config(file, options)
    source = "" if file is None or texts else str(file)
    _begin_and_play(config, find_bots(config.bots, source), data, file)


def play(
    *,
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT BOT...", help="Folders, or names of sample bots.")
    ],
    rules: RulesOption = None,
    changes: SetOption = None,
    seed: SeedOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Play one encounter between the given bots.

    It is the same deals once for each seating.

    \b
    Examples:
      tournament play my-bot greedy
      tournament play random greedy counting --seed 1 --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    found = find_bots(bots)
    options = Overrides(
        seats=len(found),
        encounters=1,
        workers=1,
        seed=seed,
        preset=rules,
        rules=rules_of(changes or []),
        bots=bots,
    )
    if len(found) not in range(2, 7):
        raise UsageError(f"there are {len(found)} bots: an encounter has 2–6")
    table = {**load_config(None, options).to_dict(), "format": SINGLE}
    config = from_table(table, "command line", stored=True)
    _begin_and_play(config, found, data, None, format_)


def resume(
    *,
    tournament: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Which one; default: the latest unfinished."),
    ] = None,
    workers: WorkersOption = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Go on with an unfinished tournament.

    What is stored stays; the rest is played on the deals that were planned.
    """
    with Store.open(data, create=False) as store:
        chosen = store.tournament(tournament) if tournament else run.latest_unfinished(store)
        run.check_unchanged(store, data, chosen)
        _play(store, data, chosen.id, workers, verb="goes on in")


def _begin_and_play(
    config: Config,
    bots: Sequence[BotFolder],
    data: Path,
    file: Path | None,
    format_: Format = Format.TABLE,
) -> None:
    with Store.open(data) as store:
        planned = match_count(len(bots), config.seats, config.encounters)
        if LONG_PLAN <= planned <= MATCHES_MOST:
            say(f"planning {planned} matches …")
        try:
            tournament = run.begin(store, data, config, bots, file)
        except KeyboardInterrupt:
            say("interrupted while planning: nothing is stored")
            raise typer.Exit(INTERRUPTED_EXIT) from None
        _play(store, data, tournament, None, format_)


def _play(
    store: Store,
    data: Path,
    tournament: str,
    workers: int | None,
    format_: Format = Format.TABLE,
    verb: str = "in",
) -> None:
    """Play what is pending, show what came of it, and leave with the right exit code."""
    chosen = store.tournament(tournament)
    config = run.stored_config(chosen)
    count = run.worker_count(config.workers if workers is None else workers)
    with run.playing_alone(data, tournament):
        say(f"tournament {tournament} {verb} {store.path}")
        go_on = f"tournament resume {tournament} --data {shlex.quote(str(data))}"
        playing = run.play(store, data, chosen, workers=count, progress=make_progress(people))
        try:
            asyncio.run(_until_signal(playing))
        except asyncio.CancelledError:
            now = store.tournament(tournament)
            say(
                f"interrupted: {now.matches} of {now.planned} matches are stored;"
                f" go on with: {go_on}"
            )
            raise typer.Exit(INTERRUPTED_EXIT) from None
        except TournamentError as error:
            if store.path.exists():
                raise type(error)(f"{error}\nWhat is stored stays; go on with: {go_on}") from error
            raise
    after = store.tournament(tournament)
    if config.format == SINGLE:
        show_matches(store, after, format_)
    else:
        show_leaderboard(store, after, format_)
    legs, planned = leg_results(store, tournament), legs_per_encounter(store, tournament)
    missing = len(planned) - len({leg.encounter_id for leg in counted(legs, planned)})
    if missing:
        say(
            f"{missing} of {len(planned)} encounters have no result and do not count;"
            f" `tournament matches` says why, logs are in {run.log_folder(data, tournament)}"
        )
        raise typer.Exit(UNPLAYED_EXIT)


async def _until_signal(work: Coroutine[None, None, object]) -> None:
    """Do the work; the first Ctrl-C or SIGTERM cancels it, so that it can end its workers."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        for number in signals:
            loop.add_signal_handler(number, lambda: None)  # once is enough
        say("stopping: ending the bots …")
        task.cancel()

    for number in signals:
        loop.add_signal_handler(number, stop)
    await task
