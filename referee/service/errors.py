"""Refusals of a call: a gRPC status with a google.rpc.ErrorInfo that a program can read."""

from typing import NoReturn, Protocol

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "rummy-referee"


class CallError(Exception):
    """Why a call or stream ends. `reason` is the machine's word, in capitals."""

    def __init__(
        self, code: grpc.StatusCode, reason: str, text: str, *, is_fault: bool = False
    ) -> None:
        """`is_fault`: the bot broke the protocol or a limit of it."""
        super().__init__(text)
        self.is_fault = is_fault
        self.code = code
        self.reason = reason
        self.text = text


def refuse(reason: str, text: str) -> CallError:
    """The error of a request that can't be meant."""
    return CallError(grpc.StatusCode.INVALID_ARGUMENT, reason, text)


class AbortableContext(Protocol):
    """The part of a servicer context that ends a call."""

    async def abort(
        self, code: grpc.StatusCode, details: str, trailing_metadata: tuple[tuple[str, bytes], ...]
    ) -> NoReturn:
        """End the call with a status."""
        ...


async def abort(context: AbortableContext, error: CallError) -> NoReturn:
    """End the call with the error's status and ErrorInfo."""
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN))
    status = status_pb2.Status(code=error.code.value[0], message=error.text, details=[detail])
    metadata = (("grpc-status-details-bin", status.SerializeToString()),)
    await context.abort(error.code, error.text, metadata)
