"""Three to six seats: who forfeits is played by forced actions to the end and placed last."""

from collections.abc import Callable

import pytest

from referee.engine.events import Discarded, Drew, Melded
from referee.match.outcome import Forfeit
from referee.match.policy import Policy, final_places
from referee.match.seat_player import Choice
from referee.match.spec import TimeControl
from tests.match.fakes import Table, lines_of, make_spec

CONTROL = TimeControl(per_decision_ms=1_000, bank_ms=0, reconnect_ms=500)
SHORT = {"match_end": "fixed_deals", "deals": 2}


def started(seats: int, seed: int = 1) -> Table:
    spec = make_spec(seats, overrides=SHORT, control=CONTROL, seed=seed)
    return Table(spec, policy=Policy(illegal_strikes_tolerated=0, time_strikes_tolerated=0)).begin()


def be_illegal(table: Table, seat: int) -> None:
    table.play_until_turn_of(seat)
    table.illegal()


def be_late(table: Table, seat: int) -> None:
    table.play_until_turn_of(seat)
    table.clock.advance(1_000)


def be_gone(table: Table, seat: int) -> None:
    table.match.connection_lost(seat)
    table.play_until_turn_of(seat)
    table.clock.advance(1_500)


def crash(table: Table, seat: int) -> None:
    table.match.connection_lost(seat)
    table.match.forfeit(seat, Forfeit.CRASH)


def resign(table: Table, seat: int) -> None:
    table.match.forfeit(seat, Forfeit.RESIGN)
    table.match.connection_lost(seat)


FAULTS: dict[str, Callable[[Table, int], None]] = {
    "illegal": be_illegal,
    "time": be_late,
    "disconnect": be_gone,
    "crash": crash,
    "resign": resign,
}


def play_out(table: Table) -> None:
    for _ in range(3_000):
        if table.is_over:
            return
        table.play_turn()
    pytest.fail("the match does not end")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seats", [3, 4, 6])
def test_forfeiting_seat_is_played_to_the_end_and_placed_last(seats: int, fault: str) -> None:
    table = started(seats)
    seat = (table.turn + 1) % seats
    FAULTS[fault](table, seat)
    assert not table.is_over
    assert table.match.seats[seat].forfeit == fault
    asked = len(table.players[seat].decisions)
    play_out(table)
    assert table.result.termination == "completed"
    assert table.forfeits == tuple(fault if number == seat else None for number in range(seats))
    assert table.places[seat] == seats
    assert seats not in [place for number, place in enumerate(table.places) if number != seat]
    # It is asked nothing any more, but the others see it draw from the stock and discard.
    assert len(table.players[seat].decisions) == asked
    watcher = table.players[(seat + 1) % seats]
    own = [event for event in watcher.events.values() if getattr(event, "seat", None) == seat]
    assert {type(event) for event in own} == {Drew, Discarded}
    assert not any(isinstance(event, Melded) for event in own)


@pytest.mark.parametrize("seats", [3, 5])
def test_forced_actions_are_those_of_the_engine(seats: int) -> None:
    table = started(seats)
    seat = table.turn
    table.match.forfeit(seat, Forfeit.RESIGN)
    lines = lines_of(table.match._record.content)
    expected = [line for line in lines if line["kind"] == "forced"]
    assert [line["seat"] for line in expected] == [seat]
    assert len(expected[0]["actions"]) == 2
    assert expected[0]["actions"][0] == "draw stock"
    assert expected[0]["actions"][1].startswith("discard ")


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (2, 0), (3, 1)])
def test_earlier_forfeits_are_placed_lower(order: tuple[int, int]) -> None:
    table = started(4)
    for seat in order:
        resign(table, seat)
    play_out(table)
    assert [table.places[seat] for seat in order] == [4, 3]


@pytest.mark.parametrize("seats", [3, 6])
def test_one_seat_left_ends_the_match(seats: int) -> None:
    table = started(seats)
    faults = [be_late, be_illegal, crash, resign, be_gone]
    for seat, fault in zip(range(seats - 1), faults, strict=False):
        assert not table.is_over
        fault(table, seat)
    assert table.result.termination == "forfeit"
    assert table.places == (*range(seats, 1, -1), 1)
    assert table.forfeits[-1] is None


def test_late_connection_of_a_forfeited_seat_does_not_bring_it_back() -> None:
    table = started(3)
    seat = (table.turn + 1) % 3
    crash(table, seat)
    table.match.connection_back(seat)
    table.play_turn()
    assert table.turn == (seat + 1) % 3
    table.match.choose(seat, 1, Choice(index=0))
    assert table.players[seat].rejections[-1].reason == "stale_decision"
    play_out(table)
    assert table.forfeits[seat] == "crash"


def test_second_fault_of_a_forfeited_seat_changes_nothing() -> None:
    table = started(3)
    resign(table, 0)
    table.match.forfeit(0, Forfeit.CRASH)
    table.match.forfeit(0, Forfeit.PROTOCOL)
    play_out(table)
    assert table.forfeits[0] == "resign"
    kinds = [line["kind"] for line in lines_of(table.result.record)]
    assert kinds.count("forfeit") == 1


def test_forfeited_seats_do_not_count_among_the_connected() -> None:
    table = started(3)
    table.match.forfeit(0, Forfeit.PROTOCOL)
    table.match.connection_lost(1)
    assert not table.is_over
    table.match.connection_lost(2)
    assert table.result.termination == "aborted"
    assert table.forfeits == ("protocol", None, None)
    assert table.places == (0, 0, 0)


# --- the beginning ------------------------------------------------------------------------------


def test_late_seat_forfeits_and_the_others_play() -> None:
    table = Table(make_spec(3, overrides=SHORT))
    table.match.start()
    table.match.ready(0)
    table.match.ready(2)
    table.clock.advance(10_000)
    assert not table.is_over
    play_out(table)
    assert table.forfeits == (None, "startup", None)
    assert table.places[1] == 3


def test_only_one_ready_wins() -> None:
    table = Table(make_spec(4))
    table.match.start()
    table.match.ready(2)
    table.clock.advance(10_000)
    assert table.result.termination == "forfeit"
    assert table.forfeits == ("startup", "startup", None, "startup")
    assert table.places[2] == 1


def test_nobody_ready_is_no_result() -> None:
    table = Table(make_spec(6))
    table.match.start()
    table.clock.advance(10_000)
    assert table.result.termination == "not_started"
    assert (table.places, table.forfeits) == ((0,) * 6, (None,) * 6)


@pytest.mark.parametrize("seats", [3, 4])
def test_one_leaves_and_the_others_are_never_ready(seats: int) -> None:
    table = Table(make_spec(seats))
    table.match.start()
    table.match.forfeit(0, Forfeit.RESIGN)
    table.clock.advance(10_000)
    # `result` checks that it was told once; nobody who was never ready may have won.
    assert table.result.termination == "not_started"
    assert not table.result.has_result
    kinds = [line["kind"] for line in lines_of(table.result.record)]
    assert kinds[-1] == "match_ended"


def test_resign_before_the_deal_is_settled_with_the_others_ready() -> None:
    table = Table(make_spec(3, overrides=SHORT))
    table.match.start()
    table.match.ready(1)
    table.match.ready(2)
    table.match.forfeit(0, Forfeit.RESIGN)
    assert table.players[1].events
    play_out(table)
    assert table.forfeits == ("resign", None, None)
    assert table.places[0] == 3


# --- places -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("standing", "forfeited", "places"),
    [
        ((1, 2, 3), (), (1, 2, 3)),
        ((1, 1, 3), (), (1, 1, 3)),
        ((1, 2, 3), (0,), (3, 1, 2)),
        ((2, 2, 1, 4), (2,), (1, 1, 4, 3)),
        ((1, 2, 3, 4), (3, 0), (3, 1, 2, 4)),
        ((1, 1, 1, 1, 1, 1), (4, 2, 0, 1, 5), (4, 3, 5, 1, 6, 2)),
    ],
)
def test_final_places(
    standing: tuple[int, ...], forfeited: tuple[int, ...], places: tuple[int, ...]
) -> None:
    assert final_places(standing, forfeited) == places
