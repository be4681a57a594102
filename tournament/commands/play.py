"""`tournament run`, `play` and `resume`: have matches played, then show what came of it."""

from pathlib import Path
from typing import Annotated

import typer

from tournament.bots.find import find_bots
from tournament.commands.asked import read_asked
from tournament.commands.options import (
    DEFAULT_DATA,
    DEFAULT_SANDBOX,
    BotsOption,
    BuildCachesOption,
    BuildNetworkOption,
    DatabaseOption,
    DataOption,
    EncountersOption,
    FormatOption,
    RoundsOption,
    RulesOption,
    SandboxOption,
    SeatsOption,
    SeedOption,
    SetOption,
    SubmittedOption,
    TablesOption,
    WorkersOption,
    rules_of,
)
from tournament.commands.playing import begin_and_play, resume_and_play
from tournament.commands.submitted import SubmittedBots
from tournament.config import Overrides, from_table, load_config
from tournament.errors import UsageError
from tournament.report.render import Format
from tournament.schedule.formats import SINGLE
from tournament.schedule.limits import there_are


def run_command(
    *,
    arguments: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE.toml", help="What to play; options are put over it."),
    ] = None,
    bots: BotsOption = None,
    all_submitted: SubmittedOption = False,
    rules: RulesOption = None,
    changes: SetOption = None,
    seats: SeatsOption = None,
    encounters: EncountersOption = None,
    tables: TablesOption = None,
    rounds: RoundsOption = None,
    workers: WorkersOption = None,
    seed: SeedOption = None,
    sandbox: SandboxOption = DEFAULT_SANDBOX,
    build_network: BuildNetworkOption = None,
    build_caches: BuildCachesOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
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
    options = Overrides(
        seats=seats,
        encounters=encounters,
        tables=tables,
        rounds=rounds,
        workers=workers,
        seed=seed,
        preset=rules,
    )
    asked = read_asked(
        arguments,
        bots,
        changes,
        options,
        submitted=SubmittedBots(data, database),
        all_submitted=all_submitted,
    )
    begin_and_play(
        asked.config,
        asked.bots,
        data,
        asked.file,
        sandbox=sandbox,
        build_network=build_network,
        build_caches=build_caches,
        database=database,
    )


def play(
    *,
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT", help="Folders, or names of sample bots.")
    ],
    rules: RulesOption = None,
    changes: SetOption = None,
    seed: SeedOption = None,
    sandbox: SandboxOption = DEFAULT_SANDBOX,
    build_network: BuildNetworkOption = None,
    build_caches: BuildCachesOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Play one encounter between the given bots.

    It is the same deals once for each seating.

    \b
    Examples:
      tournament play my-bot greedy
      tournament play random greedy counting --seed 1 --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    found = find_bots(bots, submitted=SubmittedBots(data, database))
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
        raise UsageError(f"{there_are(len(found))}: an encounter has 2–6")
    table = {**load_config(None, options).to_dict(), "format": SINGLE}
    config = from_table(table, "command line", stored=True)
    begin_and_play(
        config,
        found,
        data,
        None,
        sandbox=sandbox,
        build_network=build_network,
        build_caches=build_caches,
        database=database,
        format_=format_,
    )


def resume(
    *,
    tournament: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Which one; default: the latest unfinished."),
    ] = None,
    workers: WorkersOption = None,
    sandbox: SandboxOption = DEFAULT_SANDBOX,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
) -> None:
    """Go on with an unfinished tournament.

    What is stored stays; the rest is played on the deals that were planned.
    """
    resume_and_play(data, tournament, workers, sandbox=sandbox, database=database)
