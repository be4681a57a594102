"""Single calls of `PollService`: what is refused and why, what is lost, what is sent again."""

import asyncio
import re
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.match.outcome import Forfeit
from referee.match.spec import TimeControl
from referee.service.mailbox import Mailbox
from referee.service.session import Limits
from referee.service.tokens import key_of, new_token
from rummy.referee.v1 import play_pb2
from rummy.referee.v1 import poll_pb2 as pb
from tests.service.clients import new_spec, result_of, until_disconnected
from tests.service.fake_stream import settle
from tests.service.poll_clients import Poller, Refused, desk

ROOT = Path(__file__).resolve().parents[2]
HELLO = play_pb2.Hello(bot="b", version="1")
CODES = {
    "BAD_WAIT": grpc.StatusCode.INVALID_ARGUMENT,
    "BAD_TAKEN": grpc.StatusCode.INVALID_ARGUMENT,
    "BAD_HELLO": grpc.StatusCode.INVALID_ARGUMENT,
    "HELLO_TWICE": grpc.StatusCode.INVALID_ARGUMENT,
    "MALFORMED_MESSAGE": grpc.StatusCode.INVALID_ARGUMENT,
    "NO_TOKEN": grpc.StatusCode.UNAUTHENTICATED,
    "BAD_TOKEN": grpc.StatusCode.UNAUTHENTICATED,
    "REPLACED_TOKEN": grpc.StatusCode.UNAUTHENTICATED,
    "REVOKED": grpc.StatusCode.UNAUTHENTICATED,
    "NO_SUCH_SESSION": grpc.StatusCode.NOT_FOUND,
    "REPLACED": grpc.StatusCode.ABORTED,
    "RATE": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "BACKLOG": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "SESSIONS": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "INTERNAL": grpc.StatusCode.INTERNAL,
}


async def refused(call: Awaitable[object], reason: str) -> str:
    """The call ends with the status of this reason; its text."""
    with pytest.raises(Refused) as caught:
        await call
    assert caught.value.reason == reason, caught.value
    assert caught.value.code is CODES[reason]
    return caught.value.text


# --- requests that can't be meant ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["NextDecision", "Choose"])
async def test_malformed_bytes(name: str) -> None:
    async with desk() as one:
        _, bot = one.bot()
        await bot.hello()
        text = await refused(bot.call(name, b"\xff\xff"), "MALFORMED_MESSAGE")
        assert text == f"2 bytes are not a {name}Request"
        await bot.choose(play_pb2.Choice())


async def test_bounds_of_wait_ms() -> None:
    async with desk() as one:
        _, bot = one.bot()
        for hello in ({"hello": HELLO}, {}):
            text = await refused(bot.again(**hello, wait_ms=60_001), "BAD_WAIT")
            assert text == "wait_ms is 60001: allowed are 0–60000"
        assert not one.play.open_sessions
        answer = await bot.ask(hello=HELLO, wait_ms=60_000)
        assert answer.number == 1


async def test_no_message_within_the_time() -> None:
    async with desk() as one:
        _, bot = one.bot()
        await bot.hello()
        for _ in range(3):
            assert await bot.next(wait_ms=1) == []
        assert (bot.number, bot.is_over) == (1, False)


async def test_taken_too_high() -> None:
    """As many as were sent may be taken, also of those that only the last answer brought."""
    async with desk() as one:
        token, bot = one.bot()
        await bot.hello()
        text = await refused(bot.again(taken=2, wait_ms=1), "BAD_TAKEN")
        assert text == "taken is 2: allowed are 0–1, as were sent"
        await refused(bot.again(taken=2**64 - 1, wait_ms=1), "BAD_TAKEN")
        # A message that waits has not been sent.
        await bot.choose(play_pb2.Choice(match_id="none"))
        await settle()
        await refused(bot.again(taken=2, wait_ms=1), "BAD_TAKEN")
        assert [message.HasField("rejected") for message in await bot.next()] == [True]
        assert one.referee.bot(token).is_connected


@pytest.mark.parametrize("fields", [{"session_id": "x"}, {"taken": 1}])
async def test_hello_that_goes_on(fields: dict[str, Any]) -> None:
    async with desk() as one:
        _, bot = one.bot()
        await refused(bot.ask(hello=HELLO, **fields), "HELLO_TWICE")
        await bot.hello()
        await refused(bot.again(hello=HELLO), "HELLO_TWICE")
        assert await bot.next(wait_ms=1) == []
        assert one.play.open_sessions == 1


@pytest.mark.parametrize("name", ["x" * 65, "\n"])
async def test_bad_hello(name: str) -> None:
    """It opens no session, and an older one goes on."""
    async with desk() as one:
        _, bot = one.bot()
        await refused(bot.ask(hello=play_pb2.Hello(bot=name)), "BAD_HELLO")
        await bot.hello()
        await refused(bot.ask(hello=play_pb2.Hello(bot=name)), "BAD_HELLO")
        assert await bot.next(wait_ms=1) == []
        await settle()
        assert one.play.open_sessions == 1


# --- who may use a session -----------------------------------------------------------------------


@pytest.mark.parametrize("is_open", [False, True])
async def test_no_token(is_open: bool) -> None:
    async with desk(is_open=is_open) as one:
        bot = one.poller(None)
        for call in (bot.ask(hello=HELLO), bot.ask(session_id="x"), bot.choose(play_pb2.Choice())):
            text = await refused(call, "NO_TOKEN")
            assert "authorization: Bearer TOKEN" in text


async def test_unknown_tokens() -> None:
    async with desk() as one:
        for token in ("x" * 43, one.referee.tokens.issue_organiser()):
            bot = one.poller(token)
            for call in (bot.ask(hello=HELLO), bot.again(), bot.choose(play_pb2.Choice())):
                await refused(call, "BAD_TOKEN")
        assert not one.play.open_sessions


async def test_open_referee_takes_any_token() -> None:
    async with desk(is_open=True, lost_s=0.2) as one:
        tokens = ["any", "other"]
        bots = [one.poller(token) for token in tokens]
        for number, bot in enumerate(bots):
            await bot.hello(f"guest {number}")
        playing = one.begin(new_spec(), tokens)
        assert all(await asyncio.gather(*(bot.play() for bot in bots)))
        assert (await result_of(playing)).termination == "completed"
        assert [one.referee.bot(token).name for token in tokens] == ["guest 0", "guest 1"]
        organiser = one.poller(one.referee.tokens.issue_organiser())
        await refused(organiser.ask(hello=HELLO), "BAD_TOKEN")
        await one.until_quiet()
        assert not list(one.referee.bots())


async def test_another_token_cannot_use_a_session_or_tell_whether_it_is_there() -> None:
    async with desk() as one:
        _, owner = one.bot()
        _, other = one.bot()
        await owner.hello()
        texts = []
        for session_id in (owner.session_id, "0" * 16):
            other.session_id = session_id
            texts.append(await refused(other.again(), "NO_SUCH_SESSION"))
            await refused(other.choose(play_pb2.Choice()), "NO_SUCH_SESSION")
        assert texts[0].replace(owner.session_id, "0" * 16) == texts[1]
        assert await owner.next(wait_ms=1) == []


async def test_unknown_and_empty_sessions() -> None:
    async with desk() as one:
        _, bot = one.bot()
        for session_id in ("", "x", "x" * 10_000):
            text = await refused(bot.ask(session_id=session_id), "NO_SUCH_SESSION")
            assert text == f"this token has no session {session_id[:64]!r}: hello opens one"
        await bot.hello()
        await refused(bot.ask(), "NO_SUCH_SESSION")
        await bot.next(wait_ms=1)


async def test_session_that_ended() -> None:
    """The bot is told that it is over as long as it asks, and then that there is none."""
    async with desk(lost_s=0.3) as one:
        token, bot = one.bot()
        await bot.hello()
        session = one.referee.bot(token).session
        assert session is not None
        session.close()
        for _ in range(3):
            assert await bot.next() == []
            assert bot.is_over
        await bot.choose(play_pb2.Choice())
        polled = one.service._sessions[next(iter(one.service._sessions))]
        assert polled.mailbox._incoming.qsize() <= 1, "nobody reads what it is sent"
        await one.until_quiet()
        await refused(bot.again(), "NO_SUCH_SESSION")


async def test_what_was_written_before_an_error_is_sent_before_it() -> None:
    async with desk() as one:
        token, bot = one.bot()
        await bot.hello()
        session = one.referee.bot(token).session
        assert session is not None
        session.send(play_pb2.PlayResponse(ping=play_pb2.Ping(nonce=7)).SerializeToString())
        session.replaced()
        await settle()
        assert [message.ping.nonce for message in await bot.next()] == [7]
        assert not bot.is_over, "that would be a good end"
        await refused(bot.again(), "REPLACED")
        await refused(bot.again(taken=1), "REPLACED")


async def test_sessions_are_limited() -> None:
    async with desk(max_sessions=1, lost_s=0.2) as one:
        _, first = one.bot()
        _, second = one.bot()
        await first.hello()
        await refused(second.ask(hello=HELLO), "SESSIONS")
        assert one.referee.sessions_ended["SESSIONS"] == 1
        await one.until_quiet()
        await second.hello()


# --- limits --------------------------------------------------------------------------------------


async def test_too_many_calls() -> None:
    """They are refused, and the session goes on."""
    async with desk(limits=Limits(max_messages_per_second=5)) as one:
        token, bot = one.bot()
        await bot.hello()
        for _ in range(49):
            await bot.next(wait_ms=1)
        await refused(bot.again(wait_ms=1), "RATE")
        await refused(bot.choose(play_pb2.Choice()), "RATE")
        assert one.referee.bot(token).is_connected
        polled = one.service._sessions[one.referee.bot(token).identity.key]
        polled._window_begin -= 10
        assert await bot.next(wait_ms=1) == []


async def test_bot_that_never_takes() -> None:
    """What waits is bounded; past the backlog the session ends, which is a fault as of streams."""
    limits = Limits(max_backlog_bytes=200_000)
    async with desk(limits=limits) as one:
        tokens, idle, other = await one.pair()
        spec = new_spec()
        playing = one.begin(spec, tokens)
        await asyncio.gather(idle.until("match_starting"), other.until("match_starting"))
        await idle.next(wait_ms=1)
        seat = one.referee._matches[spec.match_id].seats[0]
        polled = one.service._sessions[one.referee.bot(tokens[0]).identity.key]
        session = one.referee.bot(tokens[0]).session
        assert session is not None
        message = play_pb2.PlayResponse(rejected=play_pb2.Rejected(text="x" * 50_000))
        most = 0
        for _ in range(100):
            session.send(message.SerializeToString())
            await settle(5)
            most = max(most, polled.mailbox._bytes)
        assert 1 << 20 < most < (1 << 20) + 100_000
        # All that was kept is still to be had, and the status after it.
        answer = await idle.again()
        await until_disconnected(one.referee, tokens[0])
        await settle()
        assert (len(answer.messages) > 20, answer.is_over) == (True, False)
        text = await refused(idle.again(), "BACKLOG")
        assert text == "more than 200000 bytes wait unread"
        await refused(idle.answer(play_pb2.Update(decision=play_pb2.Decision()), 0), "BACKLOG")
        assert not one.referee.bot(tokens[0]).is_connected
        assert seat.protocol_faults == 1
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


async def test_failure_of_the_referee(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("an error of the referee's own")

    async with desk() as one:
        token, bot = one.bot()
        await bot.hello()
        monkeypatch.setattr(Mailbox, "hand_out", fail)
        text = await refused(bot.again(wait_ms=1), "INTERNAL")
        assert text == "the referee failed; its log says why"
        monkeypatch.undo()
        await bot.next(wait_ms=1)
        monkeypatch.setattr(one.play, "choice", fail)
        await bot.choose(play_pb2.Choice())
        await refused(bot.again(), "INTERNAL")
        assert not one.referee.bot(token).is_connected


# --- lost and back -------------------------------------------------------------------------------


async def test_lost_session_comes_back_to_its_decision() -> None:
    control = TimeControl(per_decision_ms=20_000, reconnect_ms=20_000)
    async with desk(lost_s=0.3) as one:
        tokens, bot, other = await one.pair()
        spec = new_spec(control=control)
        playing = one.begin(spec, tokens)
        ending = asyncio.create_task(other.play())
        pending = await bot.decision()
        old_session = bot.session_id
        await until_disconnected(one.referee, tokens[0])
        assert not one.referee._matches[spec.match_id].seats[0].is_connected
        await refused(bot.again(), "NO_SUCH_SESSION")
        welcome = await bot.hello()
        assert bot.session_id != old_session
        assert list(welcome.resumed_match_ids) == [spec.match_id]
        again = await bot.decision()
        assert again.decision.decision_id == pending.decision.decision_id
        assert again.decision.observation == pending.decision.observation
        assert again.first_event_number == 1
        await bot.answer(again)
        assert await bot.play() is not None
        assert await ending is not None
        result = await result_of(playing)
    assert result.termination == "completed", result.text


async def test_never_back_is_a_disconnect() -> None:
    control = TimeControl(per_decision_ms=500, bank_ms=0, reconnect_ms=300)
    async with desk(lost_s=0.1) as one:
        tokens, bot, other = await one.pair()
        playing = one.begin(new_spec(control=control), tokens)
        ending = asyncio.create_task(other.play())
        await bot.decision()
        assert await ending is not None
        assert (await result_of(playing)).seats[0].forfeit is Forfeit.DISCONNECT


async def test_session_is_kept_while_a_call_waits() -> None:
    async with desk(lost_s=0.05) as one:
        token, bot = one.bot()
        await bot.hello()
        waiting = asyncio.create_task(bot.next(wait_ms=300))
        await settle()
        assert not (await bot.again(wait_ms=1)).messages
        assert await waiting == []
        assert one.referee.bot(token).is_connected
        await one.until_quiet()


# --- calls at once, and calls that are repeated --------------------------------------------------


async def test_desk_that_closes_is_over_for_all() -> None:
    async with desk() as one:
        bots = [one.bot()[1] for _ in range(5)]
        for bot in bots:
            await bot.hello()
        waiting = [asyncio.create_task(bot.next(60_000)) for bot in bots[1:]]
        await settle()
        one.play.close_all()
        assert await asyncio.gather(*waiting) == [[]] * 4
        assert await bots[0].next() == []
        assert all(bot.is_over for bot in bots)


async def test_same_call_twice_at_once() -> None:
    """A call that its bot has given up may still wait when it asks again."""
    async with desk() as one:
        _, bot = one.bot()
        await bot.hello()
        asked = [asyncio.create_task(bot.again()) for _ in range(3)]
        await settle()
        await bot.choose(play_pb2.Choice(match_id="none"))
        answers = await asyncio.gather(*asked)
        assert all(answer == answers[0] for answer in answers)
        assert isinstance(answers[0], pb.NextDecisionResponse)
        assert answers[0].messages[0].HasField("rejected")


@pytest.mark.parametrize("reason", ["REPLACED_TOKEN", "REVOKED"])
async def test_a_call_that_waits_hears_what_became_of_its_token(reason: str) -> None:
    async with desk() as one:
        token, bot = one.bot()
        await bot.hello()
        await bot.next(wait_ms=1)
        waiting = asyncio.create_task(bot.next(wait_ms=60_000))
        await settle()
        if reason == "REVOKED":
            one.referee.withdraw_key(key_of(token), "it was withdrawn")
        else:
            one.referee.replace_key(key_of(token), key_of(new_token()))
        await refused(waiting, reason)
        await refused(bot.again(wait_ms=1), "BAD_TOKEN")


async def test_every_call_is_sent_twice() -> None:
    """As by a bot whose first answer is always lost: the match is the same, choices are stale."""
    async with desk() as one:
        tokens, _, other = await one.pair()
        call = one.caller(tokens[0])

        async def call_twice(name: str, raw: bytes) -> bytes:
            await call(name, raw)
            return await call(name, raw)

        bot = Poller(call_twice)
        await bot.hello()
        playing = one.begin(new_spec(), tokens)
        assert all(await asyncio.gather(bot.play(), other.play()))
        result = await result_of(playing)
    assert result.termination == "completed", result.text
    assert result.seats[0].illegal_strikes == 0
    updates = [one.update for one in bot.received if one.HasField("update")]
    decided = [one.decision.decision_id for one in updates if one.HasField("decision")]
    assert decided == list(range(1, len(decided) + 1))
    numbers = [one.first_event_number + at for one in updates for at in range(len(one.events))]
    assert numbers == list(range(1, len(numbers) + 1))
    stale = [one.rejected for one in bot.received if one.HasField("rejected")]
    assert {one.reason for one in stale} == {play_pb2.REASON_STALE_DECISION}


def test_the_guide_has_every_reason() -> None:
    """With the status that it comes by, in the table of proto/README.md."""
    text = (ROOT / "proto" / "README.md").read_text(encoding="utf-8")
    section = text.split("\n## Without a stream\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section, flags=re.MULTILINE)
    told = {reason: code for code, cell in rows for reason in re.findall(r"`(\w+)`", cell)}
    assert told == {reason: code.name for reason, code in CODES.items()}
