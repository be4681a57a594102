"""Balanced tables for three to six seats: so many encounters, and everybody in equally many.

Each table in turn takes those who have played least, and of several ways to fill it the one whose
bots have met least. Then bots of two tables change places as long as that makes the numbers of
meetings more even.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

from tournament.schedule.draw import Dice, drawn_order
from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.limits import check_entrants, check_matches, count_of
from tournament.schedule.seating import encounters_of

TABLE_SEATS_LEAST = 3
_TRIES_MOST, _TRIES_IN_ALL = 20, 40_000
"""Ways to fill a table that are compared, of one table and of all together."""
_EXCHANGES = 5_000
_UNEVENNESS = 6
"""The power of a pair's distance from the mean: a high one goes for the worst pairs first."""

_Table = tuple[int, ...]


def balanced_tables(
    entrants: Sequence[Entrant], *, seats: int, tables: int, rules: str
) -> list[Encounter]:
    """Plan `tables` encounters of `seats` bots, 3–6, balanced by who plays, meets and follows whom.

    If there are as many as there are sets of bots, every set meets; if more, all sets meet equally
    often and the rest is balanced. The plan depends on the entrants, not on their order. `rules` is
    the hash of rules and clock. Raises ValueError.
    """
    check_entrants(entrants, seats)
    if seats < TABLE_SEATS_LEAST:
        raise ValueError(f"tables are for 3–6 seats: with {seats} every pair meets anyway")
    if tables < 1:
        raise ValueError(f"tables is {tables}: allowed is 1 or more")
    check_matches(
        tables * seats, f"{count_of(tables, 'table')} of {seats} seats", "take fewer tables"
    )
    field = drawn_order(entrants, "tables")
    return encounters_of(field, design(len(field), seats, tables), rules)


def design(bots: int, seats: int, tables: int) -> list[_Table]:
    """Return `tables` sets of `seats` of the numbers below `bots`, without an order at the table.

    Everybody is in equally many, or some in one more than others; pairs meet about equally often.
    """
    sets = comb(bots, seats)
    whole, rest = divmod(tables, sets)
    found = list(combinations(range(bots), seats)) * whole if whole else []
    if not rest:
        return found
    if 2 * rest > sets:
        # Few are left out, and what a balanced choice leaves is balanced too.
        out = set(_Design(bots, seats, sets - rest).tables)
        if len(out) == sets - rest:
            return found + [one for one in combinations(range(bots), seats) if one not in out]
    return found + _Design(bots, seats, rest).tables


class _Design:
    """Tables filled one by one, then evened out."""

    def __init__(self, bots: int, seats: int, tables: int) -> None:
        self._seats = seats
        self._dice = Dice(bots * 1_000 + seats)
        self._played = [0] * bots
        self._met = [[0] * bots for _ in range(bots)]
        tries = max(1, min(_TRIES_MOST, _TRIES_IN_ALL // tables))
        self._tables = [self._fill(tries) for _ in range(tables)]
        # In whole numbers: a pair's distance from the mean, times the number of pairs.
        pairs, meetings = comb(bots, 2), tables * comb(seats, 2)
        self._cost: list[int] = [
            abs(met * pairs - meetings) ** _UNEVENNESS for met in range(tables + 2)
        ]
        for _ in range(_EXCHANGES if tables > 1 else 0):
            self._exchange()
        self.tables = [tuple(sorted(table)) for table in self._tables]

    def _fill(self, tries: int) -> list[int]:
        """Return the next table: the best of some made by adding who has met the others least."""
        order = sorted(range(len(self._played)), key=self._played.__getitem__)
        least = self._played[order[self._seats - 1]]
        sure = [bot for bot in order if self._played[bot] < least]
        others = [bot for bot in order if self._played[bot] == least]
        _, best = min((self._completed(sure, others) for _ in range(tries)), key=lambda one: one[0])
        for bot in best:
            self._played[bot] += 1
        for one, other in combinations(best, 2):
            self._add(one, other, 1)
        return best

    def _completed(self, sure: Sequence[int], others: Sequence[int]) -> tuple[int, list[int]]:
        """Return how often the added ones had met the table, and the table."""
        table, cost = list(sure), 0
        met = {bot: sum(self._met[bot][there] for there in table) for bot in others}
        while len(table) < self._seats:
            least = min(met.values())
            best = [bot for bot, times in met.items() if times == least]
            bot = best[self._dice.below(len(best))]
            cost += met.pop(bot)
            table.append(bot)
            row = self._met[bot]
            for other in met:
                met[other] += row[other]
        return cost, table

    def _exchange(self) -> None:
        """Let two bots of two tables change places unless that makes meetings less even."""
        first, second = (self._tables[self._dice.below(len(self._tables))] for _ in range(2))
        here, there = (self._dice.below(self._seats) for _ in range(2))
        one, other = first[here], second[there]
        if one in second or other in first:
            return
        # Who sits at both tables meets the two as often as before.
        stay = [bot for bot in first if bot != one and bot not in second]
        come = [bot for bot in second if bot != other and bot not in first]
        change = sum(self._step(other, bot, 1) + self._step(one, bot, -1) for bot in stay)
        change += sum(self._step(one, bot, 1) + self._step(other, bot, -1) for bot in come)
        if change <= 0:
            for bots, by in ((stay, 1), (come, -1)):
                for bot in bots:
                    self._add(other, bot, by)
                    self._add(one, bot, -by)
            first[here], second[there] = other, one

    def _step(self, one: int, other: int, by: int) -> int:
        met = self._met[one][other]
        return self._cost[met + by] - self._cost[met]

    def _add(self, one: int, other: int, by: int) -> None:
        self._met[one][other] += by
        self._met[other][one] += by
