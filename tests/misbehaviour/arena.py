"""Where a bot misbehaves: one referee, one match against a bot that does all right, what is left.

Each behaviour stands in a table with what must come of it. The arena plays the match, compares,
plays another match between healthy bots on the same referee, and counts what is left.
"""

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import grpc

from referee.engine.game import RummyGame
from referee.engine.presets import make_ruleset
from referee.match.outcome import MatchResult
from referee.match.runner import Match
from referee.match.spec import MatchSpec, TimeControl
from referee.service.bots import Bot, SeatOfBot
from referee.service.server import Referee
from referee.service.session import Limits, Session
from rummy.referee.v1 import play_pb2 as pb
from tests.service.clients import (
    PATIENCE_S,
    Client,
    client,
    new_spec,
    referee_at,
    result_of,
)

ROOT = Path(__file__).resolve().parents[2]
CALM = TimeControl(per_decision_ms=20_000)
"""Nobody is out of time."""
SHORT = TimeControl(per_decision_ms=400, bank_ms=0, reconnect_ms=200, startup_ms=20_000)
"""Whoever does not answer is; enough for a healthy bot on a busy machine."""
UNREADY = TimeControl(per_decision_ms=20_000, startup_ms=900)
KEPT = 2
"""gRPC keeps the last errors of calls, with the frames that they went through."""
FULL_HAND: Final[Mapping[str, object]] = {
    "match_end": "fixed_deals",
    "deals": 1,
    "turn_cap_per_seat": 20,
}


@dataclass(frozen=True)
class Expected:
    """What comes of the match for the bot. Without a forfeit it is played to its end."""

    forfeit: str | None = None
    illegal: int = 0
    time: int = 0


@dataclass(frozen=True)
class Behaviour:
    """One row of the table."""

    name: str
    act: Callable[["Bad"], Awaitable[None]]
    expected: Expected
    control: TimeControl = CALM
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    deals: int = 1
    begins: bool = True
    """The match begins without waiting for it."""
    rules: Mapping[str, object] = field(default_factory=dict)


TABLE: list[Behaviour] = []


def misbehaves(
    forfeit: str | None = None,
    *,
    illegal: int = 0,
    time: int = 0,
    control: TimeControl = CALM,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    deals: int = 1,
    begins: bool = True,
) -> Callable[[Callable[["Bad"], Awaitable[None]]], Callable[["Bad"], Awaitable[None]]]:
    """Put a behaviour into the table, with what must come of it."""

    def enter(act: Callable[["Bad"], Awaitable[None]]) -> Callable[["Bad"], Awaitable[None]]:
        name = getattr(act, "__name__", "?").replace("_", " ")
        expected = Expected(forfeit, illegal, time)
        TABLE.append(Behaviour(name, act, expected, control, limits, deals, begins))
        return act

    return enter


def short_spec(control: TimeControl, overrides: Mapping[str, object]) -> MatchSpec:
    """A match of two seats under other rules."""
    spec = new_spec(control=control)
    return replace(spec, rules=make_ruleset("basic", overrides))


class Bad:
    """The seat of the misbehaving bot: what a behaviour needs to do harm. It begins the deal."""

    def __init__(self, referee: Referee, address: str, behaviour: Behaviour) -> None:
        overrides = {**FULL_HAND, "deals": behaviour.deals, **behaviour.rules}
        self.referee = referee
        self.address = address
        # Seat 1 deals, so seat 0 has the first turn.
        self.spec = replace(short_spec(behaviour.control, overrides), first_dealer=1)
        self.match_id = self.spec.match_id
        self.token = referee.issue_token("bad", "1")
        self.stack = AsyncExitStack()
        self.began = asyncio.Event()
        self.over = asyncio.Event()
        """The match has a result."""

    async def dial(self, token: str | None = None) -> Client:
        """Open a stream."""
        return await self.stack.enter_async_context(client(self.address, token or self.token))

    async def join(self) -> Client:
        """Open a stream and say hello."""
        one = await self.dial()
        await one.hello()
        return one

    async def seated(self) -> Client:
        """Open a stream, say hello and be ready."""
        one = await self.join()
        await one.until("match_starting")
        await one.ready(self.match_id)
        return one

    async def asked(self) -> tuple[Client, pb.Update]:
        """Be seated and asked for the first time."""
        one = await self.seated()
        return one, await one.decision()

    @property
    def match(self) -> Match:
        """The match as the referee has it."""
        return self.referee._matches[self.match_id]


async def ends(one: Client, code: grpc.StatusCode, reason: str = "") -> None:
    """The stream ends in this way."""
    while await one.receive() is not None:
        pass
    assert await one.code() == code, await one.code()
    assert await one.reason() == reason


async def rejected(one: Client, reason: str) -> pb.Rejected:
    """The next rejection, which has this reason."""
    found = (await one.until("rejected")).rejected
    assert found.reason == pb.Reason.Value(f"REASON_{reason}"), found
    return found


async def send_choice(one: Client, update: pb.Update, **fields: object) -> None:
    """Answer a decision with a choice of any contents."""
    decision_id = update.decision.decision_id
    values = {"match_id": update.match_id, "decision_id": decision_id, **fields}
    await one.send(pb.PlayRequest(choice=pb.Choice(**values)))  # type: ignore[arg-type]


# --- what is left -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """What a process holds that could leak."""

    descriptors: int
    children: int
    tasks: int
    objects: dict[str, int] = field(default_factory=dict)

    @classmethod
    def now(cls) -> "Left":
        """Count."""
        gc.collect()
        wanted = (Session, Match, RummyGame, SeatOfBot, Bot, Client)
        found = Counter(type(one).__name__ for one in gc.get_objects() if type(one) in wanted)
        return cls(
            descriptors=len(list(Path("/dev/fd").iterdir())),
            children=_children(),
            tasks=len([task for task in asyncio.all_tasks() if not task.done()]),
            objects=dict(found),
        )


def _children() -> int:
    if sys.platform != "linux":
        return 0
    paths = Path("/proc/self/task").glob("*/children")
    return sum(len(path.read_text(encoding="ascii").split()) for path in paths)


async def back_to(before: Left) -> None:
    """Wait until nothing more is left than before."""
    for _ in range(200):
        now = Left.now()
        if (
            now.descriptors <= before.descriptors
            and now.children <= before.children
            and now.tasks <= before.tasks
            and all(
                count <= before.objects.get(name, 0) + KEPT for name, count in now.objects.items()
            )
        ):
            return
        await asyncio.sleep(0.05)
    tasks = [task.get_name() for task in asyncio.all_tasks()]
    raise AssertionError(f"left over: {now}, before: {before}, tasks: {tasks}")


# --- matches ------------------------------------------------------------------------------------


async def healthy_match(referee: Referee, address: str) -> None:
    """Two fresh bots play a match to its end."""
    tokens = [referee.issue_token(f"healthy{seat}", "1") for seat in range(2)]
    async with client(address, tokens[0]) as one, client(address, tokens[1]) as other:
        await one.hello()
        await other.hello()
        spec = short_spec(CALM, FULL_HAND)
        playing = asyncio.create_task(referee.play(spec, tokens))
        assert all(await asyncio.gather(one.play(), other.play()))
        result = await result_of(playing)
    assert result.termination == "completed", result.text
    for seat in result.seats:
        assert (seat.forfeit, seat.illegal_strikes, seat.time_strikes) == (None, 0, 0)
    for token in tokens:
        referee.revoke_token(token)


@asynccontextmanager
async def arena(folder: Path, limits: Limits) -> AsyncIterator[tuple[Referee, str]]:
    """A referee that is warm: what it keeps for good is there."""
    async with referee_at(folder, limits=limits) as (referee, address):
        await healthy_match(referee, address)
        async with asyncio.timeout(PATIENCE_S):
            while Left.now().objects.get(Session.__name__, 0):  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.02)
        yield referee, address


async def misbehave(behaviour: Behaviour, referee: Referee, address: str) -> MatchResult:
    """Play a match with the behaviour at seat 0 and a healthy bot at seat 1."""
    bad = Bad(referee, address, behaviour)
    token = referee.issue_token("good", "1")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(bad.stack)
        good = await stack.enter_async_context(client(address, token))
        await good.hello()
        if behaviour.begins:
            bad.began.set()
        acting = asyncio.create_task(_act(behaviour, bad))
        answering = asyncio.create_task(good.play())
        judging = asyncio.create_task(_judge(bad, token))
        tasks = (acting, answering, judging)
        try:
            # Whatever fails first is what is to be told.
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    ended, result = answering.result(), judging.result()
    assert ended is not None
    for one in (bad.token, token):
        referee.revoke_token(one)
    return result


async def _judge(bad: Bad, token: str) -> MatchResult:
    await bad.began.wait()
    result = await bad.referee.play(bad.spec, [bad.token, token])
    bad.over.set()
    return result


async def _act(behaviour: Behaviour, bad: Bad) -> None:
    await behaviour.act(bad)
    # What was opened stays open until the match is over: to leave is a behaviour of its own.
    await bad.over.wait()
