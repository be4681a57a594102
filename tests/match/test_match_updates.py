"""What a seat is told and when: one update a decision, nothing twice, numbers without gaps."""

import random

import pytest

from referee.engine.actions import DRAW_STOCK, discard
from referee.engine.events import DealEnded, DealStarted, Discarded, Drew, Recycled
from referee.match.seat_player import Rejected
from tests.match.fakes import ScriptedPlayer, Table, make_spec


def events_of(player: ScriptedPlayer, update: int = -1) -> list[type]:
    return [type(event) for event in player.updates[update][1]]


def test_first_update_has_the_deal_and_the_decision() -> None:
    table = Table().begin()
    player = table.player
    assert len(player.updates) == 1
    first, events, decision = player.updates[0]
    assert (first, [type(event) for event in events]) == (1, [DealStarted])
    assert decision is not None
    assert decision.decision_id == 1
    assert decision.observation.seat == table.turn
    # The other seat waits.
    assert not table.players[1 - table.turn].updates


def test_events_wait_for_the_decision_of_their_recipient() -> None:
    table = Table().begin()
    other = table.players[1 - table.turn]
    table.plan(DRAW_STOCK)
    table.clock.advance(30)
    assert not other.updates
    table.play()
    assert len(other.updates) == 1
    assert events_of(other) == [DealStarted, Drew, Discarded]
    assert other.updates[0][2] is not None


def test_own_events_come_with_the_next_decision() -> None:
    table = Table().begin()
    seat, player = table.turn, table.player
    table.plan(DRAW_STOCK, discard(table.own_card()))
    assert len(player.updates) == 1
    table.clock.advance(20)
    table.play_turn()
    assert table.turn == seat
    assert len(player.updates) == 2
    assert events_of(player) == [Drew, Discarded, Drew, Discarded]


def test_events_do_not_wait_longer_than_50_ms() -> None:
    table = Table(make_spec(3)).begin()
    seat = table.turn
    third = table.players[(seat + 2) % 3]
    table.clock.advance(49)
    assert not third.updates
    table.clock.advance(1)
    assert (events_of(third), third.updates[-1][2]) == ([DealStarted], None)
    table.plan(DRAW_STOCK)
    table.clock.advance(10)
    table.play()
    table.clock.advance(39)
    assert len(third.updates) == 1
    table.clock.advance(1)
    assert events_of(third) == [Drew, Discarded]
    # Nothing new: nothing is said.
    table.clock.advance(500)
    assert len(third.updates) == 2


def test_deal_end_is_told_to_all_at_once() -> None:
    table = Table(make_spec(3, seed=2, overrides={"target": 300})).begin()
    while table.game.deal == 1:
        table.play()
    for player in table.players:
        assert any(isinstance(event, DealEnded) for event in player.events.values())
    # The next deal's beginning is only with the seat to act so far.
    begun = [
        any(isinstance(event, DealStarted) and event.deal == 2 for event in player.events.values())
        for player in table.players
    ]
    assert begun == [seat == table.turn for seat in range(3)]


def test_no_update_carries_two_deals() -> None:
    table = Table(make_spec(seed=6, overrides={"match_end": "fixed_deals", "deals": 3})).begin()
    while not table.is_over:
        table.play_turn()
    for player in table.players:
        for update in range(len(player.updates)):
            kinds = events_of(player, update)
            assert DealEnded not in kinds[:-1]
            assert DealStarted not in kinds[1:]


@pytest.mark.parametrize(
    ("preset", "seats"),
    [("basic", 2), ("standard", 3), ("traditional", 4), ("classic", 5), ("standard-wta", 6)],
)
@pytest.mark.parametrize("seed", [11, 12])
def test_numbers_have_no_gap_and_every_event_comes_once(preset: str, seats: int, seed: int) -> None:
    """Random play with pauses, illegal tries and reconnects; repeat with the seed in the name."""
    chance = random.Random(f"{preset} {seats} {seed}")
    overrides: dict[str, object] = {"match_end": "fixed_deals", "deals": 2}
    table = Table(make_spec(seats, preset, overrides, seed=seed)).begin()
    spoilt = [0] * seats
    while not table.is_over:
        seat = table.turn
        if chance.random() < 0.1:
            table.clock.advance(chance.choice((5, 30, 55)))
        if chance.random() < 0.02 and spoilt[seat] < 3:
            spoilt[seat] += 1
            table.illegal()
        if chance.random() < 0.02:
            back = chance.randrange(seats)
            table.match.connection_lost(back)
            table.match.connection_back(back)
        legal = table.player.decision.legal_actions
        if chance.random() < 0.5:
            table.plan(chance.choice(legal))
        else:
            table.play()
    whole = list(table.players[0].events.values())
    assert {type(event) for event in whole} >= {DealStarted, Drew, Discarded, DealEnded}
    assert whole[-1].__class__ is DealEnded
    for player in table.players:
        # `events` has checked that a number always means the same event.
        assert list(player.events) == list(range(1, len(whole) + 1))
        assert list(player.events.values()) == whole
        ids = [decision.decision_id for decision in player.decisions]
        assert sorted(set(ids)) == list(range(1, len(set(ids)) + 1))
        assert ids == sorted(ids)
        for _, events, decision in player.updates:
            assert events or decision is not None, "an empty update"


def test_at_most_one_update_for_each_decision() -> None:
    table = Table(make_spec(seed=9, overrides={"match_end": "fixed_deals", "deals": 2})).begin()
    while not table.is_over:
        told = [len(player.updates) for player in table.players]
        deal, seat = table.game.deal, table.turn
        table.play()
        if table.results or table.game.deal != deal:
            continue
        new = [
            len(player.updates) - before for player, before in zip(table.players, told, strict=True)
        ]
        assert new == [number == table.turn for number in range(2)], f"after an answer of {seat}"


def test_a_rejection_brings_one_decision_and_no_event() -> None:
    table = Table().begin()
    player = table.player
    table.illegal()
    assert [type(one) for one in player.told[-2:]] == [Rejected, tuple]
    assert (player.updates[-1][1], player.updates[-1][2] is not None) == ([], True)


def test_recycle_is_an_event_of_all() -> None:
    table = Table(make_spec(2, "standard", seed=5)).begin()
    while table.game.state.recycles == 0:
        table.play_turn()
    table.clock.advance(60)
    for player in table.players:
        assert any(isinstance(event, Recycled) for event in player.events.values())


def test_match_end_comes_last() -> None:
    table = Table(make_spec(3, overrides={"match_end": "fixed_deals", "deals": 1})).begin()
    while not table.is_over:
        table.play_turn()
    for player in table.players:
        assert player.told[-1] is table.result
        assert isinstance(player.updates[-1][1][-1], DealEnded)
        assert player.starts == 1
