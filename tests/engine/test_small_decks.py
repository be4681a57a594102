"""A dozen cards and a few turns, played out in every possible way, in engine and reference.

The numbers are exact: whoever changes one has changed the rules, or what is tried.
"""

from collections import Counter
from functools import cache
from itertools import product
from math import log2
from typing import Any

import pytest

from referee.engine.actions import Reason
from tests.engine.small_decks import LEAST_CAP, Walk
from tests.scale import SCALE, repeating

FILE = __file__
_PLAYS = [
    {"same_card_discard": same, "go_out": out, "layoff_gate": gate, "max_melds_per_turn": most}
    for same, out, gate, most in product(
        ("unless_last", "forbidden"), ("any", "must_discard"), ("none", "own_meld_first"), (None, 1)
    )
]
_PILES: list[dict[str, object]] = [
    {
        "recycle": how,
        "recycles_allowed": allowed,
        "recycle_trigger": when,
        "recycle_keeps_upcard": k,
    }
    for how, allowed, when, k in (
        ("flip", 1, "turn_start", False),
        ("shuffle", None, "turn_start", True),
        ("shuffle", 2, "on_stock_draw", False),
        ("none", 0, "turn_start", False),
        ("flip", 1, "on_stock_draw", True),
    )
]
_RESULTS = [
    {"exhausted_result": empty, "cap_result": cap, "rummy_requires_final_discard": last}
    for empty, cap, last in (
        ("drawn", "lowest_hand", False),
        ("lowest_hand", "drawn", True),
        ("lowest_hand", "lowest_hand", False),
    )
]
_PENALTY = {"scoring": "penalty", "rummy_multiplier": 1, "rummy_requires_final_discard": False}

_STARTS: dict[str, dict[str, Any]] = {
    "one pack": {
        "hands": ["5H 6H KC", "7C"],
        "stock": "7S",
        "discard": "7D 7H",
        "turns": 4,
    },
    "two packs": {
        "set": {"packs": {"2": 2}, "set_suits": "any"},
        "hands": ["7H", "7C 7C"],
        "stock": "8H 7D",
        "discard": "7H",
        "table": ["8H 9H TH", "7D 7S 7S"],
        "turns": 4,
    },
    "high aces": {
        "set": {"ace": "high_or_low", "ace_points": 15},
        "hands": ["KH AH", "QH 3H"],
        "stock": "2H",
        "discard": "TH",
        "table": ["QC KC AC"],
        "turns": 4,
    },
    "jokers": {
        "set": {"jokers": 3, "wilds": "jokers", "wild_swap": True},
        "hands": ["4H XX", "7H XX"],
        "stock": "3H",
        "discard": "8H",
        "table": ["XX=4H 5H 6H"],
        "meanings": "4H 7H",
        "turns": 2,
    },
    "deuces": {
        "set": {"wilds": "deuces", "wild_swap": True, "packs": {"2": 2}},
        "hands": ["2S 9D", "TD"],
        "stock": "TC",
        "discard": "2S",
        "table": ["7D 8D 2C=9D"],
        "meanings": "2D TD",
        "turns": 2,
    },
    "jokers and deuces": {
        "set": {"jokers": 2, "wilds": "jokers_and_deuces", "wild_swap": True, "packs": {"2": 2}},
        "hands": ["9C 9D", "XX 3C"],
        "stock": "",
        "discard": "2C",
        "meanings": "9C 2C",
        "turns": 5,
    },
    "an eliminated seat": {
        "preset": "standard",
        "seats": 4,
        "set": {"ceiling": 50},
        "hands": ["5C", "", "7C 9S", "8C"],
        "stock": "6C 9D",
        "discard": "9H",
        "table": ["2C 3C 4C"],
        "out": [1],
        "totals": [44, 60, 50, 31],
        "turns": 4,
    },
}


def _vector(name: str, number: int) -> dict[str, Any]:
    """The start under one choice of options."""
    start = _STARTS[name]
    place = number + list(_STARTS).index(name)
    preset, seats = start.get("preset", "basic"), start.get("seats", 2)
    options = {**start.get("set", {}), **_PLAYS[number], **_PILES[place % 5], **_RESULTS[place % 3]}
    if preset == "standard":
        options |= _PENALTY
    elif place % 4 == 0:
        options |= {**_PENALTY, "match_end": "first_over_lowest_wins", "ceiling": 50}
    keys = ("hands", "stock", "discard", "table", "out", "totals")
    position = {key: start[key] for key in keys if key in start}
    deeper = max(0, round(log2(SCALE)))
    still_in = seats - len(start.get("out", ()))
    position["turns"] = LEAST_CAP * still_in - start["turns"] - deeper
    rules = {"preset": preset, "set": options}
    return {"rules": rules, "seats": seats, "dealer": seats - 1, "position": position}


@cache
def _walks(name: str) -> tuple[Counter[str], frozenset[str]]:
    """What was counted in all graphs of a start together, and the reasons that came up."""
    counts: Counter[str] = Counter()
    reasons: set[str | None] = set()
    test = f"test_every_state_of_a_small_deck_is_the_same_in_both[{name}]"
    for number in range(len(_PLAYS)):
        with repeating(FILE, test, f"options {number}", number):
            vector = _vector(name, number)
            walk = Walk(vector, _STARTS[name].get("meanings", "").split(), "")
        counts += walk.counts
        reasons |= walk.reasons
    return counts, frozenset(reason for reason in reasons if reason is not None)


_KINDS = ("states", "actions", "refused", "went_out", "exhausted", "turn_cap")
COUNTS = {
    "one pack": (10491, 10799, 140861, 122, 162, 4347),
    "two packs": (5367, 6290, 97715, 780, 38, 1584),
    "high aces": (6969, 7860, 128129, 72, 180, 3265),
    "jokers": (7320, 12837, 143155, 1487, 38, 2580),
    "deuces": (3481, 4834, 61301, 967, 39, 743),
    "jokers and deuces": (1662, 2129, 46204, 70, 186, 387),
    "an eliminated seat": (5354, 5506, 77892, 316, 64, 1802),
}
"""Distinct states, legal actions at them, refused ones, and how the deals ended."""


@pytest.mark.parametrize("name", COUNTS)
def test_every_state_of_a_small_deck_is_the_same_in_both(name: str) -> None:
    counts, _ = _walks(name)
    came = tuple(counts[kind] for kind in _KINDS)
    if SCALE <= 1:
        assert came == COUNTS[name]
    else:
        assert all(more >= known for more, known in zip(came, COUNTS[name], strict=True))


def test_small_decks_reach_every_reason() -> None:
    """All but `malformed`, which no state has a part in."""
    reasons = frozenset[str]().union(*(_walks(name)[1] for name in COUNTS))
    assert reasons | {"not_your_turn"} == {reason.value for reason in Reason} - {"malformed"}
