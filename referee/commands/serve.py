"""`referee serve`: lets bots connect and play."""

from pathlib import Path
from typing import Annotated

import typer

from referee.commands.options import (
    Preset,
    Set,
    fail,
    rules_of,
    seconds_option,
    whole_option,
)
from referee.engine.ruleset import RuleSetError


def serve(
    listen: Annotated[
        list[str], typer.Option(help="HOST:PORT or unix:PATH; repeatable. Port 0: any free one.")
    ] = ["127.0.0.1:50051"],  # noqa: B006 - typer copies it
    play: Annotated[
        str | None,
        typer.Option(help="House bot that plays everybody who connects, such as greedy."),
    ] = None,
    preset: Preset = "basic",
    overrides: Set = None,
    seats: Annotated[int, whole_option("Seats at a table, 2–6.", 2, 6)] = 2,
    matches: Annotated[
        int, whole_option("Matches for each bot that connects; 0: until it leaves.", 0, 1_000_000)
    ] = 1,
    tls_cert: Annotated[
        Path | None, typer.Option(help="PEM file of the certificate: TCP speaks TLS.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="PEM file of its key, without passphrase.")
    ] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="PEM file of who signs the certificates of bots (mTLS).")
    ] = None,
    organiser_token_file: Annotated[
        Path | None,
        typer.Option(help="File with the organiser's token, mode 0600; made when missing."),
    ] = None,
    require_tokens: Annotated[
        bool, typer.Option(help="Let only bots in whose token an organiser has issued.")
    ] = False,
    metrics: Annotated[
        str | None,
        typer.Option(help="HOST:PORT where Prometheus reads metrics. Port 0: any free one."),
    ] = None,
    grace: Annotated[
        float, seconds_option("How long running matches may go on after the first Ctrl-C.")
    ] = 10.0,
    insecure: Annotated[
        bool, typer.Option(help="Allow plain TCP, and metrics, on other addresses than loopback.")
    ] = False,
    verbose: Annotated[bool, typer.Option(help="Log every detail.")] = False,
) -> None:
    """Let bots connect and play: against a house bot (--play), or against each other.

    Any token is let in, unless --require-tokens is given. Stop with Ctrl-C: running matches get
    ten seconds (--grace) to end, a second Ctrl-C stops at once. More is in docs/serving.md.

    \b
    Examples:
      referee serve --play greedy
      referee serve --listen unix:/tmp/referee.sock --rules standard --seats 4
      referee serve --listen 0.0.0.0:50051 --tls-cert cert.pem --tls-key key.pem --play greedy
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.service.collector import settle_collector
    from referee.service.event_loop import run
    from referee.service.serve import ServeError, ServeOptions, prepare, serve_until_stopped
    from referee.service.tls import TlsError, files_of_options

    for name, value in (("--play", play), ("--metrics", metrics)):
        if value == "":
            fail(f"{name} is '': give it a value, or leave it out", 2)
    table = rules_of(preset, overrides)
    try:
        tls = files_of_options(tls_cert, tls_key, tls_client_ca)
    except TlsError as error:
        fail(str(error), 2)
    options = ServeOptions(
        listen=tuple(listen),
        rules=table,
        seats=seats,
        house=play or "",
        matches=matches,
        insecure=insecure,
        tls=tls,
        metrics=metrics or "",
        organiser_token_file=organiser_token_file,
        require_tokens=require_tokens,
        grace_s=grace,
        verbose=verbose,
    )
    try:
        table.check_seats(seats)
        prepared = prepare(options)
    except (RuleSetError, ServeError) as error:
        fail(str(error), 2)
    settle_collector()
    try:
        run(serve_until_stopped(options, prepared))
    except ServeError as error:
        fail(str(error))
