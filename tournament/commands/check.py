"""`tournament check`: may this bot compete? A numbered report for its author."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tournament.bots.builds import build_rights
from tournament.bots.find import find_bots
from tournament.bots.folder import BotFolder
from tournament.bots.frozen import freeze
from tournament.bots.sandbox.wrapped import check_trust
from tournament.bots.submission import check_submittable
from tournament.check.report import Report
from tournament.commands.checking import (
    CheckFormat,
    Checking,
    as_json,
    checking,
    show_check,
)
from tournament.commands.options import (
    DEFAULT_DATA,
    DEFAULT_SANDBOX,
    BuildCachesOption,
    BuildNetworkOption,
    DataOption,
    SandboxOption,
    reader_of,
)
from tournament.commands.output import people, say, writing
from tournament.commands.sandbox import open_sandbox
from tournament.commands.submitted import SubmittedBots
from tournament.errors import UsageError

WAIT_S = 120
_WAIT_MOST_S = 86_400


def _wait(text: str | int) -> int:
    if str(text).isdecimal() and 1 <= int(text) <= _WAIT_MOST_S:
        return int(text)
    raise typer.BadParameter(f"{text!r}: allowed are whole seconds 1–{_WAIT_MOST_S}")


def check(
    *,
    folder: Annotated[
        str | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="The bot's folder, or the name of a submitted or a sample bot; see --address.",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="Wait there for a bot that you start yourself, instead of starting it.",
        ),
    ] = None,
    wait: Annotated[
        int | None,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            parser=_wait,
            help=f"How long --address waits for the bot; default: {WAIT_S}.",
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", help="PEM file: --address speaks TLS.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", help="PEM file of its key, without passphrase.")
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Allow --address plain TCP beyond this machine."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the end of the bot's output in any case.")
    ] = False,
    sandbox: SandboxOption = DEFAULT_SANDBOX,
    build_network: BuildNetworkOption = None,
    build_caches: BuildCachesOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: Annotated[
        CheckFormat,
        typer.Option(
            "--format",
            metavar="|".join(CheckFormat),
            parser=reader_of(CheckFormat),
            help="How to write the report.",
        ),
    ] = CheckFormat.TABLE,
) -> None:
    """Check whether a bot may compete, and say what it should do better.

    It is built and started in the sandbox, as a tournament does, and led through all that can
    happen to it there. A healthy bot takes seconds; nothing that a bot does makes it longer than
    ten minutes. What each step wants is in docs/check.md.

    With --address the bot runs elsewhere: dial the address with the token that is shown. FOLDER
    may then be left out; with it, the bot's name and version are compared.

    \b
    Examples:
      tournament check my-bot
      tournament check my-bot --format json
      tournament check my-bot --address 127.0.0.1:50051

    \b
    Exit codes: 0 the bot may compete, 1 it may not, 2 wrong use, 130 interrupted.
    """  # noqa: D301 - \b keeps the lines below it as they are
    bot = _found(folder, data) if folder is not None else None
    if address is not None:
        run = _elsewhere(bot, address, wait or WAIT_S, tls_cert, tls_key, insecure=insecure)
    else:
        _refuse_without_address(
            {
                "--wait": wait,
                "--tls-cert": tls_cert,
                "--tls-key": tls_key,
                "--insecure": insecure or None,
            }
        )
        if bot is None:
            raise UsageError("there is nothing to check: allowed are FOLDER, --address, or both")
        opened = open_sandbox(sandbox, data)
        check_trust(opened, [bot.name] if bot.is_untrusted else [])
        rights = build_rights(
            bot, is_untrusted=bot.is_untrusted, network=build_network, caches=build_caches
        )
        copy = freeze(
            bot,
            data,
            sandbox=opened,
            build_network=rights.has_network,
            build_caches=rights.has_caches,
            tell=say,
        )
        run = checking(bot, copy, opened)
    report = _shown(run, format_, verbose=verbose)
    if bot is not None:
        try:
            check_submittable(bot)
        except UsageError as error:
            say(f"It can't be submitted as it is: {error}")
    if not report.may_compete:
        raise typer.Exit(1)


def _found(text: str, data: Path) -> BotFolder:
    bots = find_bots([text], submitted=SubmittedBots(data))
    if len(bots) != 1:
        raise UsageError(
            f"{text} holds {len(bots)} bots ({', '.join(bot.name for bot in bots)}):"
            " only one can be checked at a time"
        )
    return bots[0]


def _refuse_without_address(options: dict[str, object]) -> None:
    for option, value in options.items():
        if value is not None:
            raise UsageError(f"{option} goes with --address")


def _elsewhere(
    bot: BotFolder | None,
    address: str,
    wait_s: int,
    cert: Path | None,
    key: Path | None,
    *,
    insecure: bool,
) -> Checking:
    # gRPC, which reads this when it is loaded, would say in its own way what is said below.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from tournament.check.check import check_elsewhere  # noqa: PLC0415 - it brings in the referee
    from tournament.check.outside import credentials_for  # noqa: PLC0415

    credentials = credentials_for(address, cert=cert, key=key, insecure=insecure)

    def tell(bound: str, token: str) -> None:
        say(f"Start the bot within {wait_s} s with this in its environment:")
        say(f"  RUMMY_REFEREE={bound}")
        say(f"  RUMMY_TOKEN={token}")

    return lambda scratch, progress, doing: check_elsewhere(
        bot,
        address=address,
        credentials=credentials,
        scratch=scratch,
        tell=tell,
        wait_s=wait_s,
        progress=progress,
        doing=doing,
    )


def _shown(run: Checking, format_: CheckFormat, *, verbose: bool) -> Report:
    """Run a check: the table on stdout as it grows, or its lines on stderr and JSON on stdout."""
    if format_ is CheckFormat.TABLE:
        return show_check(run, Console(highlight=False), verbose=verbose)
    report = show_check(run, people, verbose=verbose)
    with writing():
        sys.stdout.write(as_json(report))
        sys.stdout.flush()
    return report
