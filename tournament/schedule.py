"""Who meets whom, in which seats. Pure.

An encounter is one set of bots on one list of deals, played once per seat rotation (a leg). Only
who sits where changes between its legs: decks and dealer seats stay, so the luck of the deal is
shared out evenly. A fixture is a planned leg; its id says what it is, who sits where included, so
a plan made again from the same bots in the same order and rules has the same ids.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SEATS_LEAST, SEATS_MOST = 2, 6
MATCHES_MOST = 200_000
"""Matches of one tournament. At a hundred a second they take half an hour."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that takes part: its name, and the hash of the content that it plays from."""

    bot: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Fixture:
    """A planned leg. `seats` are names of bots by seat; `position` counts through the plan."""

    fixture_id: str
    encounter_id: str
    position: int
    leg: int
    seats: tuple[str, ...]
    first_dealer: int


@dataclass(frozen=True, slots=True)
class Encounter:
    """One set of bots on one list of deals. `number` counts the meetings of this set from 0."""

    encounter_id: str
    number: int
    bots: tuple[str, ...]
    legs: tuple[Fixture, ...]


def short_hash(*parts: str) -> str:
    """Return 16 hexadecimal digits that stand for exactly this list of texts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def rules_hash(rules: Mapping[str, object], time_control: Mapping[str, object], seats: int) -> str:
    """Return the hash of all that, besides the bots, decides how a match is played."""
    what = {"rules": rules, "time_control": time_control, "seats": seats}
    return short_hash("rules", json.dumps(what, sort_keys=True))


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
            plan.append(_encounter(bots, number, rules, first_position=len(plan) * seats))
    return plan


def _encounter(
    bots: Sequence[Entrant], number: int, rules: str, *, first_position: int
) -> Encounter:
    hashes = [bot.content_hash for bot in bots]
    # Whoever sits first, it is the same set on the same deals.
    encounter_id = short_hash("encounter", rules, *sorted(hashes), str(number))
    seats = len(bots)
    names = tuple(bot.bot for bot in bots)
    legs = tuple(
        Fixture(
            fixture_id=short_hash("leg", encounter_id, str(leg), *hashes[leg:], *hashes[:leg]),
            encounter_id=encounter_id,
            position=first_position + leg,
            leg=leg,
            seats=names[leg:] + names[:leg],
            first_dealer=number % seats,
        )
        for leg in range(seats)
    )
    return Encounter(encounter_id=encounter_id, number=number, bots=names, legs=legs)


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
