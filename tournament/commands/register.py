"""`tournament register`: gets a bot that its author runs a token of somebody's ladder."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tournament.commands.output import say
from tournament.errors import TournamentError, UsageError

TOKEN_VARIABLE = "RUMMY_TOKEN"  # noqa: S105 - where a token is, not one


class CallFailedError(TournamentError):
    """The ladder refused, or could not be reached."""


def register(
    *,
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="HOST:PORT of the ladder.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the bot.")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help="Its version.")] = "1",
    author: Annotated[str, typer.Option(help="Who wrote it.")] = "",
    language: Annotated[str, typer.Option(help="Programming language.")] = "",
    tls_ca: Annotated[
        Path | None, typer.Option(help="PEM file of whom to trust: speak TLS.")
    ] = None,
    tls: Annotated[
        bool, typer.Option("--tls", help="Speak TLS, and trust whom this machine trusts.")
    ] = False,
) -> None:
    """Register a bot that you run yourself on a ladder, and print the token for it.

    Another version of a bot takes the token of an older one, a ladder by invitation that of its
    organiser: put it into the variable RUMMY_TOKEN, where others do not see it.

    \b
    Examples:
      tournament register ladder.example.org:50051 my-bot --tls > token
      RUMMY_TOKEN=$(cat token) tournament register ladder.example.org:50051 my-bot 2 --tls
    """  # noqa: D301 - \b keeps the lines below it as they are
    import grpc  # noqa: PLC0415 - no other command of this module needs it

    from rummy.tournament.v1 import tournament_pb2 as pb  # noqa: PLC0415
    from rummy.tournament.v1.tournament_pb2_grpc import TournamentServiceStub  # noqa: PLC0415

    credentials = None
    if tls or tls_ca is not None:
        try:
            trusted = tls_ca.read_bytes() if tls_ca is not None else None
        except OSError as error:
            raise UsageError(f"{tls_ca} can't be read: {error.strerror}") from error
        credentials = grpc.ssl_channel_credentials(trusted)
    token = os.environ.get(TOKEN_VARIABLE, "")
    metadata = (("authorization", f"Bearer {token}"),) if token else None
    request = pb.RegisterRequest(bot=name, version=version, author=author, language=language)
    with (
        grpc.secure_channel(address, credentials)
        if credentials is not None
        else grpc.insecure_channel(address)
    ) as channel:
        try:
            answer = TournamentServiceStub(channel).Register(request, metadata=metadata, timeout=20)
        except grpc.RpcError as error:
            why: Callable[[], str] = getattr(error, "details", error.__str__)
            raise CallFailedError(f"{address}: {why()}") from error
    say(f"{answer.entrant} is registered; it connects with RUMMY_REFEREE={address} and this token:")
    sys.stdout.write(f"{answer.token}\n")
