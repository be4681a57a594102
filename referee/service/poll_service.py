"""`PollService`: sessions of bots that have no stream, but ask for messages and send choices.

A mailbox stands in for the stream. All else of a session is as it is for others.
"""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import grpc

from referee.service.access import bearer_of
from referee.service.bots import Bot
from referee.service.errors import CallError, refuse
from referee.service.mailbox import Mailbox
from referee.service.play_service import PlayService
from referee.service.session import RATE_WINDOW_S
from referee.service.unary import Context, method, read
from rummy.referee.v1 import play_pb2
from rummy.referee.v1 import poll_pb2 as pb

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["PollService"].full_name
_LOST_S: Final = 30.0
"""How long no call may be open for a session before it is lost."""
_MOST_WAIT_MS: Final = 60_000
_WAIT_MS: Final = 20_000


class PollService:
    """The sessions of one referee's bots that poll."""

    name: Final = _SERVICE

    def __init__(self, play: PlayService, *, lost_s: float = _LOST_S) -> None:
        self._play = play
        self._lost_s = lost_s
        self._sessions: dict[str, _Polled] = {}
        """By the key of the token: a newer one takes the place of an older."""

    def handler(self) -> grpc.GenericRpcHandler:
        """The service for a server."""
        methods = [
            method(pb.NextDecisionRequest, self._next_decision),
            method(pb.ChooseRequest, self._choose),
        ]
        return grpc.method_handlers_generic_handler(_SERVICE, dict(methods))

    async def _next_decision(self, raw: bytes, context: Context) -> pb.NextDecisionResponse:
        request = read(pb.NextDecisionRequest, raw)
        if request.wait_ms > _MOST_WAIT_MS:
            text = f"wait_ms is {request.wait_ms}: allowed are 0–{_MOST_WAIT_MS}"
            raise refuse("BAD_WAIT", text)
        wait_s = (request.wait_ms or _WAIT_MS) / 1000
        if request.HasField("hello"):
            polled = self._opened(request, context)
            with polled.call():
                await polled.mailbox.wait(wait_s)
                self._remember(polled)
                return polled.answer()
        polled = self._found(request.session_id, context)
        with polled.call():
            polled.mailbox.take(request.taken)
            await polled.mailbox.wait(wait_s)
            return polled.answer()

    async def _choose(self, raw: bytes, context: Context) -> pb.ChooseResponse:
        request = read(pb.ChooseRequest, raw)
        polled = self._found(request.session_id, context)
        with polled.call():
            polled.check()
            polled.mailbox.deliver(play_pb2.PlayRequest(choice=request.choice))
        return pb.ChooseResponse()

    def _opened(self, request: pb.NextDecisionRequest, context: Context) -> "_Polled":
        if request.session_id or request.taken:
            raise refuse("HELLO_TWICE", "hello opens a session: without session_id and taken")
        bot = self._play.admit(_token(context))
        polled = _Polled(self._play, bot, self._lost_s, self._sessions)
        polled.mailbox.deliver(play_pb2.PlayRequest(hello=request.hello))
        return polled

    def _found(self, session_id: str, context: Context) -> "_Polled":
        identity = self._play.tokens.identify(_token(context))
        if identity is None:
            text = "the token is not known here, or was revoked"
            raise CallError(grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", text)
        polled = self._sessions.get(identity.key)
        if polled is not None and polled.session_id == session_id:
            return polled
        if polled is not None and session_id:
            text = "a newer session of this token has taken over"
            raise CallError(grpc.StatusCode.ABORTED, "REPLACED", text)
        text = f"this token has no session {session_id[:64]!r}: hello opens one"
        raise CallError(grpc.StatusCode.NOT_FOUND, "NO_SUCH_SESSION", text)

    def _remember(self, polled: "_Polled") -> None:
        """The session was let in: further calls are for it, and none for an older one."""
        if polled.mailbox.is_closed:
            return
        older = self._sessions.get(polled.key)
        self._sessions[polled.key] = polled
        if older is not None:
            older.watch()


class _Polled:
    """One session: its mailbox, and whether its bot still comes by."""

    def __init__(
        self, play: PlayService, bot: Bot, lost_s: float, known: "dict[str, _Polled]"
    ) -> None:
        """`known`: the sessions that calls can be for, by `key`."""
        self.session_id = secrets.token_hex(8)
        self.key = bot.identity.key
        self.mailbox = Mailbox()
        self._limits = play.limits
        self._lost_s = lost_s
        self._known = known
        self._calls = 0
        """Calls that are open."""
        self._window_begin = 0.0
        self._in_window = 0
        self._timer: asyncio.TimerHandle | None = None
        self._error: CallError | None = None
        self._serving = asyncio.create_task(play.serve(self.mailbox, bot))
        self._serving.add_done_callback(self._ended)

    def _ended(self, serving: "asyncio.Task[CallError | None]") -> None:
        self.mailbox.close()
        self.watch()
        if not serving.cancelled():
            self._error = serving.result()

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call of the bot: while one is open it is there. Raises CallError for too many."""
        self._check_rate()
        self._calls += 1
        self.watch()
        try:
            yield
        finally:
            self._calls -= 1
            self.watch()

    def watch(self) -> None:
        """Be lost after a while without a call; one that is over is kept only to tell of it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        is_known = self._known.get(self.key) is self
        if not self._calls and (is_known or not self.mailbox.is_closed):
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._lost_s, self._lost)

    def _lost(self) -> None:
        self._timer = None
        self.mailbox.end()
        if self._known.get(self.key) is self:
            del self._known[self.key]

    def _check_rate(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._window_begin >= RATE_WINDOW_S:
            self._window_begin, self._in_window = now, 0
        self._in_window += 1
        if self._in_window > self._limits.max_messages_per_second * RATE_WINDOW_S:
            text = f"more than {self._limits.max_messages_per_second} calls a second"
            raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE", text)

    def check(self) -> None:
        """Raise the CallError that the session has ended with, if any."""
        if self._error is not None:
            raise self._error

    def answer(self) -> pb.NextDecisionResponse:
        """What waits for the bot. Raises the error of the session once the bot was sent all."""
        if not self.mailbox.has_news:
            self.check()
        messages, number = self.mailbox.hand_out()
        is_over = self.mailbox.is_closed and self._error is None
        return pb.NextDecisionResponse(
            session_id=self.session_id, messages=messages, number=number, is_over=is_over
        )


def _token(context: Context) -> str:
    token = bearer_of(context)
    if not token:
        # Without one, nothing would tell whose session it is.
        text = "metadata must hold `authorization: Bearer TOKEN`; where anybody may play, any text"
        raise CallError(grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN", text)
    return token
