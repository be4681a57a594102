"""The command `tournament`. Data goes to stdout, words for people to stderr.

Exit codes: 0 done, 1 a failure that is explained, 2 wrong use, 3 encounters stayed unplayed,
130 interrupted.
"""

import asyncio
import shlex
import signal
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from referee.engine.presets import merge_overrides, parse_override
from referee.engine.ruleset import RuleSetError
from tournament import __version__, report, run
from tournament.bot_folder import BotFolder
from tournament.bots import find_bots
from tournament.config import SINGLE, Config, Overrides, from_table, load_config
from tournament.errors import TournamentError, UsageError
from tournament.progress import make_progress
from tournament.report import Format
from tournament.standings import counted, standings
from tournament.store import Store
from tournament.stored import Tournament
from tournament.views import leg_results, legs_per_encounter, matches

UNPLAYED_EXIT, INTERRUPTED_EXIT = 3, 130
SEED_NOTE = (
    "All deals come from --seed {seed}: whoever knows it knows every hand."
    " This run can be repeated; it is no contest."
)

app = typer.Typer(
    name="tournament",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
people = Console(stderr=True, highlight=False)

DataOption = Annotated[
    Path, typer.Option("--data", metavar="DIR", help="Folder of database, bots and logs.")
]
FormatOption = Annotated[
    Format, typer.Option("--format", case_sensitive=False, help="How to write the view.")
]
IdOption = Annotated[
    str | None,
    typer.Option("--tournament", metavar="ID", help="Which tournament; default: the latest."),
]
RulesOption = Annotated[
    str | None, typer.Option("--rules", metavar="PRESET", help="Preset of rules.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Change a rule; may be repeated."),
]
EncountersOption = Annotated[
    int | None,
    typer.Option(help="Encounters for each set of bots; one has as many matches as it has seats."),
]
WorkersOption = Annotated[
    int | None, typer.Option(help="Matches at a time; default: one for each core.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(help="Derive all deals from this number, so that the run can be repeated."),
]
DEFAULT_DATA = Path("rummy-data")


def main() -> None:
    """Run the command; what goes wrong is explained without a traceback."""
    try:
        app()
    except TournamentError as error:
        say(f"error: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of stdout has seen enough.
        sys.stderr.close()
        sys.exit(1)


def say(text: str) -> None:
    """Write a line for people."""
    people.print(text, markup=False, soft_wrap=True)


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
    seats: Annotated[int | None, typer.Option(help="Seats at each table, 2–6.")] = None,
    encounters: EncountersOption = None,
    workers: WorkersOption = None,
    seed: SeedOption = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Play a new tournament and show its leaderboard.

    Without arguments the sample bots random, greedy and counting play a small round-robin.

    \b
    Examples:
      tournament run
      tournament run --bots my-bot random greedy --encounters 50
      tournament run cup.toml --rules standard --set target=200
    """  # noqa: D301 - \b keeps the lines below it as they are
    file, texts = _file_and_bots(arguments or [], bots)
    options = Overrides(
        seats=seats,
        encounters=encounters,
        workers=workers,
        seed=seed,
        preset=rules,
        rules=_rules(changes or []),
        bots=texts,
    )
    config = load_config(file, options)
    _begin_and_play(config, find_bots(config.bots), data, file)


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
        rules=_rules(changes or []),
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
        say(f"tournament {chosen.id} goes on in {store.path}")
        _play(store, data, chosen.id, workers)


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
    with Store.open(data, create=False) as store:
        _show_leaderboard(store, _chosen(store, tournament, with_single=False), format_)


@app.command("matches")
def matches_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show every match of a tournament in plan order."""
    with Store.open(data, create=False) as store:
        _show_matches(store, _chosen(store, tournament, with_single=True), format_)


@app.command("bots")
def bots_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the bots of a tournament."""
    with Store.open(data, create=False) as store:
        chosen = _chosen(store, tournament, with_single=True)
        _write(report.bots_view(store.entries(chosen.id), chosen), format_)


def _file_and_bots(
    arguments: Sequence[Path], bots: Sequence[str] | None
) -> tuple[Path | None, list[str]]:
    """Tell the tournament file from further bots: `--bots A B C` gives B and C as arguments."""
    files = [path for path in arguments if path.suffix == ".toml"]
    others = [str(path) for path in arguments if path.suffix != ".toml"]
    if len(files) > 1:
        raise UsageError(
            f"{files[0]} and {files[1]}: only one tournament file can be run at a time"
        )
    if others and not bots:
        raise UsageError(
            f"{others[0]!r} is no tournament file: its name must end in .toml;"
            " folders of bots follow --bots"
        )
    return (files[0] if files else None), [*(bots or []), *others]


def _rules(changes: Sequence[str]) -> dict[str, object]:
    try:
        return merge_overrides(parse_override(change) for change in changes)
    except RuleSetError as error:
        raise UsageError(f"--set: {error}") from error


def _begin_and_play(
    config: Config,
    bots: Sequence[BotFolder],
    data: Path,
    file: Path | None,
    format_: Format = Format.TABLE,
) -> None:
    with Store.open(data) as store:
        tournament = run.begin(store, data, config, bots, file)
        say(f"tournament {tournament} in {store.path}")
        _play(store, data, tournament, None, format_)


def _play(
    store: Store, data: Path, tournament: str, workers: int | None, format_: Format = Format.TABLE
) -> None:
    """Play what is pending, show what came of it, and leave with the right exit code."""
    chosen = store.tournament(tournament)
    config = run.stored_config(chosen)
    if workers is not None and workers < 1:
        raise UsageError(f"--workers is {workers}: allowed is 1 or more")
    with run.playing_alone(data, tournament):
        try:
            asyncio.run(
                _until_signal(
                    run.play(
                        store,
                        data,
                        chosen,
                        workers=workers or run.worker_count(config),
                        progress=make_progress(people),
                    )
                )
            )
        except asyncio.CancelledError:
            now = store.tournament(tournament)
            say(
                f"interrupted: {now.matches} of {now.planned} matches are stored;"
                f" go on with: tournament resume {tournament} --data {shlex.quote(str(data))}"
            )
            raise typer.Exit(INTERRUPTED_EXIT) from None
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


def _chosen(store: Store, tournament: str | None, *, with_single: bool) -> Tournament:
    if tournament is not None:
        return store.tournament(tournament)
    for found in store.tournaments():
        if with_single or found.config.get("format") != SINGLE:
            return found
    raise TournamentError(f"{store.path} has no tournament yet: `tournament run` begins one")


def _show_leaderboard(store: Store, tournament: Tournament, format_: Format) -> None:
    versions = {entry.bot: entry.version for entry in store.entries(tournament.id)}
    legs = counted(leg_results(store, tournament.id), legs_per_encounter(store, tournament.id))
    _write(report.leaderboard_view(tournament, standings(versions, legs)), format_)
    seed = tournament.config.get("seed")
    if seed is not None and format_ is Format.TABLE:
        say(SEED_NOTE.format(seed=seed))


def _show_matches(store: Store, tournament: Tournament, format_: Format) -> None:
    _write(report.matches_view(tournament, matches(store, tournament.id)), format_)


def _write(view: report.View, format_: Format) -> None:
    sys.stdout.write(report.render(view, format_, console=Console()))
    sys.stdout.flush()
