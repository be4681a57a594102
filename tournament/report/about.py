"""What every view says about the tournament that it shows, and how its points are to be read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSetError
from tournament.report.render import Part
from tournament.report.results import Results
from tournament.schedule.formats import TEST
from tournament.store.stored import FINISHED, Tournament

_OF_CONFIG = ("format", "seats", "encounters", "rules", "seed")
_POINTS, _PENALTY_POINTS = "Points", "Penalty points"
FEWER_ARE_BETTER = "Penalty points: fewer are better."


def about(tournament: Tournament) -> dict[str, object]:
    """Return what json says about a tournament."""
    return {
        "id": tournament.id,
        "created": tournament.created,
        "status": tournament.status,
        "matches": tournament.matches,
        "planned": tournament.planned,
        "counted": tournament.counted,
        **{key: tournament.config.get(key) for key in _OF_CONFIG},
    }


def title(tournament: Tournament) -> str:
    """Return the line over a table."""
    text = f"Tournament {tournament.id}: {matches_text(tournament)}"
    return text if tournament.status == FINISHED else f"{text}, provisional"


def matches_text(tournament: Tournament) -> str:
    """Return how many matches were played of how many; a test may end before all are."""
    matches, planned = tournament.matches, tournament.planned
    if is_decided_early(tournament):
        return f"{matches} matches, decided after {count_of(tournament.counted or 0, 'encounter')}"
    may_end = tournament.config.get("format") == TEST and tournament.status != FINISHED
    return f"{matches} of {'at most ' * may_end}{planned} matches"


def count_of(count: int, noun: str) -> str:
    """Return how many there are of something."""
    return f"{count} {noun}{'s' * (count != 1)}"


def is_decided_early(tournament: Tournament) -> bool:
    """Whether it is a test whose verdict came before the end of the plan."""
    # A test is between two bots, so its encounters have two legs.
    counted = tournament.counted
    return counted is not None and 2 * counted < tournament.planned


def open_encounters(results: Results) -> int:
    """Return how many encounters of the plan do not count, as a leg of theirs has no result."""
    whole = Counter(leg.encounter_id for leg in results.legs)
    return len(results.planned) - len(whole)


def fewer_are_better(tournament: Tournament) -> bool:
    """Whether the fewest points come first; not if this version can't read the rules."""
    rules = tournament.config.get("rules")
    if not isinstance(rules, Mapping):
        return False
    changes = {name: value for name, value in rules.items() if name != "preset"}
    try:
        ruleset = make_ruleset(rules.get("preset", "basic"), changes)
    except RuleSetError:
        return False
    return ruleset.scoring == "penalty"


def with_points(parts: Sequence[Part], tournament: Tournament) -> list[Part]:
    """Return the parts with headings that say what points are, and one remark if they are bad."""
    if not fewer_are_better(tournament):
        return list(parts)
    named = [
        replace(
            part,
            columns=[
                replace(column, heading=column.heading.replace(_POINTS, _PENALTY_POINTS))
                for column in part.columns
            ],
            heading=part.heading.replace(_POINTS, _PENALTY_POINTS),
        )
        for part in parts
    ]
    for at, part in enumerate(named):
        if any(column.heading.startswith(_PENALTY_POINTS) for column in part.columns):
            named[at] = replace(part, remark=FEWER_ARE_BETTER)
            break
    return named
