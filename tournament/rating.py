"""TrueSkill over results in plan order. Pure.

Parallel matches finish in any order and TrueSkill depends on the order of results, so ratings are
always computed from the stored results sorted by their place in the plan: the same set of results
gives the same table to the last bit.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any

import trueskill

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
DRAW_PROBABILITY = 0.01


@dataclass(frozen=True, slots=True)
class Rating:
    """Belief about a bot's skill: normal with mean `mu` and standard deviation `sigma`."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """The ranking key: the skill is above it with 99.9 % probability."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True, slots=True)
class RatedMatch:
    """Places by bot of one match, 1 the best, shared places equal; `position` is its plan order."""

    position: int
    places: Mapping[str, int]


def _cdf(x: float, mu: float = 0.0, sigma: float = 1.0) -> float:
    return 0.5 * math.erfc(-(x - mu) / (sigma * math.sqrt(2)))


def _pdf(x: float, mu: float = 0.0, sigma: float = 1.0) -> float:
    return math.exp(-(((x - mu) / sigma) ** 2) / 2) / (math.sqrt(2 * math.pi) * sigma)


@cache
def _ppf(x: float, mu: float = 0.0, sigma: float = 1.0) -> float:
    return NormalDist(mu, sigma).inv_cdf(x)


def make_environment(*, draw_probability: float = DRAW_PROBABILITY, tau: float = 0.0) -> Any:
    """Return a TrueSkill environment of its own; the package's global one is never touched.

    Versions of bots are frozen, so skill does not drift: tau is 0. The exact error function is
    both better and faster than the package's approximation.
    """
    return trueskill.TrueSkill(
        mu=MU,
        sigma=SIGMA,
        beta=BETA,
        tau=tau,
        draw_probability=draw_probability,
        backend=(_cdf, _pdf, _ppf),
    )


def rate(
    matches: Iterable[RatedMatch], bots: Iterable[str] = (), *, environment: Any = None
) -> dict[str, Rating]:
    """Return the rating of every bot, those of `bots` without a match included, sorted by name."""
    environment = environment or make_environment()
    ordered = sorted(matches, key=lambda match: match.position)
    names = sorted({*bots, *(bot for match in ordered for bot in match.places)})
    ratings = {name: environment.create_rating() for name in names}
    for match in ordered:
        # The order in which tied bots are listed changes the last digits: places, then names.
        listed = sorted(match.places, key=lambda bot: (match.places[bot], bot))
        groups = [(ratings[bot],) for bot in listed]
        rated = environment.rate(groups, ranks=[match.places[bot] for bot in listed])
        ratings |= {bot: group[0] for bot, group in zip(listed, rated, strict=True)}
    return {name: Rating(mu=float(r.mu), sigma=float(r.sigma)) for name, r in ratings.items()}
