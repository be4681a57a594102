"""The play service over a real unix socket, with clients of grpc.aio."""

import asyncio
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path

import grpc
import pytest

from referee.engine.game import RummyGame
from referee.match.outcome import Forfeit
from referee.match.spec import TimeControl
from referee.service.server import Referee
from rummy.referee.v1 import play_pb2 as pb
from tests.service.clients import (
    PATIENCE_S,
    Client,
    at_random,
    client,
    new_spec,
    referee_at,
    result_of,
    two_bots,
    until_asked,
    until_disconnected,
)

# --- who may play -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "reason"), [(None, "NO_TOKEN"), ("", "NO_TOKEN"), ("x" * 43, "BAD_TOKEN")]
)
async def test_without_a_known_token(
    served: tuple[Referee, str], token: str | None, reason: str
) -> None:
    async with client(served[1], token) as bot:
        await bot.send(pb.PlayRequest(hello=pb.Hello(bot="b")))
        assert await bot.receive() is None
        assert await bot.code() == grpc.StatusCode.UNAUTHENTICATED
        assert await bot.reason() == reason


async def test_revoked_token(served: tuple[Referee, str]) -> None:
    referee, address = served
    token = referee.issue_token("b", "1")
    async with client(address, token) as bot:
        await bot.hello()
        referee.revoke_token(token)
        assert await bot.receive() is None
    async with client(address, token) as bot:
        await bot.send(pb.PlayRequest(hello=pb.Hello(bot="b")))
        assert await bot.receive() is None
        assert await bot.code() == grpc.StatusCode.UNAUTHENTICATED
        assert await bot.reason() == "BAD_TOKEN"
    with pytest.raises(ValueError, match="revoked"):
        referee.bot(token)


async def test_stream_of_a_revoked_token_is_not_welcome(served: tuple[Referee, str]) -> None:
    """It was opened in time, but says hello too late."""
    referee, address = served
    token = referee.issue_token("b", "1")
    async with client(address, token) as bot:
        await bot.call.wait_for_connection()
        async with asyncio.timeout(PATIENCE_S):
            while not referee._play._sessions:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        referee.revoke_token(token)
        await bot.send(pb.PlayRequest(hello=pb.Hello(bot="b")))
        assert await bot.receive() is None


async def test_name_of_the_token_counts(served: tuple[Referee, str]) -> None:
    referee, address = served
    token = referee.issue_token("registered", "7")
    async with client(address, token) as bot:
        welcome = await bot.hello("somebody else")
        assert welcome.limits.max_actions_per_choice == 32
        assert welcome.limits.max_message_bytes == 64 * 1024
        assert not welcome.resumed_match_ids
        assert (referee.bot(token).name, referee.bot(token).version) == ("registered", "7")


async def test_name_that_is_too_long(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with client(address, referee.issue_token("b", "1")) as bot:
        await bot.send(pb.PlayRequest(hello=pb.Hello(bot="x" * 65)))
        assert await bot.receive() is None
        assert await bot.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert await bot.reason() == "BAD_HELLO"


async def test_open_referee_lets_anybody_in(tmp_path: Path) -> None:
    async with referee_at(tmp_path, is_open=True) as (_, address), AsyncExitStack() as stack:
        for token in (None, "any", "other"):
            bot = await stack.enter_async_context(client(address, token))
            await bot.hello()


async def test_second_stream_of_a_token_survives_the_end_of_the_first(tmp_path: Path) -> None:
    """Dialled again before the referee noticed that the old stream was over."""
    async with (
        referee_at(tmp_path, is_open=True) as (referee, address),
        client(address, "same") as first,
        client(address, "same") as second,
    ):
        await first.hello()
        async with asyncio.timeout(PATIENCE_S):
            while len(referee._play._sessions) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await first.send(pb.PlayRequest(goodbye=pb.Goodbye()))
        assert await first.receive() is None
        await second.hello()
        assert referee.bot("same").is_connected


# --- whole matches ------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 4])
async def test_bots_play_a_whole_match(served: tuple[Referee, str], seats: int) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(seats)]
    async with AsyncExitStack() as stack:
        bots = [await stack.enter_async_context(client(address, token)) for token in tokens]
        for bot in bots:
            await bot.hello()
        spec = new_spec(seats)
        playing = asyncio.create_task(referee.play(spec, tokens))
        ends = await asyncio.gather(*(bot.play() for bot in bots))
        result = await result_of(playing)
    assert result.termination == "completed"
    assert result.record_hash == sha256(result.record.splitlines(keepends=True)[-1]).digest()
    for number, end in enumerate(ends):
        assert end is not None
        assert (end.match_id, end.deals) == (spec.match_id, 1)
        assert end.record_hash == result.record_hash
        told = [(one.place, one.total, one.charged_us) for one in end.results]
        assert told == [(own.place, own.total, own.charged_us) for own in result.seats]
        starting = bots[number].received[1].match_starting
        assert (starting.match_id, starting.seat) == (spec.match_id, number)
        first, *_ = (one.update for one in bots[number].received if one.HasField("update"))
        assert first.first_event_number == 1


async def test_several_matches_over_one_stream(served: tuple[Referee, str]) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    async with client(address, tokens[0]) as one, client(address, tokens[1]) as other:
        await one.hello(matches=4)
        await other.hello(matches=4)
        matches = [asyncio.create_task(referee.play(new_spec(), tokens)) for _ in range(4)]

        async def play_all(bot: Client) -> int:
            ended = 0
            while ended < 4 and await bot.play():
                ended += 1
            return ended

        assert [*await asyncio.gather(play_all(one), play_all(other))] == [4, 4]
        results = [await result_of(match) for match in matches]
    assert {result.termination.value for result in results} == {"completed"}
    assert len({result.match_id for result in results}) == 4


async def test_wrong_number_of_tokens(served: tuple[Referee, str]) -> None:
    referee, _ = served
    with pytest.raises(ValueError, match="1 bots for 2 seats"):
        await referee.play(new_spec(), [referee.issue_token("b", "1")])


async def test_nobody_comes(served: tuple[Referee, str]) -> None:
    referee, _ = served
    tokens = [referee.issue_token("b", "1") for _ in range(2)]
    spec = new_spec(control=TimeControl(startup_ms=50))
    result = await result_of(asyncio.create_task(referee.play(spec, tokens)))
    assert result.termination == "not_started"


async def test_goodbye_resigns(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with two_bots(referee, address) as (tokens, leaver, other):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        await leaver.until("match_starting")
        await leaver.send(pb.PlayRequest(goodbye=pb.Goodbye(reason="tired")))
        assert await leaver.receive() is None
        assert await leaver.code() == grpc.StatusCode.OK
        end = await other.play()
        assert end is not None
        assert [one.forfeit for one in end.results] == [pb.FORFEIT_RESIGN, pb.FORFEIT_UNSPECIFIED]
        assert (await result_of(playing)).seats[0].forfeit is Forfeit.RESIGN


async def test_exit_of_the_process_is_a_crash(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with two_bots(referee, address) as (tokens, dies, other):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        starting = await dies.until("match_starting")
        await dies.ready(starting.match_starting.match_id)
        ending = asyncio.create_task(other.play())
        await until_asked(other)
        referee.report_exit(tokens[0], "exit code 1")
        await ending
        assert (await result_of(playing)).seats[0].forfeit is Forfeit.CRASH
        await dies.close()
        await until_disconnected(referee, tokens[0])
        with pytest.raises(ConnectionError, match="exit code 1"):
            await referee.wait_connected(tokens[0], 1)


async def test_match_that_is_called_off(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with two_bots(referee, address) as (tokens, one, _):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        await one.until("match_starting")
        playing.cancel()
        ended = (await one.until("match_ended")).match_ended
        assert ended.termination == pb.TERMINATION_ABORTED
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert not referee.bot(tokens[0]).seats


@pytest.mark.parametrize("method", ["apply", "forced_action", "observe", "next_deal"])
async def test_fault_of_the_referee_is_nobodys_loss(
    served: tuple[Referee, str], monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """An error of our own aborts the match; the bots are told, and stay connected."""
    referee, address = served
    working, calls = getattr(RummyGame, method), [0]

    def fail_late(game: RummyGame, *arguments: object) -> object:
        calls[0] += 1
        if calls[0] == (7 if method in ("apply", "observe") else 1):
            raise KeyError("an error of the referee's own")
        return working(game, *arguments)

    async def choose(bot: Client, update: pb.Update) -> pb.Choice | None:
        # Silence leads to forced actions, from a timer.
        return None if method == "forced_action" else await at_random(bot, update)

    monkeypatch.setattr(RummyGame, method, fail_late)
    async with two_bots(referee, address) as (tokens, one, other):
        short_ms = 100 if method == "forced_action" else 5_000
        control = TimeControl(per_decision_ms=short_ms, bank_ms=0, reconnect_ms=0)
        spec = new_spec(control=control, match_end="fixed_deals", deals=2)
        playing = asyncio.create_task(referee.play(spec, tokens))
        ending = [asyncio.create_task(bot.play(choose)) for bot in (one, other)]
        done, _ = await asyncio.wait({playing}, timeout=4)
        for task in ending:
            if not done:
                task.cancel()
        assert done, "the match never ends"
        result = playing.result()
        assert result.termination == "aborted", f"{result.termination.value}: {result.text}"
        assert all([await end for end in ending])
        assert all(referee.bot(token).is_connected for token in tokens)
