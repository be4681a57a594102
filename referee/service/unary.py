"""Methods with one request and one answer: read, answered, and every error with its reason."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

from referee.service.errors import CallError, abort, refuse

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
Handler: TypeAlias = "grpc.RpcMethodHandler[bytes, bytes]"
_Request = TypeVar("_Request", bound=Message)
_log = structlog.get_logger()


def method(
    kind: type[_Request], answer: Callable[[bytes, Context], Message | Awaitable[Message]]
) -> tuple[str, Handler]:
    """The handler of a method under its name, which is that of its request."""

    async def handle(raw: bytes, context: Context) -> bytes:
        try:
            message = answer(raw, context)
            if not isinstance(message, Message):
                message = await message
            return message.SerializeToString()
        except CallError as refusal:
            error = refusal.with_traceback(None)  # gRPC keeps it, and its frames a session
            if refusal.code is grpc.StatusCode.UNAUTHENTICATED:
                name = kind.DESCRIPTOR.name
                _log.warning("call refused", request=name, reason=error.reason, peer=context.peer())
        except Exception as failure:  # noqa: BLE001 - the caller is told, the log says what
            _log.error("a call failed", request=kind.DESCRIPTOR.name, exc_info=failure)
            text = "the referee failed; its log says why"
            error = CallError(grpc.StatusCode.INTERNAL, "INTERNAL", text)
        return await abort(context, error)

    return kind.DESCRIPTOR.name.removesuffix("Request"), grpc.unary_unary_rpc_method_handler(handle)


def read(kind: type[_Request], raw: bytes) -> _Request:
    """The message of these bytes. Raises CallError (INVALID_ARGUMENT)."""
    try:
        return kind.FromString(raw)
    except DecodeError:
        text = f"{len(raw)} bytes are not a {kind.DESCRIPTOR.name}"
        raise refuse("MALFORMED_MESSAGE", text) from None
