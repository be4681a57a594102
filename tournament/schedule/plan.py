"""Plans a tournament of any format, and tells how large it is before it is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from tournament.schedule import formats
from tournament.schedule.fixtures import SEATS_LEAST, Encounter, Entrant
from tournament.schedule.gauntlet import gauntlet, gauntlet_sets
from tournament.schedule.limits import there_are
from tournament.schedule.round_robin import round_robin
from tournament.schedule.swiss import check_swiss, next_round
from tournament.schedule.tables import balanced_tables


@dataclass(frozen=True, slots=True)
class PlanSize:
    """How much there is to play in all rounds together."""

    rounds: int
    encounters: int
    matches: int


def plan_size(
    bots: int,
    *,
    format: str,  # noqa: A002 - the word for it everywhere
    seats: int,
    encounters: int,
    challengers: int = 0,
    tables: int | None = None,
    rounds: int | None = None,
) -> PlanSize:
    """Return the size of what `first_plan` and the rounds after it make, without making it.

    `bots` and `challengers` are numbers of bots. Nothing is checked: what can't be planned has some
    size too.
    """
    if format == formats.SWISS:
        count = bots // SEATS_LEAST * encounters * (rounds or 0)
        return PlanSize(rounds or 0, count, count * SEATS_LEAST)
    if format == formats.GAUNTLET:
        count = gauntlet_sets(bots, seats, challengers) * encounters
    elif tables is not None:
        count = tables
    else:
        count = comb(bots, seats) * encounters
    return PlanSize(1, count, count * seats)


def first_plan(
    entrants: Sequence[Entrant],
    *,
    format: str,  # noqa: A002 - the word for it everywhere
    seats: int,
    encounters: int,
    rules: str,
    challengers: Sequence[str] = (),
    tables: int | None = None,
    rounds: int | None = None,
) -> list[Encounter]:
    """Plan a tournament: all of it, or round 0 of a Swiss one; `next_round` plans the others.

    `rules` is the hash of rules and clock. `challengers` are names of bots, for a gauntlet;
    `rounds` are for Swiss; with `tables` a round-robin has that many balanced encounters instead
    of `encounters` of every set. Raises ValueError naming what can't be planned.
    """
    if format == formats.SWISS:
        if seats != SEATS_LEAST:
            raise ValueError(f"seats is {seats}: a swiss tournament is for {SEATS_LEAST}")
        if rounds is None:
            raise ValueError("rounds is missing: a swiss tournament needs it")
        check_swiss(entrants, rounds=rounds, encounters=encounters)
        return next_round(
            entrants, [], round=0, encounters=encounters, rules=rules, first_position=0
        )
    if format == formats.GAUNTLET:
        return gauntlet(
            entrants, challengers=challengers, seats=seats, encounters=encounters, rules=rules
        )
    if format == formats.TEST and len(entrants) != SEATS_LEAST:
        raise ValueError(f"{there_are(len(entrants))}: a test compares {SEATS_LEAST}")
    if tables is not None:
        return balanced_tables(entrants, seats=seats, tables=tables, rules=rules)
    return round_robin(entrants, seats=seats, encounters=encounters, rules=rules)
