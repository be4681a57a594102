"""The client side of `referee bench wire`: many bots in one process; the task comes on stdin."""

import asyncio
import json
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import grpc

from rummy.referee.v1 import play_pb2 as pb

_METHOD = "/rummy.referee.v1.PlayService/Play"


class _Counter:
    """Answers and turnaround times inside the measured window."""

    def __init__(self) -> None:
        self.turnarounds: list[float] = []
        self.measuring = False


async def _bot(
    address: str,
    token: str,
    counter: _Counter,
    turn: "asyncio.Event | None",
    partner: "asyncio.Event | None",
) -> None:
    """One bot. With events (echo) it waits for its turn: a match has one decision in flight."""
    # Without a subchannel pool of its own every bot would share one connection.
    async with grpc.aio.insecure_channel(
        address, options=(("grpc.use_local_subchannel_pool", 1),)
    ) as channel:
        metadata = (("authorization", f"Bearer {token}"),)
        method: Any = channel.stream_stream(_METHOD)
        call = method(metadata=metadata)
        await call.write(pb.PlayRequest(hello=pb.Hello(bot="bench")).SerializeToString())
        sent = perf_counter()
        answered = False
        while True:
            message = await call.read()
            if message is grpc.aio.EOF:
                return
            response = pb.PlayResponse.FromString(message)
            if response.HasField("update") and response.update.HasField("decision"):
                update = response.update
                if counter.measuring:
                    counter.turnarounds.append(perf_counter() - sent)
                if turn is not None and partner is not None:
                    if answered:
                        partner.set()
                    await turn.wait()
                    turn.clear()
                answered = True
                count = len(update.decision.legal_actions)
                choice = pb.Choice(
                    match_id=update.match_id,
                    decision_id=update.decision.decision_id,
                    legal_action_index=update.decision.decision_id * 7919 % count,
                )
                sent = perf_counter()
                await call.write(pb.PlayRequest(choice=choice).SerializeToString())
            elif response.HasField("match_starting"):
                ready = pb.Ready(match_id=response.match_starting.match_id)
                await call.write(pb.PlayRequest(ready=ready).SerializeToString())


async def _run(task: dict[str, Any]) -> None:
    counter = _Counter()
    bots = []
    for pair in task["tokens"]:
        if task["mode"] == "echo":
            turns = [asyncio.Event(), asyncio.Event()]
            turns[0].set()
        else:
            turns = []
        for seat, token in enumerate(pair):
            own, other = (turns[seat], turns[1 - seat]) if turns else (None, None)
            bots.append(asyncio.create_task(_bot(task["address"], token, counter, own, other)))
    await asyncio.sleep(task["warm_up_s"])
    _say({"state": "measuring"})
    counter.measuring = True
    begin = perf_counter()
    await asyncio.sleep(task["seconds"])
    seconds = perf_counter() - begin
    counter.measuring = False
    for bot in bots:
        bot.cancel()
    await asyncio.gather(*bots, return_exceptions=True)
    times = sorted(counter.turnarounds)
    _say(
        {
            "decisions": len(times),
            "seconds": seconds,
            "p50_ms": _quantile(times, 0.50) * 1e3,
            "p99_ms": _quantile(times, 0.99) * 1e3,
        }
    )


def _quantile(times: Sequence[float], part: float) -> float:
    return times[min(len(times) - 1, int(len(times) * part))] if times else float("nan")


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_run(json.loads(sys.stdin.readline())))
