"""`tournament bots` and `withdraw`: the bots that were submitted, and how they are retired."""

from typing import Annotated

import typer

from tournament.commands import output
from tournament.commands.options import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    FormatOption,
)
from tournament.commands.output import say
from tournament.commands.views import chosen_tournament
from tournament.errors import TournamentError, UsageError
from tournament.report.bots import bots_view, submitted_view
from tournament.report.render import Format
from tournament.store.registry import Registry, matches_played
from tournament.store.store import Store


def bots_command(
    *,
    tournament: Annotated[
        str | None,
        typer.Option(
            "--tournament", metavar="ID", help="Show the bots of this tournament instead."
        ),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the bots that were submitted, all versions of them, or those of a tournament.

    Where none was ever submitted, they are those of the latest tournament.

    \b
    Examples:
      tournament bots
      tournament bots --format json
      tournament bots --tournament 20260102-030405-ab12
    """  # noqa: D301 - \b keeps the lines below it as they are
    with Store.view(data, database) as store:
        submitted = [] if tournament else Registry(store).all(with_withdrawn=True)
        if submitted:
            output.write(submitted_view(submitted, matches_played(store)), format_)
            return
        if tournament is None and not store.tournaments():
            raise TournamentError(
                "no bot was submitted yet: `tournament submit FOLDER` submits one"
            )
        chosen = chosen_tournament(store, tournament)
        output.write(bots_view(chosen, store.entries(chosen.id)), format_)
        if tournament is None and format_ is Format.TABLE:
            say(
                f"No bot was submitted; these took part in the latest tournament, {chosen.id}."
                " `tournament submit FOLDER` submits one."
            )


def withdraw(
    *,
    bot: Annotated[
        str, typer.Argument(metavar="BOT", help="NAME of a submitted bot, or NAME@VERSION.")
    ],
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="V", help="Only this version; default: all of them."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
) -> None:
    """Retire a bot: it takes part in nothing new, and what it played stays.

    A version that was withdrawn does not come back; a new one may be submitted.

    \b
    Examples:
      tournament withdraw my-bot
      tournament withdraw my-bot@1.0
    """  # noqa: D301 - \b keeps the lines below it as they are
    name, at, of_name = bot.partition("@")
    if at:
        if version not in (None, of_name):
            raise UsageError(f"--version is {version!r}, and {bot!r} says another one")
        bot, version = name, of_name
    with Store.open(data, database, create=False) as store:
        registry = Registry(store)
        fresh = {one.content_hash for one in registry.withdraw(bot, version)}
        for one in registry.of(bot):
            if one.content_hash in fresh:
                say(f"{one.bot} {one.version} is withdrawn; what it played stays")
            elif version in (None, one.version):
                say(f"{one.bot} {one.version} was withdrawn already, at {one.withdrawn}")
