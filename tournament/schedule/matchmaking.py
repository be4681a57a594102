"""Chooses who meets on a standing ladder: half by who has played least, half by what is in doubt.

Choosing by doubt alone splits a field into cliques that are never compared; choosing by coverage
alone spends most matches on what is known. docs/ladder.md tells both rules and what they promise.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

_Item = TypeVar("_Item")
Chance = Callable[[int], int]
"""Gives a number below its argument, each as likely."""

PATIENCE = 3
"""A bot is overdue when so many times its fair share of encounters began without it."""
SAMPLE = 48
"""Of more waiting bots, so many that chance names are looked at for doubts."""
NEIGHBOURS = 8
"""With how many of the next ones by mean a bot is compared: beyond them little is in doubt."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot that could play now.

    `games` are the encounters that it was given so far, `waited` those that began while it was free
    since it was last given one. Bots of one `family`, versions of one bot, never meet.
    """

    bot: str
    family: str
    games: int
    waited: int = 0


@dataclass(frozen=True, slots=True)
class Skills:
    """What the latest fit says: means and how they vary together, in the order of `index`.

    `covariance` is row by row; if it has only as many numbers as there are bots, they are variances
    and the bots vary on their own. A bot that the fit does not know has the prior's `unknown_mean`
    and `unknown_variance`. `noise` is the variance that chance adds to one difference of results.
    """

    index: Mapping[str, int]
    means: Sequence[float]
    covariance: Sequence[float]
    unknown_mean: float
    unknown_variance: float
    noise: float

    def mean(self, bot: str) -> float:
        """Return the mean of a bot's skill."""
        at = self.index.get(bot)
        return self.unknown_mean if at is None else self.means[at]

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """Return mean and variance of the difference of two skills."""
        i, j = self.index.get(one), self.index.get(other)
        variance = self._variance(i) + self._variance(j)
        if i is not None and j is not None and len(self.covariance) > len(self.means):
            variance -= 2 * self.covariance[i * len(self.means) + j]
        return self.mean(one) - self.mean(other), max(variance, 0.0)

    def _variance(self, at: int | None) -> float:
        if at is None:
            return self.unknown_variance
        size = len(self.means)
        return self.covariance[at * size + at if len(self.covariance) > size else at]

    def doubt(self, one: str, other: str) -> float:
        """Return how much a meeting of two could clear up, 0 to ½.

        It is the probability that their order by mean is wrong, times the part of the variance of
        their difference that one more result takes away.
        """
        mean, variance = self.difference(one, other)
        if variance <= 0.0:
            return 0.0
        wrong = math.erfc(abs(mean) / math.sqrt(2 * variance)) / 2
        return wrong * variance / (variance + self.noise)


def choose(
    waiting: Iterable[Candidate],
    skills: Skills,
    meetings: Callable[[str, str], int],
    *,
    seats: int,
    most: int,
    first: int,
    chance: Chance,
    only_newcomers: bool = False,
) -> list[tuple[str, ...]]:
    """Return up to `most` tables of `seats` bots, each bot at one of them at most.

    `meetings` counts the encounters that two bots had. `first` is the number of encounters that
    began so far: even ones go by coverage, odd ones by doubt. A bot that is overdue is seated
    before, by coverage. With `only_newcomers` all tables are made by coverage, as long as a bot
    waits that was never given an encounter. The same arguments and chance give the same tables.
    """
    pool = shuffled(sorted(waiting, key=lambda candidate: candidate.bot), chance)
    due = PATIENCE * math.ceil(len(pool) / seats)
    picker = _Picker(pool, skills, meetings, seats, chance)
    tables: list[tuple[str, ...]] = []
    while len(tables) < most:
        if only_newcomers and all(one.games for one in picker.pool.values()):
            break
        overdue = [one for one in picker.pool.values() if one.waited >= due]
        table = picker.covering(sorted(overdue, key=lambda one: -one.waited)) if overdue else None
        if table is None and (first + len(tables)) % 2 and not only_newcomers:
            table = picker.doubtful()
        if table is None:
            everyone = sorted(picker.pool.values(), key=lambda one: (one.games, -one.waited))
            table = picker.covering(everyone)
        if table is None:
            break
        tables.append(tuple(shuffled(table, chance)))
    return tables


class _Picker:
    """Takes tables out of the bots that wait."""

    def __init__(
        self,
        pool: Sequence[Candidate],
        skills: Skills,
        meetings: Callable[[str, str], int],
        seats: int,
        chance: Chance,
    ) -> None:
        self.pool = {candidate.bot: candidate for candidate in pool}
        self._skills = skills
        self._meetings = meetings
        self._seats = seats
        self._chance = chance
        self._doubts: list[tuple[str, str]] | None = None

    def covering(self, seeds: Sequence[Candidate]) -> list[str] | None:
        """Seat the first of `seeds` that can be seated, with those near it that it met least."""

        def cost(table: Sequence[str], other: str) -> tuple[float, float]:
            mean = self._skills.mean(other)
            return (
                sum(self._meetings(bot, other) for bot in table),
                abs(self._skills.mean(table[0]) - mean),
            )

        for seed in seeds:
            table = self._filled([seed.bot], cost)
            if table is not None:
                return table
        return None

    def doubtful(self) -> list[str] | None:
        """Seat the pair that is most in doubt, with those that are most in doubt with it."""

        def cost(table: Sequence[str], other: str) -> tuple[float, float]:
            return (-sum(self._skills.doubt(bot, other) for bot in table), 0.0)

        if self._doubts is None:
            self._doubts = self._ranked_pairs()
        for one, other in self._doubts:
            if one in self.pool and other in self.pool:
                table = self._filled([one, other], cost)
                if table is not None:
                    return table
        return None

    def _ranked_pairs(self) -> list[tuple[str, str]]:
        """Return pairs that may meet, the most doubtful first."""
        looked_at = sorted(list(self.pool)[:SAMPLE], key=self._skills.mean)
        pairs = [
            (self._skills.doubt(one, other), one, other)
            for at, one in enumerate(looked_at)
            for other in looked_at[at + 1 : at + 1 + NEIGHBOURS]
            if self._may_meet(one, other)
        ]
        # Of equals those come first that chance has put first.
        pairs.sort(key=lambda pair: -pair[0])
        return [(one, other) for _, one, other in pairs]

    def _may_meet(self, one: str, other: str) -> bool:
        return self.pool[one].family != self.pool[other].family

    def _filled(
        self, table: list[str], cost: Callable[[Sequence[str], str], tuple[float, float]]
    ) -> list[str] | None:
        """Fill a table with those of least cost, and take its bots out of the pool."""
        while len(table) < self._seats:
            others = [
                bot
                for bot in self.pool
                if bot not in table and all(self._may_meet(bot, seated) for seated in table)
            ]
            if not others:
                return None
            table.append(min(others, key=lambda bot: cost(table, bot)))
        for bot in table:
            del self.pool[bot]
        return table


def shuffled(items: Sequence[_Item], chance: Chance) -> list[_Item]:
    """Return the items in an order of chance."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = chance(last + 1)
        order[last], order[other] = order[other], order[last]
    return order
