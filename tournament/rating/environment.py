"""What a rating is, and the TrueSkill environment that computes it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any

import trueskill

from tournament.rating import truncation

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
    """Places by bot of one match, 1 the best, shared places equal; `position` is its plan order.

    Matches of one `encounter_id` share their deals: error bars count them as one observation.
    """

    position: int
    encounter_id: str
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
    both better and faster than the package's approximation. Results that the package gives up on,
    far against or far with the ratings, are computed by `truncation`.
    """
    environment = trueskill.TrueSkill(
        mu=MU,
        sigma=SIGMA,
        beta=BETA,
        tau=tau,
        draw_probability=draw_probability,
        backend=(_cdf, _pdf, _ppf),
    )
    package_v_win, package_w_win = environment.v_win, environment.w_win
    package_v_draw, package_w_draw = environment.v_draw, environment.w_draw

    def v_win(diff: float, margin: float) -> float:
        x = diff - margin
        return truncation.above(x)[0] if x < -truncation.FAR else float(package_v_win(diff, margin))

    def w_win(diff: float, margin: float) -> float:
        x = diff - margin
        if x < -truncation.FAR:
            return truncation.above(x)[1]
        # So sure a win teaches nothing, and the package cannot divide by it.
        return 0.0 if x > truncation.FAR else float(package_w_win(diff, margin))

    def v_draw(diff: float, margin: float) -> float:
        if abs(diff) - margin < truncation.FAR:
            return float(package_v_draw(diff, margin))
        v = truncation.between(abs(diff), margin)[0]
        return v if diff > 0 else -v

    def w_draw(diff: float, margin: float) -> float:
        if abs(diff) - margin < truncation.FAR:
            return float(package_w_draw(diff, margin))
        return truncation.between(abs(diff), margin)[1]

    environment.v_win, environment.w_win = v_win, w_win
    environment.v_draw, environment.w_draw = v_draw, w_draw
    return environment
