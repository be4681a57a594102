"""Ratings by version of a bot, over tournaments under the same rules. Pure.

Every content that a bot ever played with is an entrant of its own. All are rated together, so two
versions that never met are compared through those that both met.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tournament.statistics.standings import LegResult, Method, Standing, standings


@dataclass(frozen=True, slots=True)
class BotVersion:
    """A version of a bot; its content hash is what tells it from all others."""

    bot: str
    version: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class PlayedTournament:
    """What a tournament adds: its entrants by name of bot, and the legs that count.

    `seed` is None unless all its deals were derived from one.
    """

    id: str
    seed: int | None
    entrants: Mapping[str, BotVersion]
    legs: Sequence[LegResult]


@dataclass(frozen=True, slots=True)
class VersionStanding:
    """The row of one version of a bot."""

    content_hash: str
    standing: Standing


def version_standings(
    tournaments: Iterable[PlayedTournament],
    *,
    bot: str | None = None,
    method: Method = Method.ORDER_FREE,
) -> list[VersionStanding]:
    """Return a row for every version, best first, or for the versions of one bot.

    With `bot`, ranks and gaps are among its own versions; still all results count.
    """
    ordered = sorted(tournaments, key=lambda tournament: tournament.id)
    known = {
        version.content_hash: version
        for tournament in ordered
        for version in tournament.entrants.values()
    }
    rows = standings(
        {content: content for content in known},
        _merged(ordered),
        method=method,
        shown=[content for content, version in known.items() if bot in (None, version.bot)],
    )
    return [
        VersionStanding(
            row.bot, replace(row, bot=known[row.bot].bot, version=known[row.bot].version)
        )
        for row in rows
    ]


def _merged(tournaments: Iterable[PlayedTournament]) -> list[LegResult]:
    """Return the legs of all, each bot named by its content, positions counted through.

    Tournaments of one seed play the same encounters on the same deals: those count as one.
    """
    legs: list[LegResult] = []
    for tournament in tournaments:
        unseeded = tournament.seed is None
        deals = f"tournament {tournament.id}" if unseeded else f"seed {tournament.seed}"
        for leg in sorted(tournament.legs, key=lambda leg: leg.position):
            seats = tuple(
                replace(seat, bot=tournament.entrants[seat.bot].content_hash) for seat in leg.seats
            )
            encounter = f"{deals}/{leg.encounter_id}"
            legs.append(replace(leg, encounter_id=encounter, position=len(legs), seats=seats))
    return legs
