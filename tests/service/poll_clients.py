"""Bots that ask for messages and send choices, over a socket or straight into the service."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import grpc

from referee.match.outcome import MatchResult
from referee.match.spec import MatchSpec
from referee.service.poll_service import PollService
from referee.service.server import Referee
from rummy.referee.v1 import play_pb2
from rummy.referee.v1 import poll_pb2 as pb
from tests.service.clients import PATIENCE_S, PATIENT, choice_of, client
from tests.service.fake_stream import Aborted, FakeStream
from tests.service.match_clients import reason_of

SERVICE = "rummy.referee.v1.PollService"
Call = Callable[[str, bytes], Awaitable[bytes]]
"""Calls a method with the bytes of a request. Raises Refused."""


class Refused(Exception):
    """A call ended with a status; every status of the service has its reason."""

    def __init__(self, code: grpc.StatusCode, text: str, reason: str) -> None:
        super().__init__(f"{code.name} {reason}: {text}")
        self.code = code
        self.text = text
        self.reason = reason


class Poller:
    """A bot that acknowledges as it should: `taken` is the number of the last answer."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.session_id = ""
        self.number = 0
        self.is_over = False
        self.received: list[play_pb2.PlayResponse] = []
        self.decisions = 0
        self._unread: deque[play_pb2.PlayResponse] = deque()

    # --- single calls ---------------------------------------------------------------------------

    async def ask(self, **fields: Any) -> pb.NextDecisionResponse:
        """One call with just these fields; nothing is taken note of."""
        request = pb.NextDecisionRequest(**fields).SerializeToString()
        async with asyncio.timeout(PATIENCE_S):
            return pb.NextDecisionResponse.FromString(await self.call("NextDecision", request))

    async def again(self, **fields: Any) -> pb.NextDecisionResponse:
        """One call for this session, without taking what came last unless the fields say so."""
        return await self.ask(**{"session_id": self.session_id, "taken": self.number, **fields})

    async def next(self, wait_ms: int = 0) -> list[play_pb2.PlayResponse]:
        """Take what came last and ask for more."""
        answer = await self.again(wait_ms=wait_ms)
        assert answer.session_id == self.session_id
        self._note(answer)
        return list(answer.messages)

    async def hello(self, name: str = "poller", matches: int = 1) -> play_pb2.Welcome:
        """Open a session, another one if there is one."""
        hello = play_pb2.Hello(bot=name, version="1", max_concurrent_matches=matches)
        answer = await self.ask(hello=hello)
        self.session_id, self.number, self.is_over = answer.session_id, 0, False
        self._unread.clear()
        self._note(answer)
        first = self._unread.popleft()
        assert first.WhichOneof("message") == "welcome"
        return first.welcome

    def _note(self, answer: pb.NextDecisionResponse) -> None:
        assert answer.number == self.number + len(answer.messages), "no hole and nothing twice"
        self.number, self.is_over = answer.number, answer.is_over
        self.received += answer.messages
        self._unread += answer.messages

    async def choose(self, choice: play_pb2.Choice) -> None:
        """Send a choice."""
        request = pb.ChooseRequest(session_id=self.session_id, choice=choice)
        async with asyncio.timeout(PATIENCE_S):
            raw = await self.call("Choose", request.SerializeToString())
        assert raw == b""

    async def answer(self, update: play_pb2.Update, index: int = -1) -> None:
        """Answer a decision by an index, the last one unless told otherwise."""
        number = index if index >= 0 else len(update.decision.legal_actions) - 1
        await self.choose(choice_of(update, number))

    # --- messages -------------------------------------------------------------------------------

    async def receive(self) -> play_pb2.PlayResponse | None:
        """The next message; None when the referee is done with this bot."""
        while not self._unread:
            if self.is_over:
                return None
            await self.next()
        return self._unread.popleft()

    async def until(self, kind: str) -> play_pb2.PlayResponse:
        """Read on to a message of this kind."""
        while True:
            response = await self.receive()
            assert response is not None, f"over before {kind}"
            if response.WhichOneof("message") == kind:
                return response

    async def decision(self) -> play_pb2.Update:
        """Read on to a decision."""
        while True:
            update = (await self.until("update")).update
            if update.HasField("decision"):
                return update

    async def play(self) -> play_pb2.MatchEnded | None:
        """Play to the end of a match, by the last legal action each time; None if it is over."""
        while True:
            response = await self.receive()
            if response is None:
                return None
            if response.HasField("match_ended"):
                return response.match_ended
            if response.HasField("update") and response.update.HasField("decision"):
                self.decisions += 1
                await self.answer(response.update)


# --- over a socket -------------------------------------------------------------------------------


@asynccontextmanager
async def poller(address: str, token: str | None) -> AsyncIterator[Poller]:
    """A bot with a channel of its own."""
    metadata = () if token is None else (("authorization", f"Bearer {token}"),)
    async with grpc.aio.insecure_channel(address) as channel:

        async def call(name: str, raw: bytes) -> bytes:
            method: Any = channel.unary_unary(f"/{SERVICE}/{name}")
            try:
                answer: bytes = await method(raw, metadata=metadata)
            except grpc.aio.AioRpcError as error:
                reason = reason_of(error.trailing_metadata() or ())
                raise Refused(error.code(), error.details() or "", reason) from None
            return answer

        yield Poller(call)


@asynccontextmanager
async def mixed_pair(
    referee: Referee, address: str
) -> AsyncIterator[tuple[list[str], Poller, Any]]:
    """A bot that polls at seat 0 and one with a stream at seat 1, both welcome; their tokens."""
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    async with poller(address, tokens[0]) as one, client(address, tokens[1]) as other:
        await one.hello()
        await other.hello()
        yield tokens, one, other


# --- straight into the service -------------------------------------------------------------------


class Desk:
    """A referee that does not listen, and its service of polls with a `lost_s` of the test's."""

    def __init__(self, *, lost_s: float = PATIENCE_S, **options: Any) -> None:
        self.referee = Referee(**{"policy": PATIENT, **options})
        self.play = self.referee._play
        self.service = PollService(self.play, lost_s=lost_s)
        self._handler = self.service.handler()

    def caller(self, token: str | None) -> Call:
        """Calls of a bot with this token."""

        async def call(name: str, raw: bytes) -> bytes:
            details: Any = SimpleNamespace(method=f"/{SERVICE}/{name}")
            handler: Any = self._handler.service(details)
            try:
                answer: bytes = await handler.unary_unary(raw, FakeStream(token))
            except Aborted as error:
                raise Refused(error.code, error.details, reason_of(error.metadata)) from None
            return answer

        return call

    def poller(self, token: str | None) -> Poller:
        """A bot with this token."""
        return Poller(self.caller(token))

    def bot(self, name: str = "b") -> tuple[str, Poller]:
        """A new bot and its token."""
        token = self.referee.issue_token(name, "1")
        return token, self.poller(token)

    async def pair(self) -> tuple[list[str], Poller, Poller]:
        """Two bots that are welcome, and their tokens."""
        (token, one), (other_token, other) = self.bot("bot0"), self.bot("bot1")
        await one.hello()
        await other.hello()
        return [token, other_token], one, other

    def begin(self, spec: MatchSpec, tokens: list[str]) -> "asyncio.Task[MatchResult]":
        """Let a match begin."""
        return asyncio.create_task(self.referee.play(spec, tokens))

    async def until_quiet(self) -> None:
        """Wait until no session is open and none is known."""
        async with asyncio.timeout(PATIENCE_S):
            while self.play.open_sessions or self.service._sessions:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@asynccontextmanager
async def desk(**options: Any) -> AsyncIterator[Desk]:
    """A desk that is closed at the end."""
    one = Desk(**options)
    try:
        yield one
    finally:
        async with asyncio.timeout(15):
            await one.referee.close(0)
