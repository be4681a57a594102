"""The client side of `referee bench wire`: many bots in one process; the task comes on stdin."""

import asyncio
import json
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import grpc

from referee.service.descriptors import allow_many_descriptors
from rummy.referee.v1 import play_pb2 as pb

_METHOD = "/rummy.referee.v1.PlayService/Play"


class _Counter:
    """Answers and turnaround times inside the measured window."""

    def __init__(self) -> None:
        self.turnarounds: list[float] = []
        self.measuring = False

    def received(self, sent: float | None) -> None:
        """A decision has come after a choice of the same match."""
        if self.measuring and sent is not None:
            self.turnarounds.append(perf_counter() - sent)


class _Turns:
    """What the two bots of a match share: the last choice; for echo, whose turn it is."""

    def __init__(self, *, in_turn: bool) -> None:
        self.sent: float | None = None
        self.gates = [asyncio.Event(), asyncio.Event()] if in_turn else []
        if in_turn:
            self.gates[0].set()

    async def wait(self, seat: int, *, answered: bool) -> None:
        """Echo: pass the turn on and wait for the next, so that one decision is in flight."""
        if self.gates:
            if answered:
                self.gates[1 - seat].set()
            await self.gates[seat].wait()
            self.gates[seat].clear()


async def _bot(address: str, token: str, counter: _Counter, turns: _Turns, seat: int) -> None:
    # Without a subchannel pool of its own every bot would share one connection.
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        method: Any = channel.stream_stream(_METHOD)
        call = method(metadata=(("authorization", f"Bearer {token}"),))
        await call.write(pb.PlayRequest(hello=pb.Hello(bot="bench")).SerializeToString())
        answered = False
        while isinstance(message := await call.read(), bytes):
            answer, is_choice = _answer(message)
            if is_choice:
                counter.received(turns.sent)
                await turns.wait(seat, answered=answered)
                answered = True
                turns.sent = perf_counter()
            if answer:
                await call.write(answer)


def _answer(message: bytes) -> tuple[bytes, bool]:
    """What is said to a message, empty if nothing is, and whether it is a choice.

    A message that was read takes some kilobytes: they are free again while the bot waits.
    """
    response = pb.PlayResponse.FromString(message)
    if response.HasField("update") and response.update.HasField("decision"):
        update = response.update
        count = len(update.decision.legal_actions)
        choice = pb.Choice(
            match_id=update.match_id,
            decision_id=update.decision.decision_id,
            legal_action_index=update.decision.decision_id * 7919 % count,
        )
        return pb.PlayRequest(choice=choice).SerializeToString(), True
    if response.HasField("match_starting"):
        ready = pb.Ready(match_id=response.match_starting.match_id)
        return pb.PlayRequest(ready=ready).SerializeToString(), False
    return b"", False


async def _idle(address: str, token: str) -> None:
    """Say hello, and stay while the referee does."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        method: Any = channel.stream_stream(_METHOD)
        call = method(metadata=(("authorization", f"Bearer {token}"),))
        await call.write(pb.PlayRequest(hello=pb.Hello(bot="bench")).SerializeToString())
        while isinstance(await call.read(), bytes):
            pass


async def _stay(task: dict[str, Any]) -> None:
    allow_many_descriptors()
    tokens = [token for pair in task["tokens"] for token in pair]
    bots = [asyncio.create_task(_idle(task["address"], token)) for token in tokens]
    _say({"sessions": len(bots)})
    await asyncio.gather(*bots, return_exceptions=True)


async def _run(task: dict[str, Any]) -> None:
    counter = _Counter()
    bots = []
    for pair in task["tokens"]:
        turns = _Turns(in_turn=task["mode"] == "echo")
        for seat, token in enumerate(pair):
            bot = _bot(task["address"], token, counter, turns, seat)
            bots.append(asyncio.create_task(bot))
    await asyncio.sleep(task["warm_up_s"])
    _say({"state": "measuring"})
    counter.measuring = True
    begin = perf_counter()
    await asyncio.sleep(task["seconds"])
    seconds = perf_counter() - begin
    counter.measuring = False
    for running in bots:
        running.cancel()
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
    _task = json.loads(sys.stdin.readline())
    asyncio.run(_stay(_task) if _task["mode"] == "idle" else _run(_task))
