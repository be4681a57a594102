"""How near to balanced a plan is, counted from the plan itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from tournament.schedule.fixtures import Encounter


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the mean and the most of some counts."""

    least: int
    mean: float
    most: int


@dataclass(frozen=True, slots=True)
class Balance:
    """Counts over a plan.

    `appearances`: encounters of a bot. `meetings`: encounters of a pair. `seats`: matches of a bot
    in one seat, for every bot and seat. `seat_difference`: the most by which two seats of the same
    bot differ; 0 is even. `follows`: encounters in which one bot sits right after another, for
    every ordered pair; with two seats that is the same as meetings.
    """

    appearances: Spread
    meetings: Spread
    seats: Spread
    seat_difference: int
    follows: Spread


def balance(plan: Sequence[Encounter], bots: Sequence[str]) -> Balance:
    """Count who plays, meets, sits and follows; `bots` are all that take part, two or more.

    `plan` must not be empty.
    """
    appearances = Counter(bot for encounter in plan for bot in encounter.bots)
    meetings = Counter(
        pair for encounter in plan for pair in combinations(sorted(encounter.bots), 2)
    )
    sat = Counter(
        (bot, seat)
        for encounter in plan
        for leg in encounter.legs
        for seat, bot in enumerate(leg.seats)
    )
    follows = Counter(
        pair
        for encounter in plan
        for pair in zip(encounter.bots, (*encounter.bots[1:], encounter.bots[0]), strict=True)
    )
    seats = range(len(plan[0].bots))
    by_seat = [[sat[bot, seat] for seat in seats] for bot in bots]
    return Balance(
        appearances=_spread([appearances[bot] for bot in bots]),
        meetings=_spread([meetings[pair] for pair in combinations(sorted(bots), 2)]),
        seats=_spread([count for counts in by_seat for count in counts]),
        seat_difference=max(max(counts) - min(counts) for counts in by_seat),
        follows=_spread([follows[pair] for pair in permutations(bots, 2)]),
    )


def _spread(counts: Sequence[int]) -> Spread:
    return Spread(min(counts), sum(counts) / len(counts), max(counts))
