"""Random rules: any preset with any of the options, whether they go together or not."""

import random
from collections.abc import Mapping

from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet, RuleSetError

PRESETS = ("basic", "standard", "standard-wta", "traditional", "classic")
TABLES = [
    (preset, seats)
    for preset in PRESETS
    for seats in range(2, 7)
    if preset != "traditional" or seats <= 4
]
"""Every preset with every number of seats it is played with."""

_WILDS = ("none", "none", "jokers", "deuces", "jokers_and_deuces")
_CHOICES: Mapping[str, tuple[object, ...]] = {
    "ace": ("low", "high_or_low"),
    "set_suits": ("distinct", "any"),
    "same_card_discard": ("unless_last", "forbidden"),
    "max_melds_per_turn": (None, 1),
    "layoff_gate": ("none", "own_meld_first"),
    "go_out": ("any", "must_discard"),
    "final_discard_hidden": (False, True),
    "recycle_keeps_upcard": (False, True),
    "recycle_trigger": ("turn_start", "on_stock_draw"),
    "exhausted_result": ("drawn", "lowest_hand"),
    "cap_result": ("drawn", "lowest_hand"),
    "turn_cap_per_seat": (20, 21, 150),
    "target": (50, 75, 100),
    "ceiling": (50, 61, 100),
    "deals": (1, 2, 5),
}


def random_overrides(chance: random.Random, seats: int) -> dict[str, object]:
    """Values of any fields; each is allowed by itself, but they may not go together."""
    some = chance.choice((0.0, 0.3, 0.8))
    found = {
        name: chance.choice(values)
        for name, values in _CHOICES.items()
        if chance.random() < some or name in ("target", "ceiling", "deals")
    }
    if chance.random() < 0.6:
        wilds = chance.choice(_WILDS)
        found["wilds"] = wilds
        found["jokers"] = chance.randint(1, 4) if "jokers" in wilds else 0
        found["wild_swap"] = wilds != "none" and chance.random() < 0.6
    if chance.random() < 0.5:
        found["recycle"] = chance.choice(("flip", "shuffle", "none"))
        limits = (0,) if found["recycle"] == "none" else (1, 2, None)
        found["recycles_allowed"] = chance.choice(limits)
    if chance.random() < 0.5:
        found["packs"] = {str(number): chance.randint(1, 2) for number in range(2, seats + 1)}
    if chance.random() < 0.6:
        most = chance.choice((3, 5, 8, 13))
        sizes = {str(number): chance.randint(3, most) for number in range(2, seats + 1)}
        found["hand_size"] = sizes
    if chance.random() < 0.6:
        found |= _random_match(chance)
    if chance.random() < 0.1:
        found["jokers"] = chance.randint(0, 4)
    if chance.random() < 0.1:
        found["ace_points"] = chance.choice((1, 15))
    elif found.get("ace") == "high_or_low":
        found["ace_points"] = 15
    return found


def _random_match(chance: random.Random) -> dict[str, object]:
    if chance.random() < 0.5:
        ends = ("elimination", "first_over_lowest_wins", "fixed_deals")
        return {
            "scoring": "penalty",
            "rummy_multiplier": 1,
            "rummy_requires_final_discard": False,
            "match_end": chance.choice(ends),
        }
    factor = chance.randint(1, 3)
    return {
        "scoring": "winner_takes_all",
        "rummy_multiplier": factor,
        "rummy_requires_final_discard": factor > 1 and chance.random() < 0.5,
        "match_end": chance.choice(("target", "fixed_deals")),
    }


def random_rules(
    chance: random.Random, preset: str, seats: int
) -> tuple[RuleSet, dict[str, object]]:
    """Valid rules for this number of seats, and the overrides that made them."""
    while True:
        overrides = random_overrides(chance, seats)
        try:
            return make_ruleset(preset, overrides), overrides
        except RuleSetError:
            continue
