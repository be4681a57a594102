"""The clock of a match: allowance, bank, cap, time up, and what the referee itself caused."""

import pytest

from referee.engine.actions import DRAW_STOCK
from referee.engine.events import Discarded, Drew
from referee.match.clock import SeatClock
from referee.match.policy import Policy
from referee.match.seat_player import Choice
from referee.match.spec import TimeControl
from tests.match.fakes import Table, lines_of, make_spec

AFTER_STALL_MS = 25
TIGHT = TimeControl(per_decision_ms=1_000, bank_ms=2_000)
NO_BANK = TimeControl(per_decision_ms=1_000, bank_ms=0)


def table_with(control: TimeControl, seats: int = 2, policy: Policy | None = None) -> Table:
    return Table(make_spec(seats, control=control), policy=policy).begin()


# --- the budget ---------------------------------------------------------------------------------


def test_decision_time_first_then_bank() -> None:
    table = table_with(TIGHT)
    clock = table.match.seats[table.turn].clock
    table.clock.advance(400)
    table.plan(DRAW_STOCK)
    assert (clock.charged_us, clock.bank_left_us) == (400_000, 2_000_000)
    # The rest of the turn has time of its own.
    assert clock.decision_left_us == 1_000_000
    table.clock.advance(1_700)
    seat = table.turn
    table.play()
    assert table.turn != seat
    assert (clock.charged_us, clock.bank_left_us) == (2_100_000, 1_300_000)
    assert (clock.last_charged_us, clock.last_forgiven_us) == (1_700_000, 0)
    assert (clock.longest_us, clock.decisions) == (1_700_000, 2)


def test_follow_ups_go_on_with_what_is_left() -> None:
    table = table_with(TIGHT)
    clock = table.match.seats[table.turn].clock
    table.clock.advance(400)
    table.illegal()
    assert clock.decision_left_us == 600_000
    table.clock.advance(500)
    table.illegal()
    assert (clock.decision_left_us, clock.bank_left_us) == (100_000, 2_000_000)
    table.clock.advance(300)
    table.plan(DRAW_STOCK)
    assert clock.bank_left_us == 1_800_000
    assert clock.decision_left_us == 1_000_000
    table.clock.advance(700)
    table.illegal()
    assert clock.decision_left_us == 300_000


def test_allowance_is_granted_again_in_the_next_turn() -> None:
    table = table_with(TIGHT)
    seat = table.turn
    clock = table.match.seats[seat].clock
    table.clock.advance(900)
    table.play_turn()
    table.play_until_turn_of(seat)
    assert (clock.decision_left_us, clock.bank_left_us) == (1_000_000, 2_000_000)


def test_waiting_for_others_costs_nothing() -> None:
    table = table_with(TIGHT, 3)
    seat = table.turn
    clock = table.match.seats[seat].clock
    table.play_turn()
    table.clock.advance(2_500)
    table.play_turn()
    table.clock.advance(2_500)
    table.play_turn()
    assert (table.turn, clock.charged_us) == (seat, 0)


def test_times_stand_in_the_result_and_the_record() -> None:
    table = table_with(TIGHT)
    seat = table.turn
    table.clock.advance(123)
    table.play()
    table.match.abort("test")
    result = table.result.seats[seat]
    assert (result.charged_us, result.longest_us, result.decisions) == (123_000, 123_000, 1)
    lines = lines_of(table.result.record)
    assert [one["charged_us"] for one in lines if one["kind"] == "decision"] == [123_000]


# --- time up ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_time_up_plays_the_turn_and_is_a_strike(seats: int) -> None:
    table = table_with(TIGHT, seats)
    seat, player = table.turn, table.player
    decision_id = player.decision.decision_id
    table.clock.advance(2_999)
    assert (table.turn, player.rejections) == (seat, [])
    table.clock.advance(1)
    assert table.turn == (seat + 1) % seats
    rejected = player.rejections[-1]
    assert (rejected.reason, rejected.decision_id) == ("time_up", decision_id)
    assert rejected.strikes_left == 1
    table.clock.advance(60)
    kinds = [type(event) for event in player.events.values()]
    assert kinds[-2:] == [Drew, Discarded]
    assert table.match.seats[seat].time_strikes == 1
    assert table.match.seats[seat].illegal_strikes == 0
    assert table.match.seats[seat].clock.charged_us == 3_000_000


def test_time_up_after_the_draw_only_discards() -> None:
    table = table_with(NO_BANK)
    seat, player = table.turn, table.player
    table.plan(DRAW_STOCK)
    drawn = len(player.events)
    table.clock.advance(1_000)
    assert table.turn != seat
    table.clock.advance(60)
    assert [type(event) for event in list(player.events.values())[drawn:]] == [Discarded]


@pytest.mark.parametrize("seats", [2, 4])
def test_third_time_up_forfeits(seats: int) -> None:
    table = table_with(NO_BANK, seats)
    seat, player = table.turn, table.player
    for left in (1, 0):
        table.clock.advance(1_000)
        assert player.rejections[-1].strikes_left == left
        table.play_until_turn_of(seat)
    table.clock.advance(1_000)
    assert table.match.seats[seat].forfeit == "time"
    assert table.match.seats[seat].time_strikes == 3
    if seats == 2:
        assert (table.forfeits[seat], table.result.termination) == ("time", "forfeit")
        assert (table.places[seat], table.places[1 - seat]) == (2, 1)
    else:
        assert not table.is_over
        assert table.turn == (seat + 1) % seats


def test_illegal_and_time_strikes_are_counted_apart() -> None:
    table = table_with(NO_BANK)
    seat = table.turn
    for _ in range(3):
        table.illegal()
    table.clock.advance(1_000)
    table.play_until_turn_of(seat)
    table.clock.advance(1_000)
    assert not table.is_over
    state = table.match.seats[seat]
    assert (state.illegal_strikes, state.time_strikes) == (3, 2)


def test_late_answer_is_stale_after_the_timer() -> None:
    table = table_with(NO_BANK)
    seat, player = table.turn, table.player
    decision_id = player.decision.decision_id
    table.clock.advance(1_000)
    table.match.choose(seat, decision_id, table_choice())
    assert [one.reason for one in player.rejections] == ["time_up", "stale_decision"]
    assert table.match.seats[seat].illegal_strikes == 0


def table_choice() -> Choice:
    return Choice(plan=[DRAW_STOCK])


def test_answer_that_arrives_before_a_late_timer_but_too_late_is_time_up() -> None:
    table = table_with(NO_BANK)
    seat, player = table.turn, table.player
    table.clock.oversleep(1_500)
    table.choose(table_choice())
    assert player.rejections[-1].reason == "time_up"
    assert table.match.seats[seat].time_strikes == 1
    assert table.turn != seat


def test_cap_makes_every_decision_out_of_time() -> None:
    table = table_with(TimeControl(per_decision_ms=1_000, bank_ms=5_000, match_cap_ms=1_500))
    seat, player = table.turn, table.player
    clock = table.match.seats[seat].clock
    table.clock.advance(900)
    table.plan(DRAW_STOCK)
    table.clock.advance(599)
    assert table.turn == seat
    table.clock.advance(1)
    assert table.turn != seat
    assert clock.charged_us == 1_500_000
    table.play_until_turn_of(seat)
    table.clock.advance(0)
    assert table.turn != seat
    assert [one.strikes_left for one in player.rejections] == [1, 0]
    table.play_until_turn_of(seat)
    table.clock.advance(0)
    assert table.forfeits[seat] == "time"


# --- what the referee caused --------------------------------------------------------------------


def test_stall_is_forgiven() -> None:
    table = table_with(NO_BANK)
    seat = table.turn
    clock = table.match.seats[seat].clock
    table.clock.advance(950)
    table.clock.stall(200)
    table.plan(DRAW_STOCK)
    assert (clock.charged_us, clock.last_forgiven_us) == (950_000, 200_000)
    assert not table.players[seat].rejections


def test_stall_before_the_decision_is_not_forgiven() -> None:
    table = table_with(NO_BANK)
    table.clock.stall(200)
    table.illegal()
    clock = table.match.seats[table.turn].clock
    assert clock.forgiven_us == 200_000
    table.clock.advance(100)
    table.plan(DRAW_STOCK)
    assert (clock.last_charged_us, clock.last_forgiven_us) == (100_000, 0)


def test_time_goes_on_after_a_stall() -> None:
    table = table_with(NO_BANK)
    seat = table.turn
    table.clock.advance(950)
    table.clock.stall(200)
    table.clock.advance(49)
    assert table.turn == seat
    table.clock.advance(1 + AFTER_STALL_MS)
    assert table.turn != seat
    assert table.match.seats[seat].time_strikes == 1


def test_looks_again_after_a_stall_before_judging() -> None:
    table = table_with(NO_BANK)
    seat, player = table.turn, table.player
    table.clock.advance(100)
    table.clock.stall(10)
    table.clock.advance(900 + AFTER_STALL_MS - 1)
    assert table.turn == seat
    table.plan(DRAW_STOCK)
    assert not player.rejections
    assert table.turn == seat


def test_looks_again_when_the_timer_itself_was_late() -> None:
    table = table_with(NO_BANK)
    seat, player = table.turn, table.player
    table.clock.advance(998)
    table.clock.stall(100)
    table.clock.oversleep(2.5)
    # The timer comes first, as it does on a loop that wakes up; the answer lies in the buffer.
    table.clock.advance(0)
    assert table.turn == seat
    table.plan(DRAW_STOCK)
    assert not player.rejections
    assert table.turn == seat


def test_waits_for_an_answer_after_a_stall_and_no_longer() -> None:
    table = table_with(NO_BANK)
    seat = table.turn
    table.clock.advance(100)
    table.clock.stall(10)
    table.clock.advance(900 + AFTER_STALL_MS)
    assert table.turn != seat
    # Each decision has its own wait.
    table.play_until_turn_of(seat)
    table.clock.stall(10)
    table.clock.advance(1_000 + AFTER_STALL_MS - 1)
    assert table.turn == seat


def test_timer_in_time_is_judged_at_once() -> None:
    table = table_with(NO_BANK)
    seat = table.turn
    table.clock.advance(1_000)
    assert table.turn != seat


@pytest.mark.parametrize("seats", [2, 5])
def test_more_than_250_ms_forgiven_for_a_decision_aborts(seats: int) -> None:
    table = table_with(NO_BANK, seats)
    table.clock.stall(250)
    table.illegal()
    assert not table.is_over
    table.clock.stall(250.001)
    table.plan(DRAW_STOCK)
    assert table.result.termination == "aborted"
    assert not table.result.has_result
    assert table.places == (0,) * seats
    assert table.forfeits == (None,) * seats


def test_time_up_in_a_long_stall_aborts_and_is_nobodys_loss() -> None:
    table = table_with(NO_BANK)
    table.clock.stall(300)
    table.clock.advance(1_000 + AFTER_STALL_MS)
    assert table.result.termination == "aborted"
    assert table.forfeits == (None, None)


def test_a_bot_that_hangs_is_not_saved_by_a_stall() -> None:
    """A tenth of what was measured may be forgiven: of 31 s that count, 3.4 s."""
    for stalled_ms, is_judged in ((3_400, True), (3_500, False)):
        table = table_with(TimeControl())
        seat = table.turn
        table.clock.stall(stalled_ms)
        table.clock.advance(31_000 + AFTER_STALL_MS)
        assert table.match.seats[seat].time_strikes == is_judged
        assert table.is_over != is_judged


def test_a_tenth_of_a_long_match_may_be_forgiven() -> None:
    table = table_with(TimeControl(per_decision_ms=3_000, bank_ms=0))
    seat = table.turn
    for _ in range(24):
        table.clock.stall(240)
        table.clock.advance(2_200)
        table.play_turn()
        table.play_until_turn_of(seat)
    assert table.match.seats[seat].clock.forgiven_us > 5_000_000
    assert not table.is_over


def test_more_than_5_s_forgiven_in_a_match_aborts() -> None:
    table = table_with(NO_BANK)
    seat = table.turn
    for _ in range(25):
        table.clock.stall(200)
        table.play_turn()
        table.play_until_turn_of(seat)
    assert table.match.seats[seat].clock.forgiven_us == 5_000_000
    assert not table.is_over
    table.clock.stall(1)
    table.play()
    assert table.result.termination == "aborted"


# --- budgets by themselves ----------------------------------------------------------------------


def test_seat_clock_books_in_order() -> None:
    clock = SeatClock(TimeControl(per_decision_ms=10, bank_ms=20, reconnect_ms=30))
    clock.grant()
    assert clock.budget_us(with_reconnect=False) == 30_000
    assert clock.budget_us(with_reconnect=True) == 60_000
    assert clock.left_after(15_000) == (0, 15_000)
    clock.charge(45_000, 0, with_reconnect=True)
    assert (clock.decision_left_us, clock.bank_left_us, clock.reconnect_left_us) == (0, 0, 15_000)
    clock.grant()
    clock.charge(100_000, 7, with_reconnect=True)
    assert (clock.decision_left_us, clock.bank_left_us, clock.reconnect_left_us) == (0, 0, 0)
    assert (clock.charged_us, clock.forgiven_us, clock.longest_us) == (145_000, 7, 100_000)
    assert clock.budget_us(with_reconnect=True) == 0


def test_seat_clock_keeps_the_reconnect_time_of_a_connected_seat() -> None:
    clock = SeatClock(TimeControl(per_decision_ms=10, bank_ms=20, reconnect_ms=30))
    clock.grant()
    clock.charge(40_000, 0, with_reconnect=False)
    assert (clock.bank_left_us, clock.reconnect_left_us) == (0, 30_000)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("per_decision_ms", 0),
        ("bank_ms", -1),
        ("startup_ms", 0),
        ("reconnect_ms", 86_400_001),
        ("match_cap_ms", True),
        ("bank_ms", 1.5),
    ],
)
def test_time_control_refuses_nonsense(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        TimeControl(**{field: value})  # type: ignore[arg-type]
