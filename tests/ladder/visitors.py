"""Bots that dial in to a ladder, as many as one program likes, and callers of its service."""

import asyncio
import contextlib
import random
import time
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from rummy.referee.v1 import play_pb2 as play
from rummy.tournament.v1 import tournament_pb2 as pb
from tests.service.match_clients import Refused, reason_of

_Response = TypeVar("_Response", bound=Message)
PATIENCE_S = 30.0
# A connection of its own for each bot, as if it came from another machine.
OWN_CONNECTION = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
)


class Caller:
    """Calls the tournament service of an address, and keeps all that came back."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.aio.insecure_channel(address, options=OWN_CONNECTION)
        self.seen: list[bytes] = []

    async def __call__(
        self, request: Message | bytes, kind: type[_Response], token: str = ""
    ) -> _Response:
        """Call the method that answers with this kind. Raises Refused."""
        name = kind.DESCRIPTOR.name.removesuffix("Response")
        method: Any = self.channel.unary_unary(f"/rummy.tournament.v1.TournamentService/{name}")
        raw = request if isinstance(request, bytes) else request.SerializeToString()
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer: bytes = await method(raw, metadata=metadata, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            raise Refused(error) from None
        self.seen.append(answer)
        return kind.FromString(answer)

    async def register(self, bot: str, version: str = "1", token: str = "") -> str:
        """Register a version; its token."""
        request = pb.RegisterRequest(bot=bot, version=version, author="A", language="python")
        return (await self(request, pb.RegisterResponse, token)).token

    async def leaderboard(self) -> list[pb.LeaderboardRow]:
        """All rows, page by page."""
        rows: list[pb.LeaderboardRow] = []
        page = ""
        while True:
            answer = await self(
                pb.GetLeaderboardRequest(page_token=page), pb.GetLeaderboardResponse
            )
            rows += answer.rows
            page = answer.next_page_token
            if not page:
                return rows

    async def status(self) -> pb.GetStatusResponse:
        """How the ladder does."""
        return await self(pb.GetStatusRequest(), pb.GetStatusResponse)

    async def matches(self, bot: str = "", size: int = 0) -> list[pb.LadderMatch]:
        """All matches, page by page."""
        found: list[pb.LadderMatch] = []
        page = ""
        while True:
            request = pb.ListMatchesRequest(bot=bot, page_size=size, page_token=page)
            answer = await self(request, pb.ListMatchesResponse)
            found += answer.matches
            page = answer.next_page_token
            if not page:
                return found


class Visitor:
    """A bot that plays any legal action, and dials again when its stream is lost.

    With `is_broken` it answers every decision with an index that there is not; set it to False and
    it is well again.
    """

    def __init__(
        self,
        address: str,
        token: str,
        *,
        at_once: int = 1,
        is_broken: bool = False,
        seed: int = 0,
    ) -> None:
        self.is_broken = is_broken
        self.begun = 0
        self.ended = 0
        self.most_at_once = 0
        self.sessions = 0
        self.lost = 0
        """Streams that ended though nobody here wanted it."""
        self.said_hello = 0.0
        self.first_match: float | None = None
        self.codes: list[str] = []
        self.reasons: list[str] = []
        self.texts: list[str] = []
        """Status, reason and words of the streams that were lost."""
        self.seen: list[bytes] = []
        """Messages, if `keeps` is set."""
        self.keeps = False
        self._at_once = at_once
        self._running: set[str] = set()
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._channel = grpc.aio.insecure_channel(address, options=OWN_CONNECTION)
        self._chance = random.Random(seed)
        self._call: Any = None
        self._task: asyncio.Task[None] | None = None
        self._is_leaving = False
        self._holds = False
        self._written = asyncio.Event()
        """No write is under way."""

    def come(self) -> None:
        """Connect, and stay until `leave`."""
        self._is_leaving = False
        self._task = asyncio.create_task(self._stay())

    async def leave(self) -> None:
        """Break the stream off."""
        self._is_leaving = True
        if self._call is not None:
            self._call.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def hold(self) -> None:
        """Stay, and answer nothing from now on.

        A write that is under way when the stream ends makes grpcio report INTERNAL in place of the
        status that was sent.
        """
        self._holds = True
        await self._written.wait()

    async def close(self) -> None:
        """Leave for good."""
        await self.leave()
        await self._channel.close()

    async def _stay(self) -> None:
        while not self._is_leaving:
            with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await self._session()
            if self._is_leaving:
                return
            code, text = await self._call.code(), await self._call.details()
            self.codes.append(code.name)
            self.texts.append(text or "")
            self.reasons.append(reason_of(await self._call.trailing_metadata() or ()))
            self.lost += 1
            await asyncio.sleep(0.2)

    async def _session(self) -> None:
        method: Any = self._channel.stream_stream(
            "/rummy.referee.v1.PlayService/Play",
            request_serializer=play.PlayRequest.SerializeToString,
        )
        self._call = method(metadata=self._metadata)
        self.said_hello = self.said_hello or time.monotonic()
        hello = play.Hello(bot="visitor", version="1", max_concurrent_matches=self._at_once)
        await self._write(play.PlayRequest(hello=hello))
        while isinstance(message := await self._call.read(), bytes):
            if self.keeps:
                self.seen.append(message)
            answer = self._answer(play.PlayResponse.FromString(message))
            if answer is not None and not self._holds:
                await self._write(answer)

    async def _write(self, request: play.PlayRequest) -> None:
        self._written.clear()
        try:
            await self._call.write(request)
        finally:
            self._written.set()

    def _answer(self, response: play.PlayResponse) -> play.PlayRequest | None:
        kind = response.WhichOneof("message")
        if kind == "update" and response.update.HasField("decision"):
            decision = response.update.decision
            choice = play.Choice(match_id=response.update.match_id)
            choice.decision_id = decision.decision_id
            choice.legal_action_index = (
                100_000 if self.is_broken else self._chance.randrange(len(decision.legal_actions))
            )
            return play.PlayRequest(choice=choice)
        if kind == "match_starting":
            self.begun += 1
            self._running.add(response.match_starting.match_id)
            self.most_at_once = max(self.most_at_once, len(self._running))
            self.first_match = self.first_match or time.monotonic()
            return play.PlayRequest(ready=play.Ready(match_id=response.match_starting.match_id))
        if kind == "match_ended":
            self.ended += 1
            self._running.discard(response.match_ended.match_id)
        elif kind == "welcome":
            self.sessions += 1
            self._running &= set(response.welcome.resumed_match_ids)
        elif kind == "ping":
            return play.PlayRequest(pong=play.Pong(nonce=response.ping.nonce))
        return None
