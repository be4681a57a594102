"""A bot in this process, against which others are tested: it answers at once, by chance."""

import asyncio

import grpc

from rummy.referee.v1 import play_pb2 as pb
from tournament.ladder.names import PARTNER
from tournament.schedule.matchmaking import Chance


class Partner:
    """The stream of a bot that plays any legal action."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._answers: asyncio.Queue[object] = asyncio.Queue()
        self._say(pb.PlayRequest(hello=pb.Hello(bot=PARTNER, version="1")))

    def _say(self, request: pb.PlayRequest) -> None:
        self._answers.put_nowait(request.SerializeToString())

    def leave(self) -> None:
        """End the stream."""
        self._answers.put_nowait(grpc.aio.EOF)

    async def read(self) -> object:
        """Return what it says next, or grpc.aio.EOF."""
        return await self._answers.get()

    async def write(self, message: bytes) -> None:
        """Take a message of the referee, and answer it."""
        response = pb.PlayResponse.FromString(message)
        kind = response.WhichOneof("message")
        if kind == "match_starting":
            self._say(pb.PlayRequest(ready=pb.Ready(match_id=response.match_starting.match_id)))
        elif kind == "update" and response.update.HasField("decision"):
            decision = response.update.decision
            choice = pb.Choice(
                match_id=response.update.match_id,
                decision_id=decision.decision_id,
                legal_action_index=self._chance(len(decision.legal_actions)),
            )
            self._say(pb.PlayRequest(choice=choice))
