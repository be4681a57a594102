"""TrueSkill as a function of the set of results: their order, and who played them, leave no trace.

Expectation propagation (Minka, 2001): every result is replaced by a normal message, found by the
trueskill package from what all other results say, until nothing changes any more. Equal results
are one kind and share a message.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tournament.rating.environment import RatedMatch, Rating, make_environment
from tournament.rating.extrapolation import Extrapolation
from tournament.rating.linear import Matrix, cholesky, dot, solve
from tournament.rating.results import Kind, count_kinds
from tournament.rating.site import Site, update

PRECISION = 1e-9
"""A fit is done when no mu and no sigma would move by more, in units of skill."""
NEAR = 0.5
"""From such a distance on the sweeps can be extrapolated."""
MOST_SWEEPS = 500


@dataclass(frozen=True, slots=True)
class Message:
    """What a kind of result says at the fit, bots in the order of the kind.

    `gradient` of its log-likelihood by the skills, and the precision that it adds to each bot.
    """

    gradient: tuple[float, ...]
    precisions: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """Ratings sorted by name, and where error bars or a later fit of more results start from."""

    ratings: Mapping[str, Rating]
    environment: Any = field(repr=False)
    counts: Mapping[Kind, int] = field(repr=False)
    messages: Mapping[Kind, Message] = field(repr=False)
    sites: Mapping[Kind, Site] = field(repr=False)
    sweeps: int


def fit(
    matches: Iterable[RatedMatch],
    bots: Iterable[str] = (),
    *,
    start: Fit | None = None,
    environment: Any = None,
) -> Fit:
    """Return the rating of every bot, those of `bots` without a match included.

    The same set of results gives the same ratings to the last bit. With `start`, an earlier fit in
    an equal environment, it takes fewer sweeps and agrees with the fit from nothing to about
    `PRECISION`, not to the last bit: final tables are fitted from nothing.
    """
    matches = list(matches)
    environment = environment or make_environment()
    counts = count_kinds(matches)
    names = sorted({*bots, *(bot for match in matches for bot in match.places)})
    sweeps = _Sweeps(environment, names, counts, start)
    number = 1
    while sweeps.sweep() > PRECISION and number < MOST_SWEEPS:
        number += 1
    ratings = {
        name: Rating(mean, precision**-0.5)
        for name, mean, precision in zip(names, sweeps.means, sweeps.precisions, strict=True)
    }
    messages = dict(zip(counts, sweeps.messages, strict=True))
    sites = dict(zip(counts, sweeps.sites, strict=True))
    return Fit(ratings, environment, counts, messages, sites, number)


class _Sweeps:
    """Means and precisions of all bots, and the messages of all kinds, from sweep to sweep."""

    def __init__(
        self, environment: Any, names: Sequence[str], counts: Mapping[Kind, int], start: Fit | None
    ) -> None:
        self.environment = environment
        self.prior = float(environment.sigma) ** -2
        index = {name: i for i, name in enumerate(names)}
        self.kinds = [
            (kind.ranks, [index[bot] for bot in kind.bots], count) for kind, count in counts.items()
        ]
        unknown = Rating(environment.mu, environment.sigma)
        ratings = [(start.ratings if start else {}).get(name, unknown) for name in names]
        self.means = [rating.mu for rating in ratings]
        self.precisions = [rating.sigma**-2 for rating in ratings]
        self.messages: list[Message] = []
        for kind in counts:
            silent = Message((0.0,) * len(kind.bots), (0.0,) * len(kind.bots))
            self.messages.append((start.messages if start else {}).get(kind, silent))
        self.sites: list[Site] = []
        self._gaps = [0.0] * len(names)
        self._factors = [1.0] * len(names)
        self._extrapolation = Extrapolation()

    def sweep(self) -> float:
        """Renew all messages, then all ratings; return the largest move of a mu or a sigma."""
        self.sites = [
            self._site(ranks, bots, message)
            for (ranks, bots, _), message in zip(self.kinds, self.messages, strict=True)
        ]
        means, precisions = self._rate()
        moves = [new - old for new, old in zip(means, self.means, strict=True)]
        moves += [
            new**-0.5 - old**-0.5 for new, old in zip(precisions, self.precisions, strict=True)
        ]
        moved = max(map(abs, moves), default=0.0)
        self.means = means
        self.messages = [
            Message(_gradient(site, [means[bot] for bot in bots]), site.precisions)
            for (_, bots, _), site in zip(self.kinds, self.sites, strict=True)
        ]
        if moved <= PRECISION:
            self.precisions = precisions
        elif moved < NEAR:
            self.precisions = precisions
            self._unpack(self._extrapolation.step(self._pack(), moves))
        else:
            self._extrapolation = Extrapolation()
            self._damp(precisions)
        return moved

    def _site(self, ranks: Sequence[int], bots: Sequence[int], message: Message) -> Site:
        """Ask the package what a result says to bots of whom all other results are known."""
        means, variances = [], []
        for bot, gradient, own in zip(bots, message.gradient, message.precisions, strict=True):
            others = max(self.precisions[bot] - own, self.prior)
            variances.append(1 / others)
            means.append(self.means[bot] - gradient / others)
        return update(self.environment, means, variances, ranks)

    def _rate(self) -> tuple[list[float], list[float]]:
        """Return means and precisions from the prior and all sites.

        All means come from one system of equations: results know differences only, so that bot by
        bot a common shift, or a long chain of bots, would creep.
        """
        size = len(self.means)
        matrix: Matrix = [[0.0] * size for _ in range(size)]
        pulls = [0.0] * size
        precisions = [self.prior] * size
        for i in range(size):
            matrix[i][i] = self.prior
        for (_, bots, count), site in zip(self.kinds, self.sites, strict=True):
            for i, bot in enumerate(bots):
                precisions[bot] += count * site.precisions[i]
                pulls[bot] += count * site.pulls[i]
                row = matrix[bot]
                for other, stiff in zip(bots, site.stiffness[i], strict=True):
                    row[other] += count * stiff
        # Sites do not feel the common shift to the mean of the prior: it can come afterwards.
        offsets = solve(cholesky(matrix), pulls)
        return [float(self.environment.mu) + offset for offset in offsets], precisions

    def _damp(self, wanted: Sequence[float]) -> None:
        """Move the precisions towards `wanted`, each by Aitken's rule from its last two steps.

        Equal results narrow each other: with full steps they all narrow, then all widen, for ever.
        """
        for bot, goal in enumerate(wanted):
            gap, last = goal - self.precisions[bot], self._gaps[bot]
            if last not in (0.0, gap):
                factor = self._factors[bot] * last / (last - gap)
                self._factors[bot] = min(max(factor, 0.2), 1.0)
            self._gaps[bot] = gap
            self.precisions[bot] += self._factors[bot] * gap

    def _pack(self) -> list[float]:
        flat = [*self.means, *self.precisions]
        for message in self.messages:
            flat += message.gradient
            flat += message.precisions
        return flat

    def _unpack(self, flat: Sequence[float]) -> None:
        size = len(self.means)
        self.means = list(flat[:size])
        self.precisions = [max(value, self.prior) for value in flat[size : 2 * size]]
        at = 2 * size
        for k, (_, bots, _) in enumerate(self.kinds):
            middle, end = at + len(bots), at + 2 * len(bots)
            self.messages[k] = Message(tuple(flat[at:middle]), tuple(flat[middle:end]))
            at = end


def _gradient(site: Site, means: Sequence[float]) -> tuple[float, ...]:
    return tuple(
        pull - dot(row, means) for pull, row in zip(site.pulls, site.stiffness, strict=True)
    )
