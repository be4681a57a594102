"""A referee that says what a test tells it: one script for each session, over a unix socket."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from rummy.referee.v1.play_pb2 import Decision, PlayRequest, PlayResponse, Update, Welcome
from rummy.referee.v1.play_pb2_grpc import PlayServiceServicer, add_PlayServiceServicer_to_server
from rummy.referee.v1.rummy_pb2 import ACTION_TYPE_DRAW_STOCK, PHASE_DRAW, Action, Observation


class Session:
    """The referee's end of one stream."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.token = dict(context.invocation_metadata()).get("authorization", "")

    async def send(self, response: PlayResponse) -> None:
        """Write one message."""
        await self.context.write(response)

    async def receive(self) -> PlayRequest:
        """Read one message; fail if the bot has closed the stream."""
        request = await self.context.read()
        assert isinstance(request, PlayRequest), "the bot closed the stream"
        return request

    async def closed(self) -> None:
        """Wait until the bot has closed the stream."""
        assert await self.context.read() is grpc.aio.EOF

    async def greet(self, *resumed: str) -> PlayRequest:
        """Take the hello and answer with a welcome."""
        hello = await self.receive()
        await self.send(PlayResponse(welcome=Welcome(session_id="s", resumed_match_ids=resumed)))
        return hello


Script = Callable[[Session], Awaitable[None]]


class ScriptedReferee(PlayServiceServicer):
    """Runs the scripts, the first one in the first session and so on."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self._scripts = list(scripts)
        self.failures: list[BaseException] = []
        self.sessions = 0

    async def Play(self, request_iterator: Any, context: Any) -> None:  # type: ignore[override]  # noqa: ARG002, N802
        """Serve one session."""
        self.sessions += 1
        if self.sessions > len(self._scripts):
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no script is left")
        try:
            await self._scripts[self.sessions - 1](Session(context))
        except AssertionError as failure:
            self.failures.append(failure)


@asynccontextmanager
async def scripted_referee(folder: Path, *scripts: Script) -> AsyncIterator[str]:
    """Serve the scripts, give the address, and fail unless every script ran and passed."""
    referee = ScriptedReferee(scripts)
    server = grpc.aio.server()
    add_PlayServiceServicer_to_server(referee, server)
    address = f"unix:{folder}/r.sock"
    server.add_insecure_port(address)
    await server.start()
    try:
        yield address
    finally:
        await server.stop(None)
    assert not referee.failures, referee.failures
    assert referee.sessions == len(scripts)


def draw_update(match_id: str, decision_id: int, **more: Any) -> PlayResponse:
    """Return an update with a decision in which only the stock can be drawn."""
    decision = Decision(
        decision_id=decision_id,
        observation=Observation(phase=PHASE_DRAW, turn=0, stock_count=5),
        legal_actions=[Action(type=ACTION_TYPE_DRAW_STOCK)],
    )
    return PlayResponse(update=Update(match_id=match_id, decision=decision, **more))
