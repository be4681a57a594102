"""The leaderboard's rows from stored results. Pure.

An encounter counts only when all its legs have a result: half an encounter would favour whoever
had the better seats.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from referee.match.outcome import Forfeit, Termination
from tournament.rating import order_free
from tournament.rating.environment import RatedMatch, Rating
from tournament.rating.error_bars import ErrorBars, error_bars
from tournament.rating.sequential import rate

_DIGITS = 8
"""Digits after the point in which ratings are compared: a fit is not surer of more."""


class Method(StrEnum):
    """How ratings are computed: from the set of results, or one result after the other."""

    ORDER_FREE = "order_free"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class SeatRow:
    """What a leg was for one bot. Times in microseconds; `place` 1 is the best."""

    bot: str
    place: int
    total: int
    forfeit: Forfeit | None
    decisions: int
    charged_us: int
    longest_us: int
    forgiven_us: int = 0
    illegal_strikes: int = 0
    time_strikes: int = 0


@dataclass(frozen=True, slots=True)
class LegResult:
    """A leg that has ended. Without a result (nobody was ever ready) it counts for nobody.

    `seats` are in the order of seats; `first_dealer` is the seat that dealt first.
    """

    encounter_id: str
    position: int
    has_result: bool
    seats: tuple[SeatRow, ...]
    first_dealer: int = 0
    termination: Termination = Termination.COMPLETED


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of the leaderboard. `rating` is mu − 3 sigma; means are None before a first match.

    `error` is half the 95 % interval of mu against the field. `gap` is mu minus that of the next
    row, with its 95 % interval; `superiority` is the probability that this bot is truly better
    than the next; `is_significant` says that the whole interval lies above 0. They are None where
    too few whole encounters, or no further row, leave nothing to say.
    """

    rank: int
    bot: str
    version: str
    rating: float
    mu: float
    sigma: float
    matches: int
    wins: int
    draws: int
    losses: int
    mean_place: float | None
    points_per_match: float | None
    forfeits: Mapping[str, int]
    mean_ms: float | None
    worst_ms: float | None
    error: float | None = None
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    superiority: float | None = None
    is_significant: bool | None = None


@dataclass(frozen=True, slots=True)
class _Gap:
    """A row against the next one."""

    gap: float | None = None
    low: float | None = None
    high: float | None = None
    superiority: float | None = None
    is_significant: bool | None = None


def counted(legs: Iterable[LegResult], legs_per_encounter: Mapping[str, int]) -> list[LegResult]:
    """Return the legs of whole encounters, in plan order."""
    valid = [leg for leg in legs if leg.has_result]
    done = Counter(leg.encounter_id for leg in valid)
    whole = {
        encounter for encounter, planned in legs_per_encounter.items() if done[encounter] == planned
    }
    return sorted((leg for leg in valid if leg.encounter_id in whole), key=lambda leg: leg.position)


def rated_matches(legs: Iterable[LegResult]) -> list[RatedMatch]:
    """Return what the legs are for the ratings."""
    return [
        RatedMatch(leg.position, leg.encounter_id, {seat.bot: seat.place for seat in leg.seats})
        for leg in legs
    ]


def best_first(bots: Iterable[str], ratings: Mapping[str, Rating]) -> list[str]:
    """Return the bots in the order of a leaderboard: by rating, equal ones by name."""
    return sorted(bots, key=lambda bot: (-round(ratings[bot].conservative, _DIGITS), bot))


def are_equal(one: float, other: float) -> bool:
    """Whether two ratings are the same but for the last digits of a fit."""
    return round(one, _DIGITS) == round(other, _DIGITS)


def standings(
    versions: Mapping[str, str],
    legs: Sequence[LegResult],
    *,
    method: Method = Method.ORDER_FREE,
    fit: order_free.Fit | None = None,
    shown: Iterable[str] | None = None,
) -> list[Standing]:
    """Return the rows, best first. `versions` maps every bot to its version; `legs` count all.

    `fit` is the fit of exactly these legs, if there is one already. Sequential ratings are for
    comparison: they have no error bars. `shown` are the bots to make rows of, if not all: ranks
    and gaps are then among them.
    """
    matches = rated_matches(legs)
    bars: ErrorBars | None = None
    ratings: Mapping[str, Rating]
    if method is Method.SEQUENTIAL:
        ratings = rate(matches, versions)
    else:
        fit = fit or order_free.fit(matches, versions)
        ratings = fit.ratings
        bars = error_bars(fit, matches)
    played: dict[str, list[tuple[LegResult, SeatRow]]] = {bot: [] for bot in versions}
    for leg in legs:
        for seat in leg.seats:
            played[seat.bot].append((leg, seat))
    ordered = best_first(versions if shown is None else shown, ratings)
    gaps = [*(_gap(ratings, bars, bot, following) for bot, following in pairwise(ordered)), _Gap()]
    rows: list[Standing] = []
    for index, (bot, gap) in enumerate(zip(ordered, gaps, strict=False), start=1):
        tied = rows and are_equal(rows[-1].rating, ratings[bot].conservative)
        rows.append(
            _row(
                rows[-1].rank if tied else index,
                bot,
                versions[bot],
                ratings[bot],
                played[bot],
                None if bars is None else bars.half_width(bot),
                gap,
            )
        )
    return rows


def _gap(ratings: Mapping[str, Rating], bars: ErrorBars | None, bot: str, following: str) -> _Gap:
    gap = ratings[bot].mu - ratings[following].mu
    difference = bars.difference(bot, following) if bars is not None else None
    if difference is None:
        return _Gap(gap)
    # Rows are sorted by mu − 3 sigma: the other of the two may be the better one beyond doubt.
    return _Gap(gap, difference.low, difference.high, difference.superiority, difference.low > 0)


def _row(
    rank: int,
    bot: str,
    version: str,
    rating: Rating,
    played: Sequence[tuple[LegResult, SeatRow]],
    error: float | None,
    gap: _Gap,
) -> Standing:
    won = Counter(_score(leg, seat) for leg, seat in played)
    matches = len(played)
    decisions = sum(seat.decisions for _, seat in played)
    forfeits = Counter(seat.forfeit.value for _, seat in played if seat.forfeit is not None)
    return Standing(
        rank=rank,
        bot=bot,
        version=version,
        rating=rating.conservative,
        mu=rating.mu,
        sigma=rating.sigma,
        matches=matches,
        wins=won["win"],
        draws=won["draw"],
        losses=won["loss"],
        mean_place=sum(seat.place for _, seat in played) / matches if matches else None,
        points_per_match=sum(seat.total for _, seat in played) / matches if matches else None,
        forfeits=dict(sorted(forfeits.items())),
        mean_ms=sum(seat.charged_us for _, seat in played) / decisions / 1000
        if decisions
        else None,
        worst_ms=max(seat.longest_us for _, seat in played) / 1000 if decisions else None,
        error=error,
        gap=gap.gap,
        gap_low=gap.low,
        gap_high=gap.high,
        superiority=gap.superiority,
        is_significant=gap.is_significant,
    )


def _score(leg: LegResult, seat: SeatRow) -> str:
    """Return win, draw or loss: a first place alone, a first place shared, any other place."""
    if seat.place != 1:
        return "loss"
    firsts = sum(other.place == 1 for other in leg.seats)
    return "win" if firsts == 1 else "draw"
