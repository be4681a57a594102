"""A hypothesis strategy over every field of the rules; what it makes is always valid."""

from typing import Any

from hypothesis import strategies as st

from tests.engine.random_rules import PRESETS

_RESULTS = st.sampled_from(["drawn", "lowest_hand"])
_MATCHES = st.sampled_from(
    [
        ("winner_takes_all", "target"),
        ("winner_takes_all", "fixed_deals"),
        ("penalty", "elimination"),
        ("penalty", "first_over_lowest_wins"),
        ("penalty", "fixed_deals"),
    ]
)
_RECYCLES = st.sampled_from(
    [("none", 0), *((how, most) for how in ("flip", "shuffle") for most in (1, 2, 3, None))]
)
_WILDS = st.sampled_from(["none", "none", "jokers", "deuces", "jokers_and_deuces"])
_GOALS = st.sampled_from([50, 51, 60, 75]) | st.integers(50, 500)
MOST_WITH_WILDS = 7
"""Cards dealt where some are wild: the list of actions explodes with the wild cards held."""


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, dict[str, Any], int]:
    """A preset, a value for every field that goes with all others, and a number of seats."""
    preset = draw(st.sampled_from(PRESETS))
    scoring, match_end = draw(_MATCHES)
    recycle, recycles_allowed = draw(_RECYCLES)
    wilds = draw(_WILDS)
    ace = draw(st.sampled_from(["low", "high_or_low"]))
    factor = draw(st.integers(1, 3)) if scoring == "winner_takes_all" else 1
    jokers = draw(st.integers(1, 4)) if "jokers" in wilds else 0
    seats_min = draw(st.integers(2, 6))
    seats_max = draw(st.integers(seats_min, 6))
    packs = {str(seats): draw(st.integers(1, 2)) for seats in range(2, 7)}
    most = draw(st.sampled_from([3, 4, 5, 7, 13]))
    most = min(most, MOST_WITH_WILDS) if wilds != "none" else most
    # An upcard and one card of stock must be left.
    room = {seats: (52 * packs[seats] + jokers - 2) // int(seats) for seats in packs}
    grid = preset == "basic" and match_end == "target"
    overrides = {
        "seats_min": seats_min,
        "seats_max": seats_max,
        "packs": packs,
        "hand_size": {seats: draw(st.integers(3, min(most, room[seats]))) for seats in packs},
        "jokers": jokers,
        "wilds": wilds,
        "wild_swap": wilds != "none" and draw(st.booleans()),
        "ace": ace,
        "ace_points": draw(st.sampled_from([1, 15])) if ace == "high_or_low" else 1,
        "set_suits": draw(st.sampled_from(["distinct", "any"])),
        "same_card_discard": draw(st.sampled_from(["unless_last", "forbidden"])),
        "max_melds_per_turn": draw(st.sampled_from([None, 1])),
        "layoff_gate": draw(st.sampled_from(["none", "own_meld_first"])),
        "go_out": draw(st.sampled_from(["any", "must_discard"])),
        "final_discard_hidden": draw(st.booleans()),
        "recycle": recycle,
        "recycle_keeps_upcard": draw(st.booleans()),
        "recycles_allowed": recycles_allowed,
        "recycle_trigger": draw(st.sampled_from(["turn_start", "on_stock_draw"])),
        "exhausted_result": draw(_RESULTS),
        "cap_result": draw(_RESULTS),
        "turn_cap_per_seat": draw(st.sampled_from([20, 21, 150])),
        "scoring": scoring,
        "rummy_multiplier": factor,
        "rummy_requires_final_discard": factor > 1 and draw(st.booleans()),
        "match_end": match_end,
        "target": draw(st.sampled_from(range(50, 301, 25)) if grid else _GOALS),
        "ceiling": draw(_GOALS),
        "deals": draw(st.sampled_from([1, 2, 3, 200])),
    }
    return preset, overrides, draw(st.integers(seats_min, seats_max))
