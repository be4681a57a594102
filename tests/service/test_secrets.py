"""No leak: what a seat is sent is the same, byte for byte, whatever it may not know.

Two matches go on from positions that differ only in other hands, the order of the stock, and what
the other seats tried in vain and how long they thought. The check itself is checked with leaks
that are planted on purpose.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from referee.engine import game as game_module
from referee.engine import transition as transition_module
from referee.engine.actions import DRAW_STOCK, Action, Reason, Verb, discard
from referee.engine.cards import cards_of
from referee.engine.events import Discarded, Drew, Event
from referee.engine.legality import some_legal_actions, violation
from referee.engine.observation import Observation, observe, view
from referee.engine.state import Phase, State
from referee.match import runner as runner_module
from referee.match.policy import Policy
from referee.match.seat import Seat
from referee.match.seat_player import Choice
from referee.service import messages as messages_module
from referee.service.messages import MatchMessages
from tests.engine.random_rules import TABLES
from tests.service.hidden import (
    Position,
    WireTable,
    ends_deal,
    random_action,
    random_positions,
    some_action,
    twin_events,
    twin_state,
)

PER_TABLE = 110
PLANTED = 300


def first_difference(one: Sequence[bytes], other: Sequence[bytes]) -> str | None:
    """Where two sequences of messages differ."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return f"message {number}: {a.hex()} or {b.hex()}"
    return None if len(one) == len(other) else f"{len(one)} or {len(other)} messages"


def leak(position: Position, seat: int, chance: random.Random) -> str | None:
    """Play on from a position and its twin; how what `seat` is sent differs, or None."""
    state = position.state
    if seat == state.turn:
        return _leak_on_own_turn(position, chance)
    return _leak_while_waiting(position, seat, chance)


def _tables(
    position: Position, seat: int, twin: State, chance: random.Random
) -> tuple[WireTable, WireTable]:
    events = twin_events(position.events, seat, chance)
    return (
        WireTable(position.spec, position.state.copy(), position.events),
        WireTable(position.spec, twin, events),
    )


def _leak_on_own_turn(position: Position, chance: random.Random) -> str | None:
    """Three tries at random, then something legal."""
    state = position.state
    seat = state.turn
    tries = [random_action(chance, state, seat) for _ in range(6)]
    refused = [one for one in tries if violation(state, seat, one) is not None][:3]
    action = some_action(chance, state)
    # Its own draw shows the seat a card: that card is none of its secrets.
    twin = twin_state(state, seat, chance, top=action is DRAW_STOCK)
    one, other = _tables(position, seat, twin, chance)
    plans = [(refusal,) for refusal in refused]
    if not ends_deal(state, action):
        plans.append((action,))
    for table in (one, other):
        for plan in plans:
            table.answer(seat, *plan)
            table.clock.advance(1)
        table.clock.advance(60)
    return first_difference(one.players[seat].sent, other.players[seat].sent)


def _leak_while_waiting(position: Position, seat: int, chance: random.Random) -> str | None:
    """The seat on turn of the twin thinks longer, and tries in vain; then both do the same."""
    state = position.state
    actor = state.turn
    action = some_action(chance, state)
    twin = twin_state(state, seat, chance, actor_keeps=action.used)
    one, other = _tables(position, seat, twin.copy(), chance)
    vain = [random_action(chance, twin, actor) for _ in range(6)]
    for refused in [one for one in vain if violation(twin, actor, one) is not None][:3]:
        other.answer(actor, refused)
        other.clock.advance(chance.choice((0, 1, 9)))
    is_playable = violation(twin, actor, action) is None
    for table in (one, other):
        table.answer(seat, DRAW_STOCK)
        if is_playable and not ends_deal(state, action):
            table.answer(actor, action)
        table.clock.advance(60)
    return first_difference(one.players[seat].sent, other.players[seat].sent)


def leaks(positions: Iterable[Position], seed: str) -> list[str]:
    """All differences in some positions, each with what repeats it."""
    chance = random.Random(seed)
    found = []
    for position in positions:
        seat = chance.choice((position.state.turn, chance.randrange(position.state.seats)))
        difference = leak(position, seat, chance)
        if difference is not None:
            found.append(f"{position.case}, seen by seat {seat}: {difference}")
    return found


@pytest.mark.parametrize(("preset", "seats"), TABLES)
def test_nothing_leaks(preset: str, seats: int) -> None:
    found = leaks(random_positions("secrets", preset, seats, PER_TABLE), "seat")
    assert not found, "\n".join(found[:5])


def test_hidden_final_discard_stays_hidden() -> None:
    """All hands are shown at the end of a deal, but not what the winner discarded last."""
    assert not hidden_discard_leaks()


def hidden_discard_leaks() -> list[str]:
    chance = random.Random("final discard")
    found = []
    for preset, seats in (("traditional", 2), ("traditional", 4), ("basic", 6), ("standard", 3)):
        for position in random_positions("final", preset, seats, 40, hidden=True):
            state = position.state
            if len(set(state.stock)) < 2:
                continue
            actor = state.turn
            state.phase, state.taken = Phase.PLAY, None
            cards = chance.sample(sorted(set(state.stock)), 2)
            sent: dict[int, list[list[bytes]]] = {seat: [] for seat in range(seats)}
            for card in cards:
                last = state.copy()
                last.hands[actor] = 1 << card
                table = WireTable(position.spec, last, ())
                table.answer(actor, discard(card))
                assert table.game.deal == 2 or table.match.result, position.case
                table.clock.advance(60)
                for seat in range(seats):
                    sent[seat].append(table.players[seat].sent)
            found += [
                f"{position.case}, seat {seat}: {difference}"
                for seat in range(seats)
                if seat != actor
                for difference in (first_difference(*sent[seat]),)
                if difference is not None
            ]
    return found


def test_match_starting_tells_nothing_of_the_other_seats() -> None:
    position = next(iter(random_positions("start", "basic", 4, 1)))
    spec = position.spec
    for seat in range(4):
        others = tuple(
            one if number == seat else replace(one, randomness=bytes([number + 1]) * 32)
            for number, one in enumerate(spec.seats)
        )
        first = MatchMessages(spec, Policy()).match_starting(seat)
        assert first == MatchMessages(replace(spec, seats=others), Policy()).match_starting(seat)
        assert spec.secret not in first
        assert spec.salt not in first
        assert spec.seats[seat].randomness in first


# --- leaks on purpose ---------------------------------------------------------------------------


def _leaky_draw(event: Event, seat: int | None) -> Event:
    return event if isinstance(event, Drew) else view(event, seat)


def _leaky_start(event: Event, seat: int | None) -> Event:
    return event if not isinstance(event, Drew) else view(event, seat)


def _leaky_discard(event: Event, seat: int | None) -> Event:
    return event if isinstance(event, Discarded) else view(event, seat)


def _leaky_stock(state: State, seat: int | None) -> Observation:
    seen = observe(state, seat)
    return replace(seen, recycles=seen.recycles + sum(state.stock[-1:]) % 2)


def _leaky_hand(state: State, seat: int | None) -> Observation:
    seen = observe(state, seat)
    others = [hand for number, hand in enumerate(state.hands) if number != seat]
    return replace(seen, turns=seen.turns + sum(sum(cards_of(hand)) for hand in others) % 2)


def _leaky_count(state: State, seat: int | None) -> Observation:
    """Counts of the other hands, wrong by one with an odd number of low cards."""
    seen = observe(state, seat)
    counts = [hand.bit_count() + (hand & 0x1F).bit_count() % 2 for hand in state.hands]
    return replace(seen, hand_counts=tuple(counts))


def _leaky_violation(state: State, seat: int, action: Action) -> Reason | None:
    reason = violation(state, seat, action)
    owned = [hand for number, hand in enumerate(state.hands) if number != seat]
    if reason is Reason.CARD_NOT_IN_HAND and any(action.used & hand for hand in owned):
        return Reason.NOT_YOUR_TURN
    return reason


def _leaky_legal(state: State, most_wild: int) -> tuple[Sequence[Action], bool]:
    legal, is_complete = some_legal_actions(state, most_wild)
    return legal[::-1] if state.stock and state.stock[0] % 2 else legal, is_complete


@pytest.mark.parametrize(
    ("module", "name", "leaky"),
    [
        (messages_module, "view", _leaky_draw),
        (messages_module, "view", _leaky_start),
        (game_module, "observe", _leaky_stock),
        (game_module, "observe", _leaky_hand),
        (game_module, "observe", _leaky_count),
        (transition_module, "violation", _leaky_violation),
        (game_module, "some_legal_actions", _leaky_legal),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value),
)
def test_planted_leak_is_found(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, leaky: object
) -> None:
    monkeypatch.setattr(module, name, leaky)
    found = leaks(random_positions("planted", "basic", 3, PLANTED), "planted")
    assert found, f"{name} leaks and nobody notices"


def test_planted_leak_of_the_final_discard_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages_module, "view", _leaky_discard)
    assert hidden_discard_leaks()


def test_planted_common_numbering_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions numbered over all seats would tell how often the others were refused."""
    ask = runner_module.Match._ask

    def ask_with_common_numbers(match: runner_module.Match, seat: Seat) -> None:
        seat.decision_id = max(one.decision_id for one in match.seats)
        ask(match, seat)

    monkeypatch.setattr(runner_module.Match, "_ask", ask_with_common_numbers)
    assert leaks(random_positions("planted", "basic", 3, PLANTED), "planted")


def test_planted_clock_of_another_seat_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of one seat shown to another."""
    choose = runner_module.Match.choose

    def choose_and_charge_all(
        match: runner_module.Match, number: int, decision_id: int, choice: Choice
    ) -> None:
        choose(match, number, decision_id, choice)
        for seat in match.seats:
            seat.clock.charged_us = max(one.clock.charged_us for one in match.seats)

    monkeypatch.setattr(runner_module.Match, "choose", choose_and_charge_all)
    assert leaks(random_positions("planted", "basic", 3, PLANTED), "planted")


def test_every_kind_of_action_is_compared() -> None:
    """The positions are not all alike: each kind of action is played by seat and by others."""
    chance = random.Random("kinds")
    kinds = set()
    for preset, seats in TABLES:
        for position in random_positions("secrets", preset, seats, PER_TABLE):
            kinds.add(some_action(chance, position.state).verb)
    assert kinds == set(Verb)
