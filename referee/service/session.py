"""One stream of one bot: a reader, an outbox, and the limits between them.

Exactly one task reads, and nothing cancels it: a read that is cancelled loses the stream.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final, Protocol

import grpc
import structlog
from google.protobuf.message import DecodeError

from referee.engine.actions import MalformedAction
from referee.match.seat_player import Choice
from referee.service.codec import decode_action
from referee.service.errors import CallError
from referee.service.outbox import Outbox, Writes
from rummy.referee.v1 import play_pb2 as pb


@dataclass(frozen=True, slots=True)
class Limits:
    """What one session may use."""

    max_message_bytes: int = 64 * 1024
    max_messages_per_second: int = 2_000
    max_concurrent_matches: int = 256
    max_backlog_bytes: int = 4 * 1024 * 1024
    """Unread messages kept for a slow bot."""
    hello_s: float = 10.0


RATE_WINDOW_S: Final = 10.0
_log = structlog.get_logger()


class Stream(Protocol):
    """The part of a gRPC stream that a session uses."""

    async def read(self) -> object:
        """The next message as bytes, or grpc.aio.EOF."""
        ...

    async def write(self, message: bytes) -> None:
        """Send a message."""
        ...


class SessionOwner(Protocol):
    """Whoever gives a session its meaning: the play service."""

    def hello(self, session: "Session", hello: pb.Hello) -> None:
        """The bot has introduced itself."""
        ...

    def ready(self, session: "Session", match_id: str) -> None:
        """The bot is prepared."""
        ...

    def choice(self, session: "Session", match_id: str, decision_id: int, choice: Choice) -> None:
        """The bot has answered."""
        ...


class Session:
    """A stream between `run` and its end. `send` and `close` may be called at any time."""

    __slots__ = (
        "_ending",
        "_greeted",
        "_in_window",
        "_is_over",
        "_outbox",
        "_owner",
        "_stream",
        "_window_begin",
        "bot_name",
        "limits",
        "max_concurrent_matches",
        "name",
        "said_goodbye",
    )

    def __init__(
        self, stream: Stream, owner: SessionOwner, limits: Limits, writes: Writes, name: str
    ) -> None:
        self.name = name
        self.limits = limits
        self.max_concurrent_matches = 1
        self.said_goodbye = False
        self.bot_name = ""
        """As it was known when it said hello."""
        self._stream = stream
        self._owner = owner
        self._greeted = False
        self._outbox = Outbox(stream, writes)
        self._ending: asyncio.Future[CallError | None] = asyncio.get_running_loop().create_future()
        self._is_over = False
        """As `_ending` says, which is further away: this is asked three times for each message."""
        self._window_begin = asyncio.get_running_loop().time()
        self._in_window = 0

    # --- writing --------------------------------------------------------------------------------

    def send(self, message: bytes) -> None:
        """Write a message after those before. A bot that does not read loses its session."""
        if self._is_over:
            return
        self._outbox.put(message)
        if self._outbox.backlog > self.limits.max_backlog_bytes:
            text = f"more than {self.limits.max_backlog_bytes} bytes wait unread"
            self.close(
                CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "BACKLOG", text, is_fault=True)
            )

    # --- the end --------------------------------------------------------------------------------

    def close(self, error: CallError | None = None) -> None:
        """End the session, with an error or cleanly, after what is queued has been written."""
        if not self._is_over:
            self._is_over = True
            self._ending.set_result(error)

    def replaced(self) -> None:
        """A newer session of the same token has taken over."""
        text = "a newer session of this token has taken over"
        self.close(CallError(grpc.StatusCode.ABORTED, "REPLACED", text))

    async def run(self) -> CallError | None:
        """Serve the stream until it ends; the error to end it with, if any."""
        loop = asyncio.get_running_loop()
        text = f"no hello within {self.limits.hello_s:g} s"
        late = CallError(grpc.StatusCode.DEADLINE_EXCEEDED, "NO_HELLO", text)
        handshake = loop.call_later(
            self.limits.hello_s, lambda: None if self._greeted else self.close(late)
        )
        reader = asyncio.create_task(self._read_all(), name=f"read {self.name}")
        try:
            error = await asyncio.shield(self._ending)
            # What is queued is written, unless the bot does not read or is gone.
            if not await self._outbox.empty(timeout_s=1.0):
                # Nothing will be read of a bot that does not read: do not wait for it either.
                reader.cancel()
            return error
        finally:
            handshake.cancel()
            self.close()
            self._outbox.drop()
            # The reader ends by itself when the call is over; nothing waits for it.
            reader.add_done_callback(forget)

    # --- reading --------------------------------------------------------------------------------

    async def _read_all(self) -> None:
        try:
            while not self._is_over:
                message = await self._stream.read()
                if message is grpc.aio.EOF:
                    break
                if self._is_over:
                    return
                self._check_rate()
                self._handle(message)
        except CallError as error:
            self.close(error.with_traceback(None))  # its frames hold the session
        except grpc.aio.BaseError:
            pass  # The stream broke or ended while it was being read: a lost connection.
        except Exception as error:  # noqa: BLE001 - the bot is told, the log says what
            _log.error("the session failed", session=self.name, exc_info=error)
            text = "the referee failed; its log says why"
            self.close(CallError(grpc.StatusCode.INTERNAL, "INTERNAL", text))
        finally:
            self.close()

    def _check_rate(self) -> None:
        self._in_window += 1
        if self._in_window <= self.limits.max_messages_per_second * RATE_WINDOW_S:
            return
        now = asyncio.get_running_loop().time()
        if now - self._window_begin >= RATE_WINDOW_S:
            self._window_begin, self._in_window = now, 1
            return
        text = f"more than {self.limits.max_messages_per_second} messages a second"
        raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE", text, is_fault=True)

    def _handle(self, message: object) -> None:
        assert isinstance(message, bytes), "the handler is registered without deserializer"
        try:
            request = pb.PlayRequest.FromString(message)
        except DecodeError:
            raise CallError(
                grpc.StatusCode.INVALID_ARGUMENT,
                "MALFORMED_MESSAGE",
                f"{len(message)} bytes are not a PlayRequest",
                is_fault=True,
            ) from None
        kind = request.WhichOneof("message")
        if not self._greeted:
            if kind != "hello":
                text = f"the first message must be hello, not {kind or 'an unknown one'}"
                raise CallError(grpc.StatusCode.FAILED_PRECONDITION, "NO_HELLO", text)
            self._greeted = True
            self.max_concurrent_matches = min(
                max(1, request.hello.max_concurrent_matches), self.limits.max_concurrent_matches
            )
            self._owner.hello(self, request.hello)
        elif kind == "choice":
            self._choice(request.choice)
        elif kind == "ready":
            self._owner.ready(self, request.ready.match_id)
        elif kind == "ping":
            self.send(pb.PlayResponse(pong=pb.Pong(nonce=request.ping.nonce)).SerializeToString())
        elif kind == "goodbye":
            self.said_goodbye = True
            self.close()
        elif kind == "hello":
            text = "hello is said once, as the first message"
            raise CallError(grpc.StatusCode.FAILED_PRECONDITION, "HELLO_TWICE", text, is_fault=True)
        # A pong needs no answer, and a message of a newer protocol is skipped.

    def _choice(self, message: pb.Choice) -> None:
        self._owner.choice(self, message.match_id, message.decision_id, _read_choice(message))


def _read_choice(message: pb.Choice) -> Choice:
    has_index, actions = message.HasField("legal_action_index"), message.actions
    if has_index == bool(actions):
        return Choice(malformed="a choice has either actions or a legal_action_index")
    if has_index:
        return Choice(None, message.legal_action_index)
    if len(actions) > 1_000:
        return Choice(malformed=f"{len(actions)} actions are far too many")
    try:
        return Choice(plan=[decode_action(action) for action in actions])
    except MalformedAction as error:
        return Choice(malformed=str(error))


def forget(task: "asyncio.Future[Any]") -> None:
    """Take note of how a task ended: a stream that breaks is no error of the service."""
    if not task.cancelled():
        task.exception()
