"""The command `tournament`. Data goes to stdout, words for people to stderr.

Exit codes: 0 done, 1 a failure that is explained, 2 wrong use or wrong files, 3 encounters stayed
unplayed, 130 interrupted.
"""

import asyncio
import shlex
import signal
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated

import typer

from tournament import __version__, output, report, run
from tournament.bot_folder import BotFolder
from tournament.bots import find_bots
from tournament.config import SINGLE, Config, Overrides, from_table, load_config
from tournament.errors import TournamentError, UsageError
from tournament.export import export
from tournament.options import (
    DEFAULT_DATA,
    DataOption,
    EncountersOption,
    FormatOption,
    IdOption,
    RulesOption,
    SeatsOption,
    SeedOption,
    SetOption,
    WorkersOption,
    file_and_bots,
    rules_of,
)
from tournament.output import people, say
from tournament.progress import make_progress
from tournament.report import Format
from tournament.schedule import MATCHES_MOST, match_count
from tournament.standings import counted
from tournament.store import Store
from tournament.stored import Tournament
from tournament.views import leg_results, legs_per_encounter, matches, standing_rows

UNPLAYED_EXIT, INTERRUPTED_EXIT = 3, 130
LONG_PLAN = 20_000
"""Matches whose planning takes longer than somebody waits without a word."""
SEED_NOTE = (
    "All deals come from --seed {seed}: whoever knows it knows every hand."
    " This run can be repeated; it is no contest."
)
# Typer brings click along under one name or another.
_WrongUse = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

app = typer.Typer(
    name="tournament",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main() -> None:
    """Run the command; what goes wrong is explained without a traceback."""
    sys.exit(_exit_code())


def _exit_code() -> int:
    try:
        output.prepare()
        code = app(standalone_mode=False, prog_name="tournament")
        sys.stdout.flush()
    except TournamentError as error:
        say(f"error: {error}")
        output.give_up_stdout()
        return error.exit_code
    except _WrongUse as error:  # type: ignore[misc] # a class, though only found above
        text = error.format_message()
        say(text if text.startswith("Usage") else f"error: {text}{_hint(error)}")
        return UsageError.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED_EXIT
    except BrokenPipeError:
        # The reader of stdout has seen enough.
        output.give_up_stdout()
        return 1
    except OSError as error:
        say(f"error: {error}")
        output.give_up_stdout()
        return 1
    return code if isinstance(code, int) else 0


def _hint(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f" (`{context.command_path} --help` shows more)" if context else ""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tournament {__version__}")
        raise typer.Exit


@app.callback()
def common(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Have Rummy bots play against each other, and rate them.

    \b
    Examples:
      tournament run                                  the sample bots, a few seconds
      tournament run --bots my-bot greedy --seed 7    a folder against a sample bot
      tournament run cup.toml --workers 4             what a file says
      tournament leaderboard --format json

    \b
    Exit codes:
      0    done; forfeits are results too, stderr tells why a bot did not play
      1    the work failed: database, disk, a bot's build, a resume that is impossible
      2    wrong use: command line, tournament file, a bot that is missing or wrong
      3    encounters stayed without a result and do not count
      130  interrupted; `tournament resume` goes on
    """  # noqa: D301 - \b keeps the lines below it as they are


@app.command("run")
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


@app.command()
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


@app.command()
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


@app.command()
def leaderboard(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the standings of a tournament.

    TrueSkill, wins, forfeits and thinking time of every bot; only whole encounters count.
    """
    with Store.view(data) as store:
        _show_leaderboard(store, _chosen(store, tournament), format_)


@app.command("matches")
def matches_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show every match of a tournament in plan order."""
    with Store.view(data) as store:
        _show_matches(store, _chosen(store, tournament), format_)


@app.command("bots")
def bots_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the bots of a tournament."""
    with Store.view(data) as store:
        chosen = _chosen(store, tournament)
        output.write(report.bots_view(store.entries(chosen.id), chosen), format_)


@app.command("export")
def export_command(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="New or empty folder to write into.")
    ],
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Write a tournament into files: leaderboard, matches, records and their head hashes.

    Only records of encounters that have ended are written: all legs of one have the same deals.

    \b
    Examples:
      tournament export cup
      referee verify cup/records/*.jsonl --heads cup/heads.txt
    """  # noqa: D301 - \b keeps the lines below it as they are
    with Store.view(data) as store, people.status("exporting") as status:
        done = export(
            store,
            _chosen(store, tournament),
            folder,
            lambda number, count: status.update(f"exporting record {number + 1}/{count}"),
        )
    say(
        f"{done.records} records are in {folder / 'records'}, their heads in {folder / 'heads.txt'}"
    )
    if done.encounters:
        say(
            f"{done.encounters} encounters are not whole: records of {done.stored} matches that"
            " were played in them are left out, as the others will have the same deals"
        )


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
        _show_matches(store, after, format_)
    else:
        _show_leaderboard(store, after, format_)
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


def _chosen(store: Store, tournament: str | None) -> Tournament:
    if tournament is not None:
        return store.tournament(tournament)
    for found in store.tournaments():
        return found
    raise TournamentError(f"{store.path} has no tournament yet: `tournament run` begins one")


def _show_leaderboard(store: Store, tournament: Tournament, format_: Format) -> None:
    rows = standing_rows(store, tournament.id)
    output.write(report.leaderboard_view(tournament, rows), format_)
    seed = tournament.config.get("seed")
    if seed is not None and format_ is Format.TABLE:
        say(SEED_NOTE.format(seed=seed))


def _show_matches(store: Store, tournament: Tournament, format_: Format) -> None:
    output.write(report.matches_view(tournament, matches(store, tournament.id)), format_)
