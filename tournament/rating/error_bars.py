"""How far ratings and their differences can be trusted, told from whole encounters.

The legs of an encounter share their deals, so they are no independent observations: the scatter of
whole encounters is measured instead (a sandwich covariance, clustered by encounter). Where the
encounters are too few or too equal to show a scatter, the model's own uncertainty stands in.
docs/rating.md gives the formulas.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tournament.rating import student
from tournament.rating.environment import RatedMatch, Rating
from tournament.rating.linear import Matrix, cholesky, dot, inverse
from tournament.rating.order_free import Fit
from tournament.rating.results import Kind, connected, kind_of

FEWEST = 2
"""Encounters that a group of bots must have played before anything is said."""
MODEL_WEIGHT = 4.0
"""For how many encounters the model's own uncertainty counts beside the scatter seen."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Mu of one bot minus mu of another with its 95 % interval, and how likely it is above 0.

    `superiority` is the probability that the first bot is truly better.
    """

    mean: float
    low: float
    high: float
    superiority: float

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out 0: the order of the two is no accident, at 95 %."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class _Encounter:
    """All encounters with the same results: `number` of them; the rest is about each one."""

    number: int
    bots: tuple[int, ...]
    gradient: tuple[float, ...]
    stiffness: Matrix
    leverage: float
    openness: float


class ErrorBars:
    """Error bars of the fit of one set of matches; differences cost a look at all encounters."""

    def __init__(
        self,
        ratings: Mapping[str, Rating],
        groups: Mapping[str, str],
        covariance: Matrix,
        encounters: Sequence[_Encounter],
        prior: float,
    ) -> None:
        self._ratings = ratings
        self._groups = groups
        self._index = {bot: i for i, bot in enumerate(ratings)}
        self._covariance = covariance
        self._encounters = encounters
        self._prior = prior
        names = list(ratings)
        self._played: Counter[str] = Counter()
        for encounter in encounters:
            self._played[groups[names[encounter.bots[0]]]] += encounter.number

    def half_width(self, bot: str) -> float | None:
        """Return half of the 95 % interval of mu, against the mean of all bots it is tied to.

        None when the bot has no opponents, or fewer than two encounters were played among them.
        """
        members = [other for other, group in self._groups.items() if group == self._groups[bot]]
        if len(members) == 1 or self._played[self._groups[bot]] < FEWEST:
            return None
        contrast = [0.0] * len(self._ratings)
        for other in members:
            contrast[self._index[other]] = -1 / len(members)
        contrast[self._index[bot]] += 1
        error, freedom = self._error(contrast)
        return error * student.quantile(0.975, freedom)

    def difference(self, first: str, second: str) -> Difference | None:
        """Return mu of `first` minus mu of `second`, with what is known about it.

        None when no chain of results ties the two, or fewer than two encounters were played in it.
        """
        group = self._groups[first]
        if first == second or group != self._groups[second] or self._played[group] < FEWEST:
            return None
        contrast = [0.0] * len(self._ratings)
        contrast[self._index[first]], contrast[self._index[second]] = 1.0, -1.0
        error, freedom = self._error(contrast)
        mean = self._ratings[first].mu - self._ratings[second].mu
        half = error * student.quantile(0.975, freedom)
        return Difference(mean, mean - half, mean + half, student.cdf(mean / error, freedom))

    def _error(self, contrast: Sequence[float]) -> tuple[float, float]:
        """Return the standard error of a contrast of skills, and its degrees of freedom."""
        # What a unit of gradient at each bot moves the contrast by.
        lever = [dot(row, contrast) for row in self._covariance]
        seen = fourth = model = model_square = informed = 0.0
        played = 0
        for encounter in self._encounters:
            own = [lever[bot] for bot in encounter.bots]
            square = dot(own, encounter.gradient) ** 2 / (1 - encounter.leverage)
            expected = dot(own, [dot(row, own) for row in encounter.stiffness])
            played += encounter.number if expected else 0
            seen += encounter.number * square
            fourth += encounter.number * square**2
            model += encounter.number * expected
            model_square += encounter.number * expected**2
            informed += encounter.number * expected * encounter.openness
        # How many encounters' worth of scatter could be seen by the model, and was: a few large
        # surprises among many encounters tell as little as a few encounters.
        number = model * informed / model_square if model_square else 0.0
        surprises = fourth / seen**2 - 1 / played if seen and played else 0.0
        if surprises > 0:
            number = min(number, 2 / surprises)
        scatter = (number * seen + MODEL_WEIGHT * model) / (number + MODEL_WEIGHT)
        variance = self._prior * dot(lever, lever) + scatter
        return math.sqrt(variance), number + MODEL_WEIGHT - 1


def covariance(fit: Fit) -> Matrix:
    """Return how the skills of a fit vary together, by the model, in the order of its ratings.

    It is the inverse of the prior's precision and the stiffness of all results.
    """
    index = {name: i for i, name in enumerate(fit.ratings)}
    prior = float(fit.environment.sigma) ** -2
    matrix: Matrix = [[prior * (i == j) for j in range(len(index))] for i in range(len(index))]
    for kind, count in fit.counts.items():
        for bot, row in zip(kind.bots, fit.sites[kind].stiffness, strict=True):
            for other, stiff in zip(kind.bots, row, strict=True):
                matrix[index[bot]][index[other]] += count * stiff
    return inverse(cholesky(matrix))


def error_bars(fit: Fit, matches: Iterable[RatedMatch]) -> ErrorBars:
    """Return the error bars of a fit of exactly these `matches`; encounters should be whole."""
    names = list(fit.ratings)
    index = {name: i for i, name in enumerate(names)}
    prior = float(fit.environment.sigma) ** -2
    together = covariance(fit)
    encounters = [
        _encounter(fit, kinds, number, index, together)
        for kinds, number in _alike(fit, matches).items()
    ]
    return ErrorBars(fit.ratings, connected(names, fit.counts), together, encounters, prior)


def _alike(fit: Fit, matches: Iterable[RatedMatch]) -> dict[tuple[Kind, ...], int]:
    """Return how many encounters had the same results, in sorted order."""
    legs: dict[str, list[Kind]] = {}
    for match in matches:
        if len(match.places) > 1:
            legs.setdefault(match.encounter_id, []).append(kind_of(match.places))
    alike = Counter(tuple(sorted(kinds)) for kinds in legs.values())
    if Counter(kind for kinds in legs.values() for kind in kinds) != Counter(fit.counts):
        raise ValueError("error bars need exactly the matches that were fitted")
    return dict(sorted(alike.items()))


def _encounter(
    fit: Fit,
    kinds: Sequence[Kind],
    number: int,
    index: Mapping[str, int],
    covariance: Matrix,
) -> _Encounter:
    """Add up the legs of an encounter."""
    names = sorted({bot for kind in kinds for bot in kind.bots})
    place = {bot: i for i, bot in enumerate(names)}
    gradient = [0.0] * len(names)
    stiffness: Matrix = [[0.0] * len(names) for _ in names]
    openness = 0.0
    for kind in kinds:
        openness += _openness(fit, kind) / len(kinds)
        site, message = fit.sites[kind], fit.messages[kind]
        for bot, pull, row in zip(kind.bots, message.gradient, site.stiffness, strict=True):
            gradient[place[bot]] += pull
            for other, stiff in zip(kind.bots, row, strict=True):
                stiffness[place[bot]][place[other]] += stiff
    bots = tuple(index[bot] for bot in names)
    # The part of its own result in what the fit expects of an encounter: it hides some scatter.
    hidden = sum(
        covariance[bot][other] * stiffness[i][j]
        for i, bot in enumerate(bots)
        for j, other in enumerate(bots)
    )
    leverage = min(hidden / (len(names) - 1), 0.9)
    return _Encounter(number, bots, tuple(gradient), stiffness, leverage, openness)


def _openness(fit: Fit, kind: Kind) -> float:
    """Return how much of a coin toss a result was: 1 for even bots, near 0 for a sure winner.

    The scatter of N tosses that go one way with chance p shows as well as that of
    N·pq/(1 − 3pq) even ones, q = 1 − p. Of a table it is the mean over neighbours.
    """
    total = 0.0
    for left, right in zip(kind.bots, kind.bots[1:], strict=False):
        one, two = fit.ratings[left], fit.ratings[right]
        noise = 2 * float(fit.environment.beta) ** 2 + one.sigma**2 + two.sigma**2
        sure = math.erfc(abs(one.mu - two.mu) / math.sqrt(2 * noise)) / 2
        both = sure * (1 - sure)
        total += both / (1 - 3 * both)
    return total / (len(kind.bots) - 1)
