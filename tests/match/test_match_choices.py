"""What comes of an answer: plans, indices, ids, rejections and strikes (docs/judgement.md)."""

from collections.abc import Callable

import pytest

from referee.engine.actions import DRAW_STOCK, Action, Verb, discard, meld
from referee.engine.cards import multiset, parse_card
from referee.engine.events import DealEnded, Discarded, Drew, Melded
from referee.match.policy import Policy
from referee.match.seat_player import Choice
from tests.match.fakes import Table, make_spec


def hold(table: Table, text: str, top: str) -> None:
    """Give the seat to act a hand, and put a card on top of the stock."""
    state = table.game.state
    state.hands[table.turn] = multiset(parse_card(word) for word in text.split())
    state.stock[-1] = parse_card(top)


ILLEGAL: dict[str, tuple[Callable[[Table], Choice], str]] = {
    "malformed": (lambda _: Choice(malformed="card 99"), "malformed"),
    "neither plan nor index": (lambda _: Choice(), "malformed"),
    "index too high": (
        lambda table: Choice(index=len(table.player.decision.legal_actions)),
        "bad_index",
    ),
    "negative index": (lambda _: Choice(index=-1), "bad_index"),
    "wrong phase": (lambda table: Choice(plan=[discard(table.own_card())]), "wrong_phase"),
    "too long": (lambda _: Choice(plan=[DRAW_STOCK] * 33), "plan_too_long"),
}


@pytest.mark.parametrize("fault", ILLEGAL)
@pytest.mark.parametrize("seats", [2, 3, 6])
def test_illegal_choice_is_rejected_and_a_strike(seats: int, fault: str) -> None:
    table = Table(make_spec(seats)).begin()
    seat, player, decision = table.turn, table.player, table.player.decision
    make, reason = ILLEGAL[fault]
    hand = table.game.state.hands[seat]
    table.choose(make(table))
    rejected = player.rejections[-1]
    assert (rejected.reason, rejected.decision_id) == (reason, decision.decision_id)
    assert (rejected.applied, rejected.strikes_left) == (0, 2)
    assert rejected.text
    # Nothing changed, and the same seat decides again, under a new number.
    assert (table.turn, table.game.state.hands[seat]) == (seat, hand)
    assert player.decision.decision_id == decision.decision_id + 1
    assert player.decision.legal_actions == decision.legal_actions
    # The rejection comes before the decision that follows it.
    assert player.told.index(rejected) == len(player.told) - 2
    others = [other for number, other in enumerate(table.players) if number != seat]
    assert not any(other.rejections for other in others)


@pytest.mark.parametrize("fault", ILLEGAL)
def test_fourth_illegal_choice_forfeits_with_two_seats(fault: str) -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    for left in (2, 1, 0):
        table.choose(ILLEGAL[fault][0](table))
        assert player.rejections[-1].strikes_left == left
        assert not table.is_over
    table.choose(ILLEGAL[fault][0](table))
    assert table.result.termination == "forfeit"
    assert table.forfeits[seat] == "illegal"
    assert table.forfeits[1 - seat] is None
    assert table.places == ((2, 1) if seat == 0 else (1, 2))
    assert table.result.seats[seat].illegal_strikes == 4
    assert f"bot{seat}" in table.result.text


def test_strikes_last_for_the_match() -> None:
    table = Table(make_spec(seed=3)).begin()
    seat = table.turn
    for _ in range(3):
        table.illegal()
        table.play_turn()
        table.play_until_turn_of(seat)
        assert not table.is_over
    table.illegal()
    assert table.forfeits[seat] == "illegal"


def test_tolerance_is_configurable() -> None:
    table = Table(policy=Policy(illegal_strikes_tolerated=0)).begin()
    seat = table.turn
    table.illegal()
    assert table.forfeits[seat] == "illegal"


def test_choice_after_the_end_is_stale() -> None:
    table = Table(policy=Policy(illegal_strikes_tolerated=0)).begin()
    seat = table.turn
    decision_id = table.player.decision.decision_id
    table.illegal()
    for number in (0, 1):
        told = len(table.players[number].rejections)
        table.match.choose(number, decision_id, Choice(index=0))
        assert [one.reason for one in table.players[number].rejections[told:]] == ["stale_decision"]
    assert table.forfeits[seat] == "illegal"


# --- plans --------------------------------------------------------------------------------------


def test_whole_turn_in_one_plan() -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    table.plan(DRAW_STOCK, discard(table.own_card()))
    assert table.turn != seat
    assert not player.rejections
    assert len(player.decisions) == 1


def test_plan_with_a_meld_and_a_layoff_on_it() -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    hold(table, "7C 7D 7H 7S KC KD", "2S")
    sevens = meld(multiset(parse_card(text) for text in ("7C", "7D", "7H")))
    new_id = len(table.game.state.table) + 1
    lay = Action(Verb.LAY_OFF, multiset([parse_card("7S")]), meld_id=new_id)
    table.plan(DRAW_STOCK, sevens, lay, discard(parse_card("KD")))
    assert not player.rejections
    assert table.turn != seat
    assert table.game.state.hands[seat] == multiset([parse_card("KC"), parse_card("2S")])


def test_plan_that_stops_early_is_followed_by_a_decision() -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    first = player.decision.decision_id
    table.plan(DRAW_STOCK)
    assert (table.turn, player.decision.decision_id) == (seat, first + 1)
    assert not player.rejections
    assert player.decision.observation.hand == table.game.state.hands[seat]
    # The own draw came back as an event.
    assert isinstance(player.updates[-1][1][-1], Drew)


def test_actions_before_the_illegal_one_stand() -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    first = player.decision.decision_id
    table.plan(DRAW_STOCK, DRAW_STOCK, discard(table.own_card()))
    rejected = player.rejections[-1]
    assert (rejected.reason, rejected.applied, rejected.strikes_left) == ("wrong_phase", 1, 2)
    assert (table.turn, player.decision.decision_id) == (seat, first + 1)
    assert player.decision.observation.phase.value == "play"


@pytest.mark.parametrize("seats", [2, 4])
def test_plan_past_the_end_of_the_turn(seats: int) -> None:
    table = Table(make_spec(seats)).begin()
    seat, player = table.turn, table.player
    table.plan(DRAW_STOCK, discard(table.own_card()), DRAW_STOCK)
    rejected = player.rejections[-1]
    assert (rejected.reason, rejected.applied, rejected.strikes_left) == ("plan_past_turn", 2, 2)
    assert table.turn == (seat + 1) % seats
    assert len(table.players[table.turn].decisions) == 1
    assert not table.player.rejections


def test_plan_past_the_end_of_the_deal() -> None:
    table = Table(make_spec(overrides={"target": 300})).begin()
    seat, player = table.turn, table.player
    hold(table, "7C 7D 7H", "2S")
    sevens = meld(multiset(parse_card(text) for text in ("7C", "7D", "7H")))
    table.plan(DRAW_STOCK, sevens, discard(parse_card("2S")), DRAW_STOCK)
    assert player.rejections[-1].reason == "plan_past_turn"
    assert player.rejections[-1].applied == 3
    kinds = [type(event) for event in player.events.values()]
    assert kinds[1:5] == [Drew, Melded, Discarded, DealEnded]
    assert table.game.deal == 2
    assert player.decisions[0].observation.seat == seat


def test_plan_that_goes_out_by_meld() -> None:
    table = Table(make_spec(overrides={"target": 300})).begin()
    player = table.player
    hold(table, "7C 7D 7H", "7S")
    table.plan(DRAW_STOCK, meld(multiset(parse_card(text) for text in ("7C", "7D", "7H", "7S"))))
    assert not player.rejections
    assert table.game.deal == 2


def test_plan_of_32_actions_is_read_and_33_are_not() -> None:
    table = Table().begin()
    player = table.player
    table.plan(*[DRAW_STOCK] * 32)
    assert (player.rejections[-1].reason, player.rejections[-1].applied) == ("wrong_phase", 1)
    table.plan(*[DRAW_STOCK] * 33)
    assert (player.rejections[-1].reason, player.rejections[-1].applied) == ("plan_too_long", 0)
    assert "33" in player.rejections[-1].text


def test_empty_plan_changes_nothing_or_is_refused() -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    hand = table.game.state.hands[seat]
    first = player.decision.decision_id
    table.plan()
    assert (table.turn, table.game.state.hands[seat]) == (seat, hand)
    assert player.decision.decision_id == first + 1


def test_index_plays_that_action() -> None:
    table = Table().begin()
    player = table.player
    assert player.decision.legal_actions[0] == DRAW_STOCK
    table.choose(Choice(index=0))
    last = len(player.decision.legal_actions) - 1
    wanted = player.decision.legal_actions[last]
    table.choose(Choice(index=last))
    table.clock.advance(60)
    discarded = list(player.events.values())[-1]
    assert isinstance(discarded, Discarded)
    assert wanted == discard(discarded.card or 0)


def test_at_most_one_strike_a_choice() -> None:
    table = Table().begin()
    player, seat = table.player, table.turn
    table.plan(*[discard(face) for face in range(20)])
    assert len(player.rejections) == 1
    assert table.match.seats[seat].illegal_strikes == 1


# --- decision ids -------------------------------------------------------------------------------


@pytest.mark.parametrize("decision_id", [0, -1, 2, 99, 2**32 - 1])
def test_unknown_id_is_no_strike_and_changes_nothing(decision_id: int) -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    before = (table.game.state.hands[seat], len(player.updates))
    table.match.choose(seat, decision_id, Choice(index=0))
    rejected = player.rejections[-1]
    assert (rejected.reason, rejected.decision_id) == ("stale_decision", decision_id)
    assert (rejected.strikes_left, rejected.applied) == (None, 0)
    assert (table.game.state.hands[seat], len(player.updates)) == before
    assert table.match.seats[seat].illegal_strikes == 0
    table.play()
    assert not table.is_over


def test_repeated_answer_is_harmless() -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    answered = player.decision.decision_id
    table.plan(DRAW_STOCK)
    hand = table.game.state.hands[seat]
    for _ in range(10):
        table.match.choose(seat, answered, Choice(plan=[DRAW_STOCK]))
    assert [one.strikes_left for one in player.rejections] == [None] * 10
    assert table.game.state.hands[seat] == hand
    assert player.decision.decision_id == answered + 1
    table.play()
    assert table.turn != seat


def test_answer_of_a_seat_that_is_not_asked_is_stale() -> None:
    table = Table(make_spec(3)).begin()
    asked = table.turn
    for seat in range(3):
        if seat == asked:
            continue
        table.match.choose(seat, 1, Choice(index=0))
        assert table.players[seat].rejections[-1].reason == "stale_decision"
        # The text tells nothing about the decision of another seat.
        assert "none is pending" in table.players[seat].rejections[-1].text
    assert table.turn == asked
    assert not table.player.rejections


def test_malformed_answer_to_an_old_decision_is_stale() -> None:
    table = Table().begin()
    player, answered = table.player, table.player.decision.decision_id
    seat = table.turn
    table.plan(DRAW_STOCK)
    table.match.choose(seat, answered, Choice(malformed="nonsense"))
    assert player.rejections[-1].reason == "stale_decision"
    assert table.match.seats[seat].illegal_strikes == 0
