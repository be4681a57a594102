"""What a leg was for one bot against another, and for encounters as a whole. Pure.

Legs of one encounter share their deals, so they are not independent: whatever is said about
chance counts encounters.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tournament.statistics.standings import LegResult, SeatRow

WIN, DRAW, LOSS = 1.0, 0.5, 0.0


@dataclass(frozen=True, slots=True)
class Duel:
    """One leg for a bot against one opponent. `distance` counts seats from the first dealer."""

    encounter_id: str
    score: float
    points: int
    distance: int


def head_to_head(seat: SeatRow, other: SeatRow) -> float:
    """Return 1 for the better place, ½ for the same, 0 for the worse."""
    if seat.place == other.place:
        return DRAW
    return WIN if seat.place < other.place else LOSS


def seat_score(leg: LegResult, index: int) -> float:
    """Return the score of a seat: the mean of its head-to-head scores, 0–1."""
    seat = leg.seats[index]
    others = [other for number, other in enumerate(leg.seats) if number != index]
    return sum(head_to_head(seat, other) for other in others) / len(others)


def dealer_distance(leg: LegResult, index: int) -> int:
    """Return how many seats after the first dealer a seat is: 0 for the dealer's own."""
    return (index - leg.first_dealer) % len(leg.seats)


def duels(legs: Iterable[LegResult]) -> dict[tuple[str, str], list[Duel]]:
    """Return what happened between every ordered pair of bots that met, sorted by names."""
    found: dict[tuple[str, str], list[Duel]] = {}
    for leg in legs:
        for index, seat in enumerate(leg.seats):
            for other in leg.seats:
                if other is not seat:
                    duel = Duel(
                        leg.encounter_id,
                        head_to_head(seat, other),
                        seat.total,
                        dealer_distance(leg, index),
                    )
                    found.setdefault((seat.bot, other.bot), []).append(duel)
    return dict(sorted(found.items()))


def encounter_means(values: Iterable[tuple[str, float]]) -> list[float]:
    """Return the mean of the values of each encounter, in the order in which encounters appear."""
    sums: dict[str, list[float]] = {}
    for encounter, value in values:
        sums.setdefault(encounter, []).append(value)
    # Exact sums: seats finish in any order, and that must not change the last digit.
    return [math.fsum(group) / len(group) for group in sums.values()]
