"""The bots of `referee bench stalls`: a process of its own that keeps a diary of its own.

Task on stdin, one JSON line; diary on stdout, one JSON line for each match and seat that has
something to say. All moments are microseconds of CLOCK_MONOTONIC, which processes share.
"""

import asyncio
import contextlib
import json
import random
import sys
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any, Final

import grpc

from rummy.referee.v1 import play_pb2 as pb

_METHOD: Final = "/rummy.referee.v1.PlayService/Play"
PROMPT, THINKER, LATE, DEAF = "prompt", "thinker", "late", "deaf"
"""What a bot does: answers at once; within 80 % of its time; sometimes too late; never reads on."""
LATE_BY_MS: Final = 50
_DEAF_S: Final = 1.0
_BEAT_US: Final = 5_000


def now_us() -> int:
    """The clock that all processes of a machine share."""
    return monotonic_ns() // 1_000


@dataclass(slots=True)
class _Diary:
    """One match of one bot: `[received, handed to gRPC, written, too late on purpose]` by id."""

    decisions: dict[int, list[int]] = field(default_factory=dict)
    struck: set[int] = field(default_factory=set)

    def told(self, forfeit: int) -> dict[int, list[int]]:
        """What a judge needs: the strikes, and what was late on purpose."""
        wanted = {number for number, entry in self.decisions.items() if entry[3]} | self.struck
        if forfeit == pb.FORFEIT_TIME and self.decisions:
            wanted.add(max(self.decisions))
        return {number: self.decisions[number] for number in wanted & self.decisions.keys()}


class _Bot:
    def __init__(self, role: str, seed: int) -> None:
        self._role = role
        self._chance = random.Random(seed)  # noqa: S311 - no cryptography
        self._diary = _Diary()
        self._seat = 0
        self._writing = asyncio.Lock()
        self._late: set[asyncio.Task[None]] = set()

    async def play(self, address: str, token: str) -> None:
        """Play matches until the referee ends the stream."""
        # Without a subchannel pool of its own every bot would share one connection.
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            method: Any = channel.stream_stream(_METHOD)
            call = method(metadata=(("authorization", f"Bearer {token}"),))
            await call.write(pb.PlayRequest(hello=pb.Hello(bot=self._role)).SerializeToString())
            # A stream that breaks before the end shows as a forfeit in the referee's results.
            with contextlib.suppress(grpc.aio.AioRpcError):
                while isinstance(message := await call.read(), bytes):
                    received = now_us()
                    await self._handle(call, pb.PlayResponse.FromString(message), received)

    async def _handle(self, call: Any, response: pb.PlayResponse, received: int) -> None:
        kind = response.WhichOneof("message")
        if kind == "update" and response.update.HasField("decision"):
            await self._answer(call, response.update, received)
        elif kind == "rejected" and response.rejected.reason == pb.REASON_TIME_UP:
            self._diary.struck.add(response.rejected.decision_id)
        elif kind == "match_starting":
            self._diary, self._seat = _Diary(), response.match_starting.seat
            ready = pb.Ready(match_id=response.match_starting.match_id)
            async with self._writing:
                await call.write(pb.PlayRequest(ready=ready).SerializeToString())
            if self._role == DEAF:
                await asyncio.sleep(_DEAF_S)
        elif kind == "match_ended":
            ended = response.match_ended
            told = self._diary.told(ended.results[self._seat].forfeit)
            if told:
                say({"match": ended.match_id, "seat": self._seat, "told": told})

    async def _answer(self, call: Any, update: pb.Update, received: int) -> None:
        decision = update.decision
        entry = self._diary.decisions[decision.decision_id] = [received, 0, 0, 0]
        if self._role == DEAF:
            return
        if self._role == LATE and self._chance.random() < 0.1:
            entry[3] = 1
            due = received + decision.decision_left_us + LATE_BY_MS * 1_000
            # It reads on meanwhile: only what is late on purpose is to be late.
            task = asyncio.create_task(self._send(call, update, entry, due))
            self._late.add(task)
            task.add_done_callback(self._late.discard)
            return
        if self._role == THINKER:
            await asyncio.sleep(self._chance.random() * 0.8 * decision.decision_left_us / 1e6)
        await self._send(call, update, entry)

    async def _send(self, call: Any, update: pb.Update, entry: list[int], due: int = 0) -> None:
        """Answer, not before it is due."""
        if due:
            await asyncio.sleep(max(0, due - now_us()) / 1e6)
        decision = update.decision
        choice = pb.Choice(
            match_id=update.match_id,
            decision_id=decision.decision_id,
            legal_action_index=decision.decision_id * 7919 % len(decision.legal_actions),
        )
        raw = pb.PlayRequest(choice=choice).SerializeToString()
        async with self._writing:
            entry[1] = now_us()
            with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await call.write(raw)
                entry[2] = now_us()


async def _beat() -> None:
    """Write down when this process itself stood still: that is a bot's own time."""
    while True:
        before = now_us()
        await asyncio.sleep(_BEAT_US / 1e6)
        if (now := now_us()) - before > 2 * _BEAT_US:
            say({"slept": [before + _BEAT_US, now]})


async def _run(task: dict[str, Any]) -> None:
    beat = asyncio.create_task(_beat())
    bots = [
        asyncio.create_task(_Bot(role, number).play(task["address"], token))
        for number, (token, role) in enumerate(task["bots"])
    ]
    ended = await asyncio.gather(*bots, return_exceptions=True)
    beat.cancel()
    say({"broken": sorted({str(one) for one in ended if isinstance(one, Exception)})})


def say(message: dict[str, object]) -> None:
    """Write a line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_run(json.loads(sys.stdin.readline())))
