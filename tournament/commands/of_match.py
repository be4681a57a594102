"""One bot in one match, as the command line names them."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated

import typer

from tournament.errors import StoreError, TournamentError, UsageError
from tournament.store import queries
from tournament.store.store import Store
from tournament.store.stored import MatchDetails, MatchRow, Tournament

MatchArgument = Annotated[
    str,
    typer.Argument(metavar="MATCH", help="Its number in `matches`, its id, or its fixture's id."),
]
BotArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="BOT", help="Which bot; may be left out if one forfeited, or one of two lost."
    ),
]


def find_match(store: Store, tournament: Tournament, match: str) -> MatchDetails:
    """Return a match of a tournament. Raises StoreError that names the nearest ones."""
    try:
        return queries.match_details(store, tournament.id, match)
    except StoreError as error:
        rows = queries.matches(store, tournament.id)
        near = _nearest(match, rows)
        if not near:
            raise
        raise StoreError(f"{error}. The nearest: {near}") from None


def _nearest(match: str, rows: Sequence[MatchRow]) -> str:
    if not rows:
        return ""
    if re.fullmatch(r"-?[0-9]{1,18}", match):
        last = rows[-1].fixture.position
        nearest = min(max(int(match), 0), last)
        return f"{nearest} (positions are 0–{last})"
    names = [row.match_id for row in rows if row.match_id]
    names += [row.fixture.fixture_id for row in rows]
    begun = [name for name in names if match and name.startswith(match)]
    return ", ".join(begun[:3] or get_close_matches(match, names, n=3))


def find_seat(match: MatchRow, bot: str | None) -> int:
    """Return where a bot sits; without a name, who forfeited alone or lost of two.

    Raises UsageError that names who played.
    """
    names = match.fixture.seats
    played = f"match {match.fixture.position} is between {', '.join(names)}"
    if bot is not None:
        if bot not in names:
            raise UsageError(f"{bot!r} is not in it: {played}")
        return names.index(bot)
    forfeited = [seat for seat, one in enumerate(match.seats) if one.forfeit is not None]
    places = [one.place for one in match.seats]
    losers = forfeited or ([places.index(2)] if sorted(places) == [1, 2] else [])
    if len(losers) == 1:
        return losers[0]
    raise UsageError(f"say which bot: {played}, and not just one of them is to blame")


def check_played(match: MatchRow) -> None:
    """Raise TournamentError if the match has no result yet."""
    if match.termination:
        return
    name = f"match {match.fixture.position} ({', '.join(match.fixture.seats)})"
    if match.aborts:
        why = f", the last time because {match.text}" if match.text else ""
        raise TournamentError(
            f"{name} has no record: it was called off {match.aborts} times through nobody's"
            f" fault{why}. `tournament resume` plays it again"
        )
    raise TournamentError(
        f"{name} has no record yet: it has not been played to its end."
        " Its record comes with its result, see `tournament matches`"
    )
