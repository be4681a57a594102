"""Who may ask for what: the token of a call, and what only an organiser is shown."""

import os
import re
import stat
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import grpc

from referee.service.errors import AbortableContext, CallError, abort
from referee.service.tokens import Tokens, new_token

_WANTED = "metadata must hold `authorization: Bearer TOKEN`, with the token of an organiser"
_REFUSED = "this is not the token of an organiser, or it was revoked"
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_TOKEN = re.compile(r"[!-~]{32,512}")


class TokenFileError(ValueError):
    """The file of the organiser's token cannot be used; the message says why, not the token."""


class CallContext(Protocol):
    """The part of a servicer context that says what came with the call."""

    def invocation_metadata(self) -> Any:
        """Pairs of a key in lower case and a value; None for none."""
        ...


def bearer_of(context: CallContext) -> str:
    """The token of `authorization: Bearer TOKEN`; empty if there is none."""
    return _bearer_in(context.invocation_metadata())


def _bearer_in(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    header = dict(metadata or ()).get("authorization", "")
    text = header.decode("utf-8", "replace") if isinstance(header, bytes) else header
    scheme, _, token = text.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def check_organiser(tokens: Tokens, token: str) -> None:
    """Raise CallError (UNAUTHENTICATED) unless this is the token of an organiser."""
    if not token:
        raise CallError(grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN", _WANTED)
    if not tokens.is_organiser(token):
        raise CallError(grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", _REFUSED)


class ReflectionGuard(grpc.aio.ServerInterceptor):
    """Tells which services there are: on this machine everybody, beyond it organisers alone."""

    def __init__(self, tokens: Tokens, is_exposed: Callable[[], bool]) -> None:
        self._tokens = tokens
        self._is_exposed = is_exposed

    async def intercept_service(
        self,
        continuation: Callable[
            [grpc.HandlerCallDetails],
            Awaitable["grpc.RpcMethodHandler[_Request, _Response] | None"],
        ],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "grpc.RpcMethodHandler[_Request, _Response] | None":
        """Called once for each call, before its handler is."""
        if self._is_exposed() and handler_call_details.method.startswith("/grpc.reflection."):
            try:
                check_organiser(self._tokens, _bearer_in(handler_call_details.invocation_metadata))
            except CallError as error:
                return _refusing(error)
        return await continuation(handler_call_details)


def _refusing(refusal: CallError) -> "grpc.RpcMethodHandler[Any, Any]":
    """A handler that refuses its call, which is a stream both ways."""

    async def refuse(_requests: object, context: AbortableContext) -> None:
        await abort(context, refusal)

    return grpc.stream_stream_rpc_method_handler(refuse)


def organiser_token(path: Path) -> str:
    """The token in a file that its owner alone can read; a missing file is made, mode 0600.

    Raises TokenFileError.
    """
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _read_token(path)
    except OSError as error:
        raise TokenFileError(f"{path} cannot be made: {error.strerror}") from error
    token = new_token()
    with os.fdopen(made, "w", encoding="ascii") as file:
        file.write(f"{token}\n")
    return token


def _read_token(path: Path) -> str:
    try:
        # Without NONBLOCK, a pipe that nobody writes to would hold the start up for ever.
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            mode = os.fstat(opened).st_mode
            if not stat.S_ISREG(mode):
                raise TokenFileError(f"{path} is no file: allowed is a file that holds a token")
            if mode & 0o077:
                raise TokenFileError(
                    f"{path} has mode {stat.S_IMODE(mode):04o}, so others than its owner can use"
                    f" it: allowed are 0600 and 0400 (chmod 600 {path})"
                )
            text = file.read(4096).decode("ascii", "replace").strip()
    except OSError as error:
        raise TokenFileError(f"{path} cannot be read: {error.strerror}") from error
    if not _TOKEN.fullmatch(text):
        raise TokenFileError(
            f"{path} holds no token: allowed are 32–512 visible ASCII characters in one line;"
            " remove the file to have a new token made"
        )
    return text
