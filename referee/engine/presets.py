"""The presets, and rules made of one of them and overrides.

`make_ruleset` checks each value and how values go together, and explains every refusal with the
fields, the values and what is allowed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from referee.engine.rule_checks import check_ruleset
from referee.engine.rule_fields import FIELDS, checked_value
from referee.engine.ruleset import BySeats, RuleSet, RuleSetError


def _by_seats(*entries: int) -> BySeats:
    """Entries for 2, 3, … seats."""
    return (0, 0, *entries, *(0 for _ in range(5 - len(entries))))


_BASIC: Final = RuleSet(
    preset="basic",
    seats_min=2,
    seats_max=6,
    packs=_by_seats(1, 1, 1, 1, 1),
    hand_size=_by_seats(10, 7, 7, 6, 6),
    jokers=0,
    wilds="none",
    wild_swap=False,
    ace="low",
    ace_points=1,
    set_suits="distinct",
    same_card_discard="unless_last",
    max_melds_per_turn=None,
    layoff_gate="none",
    go_out="any",
    final_discard_hidden=False,
    recycle="flip",
    recycle_keeps_upcard=False,
    recycles_allowed=2,
    recycle_trigger="turn_start",
    exhausted_result="drawn",
    cap_result="drawn",
    turn_cap_per_seat=150,
    scoring="winner_takes_all",
    rummy_multiplier=2,
    rummy_requires_final_discard=False,
    match_end="target",
    target=100,
    ceiling=100,
    deals=10,
)
_STANDARD: Final = replace(
    _BASIC,
    preset="standard",
    packs=_by_seats(1, 1, 1, 2, 2),
    hand_size=_by_seats(10, 7, 7, 10, 10),
    set_suits="any",
    same_card_discard="forbidden",
    recycle="shuffle",
    recycle_keeps_upcard=True,
    recycles_allowed=None,
    exhausted_result="lowest_hand",
    cap_result="lowest_hand",
    scoring="penalty",
    rummy_multiplier=1,
    match_end="elimination",
)

PRESETS: Final[Mapping[str, RuleSet]] = {
    "basic": _BASIC,
    "standard": _STANDARD,
    "standard-wta": replace(
        _STANDARD,
        preset="standard-wta",
        scoring="winner_takes_all",
        rummy_multiplier=2,
        match_end="target",
    ),
    "traditional": replace(
        _BASIC,
        preset="traditional",
        seats_max=4,
        packs=_by_seats(1, 1, 1),
        hand_size=_by_seats(10, 7, 7),
        final_discard_hidden=True,
        recycle="shuffle",
        recycles_allowed=1,
        rummy_multiplier=1,
    ),
    "classic": replace(
        _BASIC,
        preset="classic",
        same_card_discard="forbidden",
        recycle="shuffle",
        recycle_keeps_upcard=True,
        recycles_allowed=None,
        target=150,
    ),
}
"""The five presets, by name."""


def make_ruleset(preset: str, overrides: Mapping[str, object] | None = None) -> RuleSet:
    """Rules of `preset` with some fields replaced; maps by seats replace only the entries named.

    None stands for "none" or "unlimited". Raises RuleSetError.
    """
    base = PRESETS.get(preset)
    if base is None:
        raise RuleSetError(("preset",), f"preset is {preset!r}: allowed are {', '.join(PRESETS)}")
    values: dict[str, object] = {}
    for name, value in (overrides or {}).items():
        spec = FIELDS.get(name)
        if spec is None:
            raise RuleSetError(
                (name,), f"no rule is called {name!r}: there are {', '.join(FIELDS)}"
            )
        values[name] = checked_value(name, spec, value, getattr(base, name))
    rules = replace(base, **values)  # type: ignore[arg-type]
    check_ruleset(rules)
    return rules


def parse_override(text: str) -> tuple[str, object]:
    """Read `field=value` or `field.seats=value` of a command line. Raises RuleSetError."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name:
        raise RuleSetError((name,), f"{text!r} is not of the form field=value")
    field, dot, seats = name.partition(".")
    parsed = _parse_scalar(value.strip())
    return (field, {seats: parsed}) if dot else (field, parsed)


def merge_overrides(overrides: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Join parsed overrides; several entries of one map by seats add up."""
    merged: dict[str, object] = {}
    for name, value in overrides:
        earlier = merged.get(name)
        both_maps = isinstance(earlier, dict) and isinstance(value, dict)
        merged[name] = {**earlier, **value} if both_maps else value  # type: ignore[dict-item]
    return merged


def _parse_scalar(text: str) -> object:
    words: dict[str, object] = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text
