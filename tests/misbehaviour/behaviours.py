"""What bots do wrong over their own connection, and what must come of it."""

import asyncio
from typing import Any

import grpc

from referee.match.spec import TimeControl
from referee.service.session import Limits, Session
from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1 import rummy_pb2
from tests.misbehaviour.arena import (
    KEPT,
    SHORT,
    UNREADY,
    Bad,
    Left,
    ends,
    misbehaves,
    rejected,
    send_choice,
)
from tests.misbehaviour.reasons import DRAW_STOCK
from tests.service.clients import Client, choice_of

# --- time ---------------------------------------------------------------------------------------


@misbehaves("time", time=3, control=SHORT)
async def silent(bad: Bad) -> None:
    one = await bad.seated()
    assert await one.play(_nothing) is not None
    assert one.decisions == 3


@misbehaves("time", time=3, control=SHORT)
async def always_late(bad: Bad) -> None:
    one = await bad.seated()

    async def late(_: Client, update: pb.Update) -> pb.Choice:
        await asyncio.sleep(0.6)
        return choice_of(update, 0)

    await one.play(late)
    reasons = [each.rejected.reason for each in one.received if each.HasField("rejected")]
    assert set(reasons) == {pb.REASON_TIME_UP, pb.REASON_STALE_DECISION}


@misbehaves(time=2, control=SHORT)
async def late_twice(bad: Bad) -> None:
    one = await bad.seated()

    async def twice(bot: Client, update: pb.Update) -> pb.Choice | None:
        return None if bot.decisions in (1, 4) else choice_of(update, 0)

    await one.play(twice)
    left = [each.rejected.strikes_left for each in one.received if each.HasField("rejected")]
    assert left == [1, 0]


@misbehaves("time", time=3, control=SHORT)
async def reads_nothing_after_ready(bad: Bad) -> None:
    await bad.seated()


@misbehaves(
    "disconnect",
    # Less than the referee waits for the status to be read, 2 s.
    control=TimeControl(per_decision_ms=1_500, bank_ms=0, reconnect_ms=100),
    limits=Limits(max_backlog_bytes=4_096),
)
async def reads_nothing_and_asks_for_more(bad: Bad) -> None:
    """Every message has an answer, and none is read."""
    # Without these its own side of gRPC would read, and keep megabytes for it.
    options = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_535))
    channel = grpc.aio.insecure_channel(bad.address, options)
    bad.stack.push_async_callback(channel.close)
    play: Any = channel.stream_stream("/rummy.referee.v1.PlayService/Play")
    call = play(metadata=(("authorization", f"Bearer {bad.token}"),))
    stale = pb.Choice(match_id="x" * 64, decision_id=1)
    first = (
        pb.PlayRequest(hello=pb.Hello(bot="deaf")),
        pb.PlayRequest(ready=pb.Ready(match_id=bad.match_id)),
    )

    async def write() -> None:
        for request in (*first, *[pb.PlayRequest(choice=stale)] * 5_000):
            await call.write(request.SerializeToString())

    writing = asyncio.create_task(write())
    await bad.over.wait()
    # It is still connected and does not even read its status: the session goes all the same.
    assert not writing.done()
    while Left.now().objects[Session.__name__] > 1 + KEPT:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.1)
    writing.cancel()


async def _nothing(_: Client, __: pb.Update) -> None:
    return None


# --- the start ----------------------------------------------------------------------------------


@misbehaves("startup", control=UNREADY)
async def never_ready(bad: Bad) -> None:
    one = await bad.join()
    await one.until("match_ended")
    assert not any(each.HasField("update") for each in one.received)


@misbehaves("startup", control=UNREADY)
async def never_comes(_: Bad) -> None:
    pass


@misbehaves("startup", control=UNREADY)
async def ready_for_another_match(bad: Bad) -> None:
    one = await bad.join()
    await one.until("match_starting")
    for match_id in ("", "another", bad.match_id + "x", "é" * 20_000):
        await one.ready(match_id)


@misbehaves()
async def ready_twice(bad: Bad) -> None:
    one = await bad.seated()
    for _ in range(5):
        await one.ready(bad.match_id)
    await one.play()
    await one.ready(bad.match_id)


@misbehaves()
async def choice_before_ready(bad: Bad) -> None:
    one = await bad.join()
    await one.until("match_starting")
    for number in (0, 1, 2):
        early = pb.Choice(match_id=bad.match_id, decision_id=number, legal_action_index=0)
        await one.send(pb.PlayRequest(choice=early))
        assert not (await rejected(one, "STALE_DECISION")).HasField("strikes_left")
    await one.ready(bad.match_id)
    await one.play()


@misbehaves()
async def choice_after_the_end(bad: Bad) -> None:
    one = await bad.seated()
    await one.play()
    for number in (1, one.decisions, one.decisions + 1):
        late = pb.Choice(match_id=bad.match_id, decision_id=number, legal_action_index=0)
        await one.send(pb.PlayRequest(choice=late))
        await rejected(one, "STALE_DECISION")


# --- choices ------------------------------------------------------------------------------------


@misbehaves("illegal", illegal=4)
async def nothing_but_nonsense(bad: Bad) -> None:
    one = await bad.seated()

    async def nonsense(_: Client, update: pb.Update) -> pb.Choice:
        return choice_of(update, 10_000)

    assert await one.play(nonsense) is not None
    left = [each.rejected.strikes_left for each in one.received if each.HasField("rejected")]
    assert left[:3] == [2, 1, 0]


@misbehaves(illegal=1)
async def both_plan_and_index(bad: Bad) -> None:
    one, update = await bad.asked()
    await send_choice(one, update, actions=[DRAW_STOCK], legal_action_index=0)
    await rejected(one, "MALFORMED")
    await one.play()


@misbehaves(illegal=1)
async def neither_plan_nor_index(bad: Bad) -> None:
    one, update = await bad.asked()
    await send_choice(one, update)
    await rejected(one, "MALFORMED")
    await one.play()


@misbehaves(illegal=1)
async def index_out_of_range(bad: Bad) -> None:
    one, update = await bad.asked()
    await send_choice(one, update, legal_action_index=2**32 - 1)
    await rejected(one, "BAD_INDEX")
    await one.play()


@misbehaves(illegal=2)
async def huge_plans(bad: Bad) -> None:
    one, update = await bad.asked()
    await send_choice(one, update, actions=[DRAW_STOCK] * 33)
    assert (await rejected(one, "PLAN_TOO_LONG")).applied == 0
    await send_choice(one, await one.decision(), actions=[DRAW_STOCK] * 15_000)
    await rejected(one, "MALFORMED")
    await one.play()


@misbehaves(illegal=3)
async def actions_of_no_known_kind(bad: Bad) -> None:
    one, update = await bad.asked()
    huge = rummy_pb2.Card.ValueType(2**31 - 1)
    for wrong in (
        rummy_pb2.Action(type=rummy_pb2.ActionType.ValueType(77)),
        rummy_pb2.Action(type=rummy_pb2.ACTION_TYPE_DISCARD, cards=[huge]),
        rummy_pb2.Action(type=rummy_pb2.ACTION_TYPE_MELD, cards=[rummy_pb2.CARD_2C] * 5_000),
    ):
        await send_choice(one, update, actions=[wrong])
        await rejected(one, "MALFORMED")
        update = await one.decision()
    await send_choice(one, update, legal_action_index=0)
    await one.play()


@misbehaves()
async def stale_and_repeated_ids(bad: Bad) -> None:
    one, update = await bad.asked()
    for _ in range(6):
        await send_choice(one, update, legal_action_index=0)
    for _ in range(5):
        assert not (await rejected(one, "STALE_DECISION")).HasField("strikes_left")
    # The answer to the first one was followed by a decision, which was skipped over above.
    await send_choice(one, update, decision_id=2, legal_action_index=0)
    await one.play()


@misbehaves()
async def ids_at_the_ends_of_their_range(bad: Bad) -> None:
    one, update = await bad.asked()
    for number in (0, 2, 2**31, 2**32 - 1):
        await send_choice(one, update, decision_id=number, legal_action_index=0)
        assert (await rejected(one, "STALE_DECISION")).decision_id == number
    # 2^63 does not fit the field: it is read as 0.
    match_id = b"\x0a" + bytes([len(bad.match_id)]) + bad.match_id.encode()
    raw = match_id + b"\x10" + b"\x80" * 9 + b"\x01" + b"\x20\x00"
    await one.send(b"\x1a" + bytes([len(raw)]) + raw)
    assert (await rejected(one, "STALE_DECISION")).decision_id == 0
    await send_choice(one, update, legal_action_index=0)
    await one.play()


@misbehaves()
async def id_of_another_match(bad: Bad) -> None:
    one, update = await bad.asked()
    for match_id in ("", "0" * 16, "x" * 30_000):
        await send_choice(one, update, match_id=match_id, legal_action_index=0)
        assert (await rejected(one, "STALE_DECISION")).match_id == match_id[:64]
    await send_choice(one, update, legal_action_index=0)
    await one.play()


@misbehaves()
async def choice_out_of_turn(bad: Bad) -> None:
    one, update = await bad.asked()
    draw = bad.match.seats[0].decision_id
    await send_choice(one, update, legal_action_index=0)
    update = await one.decision()
    await send_choice(one, update, legal_action_index=0)
    # Whatever the opponent does meanwhile: neither number is to be answered again.
    for number in (draw, draw + 1, 1_000):
        await send_choice(one, update, decision_id=number, legal_action_index=0)
    update = await one.decision()
    await send_choice(one, update, legal_action_index=0)
    await one.play()
    found = [each.rejected.reason for each in one.received if each.HasField("rejected")]
    assert found == [pb.REASON_STALE_DECISION] * 3


# --- messages -----------------------------------------------------------------------------------


@misbehaves()
async def unknown_and_empty_messages(bad: Bad) -> None:
    one, update = await bad.asked()
    for raw in (b"", b"\xfa\x01\x03abc", b"\x22\x00", b"\x2a\x00", b"\xf8\x7f\x01"):
        await one.send(raw)
    await send_choice(one, update, legal_action_index=0)
    await one.play()


@misbehaves()
async def pongs_that_nobody_asked_for(bad: Bad) -> None:
    one, update = await bad.asked()
    for nonce in (0, 1, 2**64 - 1):
        await one.send(pb.PlayRequest(pong=pb.Pong(nonce=nonce)))
    await send_choice(one, update, legal_action_index=0)
    await one.play()


@misbehaves("disconnect", control=SHORT)
async def bytes_that_are_no_message(bad: Bad) -> None:
    one, _ = await bad.asked()
    await one.send(b"\x1a\xff\xff\xff\xff\x7f")
    await ends(one, grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE")


@misbehaves("protocol")
async def bytes_that_are_no_message_twice(bad: Bad) -> None:
    for _ in range(2):
        one, _ = await bad.asked()
        await one.send(b"\xff")
        await ends(one, grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE")


@misbehaves()
async def bytes_that_are_no_message_then_well_behaved(bad: Bad) -> None:
    one, _ = await bad.asked()
    await one.send(b"\xff")
    await ends(one, grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE")
    again, update = await bad.asked()
    assert update.decision.decision_id == 1
    await send_choice(again, update, legal_action_index=0)
    await again.play()


@misbehaves("disconnect", control=SHORT)
async def message_that_is_too_large(bad: Bad) -> None:
    one, update = await bad.asked()
    await send_choice(one, update, match_id="x" * 70_000)
    await ends(one, grpc.StatusCode.RESOURCE_EXHAUSTED)


@misbehaves("disconnect", control=SHORT, limits=Limits(max_messages_per_second=50))
async def flood(bad: Bad) -> None:
    one, _ = await bad.asked()
    for _ in range(5_000):
        if not bad.referee.bot(bad.token).is_connected:
            return
        await one.send(pb.PlayRequest(pong=pb.Pong()))
        await asyncio.sleep(0)
    raise AssertionError("the flood was never stopped")


@misbehaves("disconnect", control=SHORT)
async def hello_twice(bad: Bad) -> None:
    one, _ = await bad.asked()
    await one.send(pb.PlayRequest(hello=pb.Hello(bot="again")))
    await ends(one, grpc.StatusCode.FAILED_PRECONDITION, "HELLO_TWICE")


@misbehaves("resign")
async def goodbye_in_mid_turn(bad: Bad) -> None:
    one, update = await bad.asked()
    await send_choice(one, update, legal_action_index=0)
    await one.decision()
    await one.send(pb.PlayRequest(goodbye=pb.Goodbye(reason="x" * 60_000)))
    await ends(one, grpc.StatusCode.OK)


# --- who is it ----------------------------------------------------------------------------------


@misbehaves("startup", control=UNREADY)
async def ready_without_hello(bad: Bad) -> None:
    one = await bad.dial()
    await one.ready(bad.match_id)
    await ends(one, grpc.StatusCode.FAILED_PRECONDITION, "NO_HELLO")


@misbehaves("startup", control=UNREADY, limits=Limits(hello_s=0.2))
async def says_nothing_at_all(bad: Bad) -> None:
    one = await bad.dial()
    await ends(one, grpc.StatusCode.DEADLINE_EXCEEDED, "NO_HELLO")


@misbehaves("startup", control=UNREADY)
async def huge_names(bad: Bad) -> None:
    for hello in (pb.Hello(bot="x" * 60_000), pb.Hello(bot="b", version="é" * 65)):
        one = await bad.dial()
        await one.send(pb.PlayRequest(hello=hello))
        await ends(one, grpc.StatusCode.INVALID_ARGUMENT, "BAD_HELLO")


@misbehaves("startup", control=UNREADY)
async def wrong_token(bad: Bad) -> None:
    one = await bad.dial("x" * 43)
    await one.send(pb.PlayRequest(hello=pb.Hello(bot="bad")))
    await ends(one, grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN")


@misbehaves()
async def token_used_twice(bad: Bad) -> None:
    """The second session takes over; the first one has no say any more."""
    older, update = await bad.asked()
    newer = await bad.join()
    await ends(older, grpc.StatusCode.ABORTED, "REPLACED")
    again = await newer.decision()
    assert again.decision.decision_id == update.decision.decision_id
    await send_choice(older, update, legal_action_index=10_000)
    await send_choice(newer, again, legal_action_index=0)
    await newer.play()


# --- connections --------------------------------------------------------------------------------


@misbehaves("disconnect", control=SHORT)
async def stream_is_half_closed(bad: Bad) -> None:
    one, _ = await bad.asked()
    await one.call.done_writing()
    await ends(one, grpc.StatusCode.OK)


@misbehaves("disconnect", control=SHORT)
async def call_is_cancelled(bad: Bad) -> None:
    one, _ = await bad.asked()
    one.call.cancel()


@misbehaves()
async def reconnect_storm(bad: Bad) -> None:
    for number in range(25):
        one = await bad.join()
        if number % 3 == 0:
            one.call.cancel()
        elif number % 3 == 1:
            await one.close()
    one, update = await bad.asked()
    assert update.decision.decision_id == 1
    await send_choice(one, update, legal_action_index=0)
    await one.play()
