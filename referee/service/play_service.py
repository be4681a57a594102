"""`PlayService.Play`: from a call to a session, and from a session's messages to matches."""

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import grpc
import structlog
from structlog.contextvars import bound_contextvars

from referee import __version__
from referee.match.policy import Policy
from referee.match.seat_player import Choice
from referee.service.access import bearer_of
from referee.service.bots import Bot
from referee.service.errors import CallError, abort
from referee.service.outbox import Writes
from referee.service.session import Limits, Session, Stream, forget
from referee.service.tokens import Tokens
from rummy.referee.v1 import play_pb2 as pb

_log = structlog.get_logger()
_NAME_CHARACTERS = 64
_REFUSAL_S = 1.0
"""How long a refused call may take to send its first message."""
_STATUS_S = 2.0
"""How long the status of a call that ends may take to be sent."""
_UNKNOWN_TOKEN = "the token is not known here, or was revoked"  # noqa: S105 - no secret


class PlayService:
    """All sessions of one referee."""

    def __init__(
        self, tokens: Tokens, limits: Limits, policy: Policy, *, max_sessions: int
    ) -> None:
        self.tokens = tokens
        self.bots: dict[str, Bot] = {}
        """By the key of their token."""
        self.on_arrival: Callable[[Bot], None] | None = None
        """Called when a bot has said hello."""
        self.tap: Callable[[Stream, Bot], Stream] | None = None
        """Returns the stream to serve in place of one, to see what passes."""
        self.ended: Counter[str] = Counter()
        """Streams that ended, by reason: of the status, or ENDED, or GOODBYE. Refusals as well."""
        self.limits = limits
        self._policy = policy
        self._max_sessions = max_sessions
        self._sessions: dict[Session, Bot] = {}
        self._numbers = itertools.count(1)
        self._writes = Writes()

    @property
    def open_sessions(self) -> int:
        """Streams that are open, those included that have not said hello."""
        return len(self._sessions)

    def bot_of(self, token: str) -> Bot | None:
        """The bot that a token stands for; it need not be connected."""
        identity = self.tokens.identify(token)
        if identity is None:
            return None
        bot = self.bots.get(identity.key)
        if bot is None:
            bot = self.bots[identity.key] = Bot(identity)
        return bot

    def rekey(self, old: str, new: str) -> None:
        """A bot has another token now, given both keys: whoever came with the old one leaves."""
        bot = self.bots.pop(old, None)
        if bot is not None:
            bot.identity = replace(bot.identity, key=new)
            self.bots[new] = bot
            text = "the token was replaced: connect with the new one"
            for session, owner in list(self._sessions.items()):
                if owner is bot:
                    session.close(
                        CallError(grpc.StatusCode.UNAUTHENTICATED, "REPLACED_TOKEN", text)
                    )

    def handler(self) -> grpc.GenericRpcHandler:
        """The service for a server. Messages stay bytes: answers are made of ready fragments."""
        method: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(
            self._play
        )
        return grpc.method_handlers_generic_handler(
            pb.DESCRIPTOR.services_by_name["PlayService"].full_name, {"Play": method}
        )

    def close_all(self) -> None:
        """End every session cleanly."""
        for session in list(self._sessions):
            session.close()

    # --- one call -------------------------------------------------------------------------------

    async def _play(
        self, _requests: object, context: "grpc.aio.ServicerContext[bytes, bytes]"
    ) -> None:
        try:
            bot = self.admit(bearer_of(context))
        except CallError as refusal:
            _log.warning("call refused", reason=refusal.reason, peer=context.peer())
            # A client that is still sending its hello when the status comes can lose the status.
            hello = asyncio.ensure_future(context.read())
            hello.add_done_callback(forget)
            await asyncio.wait({hello}, timeout=_REFUSAL_S)
            await abort(context, refusal)
        error = await self.serve(context, bot)
        if error is not None:
            # The status waits behind what the bot does not read: a bot that never reads again
            # would keep the call, and all that hangs on it, for as long as it stays connected.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STATUS_S):
                    await abort(context, error)

    def serve(self, stream: Stream, bot: Bot) -> Coroutine[Any, Any, CallError | None]:
        """Serve a stream to its end; the error to end the call with, if any.

        The session counts from this call on, not from when the coroutine first runs. It has a
        frame of its own: gRPC keeps the last error of a call with its frames, and the session
        should not be in them.
        """
        if self.tap is not None:
            stream = self.tap(stream, bot)
        session = Session(stream, self, self.limits, self._writes, f"s{next(self._numbers)}")
        self._sessions[session] = bot
        return self._served(session, bot)

    async def _served(self, session: Session, bot: Bot) -> CallError | None:
        error = None
        try:
            error = await session.run()
        finally:
            del self._sessions[session]
            clean = "GOODBYE" if session.said_goodbye else "ENDED"
            self.ended[error.reason if error is not None else clean] += 1
            bot.detach(session, error.text if error is not None and error.is_fault else "")
            if self.tokens.is_open and not bot.seats and bot not in self._sessions.values():
                self.bots.pop(bot.identity.key, None)
            with bound_contextvars(bot=session.bot_name or bot.name, session=session.name):
                if error is not None:
                    _log.warning("session ended", reason=error.reason, text=error.text)
                else:
                    _log.info("session ended", reason=clean)
        return error

    def admit(self, token: str) -> Bot:
        """The bot that may open a session with this token. Raises CallError."""
        try:
            bot = self._identified(token)
            if len(self._sessions) >= self._max_sessions:
                text = f"all {self._max_sessions} sessions are taken: try again later"
                raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "SESSIONS", text)
        except CallError as refusal:
            self.ended[refusal.reason] += 1
            raise
        return bot

    def _identified(self, token: str) -> Bot:
        if not token:
            if not self.tokens.is_open:
                wanted = "metadata must hold `authorization: Bearer TOKEN`"
                raise CallError(grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN", wanted)
            token = f"no token {next(self._numbers)}"
        bot = self.bot_of(token)
        if bot is None:
            organises = "an organiser's token does not play: a bot needs one of its own"
            text = organises if self.tokens.is_organiser(token) else _UNKNOWN_TOKEN
            raise CallError(grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", text)
        return bot

    # --- messages of a session ------------------------------------------------------------------

    def hello(self, session: Session, hello: pb.Hello) -> None:
        """Welcome the bot and hand it the matches that an older session left."""
        bot = self._sessions[session]
        if self.bots.get(bot.identity.key) is not bot:
            raise CallError(grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", _UNKNOWN_TOKEN)
        for name, value in (("bot", hello.bot), ("version", hello.version)):
            if len(value) > _NAME_CHARACTERS or not value.isprintable():
                text = f"hello.{name} is {value[:80]!r}: allowed are at most {_NAME_CHARACTERS}"
                text += " printable characters"
                raise CallError(grpc.StatusCode.INVALID_ARGUMENT, "BAD_HELLO", text)
        if not bot.identity.bot:
            bot.name, bot.version = hello.bot or "anonymous", hello.version
        session.bot_name = bot.name
        bot.attach(session)
        limits = session.limits
        session.send(
            pb.PlayResponse(
                welcome=pb.Welcome(
                    session_id=session.name,
                    referee_version=__version__,
                    limits=pb.Limits(
                        max_message_bytes=limits.max_message_bytes,
                        max_messages_per_second=limits.max_messages_per_second,
                        max_concurrent_matches=session.max_concurrent_matches,
                        max_actions_per_choice=self._policy.max_plan,
                    ),
                    resumed_match_ids=list(bot.seats),
                )
            ).SerializeToString()
        )
        _log.info("session opened", bot=bot.name, version=bot.version, session=session.name)
        bot.resume()
        if self.on_arrival is not None:
            self.on_arrival(bot)

    def ready(self, session: Session, match_id: str) -> None:
        """Pass it on; a match that is not (or no longer) this bot's is ignored."""
        seat = self._sessions[session].seats.get(match_id)
        if seat is not None:
            seat.match.ready(seat.number)

    def choice(self, session: Session, match_id: str, decision_id: int, choice: Choice) -> None:
        """Pass it on; a match that is not (or no longer) this bot's has no decision for it."""
        seat = self._sessions[session].seats.get(match_id)
        if seat is not None:
            seat.match.choose(seat.number, decision_id, choice)
            return
        text = "no such match is being played by this bot"
        message = pb.Rejected(
            match_id=match_id[:64],
            decision_id=decision_id,
            reason=pb.REASON_STALE_DECISION,
            text=text,
        )
        session.send(pb.PlayResponse(rejected=message).SerializeToString())
