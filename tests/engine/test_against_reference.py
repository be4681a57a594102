"""The engine against the brute-force reference, in random play and at random positions.

At each position both must agree on the state, all legal actions, the forced action and why other
actions are refused; after each deal on the score and on where the match stands.
"""

import random
from hashlib import sha256

import pytest

from referee.engine.presets import make_ruleset
from referee.engine.rule_fields import FIELDS
from referee.engine.ruleset import RuleSetError
from tests.engine.random_positions import near_misses, random_position
from tests.engine.random_rules import PRESETS, TABLES, random_overrides, random_rules
from tests.engine.reference_rules import RulesError, make_rules
from tests.engine.twins import STYLES, TwinMatch, Twins, choose, twins_of_vector
from tests.scale import ALL_CASES, cases, repeat, repeating

FILE = __file__
at_each_table = pytest.mark.parametrize(
    ("preset", "seats"), TABLES, ids=[f"{preset}-{seats}" for preset, seats in TABLES]
)


def _play_deal(chance: random.Random, twins: Twins, most: int, full: float) -> int:
    """Play on to the end of the deal or for `most` actions; compare all at a share of positions."""
    style = chance.choice(STYLES)
    for played in range(most):
        if chance.random() < full:
            legal = twins.compare()
            twins.compare_reasons(near_misses(chance, twins, legal))
        else:
            twins.compare_states()
            legal = sorted(twins.reference.legal_actions())
        if twins.over:
            return played
        twins.do(choose(chance, style, legal, twins.reference.forced()))
    twins.compare()
    return most


@at_each_table
def test_random_deals(preset: str, seats: int) -> None:
    """The first deals of matches under the preset itself and under random options."""
    for case in cases(5):
        seed = f"deals/{preset}/{seats}/{case}"
        chance = random.Random(seed)
        overrides: dict[str, object] = {}
        rules = make_ruleset(preset)
        if case:
            rules, overrides = random_rules(chance, preset, seats)
        with repeating(FILE, f"test_random_deals[{preset}-{seats}]", seed, case):
            match = TwinMatch(rules, overrides, seats, seed, sha256(seed.encode()).digest())
            _play_deal(chance, match.twins, most=60, full=0.5)


@at_each_table
def test_whole_matches(preset: str, seats: int) -> None:
    """Matches with small hands, deal after deal to their end."""
    for case in cases(1):
        seed = f"match/{preset}/{seats}/{case}"
        chance = random.Random(seed)
        _, overrides = random_rules(chance, preset, seats)
        small = {str(number): chance.randint(3, 4) for number in range(2, seats + 1)}
        overrides |= {"hand_size": small, "turn_cap_per_seat": 20}
        rules = make_ruleset(preset, overrides)
        with repeating(FILE, f"test_whole_matches[{preset}-{seats}]", seed, case):
            match = TwinMatch(rules, overrides, seats, seed, sha256(seed.encode()).digest())
            left = 250
            while left > 0:
                left -= _play_deal(chance, match.twins, most=left, full=0.1)
                if match.over or not match.twins.over:
                    break
                match.next_deal()


@at_each_table
def test_random_positions(preset: str, seats: int) -> None:
    """Positions made up at random, near the end of hands, stocks and matches."""
    for case in cases(70):
        seed = f"position/{preset}/{seats}/{case}"
        chance = random.Random(seed)
        rules, overrides = random_rules(chance, preset, seats)
        vector = random_position(chance, rules, overrides, seats)
        with repeating(FILE, f"test_random_positions[{preset}-{seats}]", seed, case):
            twins = twins_of_vector(rules, vector, seed)
            for _ in range(6):
                legal = twins.compare()
                twins.compare_reasons(near_misses(chance, twins, legal))
                if not legal:
                    break
                twins.do(choose(chance, "greedy", legal, twins.reference.forced()))


@pytest.mark.parametrize("preset", PRESETS)
def test_random_rules_are_valid_in_both_or_in_neither(preset: str) -> None:
    refused = 0
    test = f"test_random_rules_are_valid_in_both_or_in_neither[{preset}]"
    for case in cases(400):
        seed = f"rules/{preset}/{case}"
        with repeating(FILE, test, seed, case):
            refused += _refused_by_both(preset, random.Random(seed))
    assert refused or not ALL_CASES


def _refused_by_both(preset: str, chance: random.Random) -> bool:
    overrides = random_overrides(chance, seats=4 if preset == "traditional" else 6)
    for name in chance.sample(sorted(FIELDS), chance.choice((0, 0, 0, 1))):
        overrides[name] = chance.choice((None, True, 0, 2, "none", "unlimited", {"2": 1}, 1.0))
    try:
        make_ruleset(preset, overrides)
        ours: tuple[str, ...] = ()
    except RuleSetError as error:
        ours = error.fields
    try:
        make_rules(preset, overrides)
        theirs: tuple[str, ...] = ()
    except RulesError as error:
        theirs = error.fields
    assert bool(ours) == bool(theirs), f"{overrides}: {ours} and {theirs}"
    return bool(ours)


def test_a_difference_is_reported_with_the_command_that_repeats_it() -> None:
    """A difference, and a crash as well; pytest prints the notes of an error with its text."""
    rules = make_ruleset("basic")
    command = "RUMMY_TEST_CASE=7 python -m pytest 'tests/engine/test_against_reference.py::test_x'"
    twins = TwinMatch(rules, {}, 2, repeat(FILE, "test_x", "a seed", 7), bytes(32)).twins
    twins.compare()
    twins.state.recycles = 1
    with pytest.raises(AssertionError) as raised:
        twins.compare()
    text = str(raised.value)
    assert command in text
    assert "recycles: the engine says 1, the reference 0" in text
    assert "seed 'a seed'" in text
    with pytest.raises(KeyError) as crashed, repeating(FILE, "test_x", "a seed", 7):
        raise KeyError("a crash")
    assert command in crashed.value.__notes__[0]


def test_random_positions_reach_every_reason_and_every_end_of_a_deal() -> None:
    reasons: set[str | None] = set()
    ends: set[str] = set()
    for case in range(400):
        chance = random.Random(f"kinds/{case}")
        preset, seats = chance.choice(TABLES)
        rules, overrides = random_rules(chance, preset, seats)
        twins = twins_of_vector(rules, random_position(chance, rules, overrides, seats), "")
        game = twins.reference
        for _ in range(5):
            legal = sorted(game.legal_actions())
            reasons |= {game.violation(*one) for one in near_misses(chance, twins, legal)}
            ends |= {game.deal_result.ended} if game.deal_result else set()
            if not legal:
                break
            game.do(game.turn, choose(chance, "greedy", legal, None))
    assert ends == {"went_out", "exhausted", "turn_cap"}
    assert len(reasons - {None}) == 16, sorted(map(str, reasons))
