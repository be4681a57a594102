"""The states of a bot in proto/README.md, row by row: what it may send, what all else leads to."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
import pytest

from referee.service.session import Limits
from rummy.referee.v1 import play_pb2 as pb
from tests.misbehaviour.arena import ends, rejected, send_choice
from tests.misbehaviour.reasons import DRAW_STOCK, discard
from tests.service.clients import PATIENCE_S, Client, referee_at
from tests.service.contract_rows import Row, table

STATES = table("The states of a bot:")
SENT = table("Referee to bot:")
MESSAGES = ("hello", "ready", "choice", "ping", "pong", "goodbye")


def request(kind: str, match_id: str, decision_id: int = 1) -> pb.PlayRequest:
    """A message of each kind, right in itself."""
    match kind:
        case "hello":
            return pb.PlayRequest(hello=pb.Hello(bot="b"))
        case "ready":
            return pb.PlayRequest(ready=pb.Ready(match_id=match_id))
        case "choice":
            choice = pb.Choice(match_id=match_id, decision_id=decision_id, legal_action_index=0)
            return pb.PlayRequest(choice=choice)
        case "ping":
            return pb.PlayRequest(ping=pb.Ping(nonce=5))
        case "pong":
            return pb.PlayRequest(pong=pb.Pong(nonce=5))
    return pb.PlayRequest(goodbye=pb.Goodbye())


# --- how a bot gets into each state ---------------------------------------------------------------


async def dialled(row: Row) -> Client:
    return await (await row.begin()).dial()


async def welcome(row: Row) -> Client:
    """The match is another token's, so this bot has none."""
    bad = await row.begin()
    return await _greeted(await bad.dial(row.referee.issue_token("idle", "1")))


async def _greeted(one: Client) -> Client:
    await one.hello()
    return one


async def starting(row: Row) -> Client:
    one = await (await row.begin()).join()
    await one.until("match_starting")
    return one


async def waiting(row: Row) -> Client:
    """The other seat is to act: it never answers."""
    bad = await row.begin(choose=_never)
    one, update = await bad.asked()
    last = discard("AC")
    last.cards[0] = update.decision.observation.hand[0]
    await send_choice(one, update, actions=[DRAW_STOCK, last])
    return one


async def _never(_: Client, __: pb.Update) -> None:
    return None


async def asked(row: Row) -> Client:
    one, _ = await (await row.begin()).asked()
    return one


async def over(row: Row) -> Client:
    one, update = await (await row.begin()).asked()
    await one.answer(update)
    assert await one.play() is not None
    return one


ENTER: dict[str, Callable[[Row], Awaitable[Client]]] = {
    "dialled": dialled,
    "welcome": welcome,
    "starting": starting,
    "waiting": waiting,
    "asked": asked,
    "over": over,
}

# What comes of each message: a status that ends the stream, a message, or nothing.
NOTHING, STALE, PONG, UPDATE, WELCOME = "nothing", "stale", "pong", "update", "welcome"
NO_HELLO, TWICE, OK = "NO_HELLO", "HELLO_TWICE", "OK"
LATER = {"hello": TWICE, "ready": NOTHING, "choice": STALE, "ping": PONG, "pong": NOTHING,
         "goodbye": OK}  # fmt: skip
OUTCOMES: dict[str, dict[str, str]] = {
    "dialled": {**dict.fromkeys(MESSAGES, NO_HELLO), "hello": WELCOME},
    "welcome": LATER,
    "starting": {**LATER, "ready": UPDATE},
    "waiting": LATER,
    "asked": {**LATER, "choice": UPDATE},
    "over": LATER,
}


def test_every_state_is_tried_with_every_message() -> None:
    assert list(STATES) == list(ENTER) == list(OUTCOMES)
    assert all(set(row) == set(MESSAGES) for row in OUTCOMES.values())


@pytest.mark.parametrize("state", STATES)
def test_the_table_says_which_messages_lead_on(state: str) -> None:
    """The column of what may be sent names just the messages that are neither refused nor idle."""
    may_send = STATES[state][1]
    for kind in ("hello", "ready", "choice"):
        assert (f"`{kind}`" in may_send) == (OUTCOMES[state][kind] in (WELCOME, UPDATE)), kind
    for kind in ("ping", "goodbye"):
        assert (f"`{kind}`" in may_send) == (OUTCOMES[state][kind] in (PONG, OK)), kind


async def _expect(one: Client, outcome: str) -> None:
    match outcome:
        case "NO_HELLO" | "HELLO_TWICE":
            await ends(one, grpc.StatusCode.FAILED_PRECONDITION, outcome)
        case "OK":
            await ends(one, grpc.StatusCode.OK)
        case "stale":
            assert not (await rejected(one, "STALE_DECISION")).HasField("strikes_left")
        case "nothing":
            # The next answer is that to a further ping.
            await one.send(pb.PlayRequest(ping=pb.Ping(nonce=77)))
            while not (answer := await one.receive() or pb.PlayResponse()).HasField("pong"):
                assert answer.HasField("update"), answer
            assert answer.pong.nonce == 77
        case kind:
            await one.until(kind)


@pytest.mark.parametrize("kind", MESSAGES)
@pytest.mark.parametrize("state", ENTER)
async def test_a_message_in_a_state(state: str, kind: str, tmp_path: Path) -> None:
    async with referee_at(tmp_path, limits=Limits()) as (referee, address):
        row = Row(referee, address, [])
        try:
            async with asyncio.timeout(PATIENCE_S):
                one = await ENTER[state](row)
                await one.send(request(kind, row.bad.match_id))
                await _expect(one, OUTCOMES[state][kind])
        finally:
            await row.close()


# --- referee to bot -------------------------------------------------------------------------------


def test_every_message_of_the_referee_has_a_row() -> None:
    named = {first.split()[0] for first in SENT}
    known = {field.name for field in pb.PlayResponse.DESCRIPTOR.oneofs_by_name["message"].fields}
    assert named == known


async def test_they_come_in_the_order_that_is_told(tmp_path: Path) -> None:
    async with referee_at(tmp_path) as (referee, address):
        row = Row(referee, address, [])
        try:
            one = await over(row)
        finally:
            await row.close()
    kinds = [str(response.WhichOneof("message")) for response in one.received]
    assert kinds[:3] == ["welcome", "match_starting", "update"]
    assert kinds[-1] == "match_ended"
    assert set(kinds[2:-1]) <= {"update", "rejected"}
    assert one.received[2].update.HasField("decision")
