"""Melds and deadwood against OpenSpiel's Gin Rummy, and where that is not the measure.

Both have aces low, an ace of one point and sets of different suits.
"""

import random
from collections import Counter
from collections.abc import Iterable

import pytest

from referee.engine.cards import JOKER, multiset, parse_card
from referee.engine.melding import best_melding, min_deadwood
from referee.engine.melds import meld_tables
from referee.engine.notation import action_text
from referee.engine.presets import make_ruleset
from referee.engine.scoring import hand_points
from referee.engine.state import TableMeld
from tests.engine.reference_melding import least_points
from tests.engine.reference_rules import make_rules
from tests.scale import cases, repeat

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is installed by the extra `oracle`")

FILE = __file__
RULES = make_ruleset("basic")
TABLES = meld_tables(ace_high=False, any_suits=False)
UTILS = pyspiel.gin_rummy.GinRummyUtils(13, 4, 10)


OURS = [parse_card(UTILS.card_string(card).upper()) for card in range(52)]
"""Our card, by theirs."""


def _theirs(text: str) -> list[int]:
    return [UTILS.card_int(card[0] + card[1].lower()) for card in text.split()]


def _cards(theirs: Iterable[int]) -> int:
    return multiset(OURS[card] for card in theirs)


def _random_hand(chance: random.Random) -> list[int]:
    """Up to ten of their cards, as often as not close together."""
    width, first = chance.choice((4, 6, 13, 13)), chance.randrange(13)
    near = [card for card in range(52) if (card - first) % 13 < width]
    return chance.sample(near, chance.randint(1, 10))


def test_cards_and_their_points_are_the_same() -> None:
    assert sorted(OURS) == list(range(JOKER))
    for theirs, ours in enumerate(OURS):
        assert UTILS.card_value(theirs) == hand_points(RULES, 1 << ours)


def test_deadwood_of_up_to_ten_cards() -> None:
    for case in cases(6_000):
        seed = f"deadwood/{case}"
        hand = _random_hand(random.Random(seed))
        text = f"{UTILS.hand_to_string(hand)}; " + repeat(
            FILE, "test_deadwood_of_up_to_ten_cards", seed, case
        )
        ours = best_melding(RULES, _cards(hand))
        assert ours.points == UTILS.min_deadwood(hand), text
        group = UTILS.best_meld_group(hand)
        assert ours.points == UTILS.total_card_value(hand) - UTILS.total_card_value(group), text


def test_melds_of_a_hand() -> None:
    """They list runs of up to five cards; what is longer is a run and some cards laid off."""
    for case in cases(1_000):
        seed = f"melds/{case}"
        hand = _random_hand(random.Random(seed))
        ours = [
            shape.mask
            for shape in TABLES.all_in(_cards(hand))
            if shape.is_set or len(shape.cards) <= 5
        ]
        theirs = [_cards(meld) for meld in UTILS.all_melds(hand)]
        assert Counter(ours) == Counter(theirs), repeat(FILE, "test_melds_of_a_hand", seed, case)


@pytest.mark.parametrize(
    ("hand", "right", "theirs"),
    [
        ("2S 4S 5S 6S 3C 4D 6D 2H 4H 5H 6H", 11, 12),
        ("5S 2C 3C 4C 5C AD 3D 4D 5D 2H 4H", 7, 8),
        ("3S 4S 6S 4C 5C 6C AD 2H 4H 5H 6H", 10, 11),
        ("4S 5S 6S AC 4C 4D 5D 6D 2H 3H 6H", 10, 11),
    ],
)
def test_eleven_cards_before_the_discard(hand: str, right: int, theirs: int) -> None:
    """Of eleven cards they count the best melding less its dearest card left.

    A melding that leaves more, but one dear card among it, can be better after the discard.
    """
    cards = hand.split()
    discarded = [[*cards[:place], *cards[place + 1 :]] for place in range(11)]
    brute = make_rules("basic")
    assert min(least_points(ten, [], brute) for ten in discarded) == right
    assert min(min_deadwood(RULES, _cards(_theirs(" ".join(ten)))) for ten in discarded) == right
    assert min(UTILS.min_deadwood(_theirs(" ".join(ten))) for ten in discarded) == right
    assert UTILS.min_deadwood(_theirs(hand)) == theirs
    # All eleven, with nothing discarded, we and brute force count alike.
    assert min_deadwood(RULES, _cards(_theirs(hand))) == least_points(cards, [], brute)


@pytest.mark.parametrize(
    ("run", "laid", "hand", "theirs"),
    [
        ("JH QH KH", "TH 9H", "8H", ["9H"]),
        ("JH QH KH", "TH 9H 8H", "7H", ["9H"]),
        ("5H 6H 7H", "8H 9H", "TH", ["4H", "9H"]),
        ("5H 6H 7H", "4H 3H", "2H", ["3H", "8H"]),
    ],
)
def test_layoffs_after_layoffs(run: str, laid: str, hand: str, theirs: list[str]) -> None:
    """After two layoffs at one end of a run they offer a card that lies there, not the next."""
    offered = UTILS.all_layoffs([UTILS.meld_to_int(_theirs(run))], _theirs(laid))
    assert sorted(UTILS.card_string(card).upper() for card in offered) == theirs
    assert hand not in theirs
    # The same hand, after the layoffs and before them.
    grown = f"{laid} {run}"
    for lying, held in ((grown, hand), (run, f"{laid} {hand}")):
        table = [TableMeld(1, TABLES.shapes[_cards(_theirs(lying))])]
        melding = best_melding(RULES, _cards(_theirs(held)), table)
        assert melding.points == 0
        assert least_points(held.split(), [tuple(lying.split())], make_rules("basic")) == 0
    table = [TableMeld(1, TABLES.shapes[_cards(_theirs(grown))])]
    [layoff] = best_melding(RULES, _cards(_theirs(hand)), table).layoffs
    assert action_text(layoff, TABLES) == f"lay {hand} on 1"
