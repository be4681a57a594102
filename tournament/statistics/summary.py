"""Figures of a whole tournament: seats, mirroring, time, forfeits, terminations, points. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tournament.statistics.intervals import mean_interval, score_interval, student_limit
from tournament.statistics.scores import (
    Duel,
    dealer_distance,
    duels,
    encounter_means,
    seat_score,
)
from tournament.statistics.standings import LegResult, SeatRow

_NOTHING = 1e-9
"""A relative error below it is rounding."""


@dataclass(frozen=True, slots=True)
class SeatAdvantage:
    """How whoever sat at a seat did: the mean score against the others there, ½ is no advantage.

    `by` is "seat" (`index` is the seat) or "dealer_distance" (seats after the first dealer).
    """

    by: str
    index: int
    matches: int
    score: float | None
    low: float | None
    high: float | None
    points: float | None


@dataclass(frozen=True, slots=True)
class Mirroring:
    """How many times as large the variance of mean scores would be with independent legs.

    It is also the factor of matches saved. None where no pair of bots met twice, or nothing varies.
    """

    encounters: int
    factor: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class TimeUse:
    """A bot's thinking time as charged; `forgiven_s` is what the referee itself had caused.

    `worst_share` is the longest decision as a part of the time for one: above 1 the bank paid.
    `cap_share` is the most charged in a match as a part of what a match allows.
    """

    bot: str
    matches: int
    decisions: int
    mean_ms: float | None
    worst_ms: float | None
    charged_s: float
    forgiven_s: float
    charged_per_match_s: float | None
    most_per_match_s: float | None
    worst_share: float | None
    cap_share: float | None


@dataclass(frozen=True, slots=True)
class Forfeits:
    """How often a bot lost a match for one reason; `share` is of its matches."""

    bot: str
    kind: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Terminations:
    """How many legs ended for one reason; `share` is of all that ended."""

    termination: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Points:
    """A bot's points per match, with the 95 % interval of the mean by encounters."""

    bot: str
    matches: int
    mean: float | None
    low: float | None
    high: float | None
    least: int | None
    most: int | None


def seat_advantage(legs: Iterable[LegResult]) -> list[SeatAdvantage]:
    """Return a row for each seat, then for each distance from the first dealer; `legs` count all.

    In a mirrored encounter every bot sits everywhere, so how strong the bots are cancels out.
    """
    scores: dict[tuple[str, int], list[tuple[str, float]]] = {}
    points: Counter[tuple[str, int]] = Counter()
    for leg in legs:
        for seat, row in enumerate(leg.seats):
            score = (leg.encounter_id, seat_score(leg, seat))
            for key in ("seat", seat), ("dealer_distance", dealer_distance(leg, seat)):
                scores.setdefault(key, []).append(score)
                points[key] += row.total
    rows: list[SeatAdvantage] = []
    for by, index in sorted(scores, key=lambda key: (key[0] != "seat", key[1])):
        found = scores[by, index]
        interval = score_interval(encounter_means(found))
        rows.append(
            SeatAdvantage(
                by=by,
                index=index,
                matches=len(found),
                score=interval.mean,
                low=interval.low,
                high=interval.high,
                points=points[by, index] / len(found),
            )
        )
    return rows


def mirroring(legs: Iterable[LegResult]) -> Mirroring:
    """Return what playing the same deals from every seat saved; `legs` count all.

    For every pair of bots: the variance of an encounter's mean head-to-head score, against what it
    would be if its legs, each with its own variance (by distance from the dealer), were
    independent. Only pairs with several encounters tell; all are pooled.
    """
    encounters: set[str] = set()
    parts: dict[str, list[tuple[float, float]]] = {}
    compared = freedom = 0
    for (bot, opponent), met in duels(legs).items():
        encounters |= {duel.encounter_id for duel in met}
        # Of two bots, each one's scores say the same.
        if bot < opponent:
            pair = _variance_parts(met)
            for encounter, part in pair:
                parts.setdefault(encounter, []).append(part)
            compared += len(pair)
            freedom += max(0, len(pair) - 1)
    sums = [
        (math.fsum(apart for apart, _ in part), math.fsum(together for _, together in part))
        for part in parts.values()
    ]
    apart = math.fsum(part[0] for part in sums)
    together = math.fsum(part[1] for part in sums)
    if not apart or not together:
        return Mirroring(len(encounters), None, None, None)
    factor = apart / together
    # The scatter of a ratio of sums; on a logarithmic scale, as a factor is never negative. Means
    # taken from the same results make the parts too even: hence compared / freedom.
    residuals = math.fsum((own - factor * whole) ** 2 for own, whole in sums)
    error = math.sqrt(residuals * compared / freedom) / apart
    if error < _NOTHING:
        return Mirroring(len(encounters), factor, None, None)
    spread = math.exp(student_limit(min(freedom, len(sums) - 1)) * error)
    return Mirroring(len(encounters), factor, factor / spread, factor * spread)


def time_use(
    bots: Iterable[str],
    legs: Iterable[LegResult],
    *,
    per_decision_us: int | None = None,
    match_cap_us: int | None = None,
) -> list[TimeUse]:
    """Return a row for each bot, sorted by name; `legs` count all.

    `per_decision_us` and `match_cap_us` are of the time control: without them no shares.
    """
    return [
        _time_use(bot, seats, per_decision_us, match_cap_us)
        for bot, seats in _seats_by_bot(bots, legs).items()
    ]


def forfeits(legs: Iterable[LegResult]) -> list[Forfeits]:
    """Return a row for every kind of forfeit that a bot had, sorted by bot and kind."""
    matches: Counter[str] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for leg in legs:
        for seat in leg.seats:
            matches[seat.bot] += 1
            if seat.forfeit is not None:
                counts[seat.bot, seat.forfeit.value] += 1
    return [
        Forfeits(bot, kind, count, count / matches[bot])
        for (bot, kind), count in sorted(counts.items())
    ]


def terminations(legs: Iterable[LegResult]) -> list[Terminations]:
    """Return a row for every termination of the legs, those without a result included."""
    counts = Counter(leg.termination.value for leg in legs)
    return [
        Terminations(termination, count, count / counts.total())
        for termination, count in sorted(counts.items())
    ]


def points(bots: Iterable[str], legs: Iterable[LegResult]) -> list[Points]:
    """Return a row for each bot, sorted by name; `legs` count all."""
    rows: list[Points] = []
    for bot, seats in _seats_by_bot(bots, legs).items():
        totals = [seat.total for _, seat in seats]
        interval = mean_interval(encounter_means((name, seat.total) for name, seat in seats))
        rows.append(
            Points(
                bot=bot,
                matches=len(totals),
                mean=interval.mean,
                low=interval.low,
                high=interval.high,
                least=min(totals, default=None),
                most=max(totals, default=None),
            )
        )
    return rows


def _variance_parts(met: Sequence[Duel]) -> list[tuple[str, tuple[float, float]]]:
    """Return for each encounter of a pair its part of the variance apart, and together.

    Apart: squared deviations of its legs from the mean of such legs. Together: the square of their
    sum. With a single encounter there is nothing to compare with.
    """
    by_encounter: dict[str, list[Duel]] = {}
    by_distance: dict[int, list[float]] = {}
    for duel in met:
        by_encounter.setdefault(duel.encounter_id, []).append(duel)
        by_distance.setdefault(duel.distance, []).append(duel.score)
    if len(by_encounter) < 2:
        return []
    means = {distance: math.fsum(all_) / len(all_) for distance, all_ in by_distance.items()}
    parts: list[tuple[str, tuple[float, float]]] = []
    for encounter, group in by_encounter.items():
        deviations = [duel.score - means[duel.distance] for duel in group]
        apart = math.fsum(value * value for value in deviations)
        parts.append((encounter, (apart, math.fsum(deviations) ** 2)))
    return parts


def _seats_by_bot(
    bots: Iterable[str], legs: Iterable[LegResult]
) -> Mapping[str, list[tuple[str, SeatRow]]]:
    """Return each bot's seats with their encounters, sorted by bot."""
    found: dict[str, list[tuple[str, SeatRow]]] = {bot: [] for bot in sorted(set(bots))}
    for leg in legs:
        for seat in leg.seats:
            found[seat.bot].append((leg.encounter_id, seat))
    return found


def _time_use(
    bot: str,
    seats: Sequence[tuple[str, SeatRow]],
    per_decision_us: int | None,
    match_cap_us: int | None,
) -> TimeUse:
    matches = len(seats)
    decisions = sum(seat.decisions for _, seat in seats)
    charged = sum(seat.charged_us for _, seat in seats)
    longest = max((seat.longest_us for _, seat in seats), default=0) if decisions else None
    most = max((seat.charged_us for _, seat in seats), default=None)
    return TimeUse(
        bot=bot,
        matches=matches,
        decisions=decisions,
        mean_ms=charged / decisions / 1000 if decisions else None,
        worst_ms=None if longest is None else longest / 1000,
        charged_s=charged / 1e6,
        forgiven_s=sum(seat.forgiven_us for _, seat in seats) / 1e6,
        charged_per_match_s=charged / matches / 1e6 if matches else None,
        most_per_match_s=None if most is None else most / 1e6,
        worst_share=longest / per_decision_us if longest is not None and per_decision_us else None,
        cap_share=most / match_cap_us if most is not None and match_cap_us else None,
    )
