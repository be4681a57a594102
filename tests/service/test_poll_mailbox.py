"""The mailbox alone: whatever calls are lost, each message comes once and in order."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.service.errors import CallError
from referee.service.mailbox import _MOST_BYTES, Mailbox
from rummy.referee.v1 import play_pb2 as pb
from tests.scale import repeatable
from tests.service.fake_stream import settle


def stepped(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run what must not have to wait."""
    with pytest.raises(StopIteration):
        coroutine.send(None)


def message(number: int) -> bytes:
    """The message of this number; each third one starts a match."""
    if number % 3 == 0:
        starting = pb.MatchStarting(match_id=f"m{number}")
        return pb.PlayResponse(match_starting=starting).SerializeToString()
    return pb.PlayResponse(ping=pb.Ping(nonce=number)).SerializeToString()


def read_all(mailbox: Mailbox) -> list[object]:
    """What the session would read."""
    found = []
    while not mailbox._incoming.empty():
        found.append(mailbox._incoming.get_nowait())
    return found


def ready(number: int) -> bytes:
    """What the session reads when the match of this message is taken."""
    return pb.PlayRequest(ready=pb.Ready(match_id=f"m{number}")).SerializeToString()


# --- what a bot gets -----------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 4)),
        # A call whose answer arrives, one whose answer is lost, and one that is late: it was
        # sent when the bot had taken less.
        st.tuples(st.sampled_from(["call", "lost", "late"]), st.integers(0, 6)),
    ),
    max_size=60,
)


@repeatable
@given(STEPS)
def test_every_message_once_and_in_order(steps: list[tuple[str, int]]) -> None:
    mailbox = Mailbox()
    written: list[bytes] = []
    got: list[bytes] = []
    readies: list[object] = []

    def call(taken: int) -> tuple[list[bytes], int]:
        mailbox.take(taken)
        messages, number = mailbox.hand_out()
        return [one.SerializeToString() for one in messages], number

    acknowledged = 0
    for kind, size in [*steps, ("call", 0)]:
        if kind == "write":
            for _ in range(size):
                written.append(message(len(written)))
                stepped(mailbox.write(written[-1]))
            continue
        taken = len(got) - (size if kind == "late" else 0)
        messages, number = call(max(taken, 0))
        acknowledged = max(acknowledged, taken)
        # Never a hole, and never more than there is.
        assert messages == written[acknowledged:number]
        assert number == len(written)
        if kind == "call":
            got += messages
        readies += read_all(mailbox)
        assert readies == [ready(number) for number in range(0, acknowledged, 3)]
    assert got == written


@repeatable
@given(STEPS, st.integers(0, 200))
def test_nobody_takes_what_was_not_sent(steps: list[tuple[str, int]], taken: int) -> None:
    mailbox = Mailbox()
    sent = written = 0
    for kind, size in steps:
        if kind == "write":
            for _ in range(size):
                stepped(mailbox.write(message(written)))
                written += 1
        else:
            assert mailbox.has_news == (written > sent)
            sent = mailbox.hand_out()[1]
    assert sent <= written
    before = mailbox.hand_out()[0] if sent == written else None
    if taken > sent:
        with pytest.raises(CallError) as caught:
            mailbox.take(taken)
        assert caught.value.reason == "BAD_TAKEN"
        assert f"taken is {taken}: allowed are 0–{sent}" in caught.value.text
        assert not read_all(mailbox), "nobody is ready by a call that is refused"
        assert before is None or mailbox.hand_out()[0] == before
    else:
        mailbox.take(taken)
        assert mailbox._bytes == sum(len(message(one)) for one in range(taken, written))


# --- waiting and the end -------------------------------------------------------------------------


async def test_what_is_kept_is_bounded() -> None:
    mailbox = Mailbox()
    large = pb.PlayResponse(rejected=pb.Rejected(text="x" * 100_000)).SerializeToString()
    for _ in range(_MOST_BYTES // len(large) + 1):
        stepped(mailbox.write(large))
    held = asyncio.create_task(mailbox.write(large))
    await settle()
    assert not held.done()
    assert mailbox._bytes <= _MOST_BYTES + len(large)
    number = mailbox.hand_out()[1]
    mailbox.take(1)
    await held
    assert mailbox.hand_out()[1] == number + 1
    held = asyncio.create_task(mailbox.write(large))
    await settle()
    assert not held.done()
    mailbox.close()
    with pytest.raises(BrokenPipeError):
        await held


async def test_a_wait_ends_by_a_message_the_end_or_its_time() -> None:
    mailbox = Mailbox()
    await mailbox.wait(0.01)
    waiting = [asyncio.create_task(mailbox.wait(3_600)) for _ in range(2)]
    await settle()
    assert not any(one.done() for one in waiting)
    await mailbox.write(message(1))
    await asyncio.gather(*waiting)
    await mailbox.wait(3_600)
    mailbox.hand_out()
    mailbox.take(1)
    waiting = [asyncio.create_task(mailbox.wait(3_600))]
    await settle()
    assert not waiting[0].done()
    mailbox.close()
    await asyncio.gather(*waiting)
    mailbox.take(1)
    await mailbox.wait(3_600)


async def test_a_mailbox_that_is_closed_hands_out_and_takes_no_more_in() -> None:
    mailbox = Mailbox()
    await mailbox.write(message(0))
    mailbox.close()
    assert await mailbox.read() is grpc.aio.EOF
    assert mailbox.hand_out()[1] == 1
    mailbox.take(1)
    mailbox.deliver(pb.PlayRequest())
    assert not read_all(mailbox), "neither the choice nor `ready`"
    with pytest.raises(BrokenPipeError):
        await mailbox.write(message(1))
