"""What can't be planned, said by name, value and what is allowed. Everything raises ValueError."""

from collections.abc import Sequence
from itertools import pairwise

from tournament.schedule.fixtures import MATCHES_MOST, SEATS_LEAST, SEATS_MOST, Entrant


def count_of(number: int, what: str) -> str:
    """Return a number with its word: 1 bot, 2 bots, 2 matches."""
    return f"{number} {what if number == 1 else plural(what)}"


def plural(what: str) -> str:
    """Return the word for several: bots, matches."""
    return what + ("es" if what.endswith("ch") else "s")


def there_are(bots: int) -> str:
    """Return how many bots there are, as a sentence begins: there is 1 bot."""
    return f"there {'is' if bots == 1 else 'are'} {count_of(bots, 'bot')}"


def check_entrants(entrants: Sequence[Entrant], seats: int) -> None:
    """See that there are seats, bots for them all, and no bot twice."""
    if not SEATS_LEAST <= seats <= SEATS_MOST:
        raise ValueError(f"seats is {seats}: allowed are {SEATS_LEAST}–{SEATS_MOST}")
    if len(entrants) < seats:
        raise ValueError(f"{there_are(len(entrants))}: a table of {seats} seats needs {seats}")
    for what, values in (
        ("name", [entrant.bot for entrant in entrants]),
        ("content", [entrant.content_hash for entrant in entrants]),
    ):
        ordered = sorted(values)
        for one, following in pairwise(ordered):
            if one == following:
                raise ValueError(f"two bots have the {what} {one!r}: each bot takes part once")


def check_encounters(encounters: int) -> None:
    """See that anything is to be played at all."""
    if encounters < 1:
        raise ValueError(f"encounters is {encounters}: allowed is 1 or more")


def check_matches(matches: int, what: str, advice: str) -> None:
    """See that a tournament is not beyond all measure; `what` makes that many matches."""
    if matches > MATCHES_MOST:
        raise ValueError(f"{what} make {matches} matches: allowed are {MATCHES_MOST}; {advice}")
