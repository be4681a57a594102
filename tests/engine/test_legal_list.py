"""The bounded list of legal actions: all that it should hold, in the same order, and in no time."""

import random
from collections.abc import Sequence
from hashlib import sha256
from time import process_time

import pytest

from referee.engine.actions import DRAW_STOCK, Action
from referee.engine.cards import multiset, parse_card
from referee.engine.legality import legal_actions, some_legal_actions
from referee.engine.notation import parse_action
from referee.engine.presets import PRESETS, make_ruleset
from referee.engine.shuffle import SeededShuffler
from referee.engine.state import Phase, State
from referee.engine.transition import apply, start_deal
from tests.scale import cases, repeat

WILD = {"wilds": "jokers_and_deuces", "jokers": 4, "wild_swap": True}


def wild_state(hand: str) -> State:
    """A deal in which the seat on turn has this hand, and has drawn a king."""
    state, _ = start_deal(make_ruleset("basic", WILD), [0, 0], shuffler("wild"))
    state.hands[state.turn] = multiset(parse_card(word) for word in hand.split())
    state.stock.append(parse_card("KC"))
    apply(state, DRAW_STOCK)
    return state


def shuffler(seed: str) -> SeededShuffler:
    return SeededShuffler(sha256(seed.encode()).digest())


def with_wild(legal: Sequence[Action]) -> list[Action]:
    return [action for action in legal if action.wilds]


def same_without_cut(state: State, most: int) -> bool:
    """Check a bounded list against the whole one; whether it was cut."""
    whole = list(legal_actions(state))
    some, is_complete = some_legal_actions(state, most)
    if is_complete:
        assert list(some) == whole
        return False
    kept = set(some)
    assert len(kept) == len(some), "each comes once"
    assert [action for action in whole if action in kept] == list(some), "in the same order"
    assert [action for action in whole if not action.wilds or action in kept] == list(some)
    assert len(with_wild(whole)) >= len(with_wild(some))
    assert len(with_wild(some)) <= most
    return True


@pytest.mark.parametrize("preset", PRESETS)
def test_bounded_lists_in_random_play(preset: str) -> None:
    cut = 0
    for case in cases(6):
        seed = f"bounded {preset} {case}"
        chance = random.Random(seed)
        rules = make_ruleset(preset, WILD)
        state, _ = start_deal(rules, [0] * chance.choice((2, 3, 4)), shuffler(seed))
        try:
            while state.phase is not Phase.OVER and state.turns < 60:
                for most in (0, 1, 7, 10_000):
                    cut += same_without_cut(state, most)
                apply(state, chance.choice(some_legal_actions(state, 20)[0]))
        except AssertionError as error:
            raise AssertionError(
                repeat(
                    __file__,
                    f"{test_bounded_lists_in_random_play.__name__}[{preset}]",
                    seed,
                    case,
                )
            ) from error
    assert cut > 20


@pytest.mark.parametrize("most", [500, 60])
def test_a_hand_of_wild_cards_costs_no_more_than_its_bound(most: int) -> None:
    """The whole list of this hand has tens of thousands of entries and takes most of a second."""
    state = wild_state("XX XX XX XX 2C 2D 2H 2S 7H 8H")
    begin = process_time()
    some, is_complete = some_legal_actions(state, most)
    bounded = process_time() - begin
    begin = process_time()
    whole = legal_actions(state)
    complete = process_time() - begin
    assert not is_complete
    assert len(whole) > 20_000
    assert len(with_wild(some)) == most
    assert len(some) - most == len(whole) - len(with_wild(whole))
    assert bounded < complete / 5


def test_layoffs_and_melds_share_the_room() -> None:
    state = wild_state("XX XX XX XX 2C 2D 2H 2S 7H 8H")
    apply(state, parse_action("meld XX=6H 7H 8H"))
    some, is_complete = some_legal_actions(state, 20)
    assert not is_complete
    kinds = [action.verb.value for action in some if action.wilds]
    assert (kinds.count("meld"), kinds.count("lay")) == (10, 10)
