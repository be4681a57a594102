"""`PollService` over a real unix socket: whole matches, clocks, takeovers, the end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from referee.match.outcome import Forfeit
from referee.match.spec import TimeControl
from referee.service import server
from referee.service.play_service import PlayService
from referee.service.poll_service import PollService
from referee.service.server import Referee
from rummy.referee.v1 import play_pb2
from rummy.referee.v1 import poll_pb2 as pb
from rummy.referee.v1.poll_pb2_grpc import PollServiceStub
from tests.service.clients import (
    PATIENCE_S,
    Client,
    client,
    new_spec,
    referee_at,
    result_of,
)
from tests.service.poll_clients import SERVICE, Poller, Refused, mixed_pair, poller

Polls: TypeAlias = tuple[Referee, str, PollService]


@pytest.fixture
async def polls(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nothing_left: None,  # noqa: ARG001 - it looks when the referee is closed
) -> AsyncIterator[Polls]:
    """A referee on a socket, and its service of polls to look into."""
    made: list[PollService] = []

    def make(play: PlayService) -> PollService:
        made.append(PollService(play))
        return made[-1]

    monkeypatch.setattr(server, "PollService", make)
    async with referee_at(tmp_path) as (referee, address):
        yield referee, address, made[0]


async def until_open(service: PollService, calls: int) -> None:
    """Wait until so many calls of bots wait at the referee."""
    async with asyncio.timeout(PATIENCE_S):
        while sum(one._calls for one in service._sessions.values()) != calls:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


# --- whole matches ------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 4])
async def test_a_polled_bot_plays_a_whole_match_against_streams(
    served: tuple[Referee, str], seats: int
) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(seats)]
    async with AsyncExitStack() as stack:
        polled = await stack.enter_async_context(poller(address, tokens[0]))
        streams = [await stack.enter_async_context(client(address, one)) for one in tokens[1:]]
        await polled.hello()
        for stream in streams:
            await stream.hello()
        spec = new_spec(seats, match_end="fixed_deals", deals=2)
        playing = asyncio.create_task(referee.play(spec, tokens))
        ends = await asyncio.gather(polled.play(), *(stream.play() for stream in streams))
        result = await result_of(playing)
    assert result.termination == "completed", result.text
    assert result.record_hash == sha256(result.record.splitlines(keepends=True)[-1]).digest()
    assert polled.decisions > 0
    for end in ends:
        assert end is not None
        assert (end.match_id, end.deals, end.record_hash) == (spec.match_id, 2, result.record_hash)
        told = [(one.place, one.total, one.charged_us) for one in end.results]
        assert told == [(own.place, own.total, own.charged_us) for own in result.seats]
    for seat in result.seats:
        assert (seat.forfeit, seat.illegal_strikes, seat.time_strikes) == (None, 0, 0)


@pytest.mark.parametrize("both_poll", [False, True])
async def test_several_matches_in_one_session(served: tuple[Referee, str], both_poll: bool) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    open_other = poller if both_poll else client

    async def play_all(bot: Poller | Client) -> int:
        ended = 0
        while ended < 4 and await bot.play():
            ended += 1
        return ended

    async with poller(address, tokens[0]) as one, open_other(address, tokens[1]) as other:
        assert (await one.hello(matches=4)).limits.max_concurrent_matches == 4
        await other.hello(matches=4)
        matches = [asyncio.create_task(referee.play(new_spec(), tokens)) for _ in range(4)]
        assert [*await asyncio.gather(play_all(one), play_all(other))] == [4, 4]
        results = [await result_of(match) for match in matches]
    assert {result.termination.value for result in results} == {"completed"}
    assert len({result.match_id for result in results}) == 4


async def test_the_generated_client_fits(served: tuple[Referee, str]) -> None:
    referee, address = served
    metadata = (("authorization", f"Bearer {referee.issue_token('b', '1')}"),)
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = PollServiceStub(channel)
        hello = pb.NextDecisionRequest(hello=play_pb2.Hello(bot="b"))
        answer = await stub.NextDecision(hello, metadata=metadata)
        assert [one.WhichOneof("message") for one in answer.messages] == ["welcome"]
        choice = pb.ChooseRequest(session_id=answer.session_id)
        assert await stub.Choose(choice, metadata=metadata) == pb.ChooseResponse()
        health: Any = health_pb2_grpc.HealthStub(channel)
        status = await health.Check(health_pb2.HealthCheckRequest(service=SERVICE))
        assert status.status == health_pb2.HealthCheckResponse.SERVING


# --- the clock ----------------------------------------------------------------------------------


async def test_without_an_answer_time_is_up(served: tuple[Referee, str]) -> None:
    """Forced actions and a strike each time, and the third forfeits: as for a stream."""
    referee, address = served
    control = TimeControl(per_decision_ms=400, bank_ms=0, reconnect_ms=0)
    async with mixed_pair(referee, address) as (tokens, silent, other):
        spec = new_spec(control=control, match_end="fixed_deals", deals=3)
        playing = asyncio.create_task(referee.play(spec, tokens))
        ending = asyncio.create_task(other.play())
        rejections = [(await silent.until("rejected")).rejected for _ in range(2)]
        ended = (await silent.until("match_ended")).match_ended
        await ending
        result = await result_of(playing)
    assert [one.reason for one in rejections] == [play_pb2.REASON_TIME_UP] * 2
    assert [one.strikes_left for one in rejections] == [1, 0]
    assert "the referee played" in rejections[0].text
    assert result.seats[0].forfeit is Forfeit.TIME
    assert ended.results[0].forfeit == play_pb2.FORFEIT_TIME


async def test_taking_match_starting_is_to_be_ready(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with mixed_pair(referee, address) as (tokens, one, other):
        spec = new_spec()
        playing = asyncio.create_task(referee.play(spec, tokens))
        await other.until("match_starting")
        await other.ready(spec.match_id)
        (starting,) = await one.next()
        assert starting.match_starting.match_id == spec.match_id
        seat = referee._matches[spec.match_id].seats[0]
        # To be sent it again is not to have taken it.
        again = await one.again(taken=one.number - 1)
        assert list(again.messages) == [starting]
        assert not seat.is_ready
        await asyncio.gather(one.play(), other.play())
        assert seat.is_ready
        assert (await result_of(playing)).termination == "completed"


async def test_never_taking_match_starting_forfeits(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with mixed_pair(referee, address) as (tokens, late, other):
        spec = new_spec(control=TimeControl(startup_ms=400))
        playing = asyncio.create_task(referee.play(spec, tokens))
        ending = asyncio.create_task(other.play())
        asked = asyncio.create_task(late.again(wait_ms=60_000))
        assert (await result_of(playing)).seats[0].forfeit is Forfeit.STARTUP
        assert await ending is not None
        starting = (await asked).messages[0]
        assert starting.WhichOneof("message") == "match_starting"
        kinds = [one.WhichOneof("message") for one in (await late.again()).messages]
        assert (kinds[0], kinds[-1]) == ("match_starting", "match_ended")


# --- waiting ------------------------------------------------------------------------------------


async def test_a_waiting_call_is_answered_when_a_message_comes(
    polls: Polls,
) -> None:
    """Long before its own time is over, which is longer than the test's patience."""
    referee, address, service = polls
    async with mixed_pair(referee, address) as (tokens, one, _):
        waiting = asyncio.create_task(one.next(60_000))
        await until_open(service, 1)
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        (starting,) = await waiting
        assert starting.HasField("match_starting")
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


async def test_a_call_that_is_cancelled_costs_nothing(polls: Polls) -> None:
    referee, address, service = polls
    async with mixed_pair(referee, address) as (tokens, one, other):
        for _ in range(3):
            waiting = asyncio.create_task(one.next(60_000))
            await until_open(service, 1)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await until_open(service, 0)
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        assert all(await asyncio.gather(one.play(), other.play()))
        assert (await result_of(playing)).termination == "completed"


# --- takeovers ----------------------------------------------------------------------------------


async def _pending(one: Poller | Client, other: Client) -> play_pb2.Update:
    """Let the other play as far as it takes for this one to be asked; its decision."""
    asked, others = (asyncio.create_task(bot.decision()) for bot in (one, other))
    done, _ = await asyncio.wait({asked, others}, return_when=asyncio.FIRST_COMPLETED)
    if asked not in done:
        await other.answer(others.result())
        await other.answer(await other.decision())
    pending = await asked
    others.cancel()
    await asyncio.gather(others, return_exceptions=True)
    return pending


def _check_resumed(
    welcome: play_pb2.Welcome, match_id: str, again: play_pb2.Update, pending: play_pb2.Update
) -> None:
    assert list(welcome.resumed_match_ids) == [match_id]
    assert again.first_event_number == 1
    assert again.decision.decision_id == pending.decision.decision_id
    assert again.decision.observation == pending.decision.observation
    assert again.decision.legal_actions == pending.decision.legal_actions


@pytest.mark.parametrize("newer_polls", [False, True])
@pytest.mark.parametrize("older_polls", [False, True])
async def test_a_newer_session_takes_over(
    served: tuple[Referee, str], older_polls: bool, newer_polls: bool
) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    open_older, open_newer = (poller if polls else client for polls in (older_polls, newer_polls))
    async with (
        open_older(address, tokens[0]) as older,
        client(address, tokens[1]) as other,
        open_newer(address, tokens[0]) as newer,
    ):
        await older.hello()
        await other.hello()
        spec = new_spec()
        playing = asyncio.create_task(referee.play(spec, tokens))
        await older.until("match_starting")
        if isinstance(older, Client):
            await older.ready(spec.match_id)
        await other.until("match_starting")
        await other.ready(spec.match_id)
        pending = await _pending(older, other)
        welcome = await newer.hello()
        if isinstance(older, Client):
            assert await older.receive() is None
            assert (await older.code(), await older.reason()) == (
                grpc.StatusCode.ABORTED,
                "REPLACED",
            )
        else:
            for refused in (older.receive(), older.answer(pending)):
                with pytest.raises(Refused) as caught:
                    await refused
                assert (caught.value.code, caught.value.reason) == (
                    grpc.StatusCode.ABORTED,
                    "REPLACED",
                )
        _check_resumed(welcome, spec.match_id, await newer.decision(), pending)
        referee._matches[spec.match_id].abort("enough")
        assert (await result_of(playing)).termination == "aborted"


async def test_a_call_that_waits_is_told_of_the_takeover(polls: Polls) -> None:
    referee, address, service = polls
    token = referee.issue_token("b", "1")
    async with poller(address, token) as older, poller(address, token) as newer:
        await older.hello()
        waiting = asyncio.create_task(older.next(60_000))
        await until_open(service, 1)
        await newer.hello()
        with pytest.raises(Refused, match="ABORTED REPLACED"):
            await waiting
        assert referee.bot(token).is_connected


# --- the end ------------------------------------------------------------------------------------


async def test_a_revoked_token(polls: Polls) -> None:
    referee, address, service = polls
    token = referee.issue_token("b", "1")
    async with poller(address, token) as bot:
        await bot.hello()
        waiting = asyncio.create_task(bot.next(60_000))
        await until_open(service, 1)
        referee.revoke_token(token)
        assert await waiting == []
        assert bot.is_over
        for call in (bot.again(), bot.hello(), bot.choose(play_pb2.Choice())):
            with pytest.raises(Refused, match="UNAUTHENTICATED BAD_TOKEN"):
                await call


async def test_the_referee_closes_while_calls_wait(polls: Polls) -> None:
    referee, address, service = polls
    async with mixed_pair(referee, address) as (tokens, one, other):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        await other.until("match_starting")
        await one.until("match_starting")
        waiting = asyncio.create_task(one.until("match_ended"))
        await until_open(service, 1)
        await referee.close()
        assert (await waiting).match_ended.termination == play_pb2.TERMINATION_ABORTED
        assert (await result_of(playing)).termination == "aborted"


async def test_an_exit_of_the_process_is_a_crash(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with mixed_pair(referee, address) as (tokens, dies, other):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        await dies.until("match_starting")
        ending = asyncio.create_task(other.play())
        await dies.next()
        referee.report_exit(tokens[0], "exit code 1")
        await ending
        assert (await result_of(playing)).seats[0].forfeit is Forfeit.CRASH


async def test_a_message_that_is_too_large(served: tuple[Referee, str]) -> None:
    """The call is refused by gRPC, and the session does not suffer."""
    referee, address = served
    token = referee.issue_token("b", "1")
    async with poller(address, token) as bot:
        await bot.hello()
        with pytest.raises(Refused) as caught:
            await bot.choose(play_pb2.Choice(match_id="x" * 70_000))
        assert caught.value.code == grpc.StatusCode.RESOURCE_EXHAUSTED
        await bot.choose(play_pb2.Choice(match_id="none", decision_id=3))
        assert (await bot.until("rejected")).rejected.reason == play_pb2.REASON_STALE_DECISION
