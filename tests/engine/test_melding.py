"""The best melding against trying everything, and what it says in corners."""

import random
from collections.abc import Iterable, Sequence
from time import process_time

import pytest

from referee.engine.cards import cards_of, cards_text, full_deck, multiset, parse_card
from referee.engine.legality import violation
from referee.engine.melding import Melding, best_melding, min_deadwood
from referee.engine.melds import meld_tables
from referee.engine.notation import action_text, parse_cards
from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.engine.scoring import hand_points
from referee.engine.shuffle import SeededShuffler
from referee.engine.state import Phase, State, TableMeld
from referee.engine.transition import apply
from tests.engine.random_rules import TABLES, random_rules
from tests.engine.reference_cards import DEUCES, JOKER, RANKS, SUITS, meaning
from tests.engine.reference_melding import faults, least_points
from tests.engine.reference_melds import Meld, all_melds
from tests.engine.reference_rules import Rules, make_rules
from tests.scale import cases, repeat

FILE = __file__
FREE = {
    "same_card_discard": "unless_last",
    "max_melds_per_turn": None,
    "layoff_gate": "none",
    "go_out": "any",
}
"""Nothing but the cards restricts what is laid."""


def _cards(faces: Iterable[str]) -> int:
    return multiset(map(parse_card, faces))


def _table(table: Sequence[Meld], rules: RuleSet) -> list[TableMeld]:
    tables = meld_tables(ace_high=rules.ace == "high_or_low", any_suits=rules.set_suits == "any")
    return [
        TableMeld(
            number,
            tables.shapes[_cards(map(meaning, meld))],
            tuple(sorted(parse_cards(" ".join(meld))[1])),
        )
        for number, meld in enumerate(table, start=1)
    ]


def _texts(melding: Melding) -> tuple[list[str], list[str], str]:
    """Melds, layoffs and deadwood as text."""
    tables = meld_tables(ace_high=True, any_suits=True)
    return (
        [action_text(action, tables) for action in melding.melds],
        [action_text(action, tables) for action in melding.layoffs],
        cards_text(cards_of(melding.deadwood)),
    )


def _laid(text: str) -> Meld:
    """The cards of an action's text."""
    return tuple(text.partition(" ")[2].partition(" on ")[0].split())


def _check(
    hand: list[str], table: list[Meld], both: tuple[RuleSet, Rules], case: str, *, own: bool = False
) -> Melding:
    """Fail unless the melding can be laid and leaves no more points than brute force does."""
    ours, theirs = both
    melding = best_melding(ours, _cards(hand), _table(table, ours))
    melds, layoffs, deadwood = _texts(melding)
    told = f"{hand} on {table} under {ours.to_dict()}: {melds} {layoffs} | {deadwood}; {case}"
    placed = [(_laid(text), int(text.rpartition(" ")[2])) for text in layoffs]
    found = faults(hand, table, [*map(_laid, melds)], placed, deadwood.split(), theirs)
    assert not found, f"{found}: {told}"
    assert melding.points == hand_points(ours, melding.deadwood), told
    least = least_points(hand, table, theirs, on_new_melds=own)
    assert melding.points == least, f"{melding.points} points instead of {least}: {told}"
    return melding


def _apply(rules: RuleSet, hand: list[str], table: list[Meld], melding: Melding) -> int:
    """Play the actions; the hand that they leave."""
    state = State(
        rules=rules, deal=1, dealer=1, totals=(0, 0), out=(), shuffler=SeededShuffler(bytes(32)),
        hands=[_cards(hand), _cards(["KS"])], stock=[0, 1, 2], discards=bytearray([3]),
        table=_table(table, rules), turn=0, played=[False, False], phase=Phase.PLAY,
    )  # fmt: skip
    for action in (*melding.melds, *melding.layoffs):
        assert violation(state, 0, action) is None, action
        apply(state, action)
    return state.hands[0]


def _random_rules(chance: random.Random, **more: object) -> tuple[RuleSet, Rules]:
    """Rules of any family, but free in the course of a turn and with `more` fields as given."""
    while True:
        preset, seats = chance.choice(TABLES)
        overrides = random_rules(chance, preset, seats)[1] | FREE | more
        try:
            return make_ruleset(preset, overrides), make_rules(preset, overrides)
        except RuleSetError:  # Without the jokers a hand may be too big.
            continue


def _random_hand(chance: random.Random, size: int, wilds: int, rules: Rules) -> list[str]:
    """Cards of one or two packs, often close together, and so many wild ones among them."""
    width, first = chance.choice((3, 4, 6, 13, 13)), chance.randrange(13)
    suits = chance.sample(SUITS, chance.choice((1, 2, 3, 4, 4)))
    ranks = (RANKS + RANKS)[first : first + width]
    plain = [rank + suit for rank in ranks for suit in suits] * chance.randint(1, 2)
    plain = [face for face in plain if face not in rules.wild_faces()]
    wild = [face for face in (JOKER, *DEUCES) if face in rules.wild_faces()] * 2
    return [
        *chance.sample(plain, min(size, len(plain))),
        *chance.sample(wild, min(wilds, len(wild))),
    ]


def _random_table(chance: random.Random, hand: list[str], rules: Rules) -> list[Meld]:
    """Up to three melds next to cards of the hand; here and there a wild card in one."""
    shapes = [shape for shape in all_melds(rules.ace, rules.set_suits) if len(shape) <= 5]
    near = [shape for shape in shapes if set(shape) & {*hand, hand[0][0] + "C"}]
    table = chance.choices(near or shapes, k=chance.choice((0, 0, 1, 2, 3)))
    if JOKER in rules.wild_faces() and table:
        table[0] = (f"{JOKER}={table[0][0]}", *table[0][1:])
    return table


def test_natural_hands() -> None:
    for case in cases(1_500):
        seed = f"natural/{case}"
        chance = random.Random(seed)
        both = _random_rules(chance)
        hand = _random_hand(chance, chance.randint(1, 13), 0, both[1])
        table = _random_table(chance, hand, both[1])
        _check(hand, table, both, repeat(FILE, "test_natural_hands", seed, case))


@pytest.mark.parametrize("wilds", ["jokers", "deuces", "jokers_and_deuces"])
def test_hands_with_wild_cards(wilds: str) -> None:
    for case in cases(150):
        seed = f"{wilds}/{case}"
        chance = random.Random(seed)
        jokers = 0 if wilds == "deuces" else 4
        both = _random_rules(chance, wilds=wilds, jokers=jokers, wild_swap=False)
        number = chance.randint(1, 3)
        hand = _random_hand(chance, chance.randint(1, 6 - number), number, both[1])
        table = _random_table(chance, hand, both[1])[:1]
        text = repeat(FILE, f"test_hands_with_wild_cards[{wilds}]", seed, case)
        melding = _check(hand, table, both, text)
        assert _apply(both[0], hand, table, melding) == melding.deadwood, text


def test_layoffs_on_melds_of_its_own_save_no_points() -> None:
    for case in cases(60):
        seed = f"own/{case}"
        chance = random.Random(seed)
        wilds, jokers = chance.choice((("none", 0), ("jokers_and_deuces", 3)))
        both = _random_rules(chance, wilds=wilds, jokers=jokers, wild_swap=False)
        hand = _random_hand(chance, chance.randint(1, 6), chance.randint(0, 2), both[1])
        text = repeat(FILE, "test_layoffs_on_melds_of_its_own_save_no_points", seed, case)
        _check(hand, [], both, text, own=True)


BASIC = "basic"
HIGH = {"ace": "high_or_low", "ace_points": 15}
ANY = {"set_suits": "any"}
WILD = {"wilds": "jokers_and_deuces", "jokers": 4}


@pytest.mark.parametrize(
    ("overrides", "hand", "table", "melds", "layoffs", "deadwood"),
    [
        ({}, "", [], [], [], ""),
        ({}, "7C 7D KH", [], [], [], "7C 7D KH"),
        ({}, "7C 7D 7H 8H 9H", [], ["meld 7H 8H 9H"], [], "7C 7D"),
        ({}, "7C 7D 7H 8H 9H TH", [], ["meld 7C 7D 7H", "meld 8H 9H TH"], [], ""),
        # The 7 of hearts goes where the most points leave.
        ({}, "7C 7D 7H 5H 6H", [], ["meld 7C 7D 7H"], [], "5H 6H"),
        ({}, "AH QH KH", [], [], [], "AH QH KH"),
        (HIGH, "AH QH KH", [], ["meld QH KH AH"], [], ""),
        (ANY, "7H 7H 7C 7C", [], ["meld 7C 7C 7H 7H"], [], ""),
        ({}, "7H 7H 7C 7C", [], [], [], "7C 7C 7H 7H"),
        # Two packs: one run in each copy.
        ({}, "4C 5C 6C 4C 5C 6C", [], ["meld 4C 5C 6C", "meld 4C 5C 6C"], [], ""),
        # One layoff of three cards, of which two fit only after the others.
        ({}, "9H TH", [("JH", "QH", "KH")], [], ["lay 9H TH on 1"], ""),
        ({}, "8H TH", [("JH", "QH", "KH")], [], ["lay TH on 1"], "8H"),
        ({}, "5H 9H", [("6H", "7H", "8H")], [], ["lay 5H 9H on 1"], ""),
        ({}, "8C 8D", [("8C", "8H", "8S"), ("9C", "TC", "JC")], [],
         ["lay 8D on 1", "lay 8C on 2"], ""),
        # Of equal points the fewest cards, then the fewest actions, then the fewest layoffs.
        ({}, "AD 2D 3D 3S 3H 4H 5H 6H", [], ["meld AD 2D 3D", "meld 3H 4H 5H 6H"], [], "3S"),
        ({}, "2C 2H 2S 3C 3D 3H 3S 4S", [], ["meld 2C 2H 2S", "meld 3C 3D 3H 3S"], [], "4S"),
        ({}, "4C 5C 6C 7C 8C 9C", [], ["meld 4C 5C 6C 7C 8C 9C"], [], ""),
        ({}, "8H 9H TH", [("JH", "QH", "KH")], ["meld 8H 9H TH"], [], ""),
        # A new meld needs two natural cards, a layoff none.
        (WILD, "7H XX XX", [], [], [], "7H XX XX"),
        (WILD, "XX", [("7C", "7D", "7H")], [], ["lay XX=7S on 1"], ""),
        (WILD, "7H 7C XX", [], ["meld 7C XX=7D 7H"], [], ""),
        # A deuce in its own place is natural.
        (WILD, "2C 3C XX", [], ["meld XX=AC 2C 3C"], [], ""),
        (WILD, "2C 2D XX", [], ["meld 2C 2D XX=2H"], [], ""),
        (WILD, "2C 2D 2H", [], ["meld 2C 2D 2H"], [], ""),
        # No run has room for all fourteen.
        (WILD | {"wilds": "jokers"}, "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC XX", [],
         ["meld AC 2C 3C", "meld XX=3C 4C 5C 6C 7C 8C 9C TC JC QC KC"], [], ""),
    ],
)  # fmt: skip
def test_examples(
    overrides: dict[str, object],
    hand: str,
    table: list[Meld],
    melds: list[str],
    layoffs: list[str],
    deadwood: str,
) -> None:
    both = make_ruleset(BASIC, overrides), make_rules(BASIC, overrides)
    melding = _check(hand.split(), table, both, hand)
    assert _texts(melding) == (melds, layoffs, deadwood)


def test_points_alone() -> None:
    rules = make_ruleset(BASIC)
    hand = _cards(["7C", "7D", "7H", "KS", "AC"])
    assert min_deadwood(rules, hand) == 11
    assert min_deadwood(rules, hand, _table([("2C", "3C", "4C")], rules)) == 10


def test_the_brute_force_finds_faults() -> None:
    rules = make_rules(BASIC, WILD)
    sets: list[Meld] = [("7C", "7D", "7H")]
    assert faults(["7C", "7D", "7H", "KS"], [], sets, [], ["KS"], rules) == []
    assert faults(["7C", "7D", "7H", "KS"], [], sets, [], [], rules)
    assert faults(["7C", "7D", "8H"], [], [("7C", "7D", "8H")], [], [], rules)
    assert faults(["7C", "XX", "XX"], [], [("7C", "XX=7D", "XX=7H")], [], [], rules)
    assert faults(["7C", "8C", "3C"], [], [("7C", "8C", "3C=9C")], [], [], rules)
    assert faults(["2C", "3C", "4C"], [], [("2C=2C", "3C", "4C")], [], [], rules)
    assert faults(["7S"], sets, [], [(("7S",), 1)], [], rules) == []
    assert faults(["8S"], sets, [], [(("8S",), 1)], [], rules)
    assert least_points(["7S", "8S"], sets, rules) == 8
    assert least_points(["7C", "7D", "XX"], [], rules) == 0


def test_it_is_quick() -> None:
    """Bounded here for a busy machine; `referee bench engine` measures it."""
    chance = random.Random("quick")
    rules, deck = make_ruleset(BASIC), full_deck(1, 0)
    hands = [multiset(chance.sample(deck, 10)) for _ in range(2_000)]
    begin = process_time()
    for hand in hands:
        best_melding(rules, hand)
    assert (process_time() - begin) / len(hands) < 300e-6
    rules = make_ruleset(BASIC, WILD)
    begin = process_time()
    for plain in (["9C", "TC"], ["9C", "9D"], ["3C", "KD"]):
        best_melding(rules, _cards([*plain, *DEUCES, *[JOKER] * 4]))
    assert process_time() - begin < 0.15
