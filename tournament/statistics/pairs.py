"""Pairs of legs between two seats: counts, Elo difference, likelihood of superiority. Pure.

An encounter of two seats is a pair of legs on the same deals, scored as a whole: 0, ¼, ½, ¾ or 1.
Everything here comes from these five counts. An Elo difference d is a score of
1 / (1 + 10^(−d/400)); at a score of 0 or 1 it has no finite value.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import pstdev

from tournament.statistics.intervals import Interval, score_interval, superiority
from tournament.statistics.scores import encounter_means, head_to_head
from tournament.statistics.standings import LegResult, SeatRow

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""LL, LD, WL or DD, WD, WW."""
ELO_SCALE = 400.0
_NORMALISED_SCALE = ELO_SCALE * 2 / math.log(10)
"""Normalised and logistic Elo agree for small differences where every match is won or lost."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """Pairs of a bot against an opponent, or against all (`opponent` None), from the bot's view.

    Limits are of 95 % intervals. Elo is None where it has no finite value, normalised Elo where
    all pairs had the same score. `los` is the likelihood of superiority, 0–1.
    """

    bot: str
    opponent: str | None
    pairs: int
    ll: int
    ld: int
    wl_dd: int
    wd: int
    ww: int
    score: float | None
    low: float | None
    high: float | None
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    normalised_elo: float | None
    normalised_low: float | None
    normalised_high: float | None
    los: float | None


def expected_score(elo: float) -> float:
    """Return the score, 0–1, that an Elo difference means."""
    return 1 / (1 + 10 ** (-elo / ELO_SCALE))


def elo_difference(score: float | None) -> float | None:
    """Return the Elo difference that a score means; None for 0 and 1, and without a score."""
    if score is None or not 0 < score < 1:
        return None
    return ELO_SCALE * math.log10(score / (1 - score))


def pair_scores(legs: Iterable[LegResult], bot: str, opponent: str | None = None) -> list[float]:
    """Return a bot's scores of whole encounters in plan order, against one opponent or all.

    `legs` count all. Raises ValueError for a table of more than two seats.
    """
    scores: list[tuple[str, float]] = []
    for leg in sorted(legs, key=lambda leg: leg.position):
        for seat, other in _both_views(leg):
            if seat.bot == bot and opponent in (None, other.bot):
                scores.append((leg.encounter_id, head_to_head(seat, other)))
    return encounter_means(scores)


def plan_prefix(
    plan: Iterable[tuple[str, int]],
    legs: Iterable[LegResult],
    bot: str,
    *,
    unplayed: Collection[str] = (),
) -> list[float]:
    """Return a bot's pair scores up to the first encounter of the plan that is not whole yet.

    What has finished beyond it does not count yet, so nothing depends on who finished first.
    `plan` has encounters with their numbers of legs, in plan order; `legs` are all that have ended.
    Encounters that were given up (`unplayed`), or have a leg without a result, are passed over.
    """
    ended: dict[str, list[LegResult]] = {}
    for leg in legs:
        ended.setdefault(leg.encounter_id, []).append(leg)
    whole: list[LegResult] = []
    for encounter, planned in plan:
        played = ended.get(encounter, [])
        if encounter in unplayed or not all(leg.has_result for leg in played):
            continue
        if len(played) < planned:
            break
        whole += played
    return pair_scores(whole, bot)


def pair_row(scores: Iterable[float], bot: str, opponent: str | None = None) -> PairRow:
    """Return all figures that follow from the pair scores of a bot.

    Raises ValueError for a score that two legs cannot have.
    """
    counts = pair_counts(scores)
    observed = list(Counter(dict(zip(PAIR_SCORES, counts, strict=True))).elements())
    interval = score_interval(observed)
    normalised = _normalised(observed, interval)
    ll, ld, wl_dd, wd, ww = counts
    return PairRow(
        bot=bot,
        opponent=opponent,
        pairs=len(observed),
        ll=ll,
        ld=ld,
        wl_dd=wl_dd,
        wd=wd,
        ww=ww,
        score=interval.mean,
        low=interval.low,
        high=interval.high,
        elo=elo_difference(interval.mean),
        elo_low=elo_difference(interval.low),
        elo_high=elo_difference(interval.high),
        normalised_elo=normalised.mean,
        normalised_low=normalised.low,
        normalised_high=normalised.high,
        los=superiority(observed),
    )


def pair_rows(legs: Sequence[LegResult]) -> list[PairRow]:
    """Return a row for every ordered pair of bots that met, sorted by their names.

    `legs` count all. Raises ValueError for a table of more than two seats.
    """
    grouped: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for leg in legs:
        for seat, other in _both_views(leg):
            scores = grouped.setdefault((seat.bot, other.bot), [])
            scores.append((leg.encounter_id, head_to_head(seat, other)))
    return [
        pair_row(encounter_means(scores), bot, opponent)
        for (bot, opponent), scores in sorted(grouped.items())
    ]


def overall_rows(bots: Iterable[str], legs: Sequence[LegResult]) -> list[PairRow]:
    """Return a row for each bot against all its opponents together, sorted by name.

    `legs` count all. Raises ValueError for a table of more than two seats.
    """
    grouped: dict[str, list[tuple[str, float]]] = {bot: [] for bot in sorted(set(bots))}
    for leg in legs:
        for seat, other in _both_views(leg):
            grouped[seat.bot].append((leg.encounter_id, head_to_head(seat, other)))
    return [pair_row(encounter_means(scores), bot) for bot, scores in grouped.items()]


def pair_counts(scores: Iterable[float]) -> tuple[int, int, int, int, int]:
    """Return how often each of the five pair scores occurs: LL, LD, WL or DD, WD, WW.

    Raises ValueError for a score that two legs cannot have.
    """
    counts = Counter(scores)
    for score in counts:
        check_pair_score(score)
    ll, ld, wl_dd, wd, ww = (counts[score] for score in PAIR_SCORES)
    return ll, ld, wl_dd, wd, ww


def check_pair_score(score: float) -> None:
    """Raise ValueError for a score that two legs cannot have."""
    if score not in PAIR_SCORES:
        allowed = ", ".join(f"{allowed:g}" for allowed in PAIR_SCORES)
        raise ValueError(f"the score of a pair of legs is {score!r}: allowed are {allowed}")


def _both_views(leg: LegResult) -> tuple[tuple[SeatRow, SeatRow], tuple[SeatRow, SeatRow]]:
    """Return the two seats, each once as the first."""
    if len(leg.seats) != 2:
        raise ValueError(f"a table has {len(leg.seats)} seats: pairs of legs are for 2 seats")
    first, second = leg.seats
    return (first, second), (second, first)


def _normalised(scores: Sequence[float], interval: Interval) -> Interval:
    """Return the difference from ½ in standard deviations of a match, in units of Elo.

    Two legs are a pair, so a match's variance is twice that of the pair scores.
    """
    spread = pstdev(scores) * math.sqrt(2) if scores else 0.0
    if not spread:
        return Interval()

    def scaled(score: float | None) -> float | None:
        return None if score is None else (score - 0.5) / spread * _NORMALISED_SCALE

    return Interval(scaled(interval.mean), scaled(interval.low), scaled(interval.high))
