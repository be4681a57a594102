"""Everybody meets everybody."""

import itertools
import math
from collections.abc import Sequence

from tournament.schedule.fixtures import SEATS_LEAST, Encounter, Entrant
from tournament.schedule.limits import (
    check_encounters,
    check_entrants,
    check_matches,
    count_of,
)
from tournament.schedule.seating import encounters_of


def circle_rounds(entrants: int) -> list[list[tuple[int, int]]]:
    """Return the rounds of a round-robin: everyone meets everyone once, at most once a round.

    The first stays, the others move round the circle. With an odd number one has a bye each round.
    """
    circle: list[int | None] = list(range(entrants))
    if entrants % 2:
        circle.append(None)
    half = len(circle) // 2
    rounds = []
    for _ in range(len(circle) - 1):
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        rounds.append([(a, b) for a, b in facing if a is not None and b is not None])
        circle.insert(1, circle.pop())
    return rounds


def meetings(entrants: int, seats: int) -> list[tuple[int, ...]]:
    """Return every set of `seats` entrants once: by rounds for two seats, else in plain order."""
    if seats == SEATS_LEAST:
        return [pair for pairs in circle_rounds(entrants) for pair in pairs]
    return list(itertools.combinations(range(entrants), seats))


def match_count(entrants: int, seats: int, encounters: int) -> int:
    """Return how many matches a round-robin has."""
    return math.comb(entrants, seats) * seats * encounters


def round_robin(
    entrants: Sequence[Entrant], *, seats: int, encounters: int, rules: str
) -> list[Encounter]:
    """Plan a round-robin: every set of `seats` bots meets in `encounters` encounters.

    All sets meet once, then all again. `rules` is the hash of rules and clock. Each encounter has
    `seats` legs. Raises ValueError.
    """
    check_entrants(entrants, seats)
    check_encounters(encounters)
    check_matches(
        match_count(len(entrants), seats, encounters),
        f"{len(entrants)} bots at {seats} seats in {count_of(encounters, 'encounter')} of each set",
        "take fewer encounters or bots",
    )
    return encounters_of(entrants, meetings(len(entrants), seats) * encounters, rules)
