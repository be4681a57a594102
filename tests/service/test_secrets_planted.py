"""The check for leaks finds those that are planted: in events, observations, numbers, clocks."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from referee.engine import game as game_module
from referee.engine import transition as transition_module
from referee.engine.actions import Action, Reason
from referee.engine.cards import cards_of
from referee.engine.events import DealStarted, Discarded, Drew, Event
from referee.engine.legality import some_legal_actions, violation
from referee.engine.observation import Observation, observe, view
from referee.engine.state import State
from referee.match.news import News
from referee.match.runner import Match
from referee.match.seat import Seat
from referee.match.seat_player import Choice
from referee.service import messages as messages_module
from referee.service import spectators as spectators_module
from referee.service.messages import MatchMessages
from tests.service import hidden
from tests.service.hidden_pair import LeakFound, play

PLANTED = 4_000
"""Positions in which a leak must show: a twenty-fifth of what is compared for real."""


def finds_leak(preset: str = "basic", seats: int = 3) -> bool:
    """Whether a planted leak is found within as many positions as are hardly worth mentioning."""
    compared = case = 0
    seen: Counter[str] = Counter()
    try:
        while compared < PLANTED:
            compared += play(random.Random(f"planted/{case}"), preset, seats, seen)
            case += 1
    except LeakFound:
        return True
    return False


def test_no_leak_is_found_where_none_is_planted() -> None:
    assert not finds_leak()


# --- leaks on purpose ---------------------------------------------------------------------------


def _leaky_draw(event: Event, seat: int | None) -> Event:
    return event if isinstance(event, Drew) else view(event, seat)


def _leaky_start(event: Event, seat: int | None) -> Event:
    return view(event, None if seat is None else 0) if isinstance(event, DealStarted) else event


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


def _leaky_discard_pile(state: State, seat: int | None) -> Observation:
    return replace(observe(state, seat), discards=bytes(state.discards))


def _leaky_spectator(state: State, seat: int | None) -> Observation:
    return observe(state, state.turn if seat is None else seat)


_UPDATE = spectators_module.EventLog.update


def _all_hands(log: spectators_module.EventLog, after: int, *, whole: bool) -> tuple[bytes, int]:
    return _UPDATE(log, after, whole=not whole)


def _leaky_violation(state: State, seat: int, action: Action) -> Reason | None:
    reason = violation(state, seat, action)
    owned = [hand for number, hand in enumerate(state.hands) if number != seat]
    if reason is Reason.CARD_NOT_IN_HAND and any(action.used & hand for hand in owned):
        return Reason.NOT_YOUR_TURN
    return reason


def _leaky_legal(state: State, most_wild: int) -> tuple[Sequence[Action], bool]:
    legal, is_complete = some_legal_actions(state, most_wild)
    return legal[::-1] if state.stock and state.stock[0] % 2 else legal, is_complete


def _leaky_complete(state: State, most_wild: int) -> tuple[Sequence[Action], bool]:
    legal, is_complete = some_legal_actions(state, most_wild)
    return legal, is_complete and bool(sum(state.hands) % 2)


@pytest.mark.parametrize(
    ("module", "name", "leaky"),
    [
        (messages_module, "view", _leaky_draw),
        (messages_module, "view", _leaky_start),
        (hidden, "view", _leaky_draw),
        (spectators_module, "view", _leaky_draw),
        (spectators_module.EventLog, "update", _all_hands),
        (game_module, "observe", _leaky_spectator),
        (game_module, "observe", _leaky_stock),
        (game_module, "observe", _leaky_hand),
        (game_module, "observe", _leaky_count),
        (transition_module, "violation", _leaky_violation),
        (game_module, "some_legal_actions", _leaky_legal),
        (game_module, "some_legal_actions", _leaky_complete),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value),
)
def test_planted_leak_is_found(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, leaky: object
) -> None:
    monkeypatch.setattr(module, name, leaky)
    assert finds_leak(), f"{name} leaks and nobody notices"


def test_planted_leak_of_the_final_discard_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages_module, "view", _leaky_discard)
    assert finds_leak("traditional", 2)


# --- what a match may tell of the other seats ---------------------------------------------------

_ASK = Match._ask
_CHOOSE = Match.choose
_APPLY_CHOICE = Match._apply_choice
_ADD = News.add
_STARTING = MatchMessages.match_starting


def _common_decision_numbers(match: Match, seat: Seat) -> None:
    """Decisions numbered over all seats would tell how often the others were refused."""
    seat.decision_id = max(one.decision_id for one in match.seats)
    _ASK(match, seat)


def _event_numbers_count_decisions(match: Match, seat: Seat) -> None:
    match._news._earlier += max(one.decision_id for one in match.seats) % 2
    _ASK(match, seat)


def _charged_to_all(match: Match, number: int, decision_id: int, choice: Choice) -> None:
    """The time of one seat shown to another."""
    _CHOOSE(match, number, decision_id, choice)
    for seat in match.seats:
        seat.clock.charged_us = max(one.clock.charged_us for one in match.seats)


def _last_charged_to_all(match: Match, number: int, decision_id: int, choice: Choice) -> None:
    _CHOOSE(match, number, decision_id, choice)
    for seat in match.seats:
        seat.clock.last_charged_us = match.seats[number].clock.last_charged_us


def _forgiven_to_all(match: Match, number: int, decision_id: int, choice: Choice) -> None:
    _CHOOSE(match, number, decision_id, choice)
    for seat in match.seats:
        seat.clock.last_forgiven_us = match._forgiven_us


def _one_bank(match: Match, number: int, decision_id: int, choice: Choice) -> None:
    _CHOOSE(match, number, decision_id, choice)
    for seat in match.seats:
        seat.clock.bank_left_us = min(one.clock.bank_left_us for one in match.seats)


def _pending_of_others(match: Match, number: int, decision_id: int, choice: Choice) -> None:
    """Who answers out of turn is told what the other seat's decision is."""
    seat = match.seats[number]
    if match._to_act not in (None, seat):
        text = f"the pending one is {match._to_act.decision_id}"
        seat.reject("stale_decision", text, decision_id=decision_id)
    else:
        _CHOOSE(match, number, decision_id, choice)


def _common_strikes(match: Match, seat: Seat, choice: Choice) -> None:
    seat.illegal_strikes = max(one.illegal_strikes for one in match.seats)
    _APPLY_CHOICE(match, seat, choice)


def _refusal_told_to_all(match: Match, seat: Seat, choice: Choice) -> None:
    before = seat.illegal_strikes
    _APPLY_CHOICE(match, seat, choice)
    if seat.illegal_strikes > before:
        for other in match.seats:
            if other is not seat:
                other.reject("malformed", "another seat was refused", decision_id=0)


def _flushed_on_refusal(match: Match, seat: Seat, choice: Choice) -> None:
    """When events are told depends on whether somebody else was refused."""
    before = seat.illegal_strikes
    _APPLY_CHOICE(match, seat, choice)
    if seat.illegal_strikes > before:
        match._news.tell_all()


def _news_wait_for_the_card(news: News, events: Sequence[Event]) -> None:
    """How soon events are told depends on the card that was drawn."""
    drawn = next((one.card for one in events if isinstance(one, Drew)), None)
    news._wait_us = 50_000 + 1_000 * ((drawn or 0) % 2)
    _ADD(news, events)


def _randomness_of_seat_0(messages: MatchMessages, seat: int) -> bytes:
    first = messages._spec.seats[0]
    seats = tuple(replace(one, randomness=first.randomness) for one in messages._spec.seats)
    messages._spec = replace(messages._spec, seats=seats)
    return _STARTING(messages, seat)


@pytest.mark.parametrize(
    ("owner", "name", "leaky"),
    [
        (Match, "_ask", _common_decision_numbers),
        (Match, "_ask", _event_numbers_count_decisions),
        (Match, "choose", _charged_to_all),
        (Match, "choose", _last_charged_to_all),
        (Match, "choose", _forgiven_to_all),
        (Match, "choose", _one_bank),
        (Match, "choose", _pending_of_others),
        (Match, "_apply_choice", _common_strikes),
        (Match, "_apply_choice", _refusal_told_to_all),
        (Match, "_apply_choice", _flushed_on_refusal),
        (News, "add", _news_wait_for_the_card),
        (MatchMessages, "match_starting", _randomness_of_seat_0),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value),
)
def test_planted_leak_of_the_match_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, leaky: object
) -> None:
    monkeypatch.setattr(owner, name, leaky)
    assert finds_leak(), f"{owner.__name__}.{name} leaks and nobody notices"
