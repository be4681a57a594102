"""`referee serve`: lets bots connect and play."""

import asyncio
from typing import Annotated

import typer

from referee.commands.options import Preset, Set, fail, rules_of, whole_option
from referee.engine.ruleset import RuleSetError


def serve(
    listen: Annotated[
        list[str], typer.Option(help="HOST:PORT or unix:PATH; repeatable. Port 0: any free one.")
    ] = ["127.0.0.1:50051"],  # noqa: B006 - typer copies it
    play: Annotated[
        str, typer.Option(help="House bot that plays everybody who connects, such as greedy.")
    ] = "",
    preset: Preset = "basic",
    overrides: Set = None,
    seats: Annotated[int, whole_option("Seats at a table, 2–6.", 2, 6)] = 2,
    matches: Annotated[
        int, whole_option("Matches for each bot that connects; 0: until it leaves.", 0, 1_000_000)
    ] = 1,
    insecure: Annotated[
        bool, typer.Option(help="Allow plain TCP on other addresses than loopback.")
    ] = False,
    verbose: Annotated[bool, typer.Option(help="Log every detail.")] = False,
) -> None:
    """Let bots connect and play: against a house bot (--play), or against each other.

    Any token is let in. Stop with Ctrl-C: running matches get ten seconds to end, a second Ctrl-C
    stops at once.

    \b
    Examples:
      referee serve --play greedy
      referee serve --listen unix:/tmp/referee.sock --rules standard --seats 4
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.service.serve import (
        ServeError,
        check_addresses,
        check_house,
        serve_until_stopped,
    )

    table = rules_of(preset, overrides)
    try:
        table.check_seats(seats)
        check_addresses(listen, insecure=insecure)
        check_house(play)
    except (RuleSetError, ServeError) as error:
        fail(str(error), 2)
    try:
        asyncio.run(
            serve_until_stopped(
                listen, table, seats=seats, house=play, matches=matches, verbose=verbose
            )
        )
    except ServeError as error:
        fail(str(error))
