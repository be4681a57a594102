"""Who the bot plays against: a client in this process that answers with any legal action."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import grpc

from rummy.referee.v1.play_pb2 import Choice, Hello, PlayRequest, PlayResponse, Pong, Ready
from rummy.referee.v1.play_pb2_grpc import PlayServiceStub

NAME, VERSION = "partner", "1"
_MATCHES = 16


@asynccontextmanager
async def partners(address: str, tokens: Sequence[str]) -> AsyncIterator[None]:
    """Have a partner for each token dial the referee, and keep them there."""
    playing = [asyncio.create_task(_play(address, token)) for token in tokens]
    try:
        yield
    finally:
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def _play(address: str, token: str) -> None:
    """Play all matches until the stream ends. Chance comes from each match's own randomness."""
    chance: dict[str, random.Random] = {}
    metadata = (("authorization", f"Bearer {token}"),)
    async with grpc.aio.insecure_channel(address) as channel:
        call = PlayServiceStub(channel).Play(metadata=metadata)
        hello = Hello(bot=NAME, version=VERSION, max_concurrent_matches=_MATCHES)
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await call.write(PlayRequest(hello=hello))
            while isinstance(response := await call.read(), PlayResponse):
                request = _answer(response, chance)
                if request is not None:
                    await call.write(request)


def _answer(response: PlayResponse, chance: dict[str, random.Random]) -> PlayRequest | None:
    match response.WhichOneof("message"):
        case "match_starting":
            starting = response.match_starting
            chance[starting.match_id] = random.Random(starting.randomness)  # noqa: S311 - of play
            return PlayRequest(ready=Ready(match_id=starting.match_id))
        case "update" if response.update.HasField("decision"):
            match_id, decision = response.update.match_id, response.update.decision
            index = chance[match_id].randrange(len(decision.legal_actions))
            number = decision.decision_id
            choice = Choice(match_id=match_id, decision_id=number, legal_action_index=index)
            return PlayRequest(choice=choice)
        case "match_ended":
            chance.pop(response.match_ended.match_id, None)
        case "ping":
            return PlayRequest(pong=Pong(nonce=response.ping.nonce))
    return None
