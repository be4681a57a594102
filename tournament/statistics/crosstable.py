"""Who did how well against whom. Pure.

At tables of three and more, a bot wins against each opponent that it leaves behind, whoever else
sits there.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tournament.statistics.intervals import score_interval
from tournament.statistics.scores import DRAW, LOSS, WIN, Duel, duels, encounter_means
from tournament.statistics.standings import LegResult


@dataclass(frozen=True, slots=True)
class Cell:
    """A bot against an opponent, from the bot's view.

    `score` is the mean of 1, ½ or 0 a leg, with its 95 % interval by encounters; `points` are the
    bot's own a leg. They are None before the two have met, the limits also after one encounter.
    """

    bot: str
    opponent: str
    encounters: int
    matches: int
    wins: int
    draws: int
    losses: int
    score: float | None
    low: float | None
    high: float | None
    points: float | None


def crosstable(bots: Iterable[str], legs: Iterable[LegResult]) -> list[Cell]:
    """Return a cell for every ordered pair of different bots, sorted; `legs` count all."""
    met = duels(legs)
    names = sorted(set(bots))
    return [
        _cell(bot, opponent, met.get((bot, opponent), ()))
        for bot in names
        for opponent in names
        if bot != opponent
    ]


def _cell(bot: str, opponent: str, legs: Sequence[Duel]) -> Cell:
    scores = Counter(leg.score for leg in legs)
    means = encounter_means((leg.encounter_id, leg.score) for leg in legs)
    interval = score_interval(means)
    return Cell(
        bot=bot,
        opponent=opponent,
        encounters=len(means),
        matches=len(legs),
        wins=scores[WIN],
        draws=scores[DRAW],
        losses=scores[LOSS],
        score=interval.mean,
        low=interval.low,
        high=interval.high,
        points=sum(leg.points for leg in legs) / len(legs) if legs else None,
    )
