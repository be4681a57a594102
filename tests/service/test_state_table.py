"""Tables of proto/README.md, row by row: each row has a test, and each test a row.

The states of a bot in a match are in test_contract_states.py.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
import pytest

from referee.engine.actions import DRAW_STOCK as DRAW
from referee.engine.actions import Reason
from referee.engine.legality import violation
from referee.engine.state import Phase
from referee.match.spec import TimeControl
from referee.service.session import Limits
from rummy.referee.v1 import play_pb2 as pb
from tests.misbehaviour.arena import ends, rejected, send_choice
from tests.misbehaviour.provoked import provoke, state_of
from tests.misbehaviour.reasons import DRAW_STOCK, PROVOCATIONS, discard
from tests.service.clients import PATIENCE_S, referee_at
from tests.service.contract_rows import Row, table

Test = Callable[[Row], Awaitable[None]]
ROWS: dict[tuple[str, str], Test] = {}
"""By table and first cell."""
TABLES = {
    "bot": "Bot to referee:",
    "end": "How a stream ends",
    "choice": "What can come of a choice:",
    "action": "The reasons for an action are tested",
    "reason": "Reasons that concern the choice:",
}


def row(table_name: str, *firsts: str) -> Callable[[Test], Test]:
    """Enter a test for rows of a table."""

    def enter(test: Test) -> Test:
        for first in firsts:
            assert (table_name, first) not in ROWS
            ROWS[table_name, first] = test
        return test

    return enter


# --- bot to referee -----------------------------------------------------------------------------


@row("bot", "hello")
async def hello(row: Row) -> None:
    bad = await row.begin()
    one = await bad.join()
    assert one.received[0].HasField("welcome")
    await one.send(pb.PlayRequest(hello=pb.Hello(bot="b")))
    await ends(one, grpc.StatusCode.FAILED_PRECONDITION, "HELLO_TWICE")


@row("bot", "ready")
async def ready(row: Row) -> None:
    bad = await row.begin()
    one = await bad.join()
    await one.until("match_starting")
    assert not bad.match._playing
    await one.ready(bad.match_id)
    await one.decision()


@row("bot", "choice")
async def choice(row: Row) -> None:
    one, update = await (await row.begin()).asked()
    await send_choice(one, update, legal_action_index=0)
    assert (await one.decision()).decision.decision_id == 2
    await send_choice(one, update, legal_action_index=0)
    await rejected(one, "STALE_DECISION")


@row("bot", "ping")
async def ping(row: Row) -> None:
    one = await (await row.begin()).join()
    for nonce in (0, 1, 2**64 - 1):
        await one.send(pb.PlayRequest(ping=pb.Ping(nonce=nonce)))
        assert (await one.until("pong")).pong.nonce == nonce


@row("bot", "pong")
async def pong(row: Row) -> None:
    one = await (await row.begin()).join()
    await one.until("match_starting")
    await one.send(pb.PlayRequest(pong=pb.Pong(nonce=1)))
    await one.send(pb.PlayRequest(ping=pb.Ping(nonce=2)))
    answer = await one.receive()
    assert answer is not None
    assert answer.pong.nonce == 2


@row("bot", "goodbye")
async def goodbye(row: Row) -> None:
    one, _ = await (await row.begin()).asked()
    await one.send(pb.PlayRequest(goodbye=pb.Goodbye()))
    await ends(one, grpc.StatusCode.OK)
    assert (await row.playing).seats[0].forfeit == "resign"


# --- how a stream ends --------------------------------------------------------------------------


@row("end", "OK")
async def ends_well(row: Row) -> None:
    one = await (await row.begin()).join()
    row.referee.revoke_token(row.bad.token)
    await ends(one, grpc.StatusCode.OK)


@row("end", "UNAVAILABLE, or the connection breaks")
async def breaks(row: Row) -> None:
    bad = await row.begin()
    one, _ = await bad.asked()
    await one.close()
    again, update = await bad.asked()
    assert update.decision.decision_id == 1
    await again.answer(update)
    assert await again.play() is not None
    assert (await row.playing).termination == "completed"


@row("end", "RESOURCE_EXHAUSTED")
async def exhausted(row: Row) -> None:
    bad = await row.begin()
    one, update = await bad.asked()
    await send_choice(one, update, match_id="x" * 70_000)
    await ends(one, grpc.StatusCode.RESOURCE_EXHAUSTED)
    again, update = await bad.asked()
    assert update.decision.decision_id == 1
    await again.close()


@row("end", "DEADLINE_EXCEEDED")
async def no_hello(row: Row) -> None:
    assert Limits().hello_s == 10.0
    one = await (await row.begin()).dial()
    # The referee of this test is less patient.
    await ends(one, grpc.StatusCode.DEADLINE_EXCEEDED, "NO_HELLO")


@row("end", "UNAUTHENTICATED")
async def unknown(row: Row) -> None:
    one = await (await row.begin()).dial("x" * 43)
    await one.send(pb.PlayRequest(hello=pb.Hello(bot="b")))
    await ends(one, grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN")


@row("end", "ABORTED")
async def replaced(row: Row) -> None:
    bad = await row.begin()
    older, newer = await bad.join(), await bad.join()
    await ends(older, grpc.StatusCode.ABORTED, "REPLACED")
    await newer.until("match_starting")


@row("end", "FAILED_PRECONDITION, INVALID_ARGUMENT")
async def faulty(row: Row) -> None:
    bad = await row.begin()
    for first, code, reason in (
        (pb.PlayRequest(ping=pb.Ping()), "FAILED_PRECONDITION", "NO_HELLO"),
        (pb.PlayRequest(hello=pb.Hello(bot="x" * 65)), "INVALID_ARGUMENT", "BAD_HELLO"),
        (b"\xff", "INVALID_ARGUMENT", "MALFORMED_MESSAGE"),
    ):
        one = await bad.dial()
        await one.send(first)
        await ends(one, grpc.StatusCode[code], reason)
    await hello(row)


@row("end", "INTERNAL")
async def failed(row: Row) -> None:
    bad = await row.begin()
    one = await bad.join()
    await one.until("match_starting")

    def fail(*_: object) -> None:
        raise KeyError("a fault of the referee's own")

    setattr(row.referee._play, "ready", fail)  # noqa: B010 - a method is replaced
    await one.ready(bad.match_id)
    await ends(one, grpc.StatusCode.INTERNAL, "INTERNAL")


# --- what can come of a choice ------------------------------------------------------------------


def first_card(update: pb.Update) -> pb.Choice:
    """A discard of a card that was in the hand before the draw."""
    last = discard("AC")
    last.cards[0] = update.decision.observation.hand[0]
    return pb.Choice(actions=[last])


@row("choice", "legal, ends the turn")
async def whole_turn(row: Row) -> None:
    one, update = await (await row.begin()).asked()
    await send_choice(one, update, actions=[DRAW_STOCK, *first_card(update).actions])
    following = await one.decision()
    assert following.decision.decision_id == 2
    assert following.decision.observation.turns == 2


@row("choice", "legal, stops before the turn ends")
async def half_a_turn(row: Row) -> None:
    one, update = await (await row.begin()).asked()
    await send_choice(one, update, actions=[DRAW_STOCK])
    following = await one.decision()
    assert following.decision.observation.turns == 0


@row("choice", "has an illegal action")
async def illegal(row: Row) -> None:
    one, update = await (await row.begin()).asked()
    await send_choice(one, update, actions=[DRAW_STOCK, DRAW_STOCK])
    refused = await rejected(one, "WRONG_PHASE")
    assert (refused.applied, refused.strikes_left) == (1, 2)
    assert (await one.decision()).decision.decision_id == 2


@row("choice", "longer than 32")
@row("reason", "PLAN_TOO_LONG")
async def too_long(row: Row) -> None:
    one, update = await (await row.begin()).asked()
    await send_choice(one, update, actions=[DRAW_STOCK] * 33)
    refused = await rejected(one, "PLAN_TOO_LONG")
    assert (refused.applied, refused.strikes_left) == (0, 2)
    following = await one.decision()
    assert following.decision.observation.phase == update.decision.observation.phase


@row("choice", "goes on after the end of the turn")
@row("reason", "PLAN_PAST_TURN")
async def past_turn(row: Row) -> None:
    one, update = await (await row.begin()).asked()
    plan = [DRAW_STOCK, *first_card(update).actions, DRAW_STOCK]
    await send_choice(one, update, actions=plan)
    refused = await rejected(one, "PLAN_PAST_TURN")
    assert (refused.applied, refused.strikes_left) == (2, 2)
    assert (await one.decision()).decision.observation.turns == 2


# --- rejections ---------------------------------------------------------------------------------


@row("action", *PROVOCATIONS.keys() - {"PLAN_TOO_LONG"})
async def provoked(row: Row) -> None:
    """`provoke` sees the reason, the strike, and that the next decision follows."""
    reason = row.cells[-1]
    provocation = PROVOCATIONS[reason]
    bad = await row.begin(rules=provocation.rules)
    await provoke(bad, reason, provocation)
    assert bad.match.seats[0].illegal_strikes == 1


@row("action", "DEAL_OVER", "NOT_YOUR_TURN")
async def never_over_the_wire(row: Row) -> None:
    """The engine has these, but who is not asked has no decision to answer: it is stale."""
    bad = await row.begin()
    one, update = await bad.asked()
    state = state_of(bad).copy()
    assert violation(state, 1, DRAW) is Reason.NOT_YOUR_TURN
    state.phase = Phase.OVER
    assert violation(state, 0, DRAW) is Reason.DEAL_OVER
    await send_choice(one, update, decision_id=2, legal_action_index=0)
    await rejected(one, "STALE_DECISION")


@row("reason", "STALE_DECISION")
async def stale(row: Row) -> None:
    bad = await row.begin()
    one, update = await bad.asked()
    for number in (0, 2, 99):
        await send_choice(one, update, decision_id=number, legal_action_index=0)
        assert not (await rejected(one, "STALE_DECISION")).HasField("strikes_left")
    assert bad.match.seats[0].illegal_strikes == 0


@row("reason", "TIME_UP")
async def time_up(row: Row) -> None:
    bad = await row.begin(TimeControl(per_decision_ms=300, bank_ms=0))
    one, _ = await bad.asked()
    refused = await rejected(one, "TIME_UP")
    assert (refused.decision_id, refused.strikes_left) == (1, 1)
    assert bad.match.seats[0].illegal_strikes == 0
    assert bad.match.seats[0].time_strikes == 1


@row("reason", "BAD_INDEX")
async def bad_index(row: Row) -> None:
    one, update = await (await row.begin()).asked()
    await send_choice(one, update, legal_action_index=len(update.decision.legal_actions))
    assert (await rejected(one, "BAD_INDEX")).strikes_left == 2


# --- all rows -----------------------------------------------------------------------------------

FOUND = {
    (name, first): cells for name, after in TABLES.items() for first, cells in table(after).items()
}


def test_every_row_has_a_test_and_every_test_a_row() -> None:
    assert ROWS.keys() == FOUND.keys()
    told = {f"REASON_{first}" for name, first in FOUND if name in ("action", "reason")}
    assert told == {value.name for value in pb.Reason.DESCRIPTOR.values if value.number}


def test_strikes_are_told() -> None:
    for (name, first), cells in FOUND.items():
        if name in ("action", "reason"):
            expected = {"STALE_DECISION": "no", "TIME_UP": "of the other kind"}.get(first, "yes")
            assert cells[0] == expected, first


@pytest.mark.parametrize(("name", "first"), sorted(ROWS), ids=lambda part: part)
async def test_row(name: str, first: str, tmp_path: Path) -> None:
    limits = Limits(hello_s=0.2 if first == "DEADLINE_EXCEEDED" else 10.0)
    async with referee_at(tmp_path, limits=limits) as (referee, address):
        one = Row(referee, address, [*FOUND[name, first], first])
        try:
            async with asyncio.timeout(PATIENCE_S):
                await ROWS[name, first](one)
        finally:
            await one.close()


# --- the clock ----------------------------------------------------------------------------------


async def test_time_is_granted_twice_a_turn(tmp_path: Path) -> None:
    control = TimeControl(per_decision_ms=4_000, bank_ms=9_000)
    async with referee_at(tmp_path) as (referee, address):
        one_row = Row(referee, address, [])
        bad = await one_row.begin(control)
        try:
            one, draw = await bad.asked()
            assert (draw.decision.decision_left_us, draw.decision.bank_left_us) == (
                4_000_000,
                9_000_000,
            )
            await asyncio.sleep(0.1)
            await send_choice(one, draw, actions=[DRAW_STOCK])
            play = await one.decision()
            assert play.decision.decision_left_us == 4_000_000
            spent = play.decision.last_charged_us
            assert spent + play.decision.last_forgiven_us >= 90_000
            assert play.decision.charged_us == spent
            # A decision after a rejection goes on with what is left.
            await asyncio.sleep(0.1)
            await send_choice(one, play, legal_action_index=10_000)
            again = await one.decision()
            left = 4_000_000 - again.decision.last_charged_us
            assert again.decision.decision_left_us == left
            assert again.decision.bank_left_us == 9_000_000
            assert again.decision.charged_us == spent + again.decision.last_charged_us
        finally:
            await one_row.close()
