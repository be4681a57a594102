"""Starting, lost connections, crashes, resignations (docs/judgement.md), for two seats."""

from dataclasses import replace

import pytest

from referee.engine.actions import DRAW_STOCK
from referee.match.outcome import Forfeit
from referee.match.policy import Policy
from referee.match.seat_player import Decision
from referee.match.spec import TimeControl
from referee.service.messages import MatchMessages
from rummy.referee.v1 import play_pb2 as pb
from tests.match.fakes import ScriptedPlayer, Table, make_spec

CONTROL = TimeControl(per_decision_ms=1_000, bank_ms=2_000, reconnect_ms=3_000)


def started() -> Table:
    return Table(make_spec(control=CONTROL)).begin()


def whole_deal(player: ScriptedPlayer) -> list[object]:
    """Every event that the player has been told of, in order; numbers have no gap."""
    assert list(player.events) == list(range(1, len(player.events) + 1))
    return list(player.events.values())


# --- the beginning ------------------------------------------------------------------------------


def test_everybody_is_told_and_nothing_is_dealt_before_all_are_ready() -> None:
    table = Table()
    table.match.start()
    table.match.ready(0)
    table.match.ready(0)
    table.clock.advance(9_999)
    assert [player.told for player in table.players] == [["starting"]] * 2
    table.match.ready(1)
    assert len(table.player.decisions) == 1


def test_never_ready_forfeits() -> None:
    table = Table()
    table.match.start()
    table.match.ready(1)
    table.clock.advance(9_999)
    assert not table.is_over
    table.clock.advance(1)
    assert table.result.termination == "forfeit"
    assert (table.forfeits, table.places) == (("startup", None), (2, 1))


def test_nobody_ready_is_no_result() -> None:
    table = Table()
    table.match.start()
    table.clock.advance(10_000)
    assert table.result.termination == "not_started"
    assert not table.result.has_result
    assert (table.forfeits, table.places) == ((None, None), (0, 0))


def test_ready_after_the_startup_time_changes_nothing() -> None:
    table = Table()
    table.match.start()
    table.match.ready(1)
    table.clock.advance(10_000)
    table.match.ready(0)
    assert table.forfeits == ("startup", None)


def test_loading_is_not_on_the_clock() -> None:
    table = Table(make_spec(control=CONTROL))
    table.match.start()
    table.match.ready(0)
    table.clock.advance(9_000)
    table.match.ready(1)
    assert [seat.clock.charged_us for seat in table.match.seats] == [0, 0]
    table.clock.advance(2_999)
    assert not any(player.rejections for player in table.players)


def test_absent_seat_is_not_waited_for() -> None:
    table = Table()
    table.match.start()
    table.match.absent(0, "exit code 1")
    table.match.ready(1)
    assert table.places == (2, 1)
    assert table.forfeits[0] in ("startup", "crash")


def test_all_absent_is_no_result() -> None:
    table = Table()
    table.match.start()
    table.match.absent(0, "exit code 1")
    table.match.forfeit(1, Forfeit.CRASH)
    assert table.result.termination == "not_started"


def test_crash_after_ready_and_before_the_deal_is_a_crash() -> None:
    table = Table()
    table.match.start()
    table.match.ready(0)
    table.match.connection_lost(0)
    table.match.forfeit(0, Forfeit.CRASH)
    table.match.ready(1)
    # Its process is gone: nobody waits for a decision, a bank or a reconnect of it.
    table.clock.advance(10)
    assert table.is_over, "the match is played against a process that has ended"
    assert (table.forfeits, table.places) == (("crash", None), (2, 1))


def test_resign_before_the_deal() -> None:
    table = Table()
    table.match.start()
    table.match.forfeit(1, Forfeit.RESIGN)
    assert (table.forfeits, table.places) == ((None, "resign"), (1, 2))


def test_starting_is_told_again_to_a_seat_that_comes_back_before_it_was_ready() -> None:
    table = Table()
    table.match.start()
    table.match.connection_lost(0)
    table.match.connection_back(0)
    assert table.players[0].starts == 2
    table.match.ready(0)
    table.match.ready(1)
    assert table.player.decision.decision_id == 1


# --- connection lost ----------------------------------------------------------------------------


def test_lost_connection_runs_through_all_budgets_then_forfeits() -> None:
    table = started()
    seat = table.turn
    table.clock.advance(500)
    table.match.connection_lost(seat)
    table.clock.advance(5_499)
    # Nothing is played for it meanwhile.
    assert (table.turn, table.is_over) == (seat, False)
    assert not table.player.rejections
    table.clock.advance(1)
    assert table.result.termination == "forfeit"
    assert (table.forfeits[seat], table.places[seat]) == ("disconnect", 2)
    assert table.result.seats[seat].time_strikes == 0


def test_lost_while_the_other_is_to_act_costs_nothing_until_its_turn() -> None:
    table = started()
    other = 1 - table.turn
    table.match.connection_lost(other)
    table.clock.advance(2_000)
    table.play_turn()
    assert table.turn == other
    assert table.match.seats[other].clock.charged_us == 0
    table.clock.advance(5_999)
    assert not table.is_over
    table.clock.advance(1)
    assert table.forfeits[other] == "disconnect"


def test_back_in_time_gets_the_deal_again_and_the_decision() -> None:
    table = started()
    table.play_turn()
    table.play_turn()
    seat, player = table.turn, table.player
    before = whole_deal(player)
    pending = player.decision
    table.match.connection_lost(seat)
    table.clock.advance(500)
    table.match.connection_back(seat)
    first, events, decision = player.updates[-1]
    assert (first, decision) == (1, replace(pending, spent_us=500_000))
    assert events == before
    # Before it the start of the match: a new process knows nothing.
    assert player.told[-2] == "starting"
    table.plan(DRAW_STOCK)
    assert not player.rejections
    assert table.match.seats[seat].clock.last_charged_us == 500_000
    assert whole_deal(player)[:-1] == before


def test_back_while_the_other_is_to_act_gets_what_it_missed() -> None:
    table = started()
    seat = table.turn
    other = 1 - seat
    table.match.connection_lost(other)
    table.play_turn()
    table.match.connection_back(other)
    table.play_turn()
    table.match.connection_lost(other)
    table.plan(DRAW_STOCK)
    table.match.connection_back(other)
    first, events, decision = table.players[other].updates[-1]
    assert (first, decision) == (1, None)
    assert len(events) >= 6
    assert whole_deal(table.players[other]) == events


def test_numbers_go_on_after_a_reconnect_in_a_later_deal() -> None:
    table = Table(make_spec(seed=4, overrides={"target": 300})).begin()
    while table.game.deal == 1:
        table.play_turn()
    seat, player = table.turn, table.player
    table.clock.advance(60)
    total = len(player.events)
    first_of_deal = next(
        number for number, event in player.events.items() if getattr(event, "deal", 0) == 2
    )
    assert first_of_deal > 1
    table.match.connection_lost(seat)
    table.match.connection_back(seat)
    first, events, _ = player.updates[-1]
    assert (first, first + len(events) - 1) == (first_of_deal, total)


def test_back_during_the_reconnect_time_can_still_answer() -> None:
    """Back in time means the decision again, not a decision that is out of time at once."""
    table = started()
    seat, player = table.turn, table.player
    pending = player.decision
    table.match.connection_lost(seat)
    table.clock.advance(4_000)
    assert not player.rejections
    table.match.connection_back(seat)
    assert player.updates[-1][2] == replace(pending, spent_us=4_000_000)
    table.clock.advance(500)
    table.plan(DRAW_STOCK)
    assert not player.rejections
    clock = table.match.seats[seat].clock
    assert (clock.bank_left_us, clock.reconnect_left_us) == (0, 1_500_000)
    assert table.match.seats[seat].time_strikes == 0


def test_back_and_silent_is_time_up_when_the_reconnect_time_is_spent_too() -> None:
    table = started()
    seat, player = table.turn, table.player
    table.match.connection_lost(seat)
    table.clock.advance(4_000)
    table.match.connection_back(seat)
    table.clock.advance(1_999)
    assert not player.rejections
    table.clock.advance(1)
    assert [one.reason for one in player.rejections] == ["time_up"]
    assert (table.turn, table.is_over) == (1 - seat, False)


def test_reconnect_time_is_one_budget_for_the_match() -> None:
    table = started()
    seat = table.turn
    table.match.connection_lost(seat)
    table.clock.advance(4_500)
    table.match.connection_back(seat)
    table.play_turn()
    table.play_until_turn_of(seat)
    # 3.0 s own time and bank, 1.5 s of the reconnect time; the new turn has a second of its own.
    table.match.connection_lost(seat)
    table.clock.advance(2_499)
    assert not table.is_over
    table.clock.advance(1)
    assert table.forfeits[seat] == "disconnect"


def test_reconnect_time_is_only_for_decisions_without_connection() -> None:
    table = started()
    seat, player = table.turn, table.player
    table.match.connection_lost(1 - seat)
    table.match.connection_back(1 - seat)
    table.clock.advance(3_000)
    assert [one.reason for one in player.rejections] == ["time_up"]


def test_decision_that_comes_again_tells_the_time_that_is_left_now() -> None:
    """What a bot is told after a reconnect are durations from now, as with every decision."""
    table = started()
    seat = table.turn
    wire = MatchMessages(table.spec, Policy())
    told: list[pb.Decision] = []

    def tell(first: int, events: object, decision: Decision | None) -> None:  # noqa: ARG001
        message = pb.PlayResponse.FromString(wire.update(seat, first, [], decision))
        told.append(message.update.decision)

    table.players[seat].update = tell  # type: ignore[method-assign,assignment]
    table.match.connection_lost(seat)
    table.clock.advance(700)
    table.match.connection_back(seat)
    left_us = told[-1].decision_left_us + told[-1].bank_left_us
    assert left_us == 2_300_000, f"the bot is told that {left_us} µs are left of 2300000"


@pytest.mark.parametrize("apart_ms", [0, 1_000])
def test_all_connections_lost_together_is_nobodys_loss(apart_ms: int) -> None:
    table = started()
    table.match.connection_lost(1 - table.turn)
    table.clock.advance(apart_ms)
    assert not table.is_over
    table.match.connection_lost(table.turn)
    assert table.result.termination == "aborted"
    assert (table.forfeits, table.places) == ((None, None), (0, 0))


def test_all_connections_lost_but_not_together_are_faults_of_their_own() -> None:
    """Who has been away for long cannot be saved by the other's loss of connection."""
    table = started()
    seat = table.turn
    table.match.connection_lost(seat)
    table.clock.advance(1_001)
    table.match.connection_lost(1 - seat)
    assert not table.is_over
    table.clock.advance(5_000)
    assert (table.forfeits[seat], table.forfeits[1 - seat]) == ("disconnect", None)


def test_lost_one_after_the_other_but_never_at_the_same_time_is_not_aborted() -> None:
    table = started()
    for seat in (0, 1):
        table.match.connection_lost(seat)
        table.match.connection_back(seat)
    assert not table.is_over


# --- protocol -----------------------------------------------------------------------------------


def test_first_broken_protocol_is_a_lost_connection_and_the_second_forfeits() -> None:
    table = started()
    seat = table.turn
    table.match.protocol_broken(seat, "hello is said once")
    assert not table.is_over
    table.match.connection_back(seat)
    table.plan(DRAW_STOCK)
    assert not table.is_over
    table.match.protocol_broken(seat, "hello is said once")
    assert table.result.termination == "forfeit"
    assert (table.forfeits[seat], table.places[seat]) == ("protocol", 2)


def test_broken_protocol_and_no_return_is_a_disconnect() -> None:
    table = started()
    seat = table.turn
    table.match.protocol_broken(seat, "hello is said once")
    table.clock.advance(6_000)
    assert table.forfeits[seat] == "disconnect"


# --- ends by a fault outside of play --------------------------------------------------------------


@pytest.mark.parametrize("fault", [Forfeit.CRASH, Forfeit.RESIGN, Forfeit.PROTOCOL])
@pytest.mark.parametrize("is_to_act", [True, False])
def test_fault_outside_of_play_forfeits_at_once(fault: Forfeit, is_to_act: bool) -> None:
    table = started()
    seat = table.turn if is_to_act else 1 - table.turn
    table.match.connection_lost(seat)
    table.match.forfeit(seat, fault)
    assert table.result.termination == "forfeit"
    assert (table.forfeits[seat], table.forfeits[1 - seat]) == (fault.value, None)
    assert (table.places[seat], table.places[1 - seat]) == (2, 1)


def test_abort_is_nobodys_loss_and_happens_once() -> None:
    table = started()
    table.match.abort("the machine is going down")
    table.match.abort("again")
    table.match.forfeit(0, Forfeit.CRASH)
    table.match.connection_lost(0)
    table.match.connection_lost(1)
    table.match.connection_back(0)
    assert table.result.termination == "aborted"
    assert table.result.text == "the machine is going down"
    assert table.places == (0, 0)
