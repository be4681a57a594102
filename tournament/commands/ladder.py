"""`tournament ladder`: keeps a standing ladder for bots that connect whenever they like."""

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from tournament.commands.options import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    RulesOption,
    SeatsOption,
    SetOption,
    rules_of,
)
from tournament.commands.output import say
from tournament.errors import UsageError
from tournament.store.ladder import create_ladder, ladder_of
from tournament.store.store import Store

_LOCK = "ladder"
"""What two processes that would keep a ladder on one database both ask for."""


def _within(least: float, most: float, unit: str) -> Any:
    """Return a reader of numbers between two."""

    def read(text: str | float) -> float:
        try:
            value = float(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise typer.BadParameter(f"{text!r}: allowed are {unit} {least:g}–{most:g}")
        return value

    return read


def ladder(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE.toml]", help="Seats, rules and clock; options change them."),
    ] = None,
    listen: Annotated[
        list[str],
        typer.Option(
            "--listen",
            "--address",
            metavar="ADDRESS",
            help="HOST:PORT or unix:PATH; repeatable. Port 0: any free one.",
        ),
    ] = ["127.0.0.1:50051"],  # noqa: B006 - typer copies it
    rules: RulesOption = None,
    changes: SetOption = None,
    time: Annotated[
        list[str] | None,
        typer.Option("--time", metavar="FIELD=MS", help="Change the clock; may be repeated."),
    ] = None,
    seats: SeatsOption = None,
    matches: Annotated[
        float,
        typer.Option(
            "--matches",
            metavar="N",
            parser=_within(1, 1_000, "numbers"),
            help="Matches at a time, at most.",
        ),
    ] = 16,
    invited: Annotated[
        bool,
        typer.Option("--invited", help="New bots take an organiser's token; it is in --data."),
    ] = False,
    tls_cert: Annotated[
        Path | None, typer.Option(help="PEM file of the certificate: TCP speaks TLS.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="PEM file of its key, without passphrase.")
    ] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="PEM file of who signs the certificates of bots (mTLS).")
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Allow plain TCP, and metrics, beyond this machine."),
    ] = False,
    metrics: Annotated[
        str, typer.Option(help="HOST:PORT where Prometheus reads metrics. Port 0: any free one.")
    ] = "",
    grace: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            parser=_within(0.1, 3_600, "seconds"),
            help="How long running matches may go on after the first Ctrl-C.",
        ),
    ] = 60,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every detail.")] = False,
) -> None:
    """Keep a standing ladder: bots register, connect whenever they like, and are rated.

    There is one ladder in a database. Started again it goes on with it, whatever ended it; file and
    options for rules and clock are for the first start. Stop it with Ctrl-C: running matches get a
    minute (--grace) to end, a second Ctrl-C stops at once. `tournament leaderboard` and the other
    views show it, also while it runs. More is in docs/ladder.md.

    \b
    Examples:
      tournament ladder --rules standard --time per_decision_ms=500
      tournament ladder cup.toml --listen 0.0.0.0:50051 --tls-cert cert.pem --tls-key key.pem
    """  # noqa: D301 - \b keeps the lines below it as they are
    # What hosts a referee takes long to load.
    from referee.service.collector import settle_collector  # noqa: PLC0415
    from referee.service.event_loop import run  # noqa: PLC0415
    from referee.service.tls import TlsError, files_of_options  # noqa: PLC0415
    from tournament.ladder.serve import (  # noqa: PLC0415
        LadderOptions,
        prepare_ladder,
        serve_until_stopped,
    )
    from tournament.ladder.settings import (  # noqa: PLC0415
        Asked,
        config_to_play,
        read_asked,
        stored_table,
    )

    try:
        tls = files_of_options(tls_cert, tls_key, tls_client_ca)
    except TlsError as error:
        raise UsageError(str(error)) from error
    options = LadderOptions(
        listen=tuple(listen),
        data=data,
        database=database,
        tls=tls,
        insecure=insecure,
        by_invitation=invited,
        metrics=metrics,
        most_matches=int(matches),
        grace_s=grace,
        verbose=verbose,
    )
    asked = Asked(file, seats, rules, rules_of(changes or []), tuple(time or ()))
    # What is wrong leaves no folder and no database behind.
    prepare_ladder(options, read_asked(asked), is_rehearsal=True)
    with Store.open(data, database) as store, store.lock(_LOCK):
        known = ladder_of(store)
        config = config_to_play(asked, known)
        prepared = prepare_ladder(options, config)
        if known is None:
            new = f"ladder-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            known = create_ladder(store, new, stored_table(config), config.rules_hash)
        with store.lock(known.id):
            settle_collector()
            serving = serve_until_stopped(options, prepared, config, store, known.id, say)
            run(serving)
