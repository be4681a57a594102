"""A bot as a process that plays along up to a point, says so on stdout, and then does nothing."""

import asyncio
import os
import sys
from typing import Any

import grpc

from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1 import rummy_pb2

PHASES = ("connected", "hello", "starting", "draw", "play", "waiting", "deal_ended")


async def here(phase: str) -> None:
    """Stop here if this is the point."""
    if phase == sys.argv[1]:
        sys.stdout.write("here\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


async def main() -> None:
    """Play first legal actions."""
    async with grpc.aio.insecure_channel(os.environ["RUMMY_REFEREE"]) as channel:
        play: Any = channel.stream_stream(
            "/rummy.referee.v1.PlayService/Play",
            request_serializer=pb.PlayRequest.SerializeToString,
            response_deserializer=pb.PlayResponse.FromString,
        )
        call = play(metadata=(("authorization", f"Bearer {os.environ['RUMMY_TOKEN']}"),))
        await call.wait_for_connection()
        await here("connected")
        await call.write(pb.PlayRequest(hello=pb.Hello(bot="puppet", version="1")))
        async for response in call:
            kind = response.WhichOneof("message")
            if kind == "welcome":
                await here("hello")
            elif kind == "match_starting":
                await here("starting")
                ready = pb.Ready(match_id=response.match_starting.match_id)
                await call.write(pb.PlayRequest(ready=ready))
            elif kind == "update":
                await answer(call, response.update)


async def answer(call: Any, update: pb.Update) -> None:
    """Answer a decision, if there is one."""
    if any(event.HasField("deal_ended") for event in update.events):
        await here("deal_ended")
    if not update.HasField("decision"):
        return
    is_draw = update.decision.observation.phase == rummy_pb2.PHASE_DRAW
    await here("draw" if is_draw else "play")
    last = len(update.decision.legal_actions) - 1
    choice = pb.Choice(
        match_id=update.match_id,
        decision_id=update.decision.decision_id,
        legal_action_index=0 if is_draw else last,
    )
    await call.write(pb.PlayRequest(choice=choice))
    if not is_draw:
        await here("waiting")


if __name__ == "__main__":
    asyncio.run(main())
