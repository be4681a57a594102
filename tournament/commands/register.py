"""`tournament register`: gets a bot that its author runs a token of somebody's ladder."""

import os
import re
import ssl
import sys
from pathlib import Path
from typing import Annotated

import typer

from tournament.commands.output import say
from tournament.errors import OutputError, TournamentError, UsageError

TOKEN_VARIABLE = "RUMMY_TOKEN"  # noqa: S105 - where a token is, not one
_ADDRESS = re.compile(r"unix:.+|[^/]+:[0-9]{1,5}")
_ABOUT_TOKENS = ("PERMISSION_DENIED", "UNAUTHENTICATED")
"""Statuses of calls that came with the wrong token, or none."""


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
    # Its own lines about a connection that fails come before ours, and say less.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc  # noqa: PLC0415 - no other command of this module needs it

    from rummy.tournament.v1 import tournament_pb2 as pb  # noqa: PLC0415
    from rummy.tournament.v1.tournament_pb2_grpc import TournamentServiceStub  # noqa: PLC0415

    if not _ADDRESS.fullmatch(address):
        raise UsageError(
            f"{address!r} is no address of a ladder: allowed are HOST:PORT and unix:PATH, such as"
            " ladder.example.org:50051"
        )
    credentials = None
    if tls or tls_ca is not None:
        credentials = grpc.ssl_channel_credentials(_trusted(tls_ca))
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
            raise _explained(address, error, is_tls=credentials is not None) from error
    say(f"{answer.entrant} is registered; it connects with RUMMY_REFEREE={address} and this token:")
    try:
        sys.stdout.write(f"{answer.token}\n")
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(
            f"stdout can't be written: {error.strerror}: the token is lost; whoever runs the ladder"
            f" makes another by `tournament submit --new-token NAME --version V`"
        ) from error


def _trusted(tls_ca: Path | None) -> bytes | None:
    """Return the certificates of a PEM file; None: those that this machine trusts."""
    if tls_ca is None:
        return None
    try:
        content = tls_ca.read_bytes()
        ssl.create_default_context(cadata=content.decode("ascii"))
    except OSError as error:
        if isinstance(error, ssl.SSLError):
            raise UsageError(f"{tls_ca} is not a PEM file with a certificate") from error
        raise UsageError(f"{tls_ca} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{tls_ca} is not a PEM file with a certificate") from error
    return content


def _explained(address: str, error: Exception, *, is_tls: bool) -> TournamentError:
    """Return what a call that failed means for whoever typed the command."""
    status: str = getattr(error, "code")().name  # noqa: B009 - gRPC's error is a call as well
    why: str = getattr(error, "details")() or status.lower()  # noqa: B009
    text = f"{address}: {why}"
    if status in _ABOUT_TOKENS:
        if os.environ.get(TOKEN_VARIABLE):
            text += f". The token was that of the variable {TOKEN_VARIABLE}"
        else:
            text += f". Put the token into the variable {TOKEN_VARIABLE}, which is not set"
    elif status == "UNAVAILABLE" and is_tls:
        text += ". Is a ladder there that speaks TLS, with a certificate that you trust?"
    elif status == "UNAVAILABLE":
        text += ". Is a ladder there? One that speaks TLS takes --tls or --tls-ca"
    return UsageError(text) if status == "INVALID_ARGUMENT" else CallFailedError(text)
