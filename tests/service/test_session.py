"""One stream, without a network: the order of messages, the limits, and how it ends."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from referee.engine.actions import DRAW_STOCK, discard
from referee.match.seat_player import Choice
from referee.service.errors import CallError
from referee.service.outbox import Writes
from referee.service.session import Limits, Session
from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1 import rummy_pb2 as cards
from tests.service.fake_stream import HELLO, FakeStream, Owner, settle

UNKNOWN_CASE = b"\xfa\x01\x03abc"
"""Field 31, a message: what a newer protocol might send."""


class Line:
    """A session that runs."""

    def __init__(self, limits: Limits) -> None:
        self.stream = FakeStream()
        self.owner = Owner()
        self.session = Session(self.stream, self.owner, limits, Writes(), "s1")
        self.run = asyncio.create_task(self.session.run())

    async def greet(self) -> None:
        """Say hello."""
        self.stream.put(HELLO)
        await settle()

    async def ended(self) -> CallError | None:
        """How it ended, within a second or two."""
        async with asyncio.timeout(5):
            return await self.run


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    one = Line(Limits())
    yield one
    await tidy(one)


async def tidy(line: Line) -> None:
    """End it, and see that no task is left."""
    line.stream.may_write.set()
    line.session.close()
    line.stream.end()
    await asyncio.wait({line.run}, timeout=5)
    await settle()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not [task for task in left if task.get_name().startswith(("read", "write"))]


async def test_hello_then_messages_are_passed_on(line: Line) -> None:
    await line.greet()
    line.stream.put(
        pb.PlayRequest(ready=pb.Ready(match_id="m")),
        pb.PlayRequest(choice=pb.Choice(match_id="m", decision_id=7, legal_action_index=0)),
        pb.PlayRequest(pong=pb.Pong(nonce=1)),
    )
    await settle()
    assert [hello.bot for hello in line.owner.hellos] == ["b"]
    assert line.owner.readies == ["m"]
    assert line.owner.choices == [("m", 7, Choice(index=0))]
    assert line.stream.kinds == ["welcome"]
    assert line.session.max_concurrent_matches == 4


@pytest.mark.parametrize(
    "first",
    [
        pb.PlayRequest(ready=pb.Ready(match_id="m")),
        pb.PlayRequest(ping=pb.Ping(nonce=1)),
        pb.PlayRequest(goodbye=pb.Goodbye()),
        pb.PlayRequest(),
        UNKNOWN_CASE,
    ],
)
async def test_anything_before_hello_ends_the_stream(
    line: Line, first: pb.PlayRequest | bytes
) -> None:
    line.stream.put(first)
    error = await line.ended()
    assert error is not None
    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_HELLO")
    assert not line.owner.readies
    assert not line.session.said_goodbye


async def test_hello_twice_ends_the_stream(line: Line) -> None:
    await line.greet()
    line.stream.put(HELLO)
    error = await line.ended()
    assert error is not None
    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "HELLO_TWICE")
    assert len(line.owner.hellos) == 1


@pytest.mark.parametrize("raw", [b"\xff", b"\x0a\x05a", b"not protobuf at all", b"\x08"])
@pytest.mark.parametrize("greeted", [False, True])
async def test_bytes_that_are_no_message_end_the_stream(
    line: Line, raw: bytes, greeted: bool
) -> None:
    if greeted:
        await line.greet()
    line.stream.put(raw)
    error = await line.ended()
    assert error is not None
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE")
    assert str(len(raw)) in error.text


async def test_unknown_message_is_skipped(line: Line) -> None:
    await line.greet()
    line.stream.put(UNKNOWN_CASE, b"", pb.PlayRequest(ping=pb.Ping(nonce=5)))
    await settle()
    assert line.stream.kinds == ["welcome", "pong"]


async def test_ping_is_answered_with_its_nonce(line: Line) -> None:
    await line.greet()
    line.stream.put(*[pb.PlayRequest(ping=pb.Ping(nonce=nonce)) for nonce in (0, 1, 2**64 - 1)])
    await settle()
    assert [one.pong.nonce for one in line.stream.responses[1:]] == [0, 1, 2**64 - 1]


async def test_goodbye_ends_cleanly_and_is_the_last_word(line: Line) -> None:
    await line.greet()
    line.stream.put(
        pb.PlayRequest(goodbye=pb.Goodbye(reason="tired")),
        pb.PlayRequest(ready=pb.Ready(match_id="m")),
    )
    assert await line.ended() is None
    assert line.session.said_goodbye
    assert not line.owner.readies


async def test_end_of_the_stream_is_no_goodbye(line: Line) -> None:
    await line.greet()
    line.stream.end()
    assert await line.ended() is None
    assert not line.session.said_goodbye


async def test_broken_stream_ends_the_session(line: Line) -> None:
    await line.greet()
    line.stream.break_off(RuntimeError("connection reset"))
    await line.ended()
    assert not line.session.said_goodbye


# --- choices ------------------------------------------------------------------------------------

DRAW = cards.Action(type=cards.ACTION_TYPE_DRAW_STOCK)
DISCARD = cards.Action(type=cards.ACTION_TYPE_DISCARD, cards=[cards.CARD_AC])


async def choice_of(line: Line, message: pb.Choice) -> Choice:
    await line.greet()
    line.stream.put(pb.PlayRequest(choice=message))
    await settle()
    return line.owner.choices[-1][2]


async def test_choice_with_a_plan(line: Line) -> None:
    choice = await choice_of(line, pb.Choice(actions=[DRAW, DISCARD]))
    assert choice == Choice(plan=[DRAW_STOCK, discard(0)])


@pytest.mark.parametrize(
    "message",
    [
        pb.Choice(),
        pb.Choice(actions=[DRAW], legal_action_index=0),
        pb.Choice(actions=[cards.Action()]),
        pb.Choice(actions=[DRAW, cards.Action(type=cards.ACTION_TYPE_DISCARD)]),
    ],
)
async def test_malformed_choice_reaches_the_match_as_such(line: Line, message: pb.Choice) -> None:
    choice = await choice_of(line, message)
    assert choice.malformed
    assert (choice.plan, choice.index) == (None, None)
    assert not line.run.done()


async def test_far_too_many_actions_are_not_even_read(line: Line) -> None:
    choice = await choice_of(line, pb.Choice(actions=[DRAW] * 1_001))
    assert choice.malformed or len(choice.plan or ()) > 32


# --- limits -------------------------------------------------------------------------------------


async def test_no_hello_in_time() -> None:
    line = Line(Limits(hello_s=0.05))
    error = await line.ended()
    assert error is not None
    assert (error.code, error.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "NO_HELLO")
    await tidy(line)


async def test_hello_in_time_stops_the_handshake() -> None:
    line = Line(Limits(hello_s=0.05))
    await line.greet()
    await asyncio.sleep(0.1)
    assert not line.run.done()
    await tidy(line)


async def test_matches_at_once_are_bounded() -> None:
    for wanted, granted in ((0, 1), (1, 1), (8, 8), (9, 8), (2**32 - 1, 8)):
        line = Line(Limits(max_concurrent_matches=8))
        line.stream.put(pb.PlayRequest(hello=pb.Hello(max_concurrent_matches=wanted)))
        await settle()
        assert line.session.max_concurrent_matches == granted
        await tidy(line)


async def test_flood_ends_the_stream() -> None:
    line = Line(Limits(max_messages_per_second=100))
    await line.greet()
    line.stream.put(*[pb.PlayRequest(pong=pb.Pong(nonce=1))] * 1_500)
    error = await line.ended()
    assert error is not None
    assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE")
    assert "100" in error.text
    assert error.is_fault
    await tidy(line)


@pytest.mark.parametrize("rate", [10, 100, 1_000])
async def test_rate_is_a_mean_over_ten_seconds(rate: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six tenths of the limit, for as long as one likes, is no flood."""
    loop = asyncio.get_running_loop()
    real, skipped = loop.time, [0.0]
    monkeypatch.setattr(loop, "time", lambda: real() + skipped[0])
    line = Line(Limits(max_messages_per_second=rate, hello_s=1e6))
    await line.greet()
    for second in range(40):
        line.stream.put(*[pb.PlayRequest(pong=pb.Pong(nonce=1))] * (rate * 6 // 10))
        await settle(5)
        assert not line.run.done(), (
            f"closed in second {second} at {rate * 6 // 10} messages a second"
        )
        skipped[0] += 1.0
    await tidy(line)


async def test_burst_within_the_mean_is_allowed() -> None:
    line = Line(Limits(max_messages_per_second=100))
    await line.greet()
    line.stream.put(*[pb.PlayRequest(pong=pb.Pong(nonce=1))] * 900)
    await settle()
    assert not line.run.done()
    await tidy(line)


async def test_bot_that_does_not_read_loses_its_session() -> None:
    line = Line(Limits(max_backlog_bytes=10_000))
    await line.greet()
    line.stream.may_write.clear()
    for _ in range(30):
        line.session.send(bytes(1_000))
        await settle(2)
    error = await line.ended()
    assert error is not None
    assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "BACKLOG")
    assert len(line.stream.written) < 12
    await tidy(line)


async def test_backlog_that_was_read_does_not_count() -> None:
    line = Line(Limits(max_backlog_bytes=10_000))
    await line.greet()
    for _ in range(50):
        line.session.send(bytes(1_000))
        await settle(3)
    assert not line.run.done()
    assert len(line.stream.written) == 51
    await tidy(line)


# --- the end ------------------------------------------------------------------------------------


async def test_what_is_queued_is_written_before_the_end(line: Line) -> None:
    await line.greet()
    for number in range(20):
        line.session.send(b"\x08" + bytes([number]))
    line.session.close()
    line.session.send(b"too late")
    assert await line.ended() is None
    assert line.stream.written[1:] == [b"\x08" + bytes([number]) for number in range(20)]


async def test_close_gives_up_on_a_bot_that_does_not_read(line: Line) -> None:
    await line.greet()
    line.stream.may_write.clear()
    line.session.send(b"x")
    await settle()
    line.session.close()
    assert await line.ended() is None


async def test_first_reason_to_end_counts(line: Line) -> None:
    await line.greet()
    line.session.replaced()
    line.session.close(CallError(grpc.StatusCode.INTERNAL, "LATER", "later"))
    error = await line.ended()
    assert error is not None
    assert (error.code, error.reason) == (grpc.StatusCode.ABORTED, "REPLACED")


async def test_cancelled_call_leaves_nothing(line: Line) -> None:
    await line.greet()
    line.run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await line.run
    line.session.send(b"nobody listens")
    await settle()
    assert line.stream.kinds == ["welcome"]
