"""What a seat is told depends only on what it may know (docs/rules.md 8, number 9).

Near the end of hands, stocks and matches, where every reason of rejection comes up.
"""

import random
from collections import Counter
from typing import Any

import pytest

from referee.engine.actions import MalformedAction, Reason
from referee.engine.cards import FACES, cards_of, parse_card
from referee.engine.events import Discarded
from referee.engine.legality import legal_actions, violation
from referee.engine.notation import parse_action
from referee.engine.observation import observe, view
from referee.engine.presets import make_ruleset
from referee.engine.state import State
from referee.engine.transition import apply, forced_action
from referee.engine.vector_position import load_position
from referee.engine.wilds import wild_faces
from tests.engine.hidden_cards import with_hidden_cards_swapped
from tests.engine.random_positions import near_misses, random_position
from tests.engine.random_rules import TABLES, random_rules
from tests.engine.twins import Twins, choose, twins_of_vector
from tests.scale import ALL_CASES, cases, repeating

FILE = __file__


def _others_know_more(state: State, twin: State) -> bool:
    """Whether the twin differs at all: another seat holds, or the stock hides, something else."""
    return twin.hands != state.hands or twin.stock != state.stock


def _compare(chance: random.Random, twins: Twins, seen: Counter[str]) -> None:
    """Try near misses and legal actions as every seat, with the cards that it cannot see moved."""
    state = twins.state
    legal = sorted(twins.reference.legal_actions())
    texts = {text for _, text in near_misses(chance, twins, legal)} | set(legal[:60])
    actions = []
    for text in sorted(texts):
        try:
            actions.append(parse_action(text))
        except MalformedAction:
            continue
    for seat in (None, *range(state.seats)):
        knows = [] if seat is None else [seat]
        for _ in range(2):
            twin = with_hidden_cards_swapped(chance, state, knows)
            assert observe(twin, seat) == observe(state, seat)
            if seat is None:
                continue
            moved = _others_know_more(state, twin)
            for action in actions:
                reason = violation(state, seat, action)
                assert violation(twin, seat, action) is reason, (seat, action)
                seen[reason.value if reason else "legal"] += moved
            if seat == state.turn:
                assert list(legal_actions(twin)) == list(legal_actions(state))
                if legal:  # A position made up at random may be one that no turn can lead to.
                    assert forced_action(twin) == forced_action(state)


def _note(state: State, seen: Counter[str]) -> None:
    rules = state.rules
    seen[rules.preset] += 1
    hand = state.hands[state.turn]
    seen["a wild in hand"] += bool(hand & wild_faces(rules))
    seen["a wild on the table"] += any(laid.wilds for laid in state.table)
    seen["copies in hand"] += hand != hand & FACES
    seen["a high ace"] += rules.ace == "high_or_low" and any(not c % 13 for c in cards_of(hand))


@pytest.mark.parametrize(("preset", "hidden"), [("traditional", True), ("basic", False)])
def test_the_last_discard_lies_face_down_or_not(preset: str, hidden: bool) -> None:
    vector: dict[str, Any] = {
        "rules": {"preset": preset},
        "seats": 2,
        "position": {"hands": ["KC", "QC"], "phase": "play", "turn": 0, "discard": "8C 9D"},
    }
    state = load_position(make_ruleset(preset), vector)
    events = apply(state, parse_action("discard KC"))
    discarded, shown = events[0], [parse_card("8C"), parse_card("9D")]
    for seat in (None, 0, 1):
        seen = view(discarded, seat)
        assert isinstance(seen, Discarded)
        assert seen.card == (None if hidden and seat != 0 else parse_card("KC"))
        assert seen.hidden is hidden
        wanted = shown if hidden else [*shown, parse_card("KC")]
        assert list(observe(state, seat).discards) == wanted


@pytest.mark.parametrize("part", range(3))
def test_near_misses_are_refused_for_what_is_known(part: int) -> None:
    seen: Counter[str] = Counter()
    for case in cases(250):
        seed = f"hidden/{part}/{case}"
        chance = random.Random(seed)
        preset, seats = chance.choice(TABLES)
        rules, overrides = random_rules(chance, preset, seats)
        vector: dict[str, Any] = random_position(chance, rules, overrides, seats)
        with repeating(FILE, f"test_near_misses_are_refused_for_what_is_known[{part}]", seed, case):
            twins = twins_of_vector(rules, vector, seed)
            for _ in range(3):
                _compare(chance, twins, seen)
                _note(twins.state, seen)
                legal = sorted(twins.reference.legal_actions())
                if not legal:
                    break
                twins.do(choose(chance, "greedy", legal, None))
    if ALL_CASES:
        wanted = {reason.value for reason in Reason} - {"malformed"}
        wanted |= {preset for preset, _ in TABLES} | {
            *("legal", "a wild in hand", "a wild on the table", "copies in hand", "a high ace")
        }
        assert {name for name in wanted if not seen[name]} == set()
