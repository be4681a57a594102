"""The rule set of the brute-force reference: presets, overrides and validity (docs/rules.md 2).

It imports the standard library only and never the engine.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Check = Callable[[object], bool]


class RulesError(ValueError):
    """Rules that are refused; `fields` are all fields of the broken rule (docs/rules.md 2)."""

    def __init__(self, fields: tuple[str, ...], text: str) -> None:
        super().__init__(f"{', '.join(fields)}: {text}")
        self.fields = fields


@dataclass(frozen=True)
class Rules:
    """One rule set; the values here are those of `basic` (docs/rules.md 2)."""

    preset: str = "basic"
    seats_min: int = 2
    seats_max: int = 6
    packs: Mapping[int, int] = field(default_factory=lambda: {2: 1, 3: 1, 4: 1, 5: 1, 6: 1})
    hand_size: Mapping[int, int] = field(default_factory=lambda: {2: 10, 3: 7, 4: 7, 5: 6, 6: 6})
    jokers: int = 0
    wilds: str = "none"
    wild_swap: bool = False
    ace: str = "low"
    ace_points: int = 1
    set_suits: str = "distinct"
    same_card_discard: str = "unless_last"
    max_melds_per_turn: int | None = None
    layoff_gate: str = "none"
    go_out: str = "any"
    final_discard_hidden: bool = False
    recycle: str = "flip"
    recycle_keeps_upcard: bool = False
    recycles_allowed: int | None = 2
    recycle_trigger: str = "turn_start"
    exhausted_result: str = "drawn"
    turn_cap_per_seat: int = 150
    cap_result: str = "drawn"
    scoring: str = "winner_takes_all"
    rummy_multiplier: int = 2
    rummy_requires_final_discard: bool = False
    match_end: str = "target"
    target: int | None = 100
    ceiling: int | None = None
    deals: int | None = None

    def wild_faces(self) -> frozenset[str]:
        """Return the faces that may stand for another card (docs/rules.md 3)."""
        jokers = {"XX"} if self.wilds in ("jokers", "jokers_and_deuces") else set()
        deuces = {"2C", "2D", "2H", "2S"} if self.wilds in ("deuces", "jokers_and_deuces") else ()
        return frozenset(jokers.union(deuces))


_STANDARD: dict[str, object] = {
    "packs": {2: 1, 3: 1, 4: 1, 5: 2, 6: 2},
    "hand_size": {2: 10, 3: 7, 4: 7, 5: 10, 6: 10},
    "set_suits": "any",
    "same_card_discard": "forbidden",
    "recycle": "shuffle",
    "recycle_keeps_upcard": True,
    "recycles_allowed": None,
    "exhausted_result": "lowest_hand",
    "cap_result": "lowest_hand",
}

# What each preset changes against `basic`: the table of docs/rules.md 2, column by column.
PRESETS: dict[str, dict[str, object]] = {
    "basic": {},
    "standard": {
        **_STANDARD,
        "scoring": "penalty",
        "rummy_multiplier": 1,
        "match_end": "elimination",
        "target": None,
        "ceiling": 100,
    },
    "standard-wta": dict(_STANDARD),
    "traditional": {
        "seats_max": 4,
        "packs": {2: 1, 3: 1, 4: 1},
        "hand_size": {2: 10, 3: 7, 4: 7},
        "final_discard_hidden": True,
        "recycle": "shuffle",
        "recycles_allowed": 1,
        "rummy_multiplier": 1,
    },
    "classic": {
        "same_card_discard": "forbidden",
        "recycle": "shuffle",
        "recycle_keeps_upcard": True,
        "recycles_allowed": None,
        "target": 150,
    },
}


def _whole(low: int, high: int | None = None) -> Check:
    def check(value: object) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return low <= value and (high is None or value <= high)

    return check


def _one_of(*allowed: object) -> Check:
    return lambda value: any(type(value) is type(one) and value == one for one in allowed)


_YES_NO = _one_of(True, False)
_RESULT = _one_of("drawn", "lowest_hand")

# Kind and range of every field but the two maps.
CHECKS: dict[str, Check] = {
    "seats_min": _whole(2, 6),
    "seats_max": _whole(2, 6),
    "jokers": _whole(0, 4),
    "wilds": _one_of("none", "jokers", "deuces", "jokers_and_deuces"),
    "wild_swap": _YES_NO,
    "ace": _one_of("low", "high_or_low"),
    "ace_points": _one_of(1, 15),
    "set_suits": _one_of("distinct", "any"),
    "same_card_discard": _one_of("unless_last", "forbidden"),
    "max_melds_per_turn": _one_of(None, 1),
    "layoff_gate": _one_of("none", "own_meld_first"),
    "go_out": _one_of("any", "must_discard"),
    "final_discard_hidden": _YES_NO,
    "recycle": _one_of("flip", "shuffle", "none"),
    "recycle_keeps_upcard": _YES_NO,
    "recycles_allowed": lambda value: value is None or _whole(0)(value),
    "recycle_trigger": _one_of("turn_start", "on_stock_draw"),
    "exhausted_result": _RESULT,
    "turn_cap_per_seat": _whole(20),
    "cap_result": _RESULT,
    "scoring": _one_of("winner_takes_all", "penalty"),
    "rummy_multiplier": _whole(1, 3),
    "rummy_requires_final_discard": _YES_NO,
    "match_end": _one_of("target", "elimination", "first_over_lowest_wins", "fixed_deals"),
    "target": _whole(50, 500),
    "ceiling": _whole(50, 500),
    "deals": _whole(1, 200),
}
MAPS: dict[str, Check] = {"packs": _whole(1, 2), "hand_size": _whole(3, 13)}
# Fields whose word for nothing may also be written as null, and the other way round.
NULL_IS_NONE = ("wilds", "layoff_gate", "recycle")
WORD_IS_NULL = {"max_melds_per_turn": "none", "recycles_allowed": "unlimited"}


def make_rules(preset: object, overrides: Mapping[str, object] | None = None) -> Rules:
    """Make a rule set of a preset and overrides, or raise RulesError (docs/rules.md 2)."""
    if not isinstance(preset, str) or preset not in PRESETS:
        raise RulesError(("preset",), f"{preset!r} is none of {', '.join(PRESETS)}")
    start = Rules()
    values: dict[str, object] = {"packs": start.packs, "hand_size": start.hand_size}
    values.update(PRESETS[preset])
    for name, value in (overrides or {}).items():
        if name in MAPS:
            old = values[name]
            assert isinstance(old, dict)
            values[name] = {**old, **_map_entries(name, value)}
        elif name in CHECKS:
            values[name] = _single_value(name, value)
        else:
            raise RulesError((name,), "there is no such field")
    rules = Rules(preset=preset, **values)  # type: ignore[arg-type]
    for fields, text in _broken(rules):
        raise RulesError(fields, text)
    return rules


def _map_entries(name: str, value: object) -> dict[int, int]:
    if not isinstance(value, Mapping):
        raise RulesError((name,), f"{value!r} is no map by seats")
    entries: dict[int, int] = {}
    for seats, number in value.items():
        if str(seats) not in ("2", "3", "4", "5", "6") or not MAPS[name](number):
            raise RulesError((name,), f"{seats!r}: {number!r} is not allowed")
        entries[int(seats)] = number
    return entries


def _single_value(name: str, value: object) -> object:
    if value is None and name in NULL_IS_NONE:
        return "none"
    if isinstance(value, str) and WORD_IS_NULL.get(name) == value:
        return None
    if not CHECKS[name](value):
        raise RulesError((name,), f"{value!r} is not allowed")
    return value


def _broken(rules: Rules) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the fields of each broken validity rule, in the order of docs/rules.md 2."""
    if rules.seats_min > rules.seats_max:
        yield ("seats_min", "seats_max"), "the least number of seats is above the most"
    down_to = 2 if rules.match_end == "elimination" else rules.seats_min
    numbers_of_seats = range(down_to, rules.seats_max + 1)
    seats_fields = ("seats_min", "seats_max", "packs", "hand_size")
    # Rule 1.
    for seats in numbers_of_seats:
        if seats in rules.packs and seats in rules.hand_size:
            left = 52 * rules.packs[seats] + rules.jokers - seats * rules.hand_size[seats]
            if left < 2:
                yield (*seats_fields, "jokers"), f"{seats} seats leave {left} cards of at least 2"
    # Rule 2.
    wild_jokers = rules.wilds in ("jokers", "jokers_and_deuces")
    if wild_jokers != (rules.jokers > 0):
        yield ("wilds", "jokers"), "jokers and a wild rule with jokers need each other"
    if rules.wild_swap and rules.wilds == "none":
        yield ("wild_swap", "wilds"), "a swap needs wild cards"
    # Rule 3.
    if rules.ace_points == 15 and rules.ace != "high_or_low":
        yield ("ace_points", "ace"), "15 needs an ace high_or_low"
    # Rule 4.
    if rules.rummy_multiplier > 1 and rules.scoring != "winner_takes_all":
        yield ("rummy_multiplier", "scoring"), "a multiplier needs winner_takes_all"
    if rules.rummy_requires_final_discard and rules.rummy_multiplier == 1:
        fields = ("rummy_requires_final_discard", "rummy_multiplier")
        yield fields, "a final discard needs a multiplier above 1"
    # Rule 5.
    needs_penalty = rules.match_end in ("elimination", "first_over_lowest_wins")
    if needs_penalty and rules.scoring != "penalty":
        yield ("match_end", "scoring"), f"{rules.match_end} needs penalty"
    if rules.match_end == "target" and rules.scoring != "winner_takes_all":
        yield ("match_end", "scoring"), "target needs winner_takes_all"
    used = {"target": "target", "fixed_deals": "deals"}.get(rules.match_end, "ceiling")
    if getattr(rules, used) is None:
        yield ("match_end", used), f"{rules.match_end} needs a value of {used}"
    # Rule 6 (the least turn cap is the range of its field).
    if (rules.recycle == "none") != (rules.recycles_allowed == 0):
        yield ("recycle", "recycles_allowed"), "none goes with 0 and only with 0"
    # Rule 7.
    for seats in numbers_of_seats:
        if seats not in rules.packs or seats not in rules.hand_size:
            yield (*seats_fields, "match_end"), f"nothing is said for {seats} seats"
    # Rule 8.
    if rules.preset == "basic" and rules.match_end == "target":
        allowed = range(50, 301, 25)
        if rules.target not in allowed:
            yield ("target", "preset"), f"{rules.target} is none of 50, 75, ... 300"
