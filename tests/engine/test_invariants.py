"""The invariants of docs/rules.md 8, in play by hypothesis under all presets and options."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from hashlib import sha256
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.engine.actions import (
    DISCARDS,
    DRAW_DISCARD,
    DRAW_STOCK,
    Action,
    IllegalAction,
    Verb,
    Wild,
    lay_off,
    meld,
    swap,
)
from referee.engine.cards import JOKER, cards_of, full_deck, multiset
from referee.engine.events import DealEnded
from referee.engine.game import RummyGame
from referee.engine.legality import legal_actions, violation
from referee.engine.notation import meld_text
from referee.engine.observation import has_secret, observe, view
from referee.engine.ruleset import RuleSet
from referee.engine.state import Phase, State, TableMeld
from referee.engine.transition import apply, forced_action
from tests.engine.hidden_cards import with_hidden_cards_swapped
from tests.engine.random_rules import TABLES, random_rules
from tests.engine.twins import engine_state
from tests.scale import repeatable

SECRET = bytes(range(32))


@st.composite
def games(draw: st.DrawFn) -> tuple[RummyGame, random.Random]:
    """The first deal of a match of any preset, number of seats and options, and chance for it."""
    chance = random.Random(draw(st.integers(0, 2**32 - 1)))
    preset, seats = draw(st.sampled_from(TABLES))
    rules, _ = random_rules(chance, preset, seats)
    dealer = chance.randrange(seats)
    return RummyGame(rules, seats, chance.randbytes(32), dealer), chance


def _cards_on(target: TableMeld) -> list[int]:
    """The cards that lie in a meld, wild ones by their own face."""
    meanings = Counter(cards_of(target.shape.mask))
    meanings.subtract(to for _, to in target.wilds)
    return [*meanings.elements(), *(face for face, _ in target.wilds)]


def _all_cards(state: State) -> Counter[int]:
    named = Counter([*state.stock, *state.discards])
    for hand in state.hands:
        named.update(cards_of(hand))
    for target in state.table:
        named.update(_cards_on(target))
    return named


def _plain(value: Any) -> object:
    """An event or observation with its melds as text, so that equal ones are equal."""
    if isinstance(value, TableMeld):
        return value.meld_id, meld_text(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if is_dataclass(value):
        return type(value), [_plain(getattr(value, one.name)) for one in fields(value)]
    return value


def _pick(chance: random.Random, legal: Sequence[Action]) -> Action:
    plays = [action for action in legal if action.verb is not Verb.DISCARD]
    return chance.choice(plays if plays and chance.random() < 0.6 else list(legal))


def _check_turn_start(state: State, rules: RuleSet, seats: int) -> None:
    dealt = seats * rules.hand_size[seats]
    whole = 52 * rules.packs[seats] + rules.jokers
    assert len(state.stock) + len(state.discards) == whole - dealt
    assert all(state.hands)


def _grew(before: TableMeld, after: TableMeld, action: Action, hand: int) -> bool:
    """Whether a meld is the same, or grew by a layoff, or had a wild replaced by the named card."""
    assert before.meld_id == after.meld_id
    if before is after:
        return True
    if action.verb is Verb.LAY_OFF:
        added = Counter(_cards_on(after)) - Counter(_cards_on(before))
        return (
            before.shape.mask & after.shape.mask == before.shape.mask
            and multiset(added.elements()) == action.used
            and action.used & hand == action.used
        )
    assert action.verb is Verb.SWAP
    gone = Counter(before.wilds) - Counter(after.wilds)
    return before.shape is after.shape and [to for _, to in gone.elements()] == cards_of(
        action.used
    )


@repeatable
@given(games())
def test_a_deal_keeps_every_invariant(played: tuple[RummyGame, random.Random]) -> None:
    game, chance = played
    state, rules = game.state, game.rules
    seats = state.seats
    everything = Counter(full_deck(rules.packs[seats], rules.jokers))
    for _ in range(300):
        assert _all_cards(state) == everything
        limit = rules.recycles_allowed
        assert limit is None or state.recycles <= limit
        if state.phase is Phase.DRAW:
            _check_turn_start(state, rules, seats)
        legal = legal_actions(state)
        assert bool(legal) == (state.phase is not Phase.OVER)
        if not legal:
            assert game.deal_score().termination is state.ended
            break
        assert forced_action(state) in legal
        assert forced_action(state).verb is not Verb.MELD
        action = _pick(chance, legal)
        table, hand = list(state.table), state.hands[state.turn]
        apply(state, action)
        for before, after in zip(table, state.table, strict=False):
            assert _grew(before, after, action, hand)
        assert len(state.table) == len(table) + (action.verb is Verb.MELD)
        assert all(state.tables.shapes[laid.shape.mask] is laid.shape for laid in state.table)


# --- the legal list and what is accepted ----------------------------------------------------------


def _meanings(chance: random.Random, state: State, faces: Sequence[int]) -> Action:
    """Cards as a new meld or layoff, some of them with meanings, wild or not."""
    near = [
        face for laid in state.table for face in (*laid.shape.cards, *cards_of(laid.shape.mask))
    ]
    near += [face for face in cards_of(state.hands[state.turn]) if face != JOKER]
    naturals, wilds = [], list[Wild]()
    for face in faces:
        wild = face == JOKER or (face % 13 == 1 and chance.random() < 0.5)
        to = chance.choice(near) + chance.choice((-1, 0, 0, 1, 13)) if near else 0
        if wild and chance.random() < 0.95:
            wilds.append((face, to % 52))
        else:
            naturals.append(face)
    target = chance.randint(0, len(state.table) + 1)
    if target == 0 or chance.random() < 0.3:
        return meld(multiset(naturals), tuple(sorted(wilds)))
    return lay_off(target, multiset(naturals), tuple(sorted(wilds)))


def _universe(chance: random.Random, state: State) -> list[Action]:
    """Well-formed actions: all small ones, and many of the cards of the hand and a few others."""
    hand = cards_of(state.hands[state.turn])
    places = range(len(state.table) + 2)
    found = [DRAW_STOCK, DRAW_DISCARD, *DISCARDS]
    found += [swap(place, card) for place in places for card in (*set(hand), JOKER, 7)]
    found += [lay_off(place, 1 << card) for place in places for card in set(hand)]
    for size in (2, 3):
        for some in list(combinations(hand, size))[:120]:
            found.append(meld(multiset(some)))
            found += [lay_off(place, multiset(some)) for place in places[1:4]]
    for size in (1, 2, 3, 3, 4, 5) if hand else ():
        for _ in range(8):
            some = tuple(chance.choices(hand, k=size)) if chance.random() < 0.3 else ()
            some = some or tuple(chance.sample(hand, min(size, len(hand))))
            found.append(_meanings(chance, state, some))
    return found


def _is_accepted(state: State, action: Action) -> bool:
    """Apply to a copy; a refused action must change nothing."""
    twin = state.copy()
    before = engine_state(twin)
    reason = violation(state, state.turn, action)
    if reason is None:
        apply(twin, action)
        assert engine_state(state) == before
        return True
    with pytest.raises(IllegalAction) as raised:
        apply(twin, action)
    assert (raised.value.action, raised.value.reason) == (action, reason)
    assert twin == state
    assert engine_state(twin) == before
    return False


@repeatable
@given(games())
def test_an_action_is_accepted_exactly_if_it_is_in_the_legal_list(
    played: tuple[RummyGame, random.Random],
) -> None:
    game, chance = played
    state = game.state
    for _ in range(25):
        legal = legal_actions(state)
        assert len(set(legal)) == len(legal)
        known = set(legal)
        tried = _universe(chance, state)
        for action in tried:
            assert (violation(state, state.turn, action) is None) == (action in known), action
        for action in [*legal[:40], *chance.sample(tried, 20)]:
            assert _is_accepted(state, action) == (action in known), action
        for seat in range(state.seats):
            if seat != state.turn:
                assert all(violation(state, seat, action) is not None for action in legal)
        if not legal:
            break
        for _ in range(chance.randint(1, 6)):
            if legal_actions(state):
                apply(state, _pick(chance, legal_actions(state)))


# --- hidden cards ---------------------------------------------------------------------------------


@repeatable
@given(games())
def test_equal_observations_give_equal_answers(played: tuple[RummyGame, random.Random]) -> None:
    """Whatever a seat tries, the answer depends only on what it may know."""
    game, chance = played
    state = game.state
    for _ in range(60):
        seat = chance.randrange(state.seats)
        twin = with_hidden_cards_swapped(chance, state, {seat})
        assert observe(twin, seat) == observe(state, seat)
        spectated = with_hidden_cards_swapped(chance, state, set())
        assert observe(spectated, None) == observe(state, None)
        mine = state.hands[seat]
        tries = [action for action in _universe(chance, state) if action.used & mine == action.used]
        for action in [*tries[:150], *legal_actions(state)]:
            assert violation(twin, seat, action) is violation(state, seat, action), action
        if seat == state.turn:
            assert list(legal_actions(twin)) == list(legal_actions(state))
            if state.phase is not Phase.OVER:
                assert forced_action(twin) == forced_action(state)
        if not legal_actions(state):
            break
        apply(state, _pick(chance, legal_actions(state)))


@repeatable
@given(games())
def test_what_is_sent_depends_only_on_what_may_be_known(
    played: tuple[RummyGame, random.Random],
) -> None:
    """Change cards that neither the seat on turn nor the watcher holds: the same events arrive."""
    game, chance = played
    state = game.state
    for _ in range(80):
        legal = legal_actions(state)
        if not legal:
            break
        action = _pick(chance, legal)
        watcher = chance.choice([None, *range(state.seats)])
        knows = {state.turn} if watcher is None else {state.turn, watcher}
        twin = with_hidden_cards_swapped(chance, state, knows)
        if action is DRAW_STOCK and state.turn == watcher:
            twin = state.copy()
        sent, twin_sent = apply(state, action), apply(twin, action)
        if not any(isinstance(event, DealEnded) for event in sent):
            shown = [_plain(view(event, watcher)) for event in sent]
            assert shown == [_plain(view(event, watcher)) for event in twin_sent]
            assert _plain(observe(state, watcher)) == _plain(observe(twin, watcher))
        for event in sent:
            if not has_secret(event):
                assert all(view(event, seat) is event for seat in (None, *range(state.seats)))


@repeatable
@given(games())
def test_a_seat_is_shown_its_own_hand_and_no_other(
    played: tuple[RummyGame, random.Random],
) -> None:
    game, _ = played
    started = game.start()[0]
    for seat in (None, *range(game.state.seats)):
        shown = view(started, seat)
        hands = [hand if owner == seat else None for owner, hand in enumerate(game.state.hands)]
        assert getattr(shown, "hands", None) == tuple(hands)
        assert observe(game.state, seat).hand == (0 if seat is None else game.state.hands[seat])


# --- records --------------------------------------------------------------------------------------


@repeatable
@given(games())
def test_the_same_actions_from_the_same_secret_give_the_same_states(
    played: tuple[RummyGame, random.Random],
) -> None:
    """A whole match is played, then played again from its list of actions."""
    game, chance = played
    secret = sha256(chance.randbytes(8)).digest()
    dealer = game.state.dealer
    first = RummyGame(game.rules, game.state.seats, secret, dealer)
    again = RummyGame(game.rules, game.state.seats, secret, dealer)
    assert first.start() == again.start()
    for _ in range(400):
        assert engine_state(first.state) == engine_state(again.state)
        assert list(first.legal_actions()) == list(again.legal_actions())
        if first.to_act is not None:
            action = _pick(chance, first.legal_actions())
            ours, theirs = first.apply(action), again.apply(action)
            assert list(map(_plain, ours)) == list(map(_plain, theirs))
            continue
        assert first.deal_score() == again.deal_score()
        assert first.standing() == again.standing()
        if first.standing().over:
            break
        assert first.next_deal() == again.next_deal()


@pytest.mark.parametrize("dealer", [-1, 2])
def test_a_match_needs_a_dealer_at_the_table(dealer: int) -> None:
    chance = random.Random(0)
    with pytest.raises(ValueError, match="seats 0–1"):
        RummyGame(random_rules(chance, "basic", 2)[0], 2, SECRET, dealer)
