"""How many plays wild cards, high aces and two packs make: by brute force and by the engine.

One seat is on turn after a draw and nothing bars it; plays are counted by how many wild cards
they hold. All numbers are pinned; those of jokers in a whole pack also follow from a formula.
"""

from collections import Counter
from math import comb
from typing import Any

import pytest

from referee.engine.actions import Verb
from referee.engine.legality import legal_actions
from referee.engine.presets import make_ruleset
from referee.engine.vector_position import load_position
from tests.engine.reference_rules import make_rules
from tests.engine.reference_vectors import load

RANKS = "A23456789TJQK"
PACK = " ".join(rank + suit for suit in "CDHS" for rank in RANKS)
HEARTS = " ".join(rank + "H" for rank in RANKS)
JOKERS = "wilds=jokers jokers=4"
DEUCES = "wilds=deuces jokers=0"
BOTH = "wilds=jokers_and_deuces jokers=4"
HIGH = " ace=high_or_low"
ANY = " set_suits=any"

# Options, hand, melds on the table, then melds and layoffs with 0, 1, 2, … wild cards.
Counts = tuple[int, ...]
CASES: dict[str, tuple[str, str, list[str], Counts, Counts]] = {
    "a pair and a joker": (JOKERS, "7C 7D XX", [], (0, 2), ()),
    "two neighbours and a joker": (JOKERS, "7H 8H XX", [], (0, 2), ()),
    "a gap and a joker": (JOKERS, "7H 9H XX", [], (0, 1), ()),
    "ace and king with a joker, ace low": (JOKERS, "AH KH XX", [], (), ()),
    "ace and king with a joker, ace high": (JOKERS + HIGH, "AH KH XX", [], (0, 1), ()),
    "a pair and two jokers": (JOKERS, "7C 7D XX XX", [], (0, 2, 1), ()),
    "a pair and two jokers, any suits": (JOKERS + ANY, "7C 7D XX XX", [], (0, 4, 10), ()),
    "a pair of one face and two jokers, any suits": (
        JOKERS + ANY,
        "7C 7C XX XX",
        [],
        (0, 4, 10),
        (),
    ),
    "a pair of one face and two jokers": (JOKERS, "7C 7C XX XX", [], (), ()),
    "a suit and two jokers": (JOKERS, HEARTS + " XX XX", [], (66, 418, 1320), ()),
    "a suit and two jokers, ace high": (JOKERS + HIGH, HEARTS + " XX XX", [], (76, 493, 1602), ()),
    "a suit and four jokers, ace high": (
        JOKERS + HIGH,
        HEARTS + " XX XX XX XX",
        [],
        (76, 493, 1602, 3662, 6231),
        (),
    ),
    "a suit with its wild deuce": (DEUCES, HEARTS, [], (66, 255), ()),
    "a suit with its wild deuce, ace high": (DEUCES + HIGH, HEARTS, [], (76, 330), ()),
    "a suit and two more deuces, ace high": (
        DEUCES + HIGH,
        HEARTS + " 2C 2D",
        [],
        (77, 1319, 7320, 13728),
        (),
    ),
    "three natural deuces": (DEUCES, "2C 2D 2H", [], (1, 3), ()),
    "A-2-3 of one suit": (DEUCES, "AC 2C 3C", [], (1,), ()),
    "four deuces of two packs and Q-K": (DEUCES, "KH QH 2C 2C 2D 2H", [], (1, 11, 9, 12, 12), ()),
    "two copies of a deuce, any suits": (DEUCES + ANY, "9C 9C 2D 2D", [], (0, 4, 10), ()),
    "joker and deuce": (BOTH, "9C TC XX 2D", [], (0, 4, 6), ()),
    "joker and deuce, ace high": (BOTH + HIGH, "QC KC XX 2C", [], (0, 4, 4), ()),
    "two packs, any suits, a rank twice and a joker": (
        JOKERS + ANY,
        "7C 7C 7D 7D 7H 7H 7S 7S XX",
        [],
        (35, 104),
        (),
    ),
    "two packs, distinct suits, a rank twice and a joker": (
        JOKERS,
        "7C 7C 7D 7D 7H 7H 7S 7S XX",
        [],
        (5, 16),
        (),
    ),
    "a joker laid off on a run": (JOKERS, "XX KS", ["5H 6H 7H"], (), (0, 2)),
    "two jokers laid off on a run": (JOKERS, "XX XX KS", ["5H 6H 7H"], (), (0, 2, 3)),
    "two jokers laid off on Q-K-A": (JOKERS + HIGH, "XX XX KS", ["QH KH AH"], (), (0, 1, 1)),
    "two jokers laid off on J-Q-K, ace low": (JOKERS, "XX XX KS", ["JH QH KH"], (), (0, 1, 1)),
    "two jokers laid off on J-Q-K, ace high": (
        JOKERS + HIGH,
        "XX XX KS",
        ["JH QH KH"],
        (),
        (0, 2, 2),
    ),
    "a joker laid off on a set": (JOKERS, "XX KS", ["7C 7D 7H"], (), (0, 1)),
    "a joker laid off on a set, any suits": (JOKERS + ANY, "XX KS", ["7C 7D 7H"], (), (0, 4)),
    "a run below Q-K-A and a joker": (
        JOKERS + HIGH,
        "2H 3H 4H 5H 6H 7H 8H 9H TH XX",
        ["QH KH AH"],
        (28, 156),
        (0, 10),
    ),
    "deuces laid off below a three": (DEUCES, "2C 2H 2H KS", ["3H 4H 5H"], (0, 2), (1, 7, 9, 5)),
    "joker and deuces on two melds": (
        BOTH + ANY,
        "XX 2C 2S KS",
        ["3C 4C 5C", "9C 9D 9H"],
        (0, 4),
        (1, 21, 18, 14),
    ),
}


def _by_wilds(numbers: list[int]) -> Counts:
    counts = Counter(numbers)
    return tuple(counts[number] for number in range(max(counts, default=-1) + 1))


def _of_both(options: str, hand: str, table: list[str]) -> tuple[Counts, Counts]:
    """Melds and layoffs by their wild cards, after engine and reference have agreed."""
    overrides: dict[str, Any] = dict(option.split("=") for option in options.split())
    overrides |= {"jokers": int(overrides.get("jokers", 0)), "packs": {"2": 2}}
    vector = {
        "rules": {"preset": "basic", "set": overrides},
        "seats": 2,
        "position": {"hands": [hand, "KC"], "table": table, "phase": "play", "turn": 0},
    }
    actions = legal_actions(load_position(make_ruleset("basic", overrides), vector))
    texts = load(vector, make_rules("basic", overrides)).legal_actions()
    found = []
    for verb in (Verb.MELD, Verb.LAY_OFF):
        ours = _by_wilds([len(action.wilds) for action in actions if action.verb is verb])
        theirs = _by_wilds([text.count("=") for text in texts if text.startswith(verb.value)])
        assert ours == theirs
        found.append(ours)
    return found[0], found[1]


@pytest.mark.parametrize("name", CASES)
def test_plays_by_their_wild_cards(name: str) -> None:
    options, hand, table, melds, layoffs = CASES[name]
    assert _of_both(options, hand, table) == (melds, layoffs)


RUNS = {
    "": [44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4],
    HIGH: [48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 4],
}


@pytest.mark.parametrize("ace", RUNS)
@pytest.mark.parametrize("jokers", [1, 2, 3])
def test_jokers_in_a_whole_pack_follow_a_formula(ace: str, jokers: int) -> None:
    """Of n cards any k may be jokers, as long as two are natural (docs/rules.md 3 and 10)."""
    shapes = Counter(dict(enumerate(RUNS[ace], 3))) + Counter({3: 52, 4: 13})
    wanted = [
        sum(number * comb(n, k) for n, number in shapes.items() if n - k >= (2 if k else 0))
        for k in range(jokers + 1)
    ]
    melds, _ = _of_both(JOKERS + ace, PACK + " XX" * jokers, [])
    assert melds == tuple(wanted)
