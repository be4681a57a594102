"""A referee with its match service on a socket, and callers of it."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from referee.service.match_service import MatchService
from referee.service.organiser import MatchLimits
from referee.service.server import Referee
from rummy.referee.v1 import match_pb2 as pb
from rummy.referee.v1 import play_pb2
from tests.service.clients import PATIENCE_S, PATIENT, Client

_Response = TypeVar("_Response", bound=Message)
QUICK = pb.PresetRules(preset="basic", overrides=["match_end=fixed_deals", "deals=1"])


class Refused(Exception):
    """A call ended with a status."""

    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        super().__init__(error.details())
        self.code = error.code()
        self.text = error.details() or ""
        self.reason = reason_of(error.trailing_metadata() or ())


def reason_of(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Reason in the ErrorInfo of a status; empty without one."""
    for key, value in metadata:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            info = error_details_pb2.ErrorInfo()
            assert status_pb2.Status.FromString(value).details[0].Unpack(info)
            assert info.domain == "rummy-referee"
            return str(info.reason)
    return ""


class Caller:
    """Calls the service with a token, or without one."""

    def __init__(self, channel: grpc.aio.Channel, token: str | None) -> None:
        self._channel = channel
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def __call__(self, request: Message | bytes, kind: type[_Response]) -> _Response:
        """Call the method that answers with this kind. Raises Refused."""
        name = kind.DESCRIPTOR.name.removesuffix("Response")
        method: Any = self._channel.unary_unary(f"/rummy.referee.v1.MatchService/{name}")
        raw = request if isinstance(request, bytes) else request.SerializeToString()
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer: bytes = await method(raw, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise Refused(error) from None
        return kind.FromString(answer)

    async def register(self, *names: str) -> list[pb.IssueTokenResponse]:
        """Issue a token for each of these bots."""
        return [
            await self(pb.IssueTokenRequest(bot=name, version="1"), pb.IssueTokenResponse)
            for name in names
        ]

    async def create(self, bots: Iterable[pb.IssueTokenResponse], **fields: Any) -> str:
        """Create a match, short if no rules are given; its id."""
        order = {"preset_rules": QUICK, **fields}
        request = pb.CreateMatchRequest(bot_ids=[bot.bot_id for bot in bots], **order)
        return (await self(request, pb.CreateMatchResponse)).match.match_id

    async def match(self, match_id: str) -> pb.Match:
        """How it stands."""
        return (await self(pb.GetMatchRequest(match_id=match_id), pb.GetMatchResponse)).match

    async def ended(self, match_id: str) -> pb.Match:
        """Wait for its end."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                match = await self.match(match_id)
                if match.state == pb.MATCH_STATE_ENDED:
                    return match
                await asyncio.sleep(0.02)

    def watch(self, match_id: str, **fields: Any) -> "Watch":
        """Begin to watch."""
        method: Any = self._channel.unary_stream(
            "/rummy.referee.v1.MatchService/WatchMatch",
            response_deserializer=pb.WatchMatchResponse.FromString,
        )
        request = pb.WatchMatchRequest(match_id=match_id, **fields).SerializeToString()
        return Watch(method(request, metadata=self._metadata))


class Watch:
    """A stream of a watcher."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self.first: pb.Match | None = None
        self.updates: list[pb.WatchUpdate] = []
        self.ended: play_pb2.MatchEnded | None = None

    async def read(self) -> bool:
        """Read a message; False at the end of the stream. Raises Refused."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                response = await self.call.read()
        except grpc.aio.AioRpcError as error:
            raise Refused(error) from None
        if not isinstance(response, pb.WatchMatchResponse):
            async with asyncio.timeout(PATIENCE_S):
                assert await self.call.code() == grpc.StatusCode.OK
            return False
        kind = response.WhichOneof("message")
        assert self.ended is None, "nothing comes after the end"
        assert (kind == "match") == (self.first is None), "the first message is the match"
        if kind == "match":
            self.first = response.match
        elif kind == "watch_update":
            self.updates.append(response.watch_update)
        else:
            assert kind == "match_ended"
            self.ended = response.match_ended
        return True

    async def to_end(self) -> "Watch":
        """Read all there is."""
        while await self.read():
            pass
        return self

    @property
    def numbered(self) -> list[tuple[int, bytes]]:
        """All events under their numbers."""
        return [
            (update.first_event_number + place, event.SerializeToString(deterministic=True))
            for update in self.updates
            for place, event in enumerate(update.events)
        ]


class Organised:
    """Everything together."""

    def __init__(self, referee: Referee, service: MatchService, address: str) -> None:
        self.referee = referee
        self.service = service
        self.address = address
        self.channel = grpc.aio.insecure_channel(address)
        self.organiser = Caller(self.channel, referee.tokens.issue_organiser())
        self.spectator = Caller(self.channel, None)

    @asynccontextmanager
    async def connected(
        self, bots: Iterable[pb.IssueTokenResponse], matches: int = 1
    ) -> AsyncIterator[list[Client]]:
        """Sessions of these bots, which play at random."""
        found, playing = [], []
        for bot in bots:
            session = Client(self.address, bot.token)
            await session.hello(matches=matches)
            found.append(session)
            playing.append(asyncio.create_task(_play_all(session)))
        try:
            yield found
        finally:
            for session in found:
                await session.close()
            await asyncio.gather(*playing, return_exceptions=True)


async def _play_all(session: Client) -> None:
    while await session.play() is not None:
        pass


@asynccontextmanager
async def organised(
    folder: Path, limits: MatchLimits | None = None, **options: Any
) -> AsyncIterator[Organised]:
    """A referee on a unix socket that organisers can call."""
    referee = Referee(**{"policy": PATIENT, **options})
    service = MatchService(referee, limits or MatchLimits())
    referee.add_service(service.name, service.handler())
    referee.on_arrival(service.arrived)
    address = f"unix:{folder}/r.sock"
    await referee.listen(address)
    one = Organised(referee, service, address)
    try:
        yield one
    finally:
        async with asyncio.timeout(15):
            service.close()
            await one.channel.close()
            await referee.close(0.5)
