"""The rules of one match as data: every way in which tables differ is one field of `RuleSet`.

`presets.make_ruleset` is the way to make one (docs/rules.md).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal

Wilds = Literal["none", "jokers", "deuces", "jokers_and_deuces"]
DealResult = Literal["drawn", "lowest_hand"]
MatchEnd = Literal["target", "elimination", "first_over_lowest_wins", "fixed_deals"]

BySeats = tuple[int, ...]
"""Index = number of seats still in (0–6); 0 = not defined."""

_ENDS_THAT_USE: Final[Mapping[str, tuple[MatchEnd, ...]]] = {
    "target": ("target",),
    "ceiling": ("elimination", "first_over_lowest_wins"),
    "deals": ("fixed_deals",),
}


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

    def is_used(self, field: str) -> bool:
        """Whether a field matters: of `target`, `ceiling` and `deals` only one does."""
        ends = _ENDS_THAT_USE.get(field)
        return ends is None or self.match_end in ends

    def to_dict(self) -> dict[str, object]:
        """All fields under their names; maps by seats with text keys, as in JSON and TOML."""
        return {
            field.name: by_seats_dict(value) if isinstance(value, tuple) else value
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


def by_seats_dict(value: BySeats) -> dict[str, int]:
    """The entries that are defined, with text keys as in JSON and TOML."""
    return {str(seats): entry for seats, entry in enumerate(value) if entry}
