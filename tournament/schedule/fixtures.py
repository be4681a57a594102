"""What a plan is made of: entrants, encounters, their legs, and ids that say what they are.

An encounter is one set of bots on one list of deals, played once per seat rotation (a leg). Only
who sits where changes between its legs: decks and dealer seats stay, so the luck of the deal is
shared out evenly. A fixture is a planned leg; its id says what it is, who sits where included, so
a plan made again from the same bots in the same order and rules has the same ids.
"""

import hashlib
import json
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
    """One set of bots on one list of deals.

    `number` counts the encounters of this set from 0. `round` counts from 0 too: a round is planned
    when the one before has ended, and a format that is planned as a whole has only round 0.
    """

    encounter_id: str
    number: int
    bots: tuple[str, ...]
    legs: tuple[Fixture, ...]
    round: int = 0


def short_hash(*parts: str) -> str:
    """Return 16 hexadecimal digits that stand for exactly this list of texts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def rules_hash(rules: Mapping[str, object], time_control: Mapping[str, object], seats: int) -> str:
    """Return the hash of all that, besides the bots, decides how a match is played."""
    what = {"rules": rules, "time_control": time_control, "seats": seats}
    return short_hash("rules", json.dumps(what, sort_keys=True))


def make_encounter(
    bots: Sequence[Entrant],
    number: int,
    rules: str,
    *,
    first_position: int,
    round: int = 0,  # noqa: A002 - the word for it everywhere
) -> Encounter:
    """Return an encounter of these bots: a leg for each rotation of the seats.

    `rules` is the hash of rules and clock, `first_position` the place of its first leg in the plan.
    Ids leave the round out: the number already tells the encounters of a set apart.
    """
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
    return Encounter(encounter_id=encounter_id, number=number, bots=names, legs=legs, round=round)
