"""What every view says about the tournament that it shows."""

from collections import Counter

from tournament.report.results import Results
from tournament.store.stored import FINISHED, Tournament

_OF_CONFIG = ("format", "seats", "encounters", "rules", "seed")


def about(tournament: Tournament) -> dict[str, object]:
    """Return what json says about a tournament."""
    return {
        "id": tournament.id,
        "created": tournament.created,
        "status": tournament.status,
        "matches": tournament.matches,
        "planned": tournament.planned,
        **{key: tournament.config.get(key) for key in _OF_CONFIG},
    }


def title(tournament: Tournament) -> str:
    """Return the line over a table."""
    text = f"Tournament {tournament.id}: {tournament.matches} of {tournament.planned} matches"
    return text if tournament.status == FINISHED else f"{text}, provisional"


def open_encounters(results: Results) -> int:
    """Return how many encounters of the plan do not count, as a leg of theirs has no result."""
    whole = Counter(leg.encounter_id for leg in results.legs)
    return len(results.planned) - len(whole)
