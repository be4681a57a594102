"""What `verify` says of honest records, whatever went wrong in the match; and its verdict."""

import random
from collections.abc import Callable
from hashlib import sha256

import pytest

import referee.engine.scoring
from referee.engine.actions import DISCARDS, DRAW_STOCK
from referee.engine.notation import parse_action
from referee.match.outcome import Forfeit
from referee.match.policy import Policy
from referee.match.record_lines import RecordError, read_record
from referee.match.replay import replay
from referee.match.seat_player import Choice
from referee.match.spec import TimeControl
from referee.match.verify import Verdict, head_of, verify
from tests.match.fakes import Table, lines_of, make_spec
from tests.match.lies import FORFEITED, LAST, LOST, RICH, SHORT
from tests.match.tampering import (
    CONTROL,
    Trouble,
    check_honest,
    play_out,
    some_action,
    table_of,
    troubled_table,
)
from tests.scale import cases, repeating

FILE = __file__


# --- honest records -------------------------------------------------------------------------------


def test_any_mix_of_trouble_is_verified() -> None:
    seed = "trouble"
    for case in cases(150):
        chance = random.Random(f"{seed} {case}")
        with repeating(FILE, "test_any_mix_of_trouble_is_verified", seed, case):
            check_honest(Trouble(troubled_table(chance), chance).play(400))


def none_ready() -> Table:
    table = table_of(2)
    table.match.start()
    table.clock.advance(10_000)
    return table


def none_ready_after_a_resignation() -> Table:
    table = table_of(3)
    table.match.start()
    table.match.ready(1)
    table.match.forfeit(1, Forfeit.RESIGN)
    table.clock.advance(10_000)
    assert table.result.termination == "not_started"
    return table


def some_never_ready() -> Table:
    table = table_of(5)
    table.match.start()
    table.match.ready(3)
    table.match.ready(0)
    table.match.forfeit(4, Forfeit.RESIGN)
    table.clock.advance(10_000)
    assert [seat.forfeit for seat in table.match.seats].count(Forfeit.STARTUP) == 2
    play_out(table, random.Random(1), faults=False)
    return table


def aborted_before_the_deal() -> Table:
    table = table_of(2)
    table.match.start()
    table.match.abort("enough")
    return table


def resigned_before_the_deal() -> Table:
    table = table_of(2)
    table.match.start()
    table.match.forfeit(0, Forfeit.RESIGN)
    return table


def away_and_back_in_time() -> Table:
    table = table_of(2).begin()
    for seat, away_ms in ((0, 900), (1, 1_700), (0, 700)):
        table.play_until_turn_of(seat)
        table.clock.advance(700)
        table.match.connection_lost(seat)
        table.clock.advance(away_ms)
        table.match.connection_back(seat)
        table.play_turn()
    assert table.match.seats[0].clock.reconnect_left_us < 2_000_000
    table.match.abort("enough")
    return table


def back_without_time() -> Table:
    table = table_of(2).begin()
    seat = table.turn
    table.match.connection_lost(seat)
    table.clock.advance(1_600)
    table.match.connection_back(seat)
    table.clock.advance(2_000)
    assert table.match.seats[seat].time_strikes == 1
    table.match.abort("enough")
    return table


def reconnect_time_used_up(seats: int = 2) -> Table:
    table = table_of(seats).begin()
    seat = table.turn
    table.match.connection_lost(seat)
    table.clock.advance(3_500)
    assert table.match.seats[seat].forfeit is Forfeit.DISCONNECT
    if seats > 2:
        play_out(table, random.Random(2), faults=False)
    return table


def reconnect_time_used_up_in_a_stall(seats: int = 3) -> Table:
    """The last look comes 25 ms after the end, and then some: the loop is never quite on time."""
    table = table_of(seats).begin()
    seat = table.turn
    table.match.connection_lost(seat)
    table.clock.advance(3_400)
    table.clock.stall(50)
    table.clock.advance(100)
    table.clock.oversleep(25.3)
    table.clock.advance(0)
    assert table.match.seats[seat].forfeit is Forfeit.DISCONNECT
    assert table.match.seats[seat].clock.last_charged_us > 3_525_000
    play_out(table, random.Random(2), faults=False)
    return table


def answers_within_the_second_look() -> Table:
    table = table_of(2).begin()
    for late_ms in (0, 3, 5):
        table.clock.oversleep(table.player.decision.clock.budget_us(with_reconnect=False) / 1_000)
        table.clock.oversleep(late_ms)
        table.play()
    assert not any(player.rejections for player in table.players)
    table.match.abort("enough")
    return table


def answer_after_the_second_look() -> Table:
    table = table_of(2).begin()
    table.clock.oversleep(1_505.001)
    table.play()
    assert sum(seat.time_strikes for seat in table.match.seats) == 1
    table.match.abort("enough")
    return table


def stalls_are_forgiven() -> Table:
    table = table_of(2).begin()
    for _ in range(10):
        table.clock.advance(400)
        table.clock.stall(200)
        table.play()
    table.clock.stall(251)
    table.play()
    assert table.result.termination == "aborted"
    return table


def cap_of_the_match_used_up() -> Table:
    control = TimeControl(per_decision_ms=1_000, bank_ms=0, match_cap_ms=1_500)
    table = Table(make_spec(3, "basic", control=control)).begin()
    while not any(seat.forfeit for seat in table.match.seats):
        table.clock.advance(700)
        if not table.is_over:
            table.play_turn()
    play_out(table, random.Random(3), faults=False)
    return table


def out_of_time_too_often(seats: int = 2) -> Table:
    table = table_of(seats).begin()
    while not any(seat.forfeit for seat in table.match.seats):
        table.clock.advance(1_500)
    if seats > 2:
        play_out(table, random.Random(3), faults=False)
    return table


def illegal_too_often(seats: int = 2, policy: Policy | None = None) -> Table:
    table = table_of(seats, policy).begin()
    while not any(seat.forfeit for seat in table.match.seats):
        table.illegal()
    if seats > 2:
        play_out(table, random.Random(3), faults=False)
    return table


def nothing_tolerated() -> Table:
    return illegal_too_often(4, Policy(illegal_strikes_tolerated=0, time_strikes_tolerated=0))


def protocol_broken_twice() -> Table:
    table = table_of(3).begin()
    for _ in range(2):
        table.match.protocol_broken(1, "more than 2,000 messages a second")
    table.match.forfeit(0, Forfeit.CRASH, "exit code 1")
    return table


def forfeits_before_and_in_its_turn() -> Table:
    table = table_of(4).begin()
    table.match.forfeit((table.turn + 2) % 4, Forfeit.CRASH)
    table.play()
    table.match.forfeit(table.turn, Forfeit.RESIGN)
    play_out(table, random.Random(4), faults=False)
    assert table.result.termination == "completed"
    return table


def plan_that_stops_short() -> Table:
    table = table_of(2).begin()
    table.plan(DRAW_STOCK, DISCARDS[table.own_card()], DRAW_STOCK)
    table.plan(DRAW_STOCK, DRAW_STOCK, DISCARDS[0])
    table.play_turn()
    table.plan(*[DRAW_STOCK] * 33)
    table.choose(Choice(malformed="it holds \x00 and ü"))
    table.plan()
    table.match.abort("enough")
    return table


def deal_ends_and_the_plan_goes_on(seats: int, strikes: int) -> Table:
    """A plan that ends the first deal and then oversteps, after so many strikes of its seat."""
    first = table_of(seats).begin()
    play_out(first, random.Random(5), faults=False)
    lines = lines_of(first.result.record)[1:]
    deal = lines[: next(at for at, line in enumerate(lines) if line["kind"] == "deal_ended")]
    plans = [tuple(map(parse_action, line["actions"])) for line in deal]
    table = table_of(seats).begin()
    for plan in plans[:-1]:
        table.plan(*plan)
    seat = table.turn
    for _ in range(strikes):
        table.illegal()
    table.plan(*plans[-1], DRAW_STOCK)
    assert table.match.seats[seat].illegal_strikes == strikes + 1
    assert (table.match.seats[seat].forfeit is not None) == (strikes == 3)
    table.match.abort("enough")
    return table


def all_that_are_left_in_have_forfeited() -> Table:
    """Two seats are out by the rules, the other two have forfeited: forced actions end it."""
    spec = make_spec(4, "standard", {"ceiling": 50}, control=CONTROL, seed=2)
    table = Table(spec).begin()
    chance = random.Random(6)
    while not table.is_over and len(table.game.state.seats_in()) > 2:
        table.plan(some_action(table, chance))
    for seat in table.game.state.seats_in():
        table.match.forfeit(seat, Forfeit.RESIGN)
    return table


HONEST: dict[str, Callable[[], Table]] = {
    "none ready": none_ready,
    "none ready after a resignation": none_ready_after_a_resignation,
    "some never ready": some_never_ready,
    "aborted before the deal": aborted_before_the_deal,
    "resigned before the deal": resigned_before_the_deal,
    "away and back in time": away_and_back_in_time,
    "back without time": back_without_time,
    "reconnect time used up": reconnect_time_used_up,
    "reconnect time used up, others go on": lambda: reconnect_time_used_up(4),
    "reconnect time used up in a stall": reconnect_time_used_up_in_a_stall,
    "answers within the second look": answers_within_the_second_look,
    "answer after the second look": answer_after_the_second_look,
    "stalls are forgiven": stalls_are_forgiven,
    "cap of the match used up": cap_of_the_match_used_up,
    "out of time too often": out_of_time_too_often,
    "out of time too often, others go on": lambda: out_of_time_too_often(3),
    "illegal too often": illegal_too_often,
    "illegal too often, others go on": lambda: illegal_too_often(6),
    "nothing tolerated": nothing_tolerated,
    "protocol broken twice": protocol_broken_twice,
    "forfeits before and in its turn": forfeits_before_and_in_its_turn,
    "plan that stops short": plan_that_stops_short,
    "deal ends, one strike": lambda: deal_ends_and_the_plan_goes_on(2, 0),
    "deal ends, last strike": lambda: deal_ends_and_the_plan_goes_on(2, 3),
    "deal ends, last strike, others go on": lambda: deal_ends_and_the_plan_goes_on(3, 3),
    "all that are left in have forfeited": all_that_are_left_in_have_forfeited,
}


@pytest.mark.parametrize("case", HONEST)
def test_trouble_of_one_kind_is_verified(case: str) -> None:
    check_honest(HONEST[case]().result)


def test_match_at_the_cap_of_deals_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee.engine.scoring, "MAX_DEALS", 3)
    table = table_of(3, target=300).begin()
    table.match.forfeit(1, Forfeit.RESIGN)
    play_out(table, random.Random(7), faults=False)
    assert (table.result.termination, table.result.deals) == ("adjudicated", 3)
    check_honest(table.result)


def test_match_aborted_at_any_moment_is_verified() -> None:
    for moment in range(60):
        table = table_of(3).begin()
        chance = random.Random(8)
        for step in range(moment):
            if step % 7 == 3:
                table.clock.advance(1_500)
            elif step % 5 == 4:
                table.illegal()
            else:
                table.plan(some_action(table, chance))
        table.match.abort("enough")
        check_honest(table.result)


def test_the_record_to_lie_about_has_every_kind_of_line() -> None:
    lines = lines_of(RICH.record)
    assert {line["kind"] for line in lines} == {
        "match",
        "decision",
        "forced",
        "forfeit",
        "deal_ended",
        "match_ended",
    }
    assert {key for line in lines for key in line} >= {"rejected", "tried", "forced", "away"}
    assert RICH.termination == "completed"
    assert RICH.deals >= 2
    for result in (RICH, SHORT, LOST, FORFEITED):
        check_honest(result)


# --- the verdict ----------------------------------------------------------------------------------


def test_head_is_the_hash_of_the_last_line() -> None:
    last = RICH.record.splitlines(keepends=True)[-1]
    verdict = verify(RICH.record)
    assert verdict.head == head_of(RICH.record) == sha256(last).hexdigest()
    assert verdict.head == RICH.record_hash.hex()


def test_verdict_is_anchored_by_a_head_alone() -> None:
    verdict = verify(RICH.record)
    assert not verdict.is_anchored
    assert verdict.anchored(RICH.record_hash.hex()) == verify(RICH.record, RICH.record_hash.hex())
    assert verdict.anchored("00" * 32).problems


def test_problems_come_by_line_and_not_without_end() -> None:
    lines = RICH.record.splitlines(keepends=True)
    lines[4], lines[20] = lines[20], lines[4]
    problems = verify(b"".join(lines)).problems
    numbers = [problem.line for problem in problems]
    assert numbers == sorted(numbers)
    assert any("line 21" in problem.text for problem in problems)
    assert len(verify(b"x\n" * 10_000).problems) < 200


def test_replay_shows_every_line_with_what_each_may_know() -> None:
    steps = list(replay(read_record(RICH.record)))
    assert [step.number for step in steps] == list(range(1, LAST + 1))
    assert steps[0].line is None
    assert all(len(step.observations) == 4 for step in steps)
    assert {step.observations[-1].hand for step in steps} == {0}
    with pytest.raises(RecordError, match="line 6"):
        list(replay(read_record(RICH.record.replace(b'"discard KD"', b'"discard 7C"'))))


def test_what_is_wrong_before_the_play_leaves_the_rest_empty() -> None:
    assert verify(b"{}\n") == Verdict(
        problems=verify(b"{}\n").problems,
        head=sha256(b"{}\n").hexdigest(),
        lines=1,
    )
