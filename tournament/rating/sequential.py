"""TrueSkill over results in plan order. Pure.

Parallel matches finish in any order and TrueSkill depends on the order of results, so ratings are
always computed from the stored results sorted by their place in the plan: the same set of results
gives the same table to the last bit.
"""

from collections.abc import Iterable
from typing import Any

from tournament.rating.environment import RatedMatch, Rating, make_environment


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
