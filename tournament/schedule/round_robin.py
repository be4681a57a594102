"""Everybody meets everybody."""

import itertools
import math
from collections.abc import Sequence

from tournament.schedule.fixtures import (
    MATCHES_MOST,
    SEATS_LEAST,
    SEATS_MOST,
    Encounter,
    Entrant,
    make_encounter,
)


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

    `rules` is the hash of rules and clock. Each encounter has `seats` legs. Every second meeting
    of a set sits the other way round, which for three and more seats changes who follows whom.
    """
    _check(entrants, seats, encounters)
    plan: list[Encounter] = []
    for number in range(encounters):
        for members in meetings(len(entrants), seats):
            bots = [entrants[index] for index in members]
            if number % 2:
                bots.reverse()
            plan.append(make_encounter(bots, number, rules, first_position=len(plan) * seats))
    return plan


def _check(entrants: Sequence[Entrant], seats: int, encounters: int) -> None:
    """Raise ValueError naming what can't be planned."""
    if not SEATS_LEAST <= seats <= SEATS_MOST:
        raise ValueError(f"seats is {seats}: allowed are {SEATS_LEAST}–{SEATS_MOST}")
    if encounters < 1:
        raise ValueError(f"encounters is {encounters}: allowed is 1 or more")
    if len(entrants) < seats:
        raise ValueError(f"there are {len(entrants)} bots: a table of {seats} seats needs {seats}")
    matches = match_count(len(entrants), seats, encounters)
    if matches > MATCHES_MOST:
        raise ValueError(
            f"{len(entrants)} bots at {seats} seats in {encounters} encounters of each set make"
            f" {matches} matches: allowed are {MATCHES_MOST}; take fewer encounters or bots"
        )
    for what, values in (
        ("name", [entrant.bot for entrant in entrants]),
        ("content", [entrant.content_hash for entrant in entrants]),
    ):
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise ValueError(f"two bots have the {what} {twice[0]!r}: each bot takes part once")
