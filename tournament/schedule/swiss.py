"""Swiss rounds for two seats: each round pairs bots of like score that have not met.

A pairing is a function of the entrants and the scores alone. From most to least important:

1. with an odd number one bot has a bye: the lowest in standing of those with the fewest byes;
2. nobody meets anybody again; where that can't be, the longest ago meet first, and nobody meets
   the same bot in two rounds running unless there are but two;
3. from the top of the standing down, everybody gets the opponent nearest in score.

Whoever can't be paired within the own score floats down to the next. Who floated in the last round
is paired first within its score, and is the last choice of a bot that floats down; all else is by
a lot drawn anew each round. Each rule holds among the pairings that the rules before it leave.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from tournament.schedule.draw import drawn_order
from tournament.schedule.fixtures import SEATS_LEAST, Encounter, Entrant, make_encounter
from tournament.schedule.limits import (
    check_encounters,
    check_entrants,
    check_matches,
    count_of,
)
from tournament.schedule.matching import pairs_by_preference

_BYE = Fraction(1)
_NEVER = -1


@dataclass(frozen=True, slots=True)
class Score:
    """What a whole encounter was worth, by bot: 1 a win, 0.5 a draw or unplayed, 0 a loss."""

    encounter_id: str
    round: int
    points: Mapping[str, float]


def rounds_most(bots: int) -> int:
    """Return after how many rounds everybody can have met everybody; an odd number has byes."""
    return bots - 1 + bots % 2


def match_count(bots: int, rounds: int, encounters: int) -> int:
    """Return how many matches all rounds of a Swiss tournament have."""
    return bots // 2 * SEATS_LEAST * encounters * rounds


def check_swiss(entrants: Sequence[Entrant], *, rounds: int, encounters: int) -> None:
    """Raise ValueError naming what can't be planned."""
    check_entrants(entrants, SEATS_LEAST)
    check_encounters(encounters)
    bots, most = len(entrants), rounds_most(len(entrants))
    if not 1 <= rounds <= most:
        allowed = "is 1" if most == 1 else f"are 1–{most}"
        raise ValueError(
            f"rounds is {rounds}: allowed {allowed} with {bots} bots;"
            " after that all have met, and a round_robin plays as much"
        )
    check_matches(
        match_count(bots, rounds, encounters),
        f"{bots} bots in {count_of(rounds, 'round')} of {count_of(encounters, 'encounter')}",
        "take fewer encounters, rounds or bots",
    )


def next_round(
    entrants: Sequence[Entrant],
    scores: Sequence[Score],
    *,
    round: int,  # noqa: A002 - the word for it everywhere
    encounters: int,
    rules: str,
    first_position: int,
) -> list[Encounter]:
    """Plan round number `round` (from 0): `encounters` encounters for each pair.

    `scores` are those of every encounter of the rounds before. A round is worth the mean of a bot's
    encounters in it, a bye 1 point. `first_position` is the place of the round's first leg in the
    plan, `rules` the hash of rules and clock. Raises ValueError if scores are missing or too many.
    """
    check_entrants(entrants, SEATS_LEAST)
    check_encounters(encounters)
    field = drawn_order(entrants, "swiss", str(round))
    history = _History([entrant.bot for entrant in field], scores, round)
    plan: list[Encounter] = []
    pairs = _pair_up(history, round)
    for repeat in range(encounters):
        for one, other in pairs:
            number = history.encounters(one, other) + repeat
            bots = [field[one], field[other]]
            if number % 2:
                bots.reverse()
            position = first_position + len(plan) * SEATS_LEAST
            plan.append(make_encounter(bots, number, rules, first_position=position, round=round))
    return plan


class _History:
    """What the rounds so far say about bots, which are numbered in the order of the lot."""

    def __init__(self, bots: Sequence[str], scores: Sequence[Score], rounds: int) -> None:
        self.bots = len(bots)
        self._total = [Fraction(0)] * len(bots)
        self.byes = [0] * len(bots)
        self._has_floated = [False] * len(bots)
        self._last_met: dict[tuple[int, int], int] = {}
        self._encounters: dict[tuple[int, int], int] = defaultdict(int)
        index = {bot: number for number, bot in enumerate(bots)}
        by_round: dict[int, list[Score]] = defaultdict(list)
        for score in scores:
            _check_score(score, index, rounds)
            by_round[score.round].append(score)
        for number in range(rounds):
            self._add_round(number, by_round[number], index)
        # Differences of fractions are slow, and whole numbers in the same proportion do as well.
        unit = lcm(*(total.denominator for total in self._total))
        self._level = [int(total * unit) for total in self._total]

    def _add_round(self, number: int, scores: Sequence[Score], index: Mapping[str, int]) -> None:
        points: dict[int, list[Fraction]] = defaultdict(list)
        opponent: dict[int, int] = {}
        for score in scores:
            first, second = (index[name] for name in score.points)
            for one, other in ((first, second), (second, first)):
                if opponent.setdefault(one, other) != other:
                    twice = next(name for name in score.points if index[name] == one)
                    raise ValueError(f"round {number}: {twice} has two opponents: allowed is one")
            for name, value in score.points.items():
                points[index[name]].append(Fraction(value))
            self._last_met[_pair(first, second)] = number
            self._encounters[_pair(first, second)] += 1
        missing = [name for name in index if index[name] not in opponent]
        if len(missing) != len(index) % 2:
            raise ValueError(
                f"round {number}: {len(missing)} bots have no score ({', '.join(missing)}):"
                f" allowed is {len(index) % 2}"
            )
        self._has_floated = [
            bot not in opponent or self._total[bot] != self._total[opponent[bot]]
            for bot in range(self.bots)
        ]
        for bot in range(self.bots):
            if bot in opponent:
                self._total[bot] += sum(points[bot], start=Fraction(0)) / len(points[bot])
            else:
                self.byes[bot] += 1
                self._total[bot] += _BYE

    def encounters(self, one: int, other: int) -> int:
        """Return how many encounters these two have had."""
        return self._encounters.get(_pair(one, other), 0)

    def last_met(self, one: int, other: int) -> int:
        """Return the last round in which these two met."""
        return self._last_met.get(_pair(one, other), _NEVER)

    def standing(self) -> list[int]:
        """Return all bots by score, those who floated before the others of their score."""
        return sorted(
            range(self.bots), key=lambda bot: (-self._level[bot], not self._has_floated[bot], bot)
        )

    def opponents(self, bot: int, standing: Sequence[int]) -> list[int]:
        """Return all others, best first: never met, near in score, then by their place.

        Within the same score the highest in standing comes first, of another score the lowest.
        """
        own, level = self._level[bot], self._level

        def worth(place: int) -> tuple[bool, int, int]:
            other = standing[place]
            away = abs(level[other] - own)
            return self.last_met(bot, other) > _NEVER, away, -place if away else place

        places = sorted((at for at in range(self.bots) if standing[at] != bot), key=worth)
        return [standing[at] for at in places]


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _check_score(score: Score, index: Mapping[str, int], rounds: int) -> None:
    if not 0 <= score.round < rounds:
        raise ValueError(f"a score is of round {score.round}: allowed are 0–{rounds - 1}")
    if len(score.points) != SEATS_LEAST or any(bot not in index for bot in score.points):
        raise ValueError(
            f"round {score.round}: a score is of {', '.join(score.points)}:"
            " allowed are two bots that take part"
        )


def _pair_up(history: _History, rounds: int) -> list[tuple[int, int]]:
    """Return the pairs of a round, the highest in standing first, without the bye."""
    bye = history.bots  # it is one more opponent, and takes its own before all others
    standing = history.standing()
    choices = [history.opponents(bot, standing) for bot in range(history.bots)]
    order = standing
    if history.bots % 2:
        order = [bye, *standing]
        fewest = min(history.byes)
        choices.append([bot for bot in reversed(standing) if history.byes[bot] == fewest])
        for bot in choices[bye]:
            choices[bot].append(bye)

    def pairs(before: int) -> list[tuple[int, int]] | None:
        """Return the best pairs if none who met in round `before` or later meet again."""
        allowed = [
            [other for other in others if history.last_met(bot, other) < before]
            for bot, others in enumerate(choices)
        ]
        return pairs_by_preference(order, allowed)

    found = pairs(0)
    if found is None:
        # The more is allowed again the more can be paired, and with everything allowed all can.
        least = bisect_left(range(rounds), True, key=lambda before: pairs(before) is not None)
        found = pairs(least)
    assert found is not None
    return [pair for pair in found if bye not in pair]
