"""What each field of a `RuleSet` says and may be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from referee.engine.ruleset import RuleSetError

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
            return f"a map from seats 2–6 to {numbers} (--set FIELD.2={self.least})"
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


def checked_value(name: str, spec: FieldSpec, value: object, base: object) -> object:
    """Return the value as `RuleSet` stores it. Raises RuleSetError naming field, value, allowed."""
    refusal = RuleSetError((name,), f"{name} is {shown(value)}: allowed are {spec.allowed}")
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


def shown(value: object) -> str:
    """A value as it stands in JSON and on the command line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        entries = ", ".join(f"{key}: {shown(entry)}" for key, entry in value.items())
        return f"{{{entries}}}"
    return repr(value)


def _is_int_in(value: object, spec: FieldSpec) -> bool:
    return type(value) is int and spec.least <= value <= spec.most
