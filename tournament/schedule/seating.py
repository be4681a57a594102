"""Who sits after whom: every encounter gets the circle that evens that out best.

A bot draws what the one before it discards, so whom it follows matters. All rotations of a circle
are played, and so the circle is all there is to choose; two seats have but one.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import permutations
from operator import add, itemgetter

from tournament.schedule.fixtures import SEATS_LEAST, Encounter, Entrant, make_encounter

_Table = tuple[int, ...]


def encounters_of(
    entrants: Sequence[Entrant], sets: Sequence[_Table], rules: str
) -> list[Encounter]:
    """Return an encounter of each of the sets, in their order and seated.

    A set is numbers of entrants, one for each seat; it may come again, and is then written the same
    way. `rules` is the hash of rules and clock. With two seats every second encounter of a pair
    begins with the other one, which changes the order of its legs alone.
    """
    plan: list[Encounter] = []
    met: dict[_Table, int] = defaultdict(int)
    position = 0
    for members, circle in zip(sets, seated(sets, len(entrants)), strict=True):
        bots = [entrants[index] for index in circle]
        if len(bots) == SEATS_LEAST and met[members] % 2:
            bots.reverse()
        plan.append(make_encounter(bots, met[members], rules, first_position=position))
        met[members] += 1
        position += len(bots)
    return plan


def seated(sets: Sequence[_Table], bots: int) -> list[_Table]:
    """Return each set, of the same size all, in an order of seats; it begins with the same bot.

    A bot's lead over another is how often it has sat right before it less how often that is to be
    expected, which is one in `seats` - 1 of their meetings. Of all circles the one is taken whose
    neighbours have the least lead, that over the plan so far and that among the earlier encounters
    of this very set added up; of equal ones the first by number. So no pair gets ahead by more than
    one or two, in the whole as in each set that meets again.
    """
    if not sets:
        return []
    seats = len(sets[0])
    circles = [(0, *others) for others in permutations(range(1, seats))]
    # A step is a place and the place after it, as one index into a square laid out in a row.
    steps = [
        [one * seats + other for one, other in zip(circle, (*circle[1:], 0), strict=True)]
        for circle in circles
    ]
    pick: list[Callable[[Sequence[int]], tuple[int, ...]]] = [itemgetter(*way) for way in steps]
    # Leads are whole numbers: times `seats` - 1. A set's own are counted without what is expected,
    # as that is the same for all of its pairs.
    lead = [[0] * bots for _ in range(bots)]
    own: dict[_Table, list[int]] = defaultdict(lambda: [0] * seats**2)
    result: list[_Table] = []
    for table in sets:
        within = own[table]
        both = list(map(add, [lead[one][other] for one in table for other in table], within))
        costs = [sum(picked(both)) for picked in pick]
        best = costs.index(min(costs))
        for one in table:
            row = lead[one]
            for other in table:
                row[other] -= 1
        for step in steps[best]:
            one, other = divmod(step, seats)
            lead[table[one]][table[other]] += seats - 1
            within[step] += seats - 1
        result.append(tuple(table[place] for place in circles[best]))
    return result
