"""Bots for a real socket, and a referee to play at."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from referee.engine.presets import make_ruleset
from referee.match.outcome import MatchResult
from referee.match.policy import Policy
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.server import Referee
from rummy.referee.v1 import play_pb2 as pb

PATIENCE_S = 30.0
PATIENT = Policy(
    most_forgiven_us_per_decision=1_000_000_000, most_forgiven_us_per_match=1_000_000_000
)
Chooser = Callable[["Client", pb.Update], Awaitable[pb.Choice | None]]


def _serialized(request: pb.PlayRequest | bytes) -> bytes:
    return request if isinstance(request, bytes) else request.SerializeToString()


class Client:
    """One stream of a bot. `code` and `reason` tell how it ended."""

    def __init__(self, address: str, token: str | None) -> None:
        self.channel = grpc.aio.insecure_channel(address)
        metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        play = self.channel.stream_stream(
            "/rummy.referee.v1.PlayService/Play",
            request_serializer=_serialized,
            response_deserializer=pb.PlayResponse.FromString,
        )
        self.call: Any = play(metadata=metadata)
        self.received: list[pb.PlayResponse] = []
        self.decisions = 0
        self._chance = random.Random(1)

    async def send(self, request: pb.PlayRequest | bytes) -> None:
        """Write a message, or bytes that are none; a stream that has ended swallows it."""
        try:
            await self.call.write(request)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return

    async def receive(self) -> pb.PlayResponse | None:
        """The next message; None at the end of the stream."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                response = await self.call.read()
            except grpc.aio.AioRpcError:
                return None
        if not isinstance(response, pb.PlayResponse):
            return None
        self.received.append(response)
        return response

    async def hello(self, name: str = "client", matches: int = 1) -> pb.Welcome:
        """Introduce the bot. Fails if it is not welcome."""
        hello = pb.Hello(bot=name, version="1", max_concurrent_matches=matches)
        await self.send(pb.PlayRequest(hello=hello))
        response = await self.receive()
        assert response is not None, await self.reason()
        assert response.WhichOneof("message") == "welcome"
        return response.welcome

    async def until(self, kind: str) -> pb.PlayResponse:
        """Read on to a message of this kind."""
        while True:
            response = await self.receive()
            assert response is not None, f"the stream ended before {kind}: {await self.reason()}"
            if response.WhichOneof("message") == kind:
                return response

    async def decision(self) -> pb.Update:
        """Read on to a decision."""
        while True:
            update = (await self.until("update")).update
            if update.HasField("decision"):
                return update

    async def play(self, choose: Chooser | None = None) -> pb.MatchEnded | None:
        """Play to the end of a match; None if the stream ends before."""
        while True:
            response = await self.receive()
            if response is None:
                return None
            kind = response.WhichOneof("message")
            if kind == "match_starting":
                await self.ready(response.match_starting.match_id)
            elif kind == "match_ended":
                return response.match_ended
            elif kind == "update" and response.update.HasField("decision"):
                self.decisions += 1
                choice = await (choose or at_random)(self, response.update)
                if choice is not None:
                    await self.send(pb.PlayRequest(choice=choice))

    async def ready(self, match_id: str) -> None:
        """Answer a match_starting."""
        await self.send(pb.PlayRequest(ready=pb.Ready(match_id=match_id)))

    async def answer(self, update: pb.Update, index: int = 0) -> None:
        """Answer a decision by an index."""
        await self.send(pb.PlayRequest(choice=choice_of(update, index)))

    def index(self, update: pb.Update) -> int:
        """Any legal action."""
        return self._chance.randrange(len(update.decision.legal_actions))

    async def code(self) -> grpc.StatusCode:
        """The status of the call."""
        async with asyncio.timeout(PATIENCE_S):
            code: grpc.StatusCode = await self.call.code()
        return code

    async def reason(self) -> str:
        """Reason in the ErrorInfo of the status; empty without one."""
        async with asyncio.timeout(PATIENCE_S):
            metadata = await self.call.trailing_metadata()
        for key, value in metadata or ():
            if key == "grpc-status-details-bin":
                status = status_pb2.Status.FromString(value)
                detail: any_pb2.Any = status.details[0]
                info = error_details_pb2.ErrorInfo()
                assert detail.Unpack(info)
                assert info.domain == "rummy-referee"
                assert status.code == (await self.code()).value[0]
                return str(info.reason)
        return ""

    async def close(self) -> None:
        """End the call and the channel."""
        self.call.cancel()
        await self.channel.close()


async def at_random(client: Client, update: pb.Update) -> pb.Choice:
    """Any legal action, by its index."""
    return choice_of(update, client.index(update))


def choice_of(update: pb.Update, index: int) -> pb.Choice:
    """An answer by an index."""
    decision_id = update.decision.decision_id
    return pb.Choice(match_id=update.match_id, decision_id=decision_id, legal_action_index=index)


@asynccontextmanager
async def client(address: str, token: str | None) -> AsyncIterator[Client]:
    """Open a stream, and close it at the end."""
    one = Client(address, token)
    try:
        yield one
    finally:
        await one.close()


@asynccontextmanager
async def two_bots(
    referee: Referee, address: str
) -> AsyncIterator[tuple[list[str], Client, Client]]:
    """Two bots that have said hello, and their tokens by seat."""
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    async with client(address, tokens[0]) as one, client(address, tokens[1]) as other:
        await one.hello()
        await other.hello()
        yield tokens, one, other


@asynccontextmanager
async def referee_at(folder: Path, **options: Any) -> AsyncIterator[tuple[Referee, str]]:
    """A referee on a unix socket, and its address. At the end nothing of it is left.

    Tests share its loop and block it now and then: it forgives that without end.
    """
    referee = Referee(**{"policy": PATIENT, **options})
    address = f"unix:{folder}/r.sock"
    try:
        assert await referee.listen(address) == [address]
        yield referee, address
    finally:
        async with asyncio.timeout(15):
            await referee.close(0.5)


async def until_disconnected(referee: Referee, token: str) -> None:
    """Wait until the referee knows that a session is over."""
    async with asyncio.timeout(PATIENCE_S):
        while referee.bot(token).is_connected:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


async def until_asked(bot: Client) -> None:
    """Wait until the match is on: the bot, which somebody else reads for, has seen an update."""
    async with asyncio.timeout(PATIENCE_S):
        while not any(one.HasField("update") for one in bot.received):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def result_of(playing: "asyncio.Task[MatchResult]") -> MatchResult:
    """Wait for the result of a match."""
    async with asyncio.timeout(PATIENCE_S):
        return await playing


def new_spec(
    seats: int = 2,
    *,
    control: TimeControl | None = None,
    preset: str = "basic",
    **overrides: object,
) -> MatchSpec:
    """A short match."""
    overrides = overrides or {"match_end": "fixed_deals", "deals": 1}
    return MatchSpec(
        match_id=secrets.token_hex(8),
        rules=make_ruleset(preset, overrides),
        seats=tuple(SeatSpec(f"bot{seat}", "1", bytes(32)) for seat in range(seats)),
        secret=bytes([seats]) * 32,
        salt=bytes(32),
        time_control=control or TimeControl(per_decision_ms=20_000),
    )
