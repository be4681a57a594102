"""Some against all: every set of bots with a challenger in it."""

from collections.abc import Sequence
from math import comb

from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.limits import (
    check_encounters,
    check_entrants,
    check_matches,
    count_of,
)
from tournament.schedule.round_robin import meetings
from tournament.schedule.seating import encounters_of


def check_challengers(challengers: Sequence[str], bots: Sequence[str]) -> None:
    """Raise ValueError unless there are challengers and each is one of the bots that take part."""
    if not challengers:
        raise ValueError("challengers is empty: a gauntlet needs one or more of its bots' names")
    for name in challengers:
        if name not in bots:
            raise ValueError(
                f"challengers has {name!r}, which takes no part: allowed are {', '.join(bots)}"
            )


def gauntlet_sets(bots: int, seats: int, challengers: int) -> int:
    """Return how many sets of `seats` bots have at least one challenger in them."""
    return comb(bots, seats) - comb(bots - challengers, seats)


def gauntlet(
    entrants: Sequence[Entrant],
    *,
    challengers: Sequence[str],
    seats: int,
    encounters: int,
    rules: str,
) -> list[Encounter]:
    """Plan a gauntlet: `encounters` encounters of every set of `seats` bots with a challenger.

    `challengers` are names; `rules` is the hash of rules and clock. Encounters have the ids, and so
    the deals, that they have in a round-robin of the same bots. Raises ValueError.
    """
    check_entrants(entrants, seats)
    check_encounters(encounters)
    check_challengers(challengers, [entrant.bot for entrant in entrants])
    chosen = {index for index, entrant in enumerate(entrants) if entrant.bot in challengers}
    check_matches(
        gauntlet_sets(len(entrants), seats, len(chosen)) * seats * encounters,
        f"{len(entrants)} bots with {count_of(len(chosen), 'challenger')} at {seats} seats in"
        f" {count_of(encounters, 'encounter')} of each set",
        "take fewer encounters, challengers or bots",
    )
    sets = [members for members in meetings(len(entrants), seats) if chosen & {*members}]
    return encounters_of(entrants, sets * encounters, rules)
