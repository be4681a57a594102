"""The leaderboard's rows from stored results. Pure.

An encounter counts only when all its legs have a result: half an encounter would favour whoever
had the better seats.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.match.outcome import Forfeit
from tournament.rating.environment import RatedMatch, Rating
from tournament.rating.sequential import rate


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


@dataclass(frozen=True, slots=True)
class LegResult:
    """A leg that has ended. Without a result (nobody was ever ready) it counts for nobody."""

    encounter_id: str
    position: int
    has_result: bool
    seats: tuple[SeatRow, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of the leaderboard. `rating` is mu − 3 sigma; means are None before a first match."""

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


def counted(legs: Iterable[LegResult], legs_per_encounter: Mapping[str, int]) -> list[LegResult]:
    """Return the legs of whole encounters, in plan order."""
    valid = [leg for leg in legs if leg.has_result]
    done = Counter(leg.encounter_id for leg in valid)
    whole = {
        encounter for encounter, planned in legs_per_encounter.items() if done[encounter] == planned
    }
    return sorted((leg for leg in valid if leg.encounter_id in whole), key=lambda leg: leg.position)


def standings(versions: Mapping[str, str], legs: Sequence[LegResult]) -> list[Standing]:
    """Return the rows, best first. `versions` maps every bot to its version; `legs` count all."""
    rated = [RatedMatch(leg.position, {seat.bot: seat.place for seat in leg.seats}) for leg in legs]
    ratings = rate(rated, versions)
    ordered = sorted(versions, key=lambda bot: (-ratings[bot].conservative, bot))
    rows: list[Standing] = []
    for index, bot in enumerate(ordered, start=1):
        tied = rows and rows[-1].rating == ratings[bot].conservative
        rank = rows[-1].rank if tied else index
        rows.append(_row(rank, bot, versions[bot], ratings[bot], legs))
    return rows


def _row(rank: int, bot: str, version: str, rating: Rating, legs: Sequence[LegResult]) -> Standing:
    played = [(leg, seat) for leg in legs for seat in leg.seats if seat.bot == bot]
    won = [_score(leg, seat) for leg, seat in played]
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
        wins=won.count("win"),
        draws=won.count("draw"),
        losses=won.count("loss"),
        mean_place=sum(seat.place for _, seat in played) / matches if matches else None,
        points_per_match=sum(seat.total for _, seat in played) / matches if matches else None,
        forfeits=dict(sorted(forfeits.items())),
        mean_ms=sum(seat.charged_us for _, seat in played) / decisions / 1000
        if decisions
        else None,
        worst_ms=max(seat.longest_us for _, seat in played) / 1000 if decisions else None,
    )


def _score(leg: LegResult, seat: SeatRow) -> str:
    """Return win, draw or loss: a first place alone, a first place shared, any other place."""
    if seat.place != 1:
        return "loss"
    firsts = sum(other.place == 1 for other in leg.seats)
    return "win" if firsts == 1 else "draw"
