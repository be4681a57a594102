"""Looking back at a record says what the seat was told while the match was played."""

import random
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields

import pytest

from referee.engine.events import Event
from referee.engine.notation import meld_text
from referee.engine.observation import Observation
from referee.match.clock import SeatClock
from referee.match.hindsight import Hindsight, look_back
from referee.match.outcome import Forfeit, MatchResult
from referee.match.record_lines import read_record
from referee.match.seat_player import Choice, Decision, Rejected
from tests.match.fakes import ScriptedPlayer, Table, make_spec
from tests.match.tampering import Trouble, table_of, troubled_table
from tests.scale import cases, repeating


@dataclass(frozen=True)
class Told:
    """A decision as the player got it."""

    observation: Observation
    legal: tuple[str, ...]
    clock: SeatClock


class Noting(ScriptedPlayer):
    """Keeps the clock as it stood when a decision came: the referee's own goes on."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table
        self.asked: dict[int, Told] = {}

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Take note."""
        super().update(first_event_number, events, decision)
        # After a reconnect it comes again, with the clock as it is.
        if decision is not None and decision.decision_id not in self.asked:
            self.asked[decision.decision_id] = Told(
                decision.observation,
                tuple(map(self._table.game.text_of, decision.legal_actions)),
                copy(decision.clock),
            )


def noting(table: Table) -> list[Noting]:
    players = [Noting(table) for _ in table.players]
    for seat, player in zip(table.match.seats, players, strict=True):
        seat.player = player
    table.players[:] = players
    return players


def plain(observation: Observation) -> tuple[object, ...]:
    """All fields; melds, which are equal only to themselves, as text."""
    table = [(meld.meld_id, meld_text(meld)) for meld in observation.table]
    rest = (getattr(observation, one.name) for one in fields(Observation) if one.name != "table")
    return (table, *rest)


def check(back: Hindsight, player: Noting, result: MatchResult, seat: int) -> None:
    own = result.seats[seat]
    for number, one in enumerate(back.decisions, 1):
        told = player.asked[number]
        assert (one.asked.decision_id, one.line.decision_id) == (number, number)
        assert plain(one.asked.observation) == plain(told.observation)
        assert one.asked.clock == told.clock
        if one.line.rejected or not one.line.actions:
            assert tuple(one.asked.legal) == told.legal
        following = player.asked.get(number + 1)
        if following is not None:
            assert one.clock.bank_left_us == following.clock.bank_left_us
        if one.legal:
            assert following is not None or own.forfeit is not None or not result.has_result
            if following is not None:
                assert tuple(one.legal) == following.legal
                assert one.hand == following.observation.hand
    assert back.forfeit == own.forfeit
    late = [one.strikes for one in back.strikes if one.line.rejected == "time_up"]
    refused = [one.strikes for one in back.strikes if one.line.rejected != "time_up"]
    assert late == list(range(1, own.time_strikes + 1))
    assert refused == list(range(1, own.illegal_strikes + 1))
    rejections: list[Rejected] = [one for one in player.rejections if one.strikes_left is not None]
    # The last late answer of a forfeit is not told as a rejection: the match's end is.
    reasons = [one.line.rejected for one in back.strikes]
    assert [one.reason for one in rejections] == reasons[: len(rejections)]
    assert len(reasons) - len(rejections) == (own.forfeit is Forfeit.TIME)
    if back.pending is not None:
        last = max(player.asked, default=0)
        if not back.may_precede_play:
            assert back.pending.decision_id == last == len(back.decisions) + 1
            assert plain(back.pending.observation) == plain(player.asked[last].observation)
            assert tuple(back.pending.legal) == player.asked[last].legal
    for number, deal in enumerate(back.deals, 1):
        assert deal.deal == number
    assert len(back.deals) >= result.deals


def test_troubled_matches_are_seen_as_they_were() -> None:
    test = test_troubled_matches_are_seen_as_they_were.__name__
    seen: set[object] = set()
    for case in cases(150):
        with repeating(__file__, test, str(case), case):
            chance = random.Random(case)
            table = troubled_table(chance)
            players = noting(table)
            result = Trouble(table, chance).play(300)
            record = read_record(result.record)
            for seat, player in enumerate(players):
                back = look_back(record, seat)
                check(back, player, result, seat)
                seen |= {back.forfeit, back.pending is not None}
    if len(list(cases(150))) >= 150:
        assert seen >= {None, True, False, *Forfeit}


@pytest.mark.parametrize("fault", [Forfeit.CRASH, Forfeit.RESIGN, Forfeit.PROTOCOL])
def test_a_forfeit_while_another_is_to_act_leaves_no_decision_waiting(fault: Forfeit) -> None:
    table = table_of(2).begin()
    waiting = 1 - table.turn
    table.match.forfeit(waiting, fault)
    back = look_back(read_record(table.result.record), waiting)
    assert (back.forfeit, back.pending, back.decisive) == (fault, None, None)
    assert back.decisions == ()


def test_only_a_record_that_begins_with_the_forfeit_leaves_open_whether_it_was_asked() -> None:
    for turns in (0, 1):
        table = Table(make_spec()).begin()
        for _ in range(turns):
            table.play_turn()
        seat = table.turn
        table.match.forfeit(seat, Forfeit.CRASH)
        back = look_back(read_record(table.result.record), seat)
        assert back.pending is not None
        assert back.may_precede_play is (turns == 0)


def test_an_illegal_action_in_a_plan_is_shown_with_what_was_legal_then() -> None:
    table = table_of(2).begin()
    seat = table.turn
    draw = table.game.forced_action()
    table.plan(draw, draw)
    table.match.forfeit(seat, Forfeit.RESIGN)
    [one] = look_back(read_record(table.result.record), seat).strikes
    assert one.asked.is_draw
    assert set(one.asked.legal) == {"draw stock", "draw discard"}
    assert all(text.startswith(("discard", "meld")) for text in one.legal)
    assert one.hand.bit_count() == one.asked.observation.hand.bit_count() + 1
    table = table_of(2).begin()
    table.choose(Choice(index=99))
    table.match.forfeit(seat, Forfeit.RESIGN)
    [one] = look_back(read_record(table.result.record), seat).strikes
    assert list(one.legal) == list(one.asked.legal)
