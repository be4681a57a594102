"""`tournament test`: is one bot stronger than another? Played until the answer is sure enough."""

from typing import Annotated

import typer

from tournament.bots.find import find_bots
from tournament.commands import output
from tournament.commands.options import (
    DEFAULT_DATA,
    DEFAULT_SANDBOX,
    BuildCachesOption,
    BuildNetworkOption,
    DatabaseOption,
    DataOption,
    FormatOption,
    IdOption,
    RulesOption,
    SandboxOption,
    SeedOption,
    SetOption,
    WorkersOption,
    rules_of,
)
from tournament.commands.playing import begin_and_play
from tournament.commands.submitted import SubmittedBots
from tournament.commands.verdict import verdict_view
from tournament.config import Overrides, from_table, load_config
from tournament.errors import UsageError
from tournament.report.render import Format
from tournament.runner.early_stop import read_trial, sprt_of
from tournament.runner.run import stored_config
from tournament.schedule.formats import TEST
from tournament.schedule.limits import there_are
from tournament.statistics.sprt import Sprt
from tournament.store.store import Store

ENCOUNTERS_MOST = 5_000
"""Encounters of a test by default: about what it takes to tell 0 from 10 Elo apart."""


def play_test(
    *,
    bot: Annotated[str, typer.Argument(metavar="A", help="The bot that is tested.")],
    opponent: Annotated[str, typer.Argument(metavar="B", help="The bot that it is compared with.")],
    elo0: Annotated[
        float, typer.Option("--elo0", metavar="ELO", help="A is no more than so much stronger …")
    ] = 0.0,
    elo1: Annotated[
        float, typer.Option("--elo1", metavar="ELO", help="… or at least so much.")
    ] = 10.0,
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="RISK", help="Of taking elo1 where elo0 is true.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option("--beta", metavar="RISK", help="Of taking elo0 where elo1 is true.")
    ] = 0.05,
    encounters: Annotated[
        int,
        typer.Option("--encounters", metavar="MOST", help="Give up after so many encounters."),
    ] = ENCOUNTERS_MOST,
    rules: RulesOption = None,
    changes: SetOption = None,
    workers: WorkersOption = None,
    seed: SeedOption = None,
    sandbox: SandboxOption = DEFAULT_SANDBOX,
    build_network: BuildNetworkOption = None,
    build_caches: BuildCachesOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Play A against B until it is sure enough whether A is stronger.

    A sequential probability ratio test over encounters: it ends as soon as their results tell the
    two Elo differences apart, mostly long before MOST.

    \b
    Examples:
      tournament test my-bot greedy
      tournament test new-version old-version --elo0 0 --elo1 5 --encounters 20000

    \b
    Exit codes: 0 when it is decided or MOST is reached, 3 when encounters stayed unplayed.
    """  # noqa: D301 - \b keeps the lines below it as they are
    try:
        Sprt(elo0=elo0, elo1=elo1, alpha=alpha, beta=beta)
    except ValueError as error:
        raise UsageError(f"command line: {error}") from error
    found = find_bots([bot, opponent], submitted=SubmittedBots(data, database))
    if len(found) != 2:
        raise UsageError(f"{there_are(len(found))}: a test is between two")
    options = Overrides(
        seats=2,
        encounters=encounters,
        workers=workers,
        seed=seed,
        preset=rules,
        rules=rules_of(changes or []),
        bots=[bot, opponent],
    )
    table = {
        **load_config(None, options).to_dict(),
        "format": TEST,
        "sprt": {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta},
    }
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


def verdict(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show what a test says, as far as it is: its verdict and the figures behind it.

    Without --tournament it is the latest test.
    """
    with Store.view(data, database) as store:
        tests = [found for found in store.tournaments() if found.config.get("format") == TEST]
        chosen = store.tournament(tournament) if tournament else next(iter(tests), None)
        if chosen is None:
            raise UsageError(f"{store.name} has no test: `tournament test A B` begins one")
        if chosen.config.get("format") != TEST:
            raise UsageError(f"{chosen.id} is no test: `tournament leaderboard` shows its results")
        sprt = sprt_of(stored_config(chosen))
        trial = read_trial(store, chosen.id, sprt)
        output.write(verdict_view(chosen, trial, sprt), format_)
