"""The rules of one match as data: every way in which tables differ is one field of `RuleSet`.

`make_ruleset(preset, overrides)` is the way in; it checks each value and how values go together,
and explains every refusal with the fields, the values and what is allowed (docs/rules.md).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Final, Literal

Wilds = Literal["none", "jokers", "deuces", "jokers_and_deuces"]
DealResult = Literal["drawn", "lowest_hand"]
MatchEnd = Literal["target", "elimination", "first_over_lowest_wins", "fixed_deals"]

BySeats = tuple[int, ...]
"""Index = number of seats still in (0–6); 0 = not defined."""


class RuleSetError(ValueError):
    """Rules that cannot be played; `fields` names every field that the broken rule ties."""

    def __init__(self, fields: Iterable[str], message: str) -> None:
        self.fields: tuple[str, ...] = tuple(fields)
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Complete rules. Make one with `make_ruleset`; field meanings: `FIELDS` and docs/rules.md."""

    preset: str
    seats_min: int
    seats_max: int
    packs: BySeats
    hand_size: BySeats
    jokers: int
    wilds: Wilds
    wild_swap: bool
    ace: Literal["low", "high_or_low"]
    ace_points: int
    set_suits: Literal["distinct", "any"]
    same_card_discard: Literal["unless_last", "forbidden"]
    max_melds_per_turn: int | None
    layoff_gate: Literal["none", "own_meld_first"]
    go_out: Literal["any", "must_discard"]
    final_discard_hidden: bool
    recycle: Literal["flip", "shuffle", "none"]
    recycle_keeps_upcard: bool
    recycles_allowed: int | None
    recycle_trigger: Literal["turn_start", "on_stock_draw"]
    exhausted_result: DealResult
    cap_result: DealResult
    turn_cap_per_seat: int
    scoring: Literal["winner_takes_all", "penalty"]
    rummy_multiplier: int
    rummy_requires_final_discard: bool
    match_end: MatchEnd
    target: int
    ceiling: int
    deals: int

    @property
    def has_wild_jokers(self) -> bool:
        """Whether jokers are wild."""
        return self.wilds in ("jokers", "jokers_and_deuces")

    @property
    def has_wild_deuces(self) -> bool:
        """Whether deuces are wild."""
        return self.wilds in ("deuces", "jokers_and_deuces")

    def to_dict(self) -> dict[str, object]:
        """All fields under their names; maps by seats with text keys, as in JSON and TOML."""
        return {
            field.name: _by_seats_dict(value) if field.name in BY_SEATS else value
            for field in fields(self)
            for value in (getattr(self, field.name),)
        }

    def check_seats(self, seats: int) -> None:
        """Raise RuleSetError unless a match may begin with this number of seats."""
        if not self.seats_min <= seats <= self.seats_max:
            raise RuleSetError(
                ("seats_min", "seats_max"),
                f"{seats} seats: {self.preset} is played by {self.seats_min}–{self.seats_max}",
            )


def _by_seats_dict(value: BySeats) -> dict[str, int]:
    return {str(seats): entry for seats, entry in enumerate(value) if entry}


_UNBOUNDED: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What one field may be: exact `choices`, or whole numbers from `least` to `most`."""

    about: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    none_word: str | None = None
    """The word for None, where None is a value of its own (no limit)."""
    by_seats: bool = False
    is_bool: bool = False

    @property
    def allowed(self) -> str:
        """What may be given, for error texts."""
        if self.is_bool:
            return "true, false"
        if self.choices:
            return ", ".join(self.choices)
        numbers = f"{self.least}–{self.most}" if self.least < self.most else str(self.least)
        if self.most == _UNBOUNDED:
            numbers = f"a whole number of at least {self.least}"
        if self.by_seats:
            return f"a map from seats 2–6 to {numbers}"
        return f"{numbers} or {self.none_word}" if self.none_word else numbers


_RESULTS: Final = ("drawn", "lowest_hand")

FIELDS: Final[Mapping[str, FieldSpec]] = {
    "seats_min": FieldSpec("fewest seats at the table", least=2, most=6),
    "seats_max": FieldSpec("most seats at the table", least=2, most=6),
    "packs": FieldSpec("packs of 52 cards, by seats still in", least=1, most=2, by_seats=True),
    "hand_size": FieldSpec(
        "cards dealt to each seat, by seats still in", least=3, most=13, by_seats=True
    ),
    "jokers": FieldSpec("jokers in the deck", least=0, most=4),
    "wilds": FieldSpec(
        "cards that may stand for others", ("none", "jokers", "deuces", "jokers_and_deuces")
    ),
    "wild_swap": FieldSpec("the card a wild stands for may be put in its place", is_bool=True),
    "ace": FieldSpec(
        "the ace in runs: below the two, or also above the king", ("low", "high_or_low")
    ),
    "ace_points": FieldSpec("points of an ace left in hand", ("1", "15")),
    "set_suits": FieldSpec("a set: no suit twice, or suits do not matter", ("distinct", "any")),
    "same_card_discard": FieldSpec(
        "discarding the face just taken from the discard pile", ("unless_last", "forbidden")
    ),
    "max_melds_per_turn": FieldSpec("new melds in one turn", least=1, most=1, none_word="none"),
    "layoff_gate": FieldSpec("what must come before a seat's layoffs", ("none", "own_meld_first")),
    "go_out": FieldSpec("how a hand may be emptied", ("any", "must_discard")),
    "final_discard_hidden": FieldSpec(
        "the discard that empties a hand stays face down", is_bool=True
    ),
    "recycle": FieldSpec("how the discard pile becomes the new stock", ("flip", "shuffle", "none")),
    "recycle_keeps_upcard": FieldSpec("the upcard stays when the pile is recycled", is_bool=True),
    "recycles_allowed": FieldSpec(
        "recycles in one deal", least=0, most=_UNBOUNDED, none_word="unlimited"
    ),
    "recycle_trigger": FieldSpec(
        "when an empty stock is refilled", ("turn_start", "on_stock_draw")
    ),
    "exhausted_result": FieldSpec("a deal that ends with an empty stock", _RESULTS),
    "cap_result": FieldSpec("a deal that ends at the cap on turns", _RESULTS),
    "turn_cap_per_seat": FieldSpec(
        "turns per seat still in that end a deal", least=20, most=_UNBOUNDED
    ),
    "scoring": FieldSpec("who scores what after a deal", ("winner_takes_all", "penalty")),
    "rummy_multiplier": FieldSpec("factor on the winner's points for going rummy", least=1, most=3),
    "rummy_requires_final_discard": FieldSpec("going rummy needs a last discard", is_bool=True),
    "match_end": FieldSpec(
        "what ends a match", ("target", "elimination", "first_over_lowest_wins", "fixed_deals")
    ),
    "target": FieldSpec("points that win a match (match_end target)", least=50, most=500),
    "ceiling": FieldSpec(
        "points over which a seat is out, or the match over (other match ends)", least=50, most=500
    ),
    "deals": FieldSpec("deals of a match (match_end fixed_deals)", least=1, most=200),
}
"""Every field of `RuleSet` but `preset`, in the order of the rules document."""

BY_SEATS: Final = frozenset(name for name, spec in FIELDS.items() if spec.by_seats)


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
        values[name] = _checked(name, spec, value, getattr(base, name))
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


def _checked(name: str, spec: FieldSpec, value: object, base: object) -> object:
    """Return the value as `RuleSet` stores it. Raises RuleSetError naming field, value, allowed."""
    refusal = RuleSetError((name,), f"{name} is {value!r}: allowed are {spec.allowed}")
    if spec.by_seats:
        if not isinstance(value, Mapping) or not isinstance(base, tuple):
            raise refusal
        entries = list(base)
        for key, entry in value.items():
            if str(key) not in {"2", "3", "4", "5", "6"} or not _is_int_in(entry, spec):
                raise refusal
            entries[int(key)] = entry
        return tuple(entries)
    if spec.is_bool:
        if isinstance(value, bool):
            return value
        raise refusal
    if spec.choices:
        if value is None and "none" in spec.choices:
            return "none"
        if isinstance(base, int):
            if type(value) is int and str(value) in spec.choices:
                return value
            raise refusal
        if isinstance(value, str) and value in spec.choices:
            return value
        raise refusal
    if spec.none_word is not None and (value is None or value == spec.none_word):
        return None
    if _is_int_in(value, spec):
        return value
    raise refusal


def _is_int_in(value: object, spec: FieldSpec) -> bool:
    return type(value) is int and spec.least <= value <= spec.most


def check_ruleset(rules: RuleSet) -> None:
    """Raise RuleSetError if the fields do not go together: all broken rules at once, in order."""
    broken: list[RuleSetError] = []
    for check in _CHECKS:
        try:
            check(rules)
        except RuleSetError as error:
            broken.append(error)
    if broken:
        names = dict.fromkeys(name for error in broken for name in error.fields)
        raise RuleSetError(names, "; ".join(map(str, broken)))


def _refuse(rules: RuleSet, names: Iterable[str], why: str) -> RuleSetError:
    names = tuple(names)
    stated = ", ".join(
        f"{name} = {_by_seats_dict(value) if name in BY_SEATS else value!r}"
        for name in names
        for value in (getattr(rules, name),)
    )
    return RuleSetError(names, f"{stated}: {why}")


def seat_numbers(rules: RuleSet) -> range:
    """Numbers of seats that a deal may be played with; elimination goes down to two."""
    return range(2 if rules.match_end == "elimination" else rules.seats_min, rules.seats_max + 1)


def _check_seats(rules: RuleSet) -> None:
    if rules.seats_min > rules.seats_max:
        raise _refuse(rules, ("seats_min", "seats_max"), "seats_min may not be above seats_max")


def _check_tables_by_seats(rules: RuleSet) -> None:
    for name in sorted(BY_SEATS):
        missing = [seats for seats in seat_numbers(rules) if not getattr(rules, name)[seats]]
        if missing:
            tied = [*sorted(BY_SEATS), "seats_min", "seats_max"]
            if rules.match_end == "elimination":
                tied.append("match_end")
            raise _refuse(rules, tied, f"{name} needs an entry for {missing[0]} seats")


def _check_deck(rules: RuleSet) -> None:
    for seats in seat_numbers(rules):
        if not rules.packs[seats] or not rules.hand_size[seats]:
            continue  # That is another rule's matter.
        left = 52 * rules.packs[seats] + rules.jokers - seats * rules.hand_size[seats]
        if left < 2:
            raise _refuse(
                rules,
                ("packs", "hand_size", "jokers", "seats_min", "seats_max"),
                f"with {seats} seats {max(left, 0)} cards would be left for stock and upcard;"
                " 52·packs + jokers − seats·hand_size must be at least 2",
            )


def _check_wilds(rules: RuleSet) -> None:
    tied = ("wilds", "jokers", "wild_swap")
    if rules.has_wild_jokers and rules.jokers == 0:
        raise _refuse(rules, tied, "wild jokers need jokers to be 1–4")
    if rules.jokers > 0 and not rules.has_wild_jokers:
        raise _refuse(rules, tied, "jokers need wilds to be jokers or jokers_and_deuces")
    if rules.wild_swap and rules.wilds == "none":
        raise _refuse(rules, tied, "wild_swap needs wilds to be other than none")


def _check_ace(rules: RuleSet) -> None:
    if rules.ace_points == 15 and rules.ace != "high_or_low":
        raise _refuse(rules, ("ace_points", "ace"), "15 points need ace to be high_or_low")


def _check_rummy(rules: RuleSet) -> None:
    if rules.rummy_multiplier > 1 and rules.scoring != "winner_takes_all":
        raise _refuse(
            rules,
            ("rummy_multiplier", "scoring"),
            "a multiplier above 1 needs scoring to be winner_takes_all",
        )
    if rules.rummy_requires_final_discard and rules.rummy_multiplier == 1:
        raise _refuse(
            rules,
            ("rummy_requires_final_discard", "rummy_multiplier"),
            "it means nothing unless rummy_multiplier is 2 or 3",
        )


def _check_match_end(rules: RuleSet) -> None:
    tied = ("match_end", "scoring")
    if rules.match_end == "target" and rules.scoring != "winner_takes_all":
        raise _refuse(rules, tied, "a target needs scoring to be winner_takes_all")
    if rules.match_end in ("elimination", "first_over_lowest_wins") and rules.scoring != "penalty":
        raise _refuse(rules, tied, f"{rules.match_end} needs scoring to be penalty")


def _check_recycle(rules: RuleSet) -> None:
    if (rules.recycle == "none") != (rules.recycles_allowed == 0):
        raise _refuse(
            rules,
            ("recycle", "recycles_allowed"),
            "recycle is none exactly when recycles_allowed is 0",
        )


def _check_basic_target(rules: RuleSet) -> None:
    grid = range(50, 301, 25)
    if rules.preset == "basic" and rules.match_end == "target" and rules.target not in grid:
        raise _refuse(
            rules,
            ("target", "preset"),
            "under basic allowed are 50, 75, … 300",
        )


_CHECKS: Final[tuple[Callable[[RuleSet], None], ...]] = (
    _check_seats,
    _check_tables_by_seats,
    _check_deck,
    _check_wilds,
    _check_ace,
    _check_rummy,
    _check_match_end,
    _check_recycle,
    _check_basic_target,
)
