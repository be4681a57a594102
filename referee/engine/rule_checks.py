"""Which fields of a `RuleSet` do not go together: one function a rule (docs/rules.md 2)."""

from collections.abc import Callable, Iterable
from typing import Final

from referee.engine.rule_fields import BY_SEATS, shown
from referee.engine.ruleset import RuleSet, RuleSetError, by_seats_dict


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
        f"{name} = {shown(by_seats_dict(value) if name in BY_SEATS else value)}"
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
