"""The standings as last computed, and what they are sent as between two processes.

A message is a line of JSON, then as many bytes as it says: the covariance of all skills, row by row
in the machine's own doubles, for JSON would take too long to read it.
"""

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from tournament.rating.environment import BETA, MU, SIGMA
from tournament.schedule.matchmaking import Skills
from tournament.statistics.standings import Standing

NOISE = 2 * BETA**2
"""Variance of a difference of two performances."""


@dataclass(frozen=True, slots=True)
class Standings:
    """Rows best first, and the skills behind them.

    `number` counts from 1 how often they were computed; 0: never. They rest on `matches` matches;
    `computed_ms` is the time, in milliseconds since 1970, and they took `seconds`.
    """

    rows: Sequence[Standing]
    skills: Skills = field(repr=False)
    matches: int = 0
    number: int = 0
    computed_ms: int = 0
    seconds: float = 0.0


def skills_of(bots: Sequence[str], means: Sequence[float], covariance: Sequence[float]) -> Skills:
    """Return skills in the order of `bots`."""
    index = {bot: at for at, bot in enumerate(bots)}
    return Skills(index, means, covariance, MU, SIGMA**2, NOISE)


NOTHING_YET = Standings((), skills_of((), (), ()))
"""What is known before anything was computed: the prior."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a fit found: the rows, and bots by name with means and covariance."""

    rows: Sequence[Standing]
    bots: Sequence[str]
    means: Sequence[float]
    covariance: Sequence[float]
    matches: int
    seconds: float


def written(fitted: Fitted) -> bytes:
    """Return a fit as a message."""
    tail = array("d", fitted.covariance).tobytes()
    head = {
        "rows": [asdict(row) for row in fitted.rows],
        "bots": list(fitted.bots),
        "means": list(fitted.means),
        "matches": fitted.matches,
        "seconds": fitted.seconds,
        "bytes": len(tail),
    }
    return json.dumps(head).encode() + b"\n" + tail


def tail_bytes(head: Mapping[str, object]) -> int:
    """Return how many bytes follow the line of a message."""
    size = head["bytes"]
    assert isinstance(size, int), "it was written by `written`"
    return size


def read(head: Mapping[str, object], tail: bytes, *, number: int, computed_ms: int) -> Standings:
    """Return what a message holds, from its line as JSON and the bytes after it."""
    message: Mapping[str, object] = head
    rows, bots, means = message["rows"], message["bots"], message["means"]
    matches, seconds = message["matches"], message["seconds"]
    assert isinstance(rows, list) and isinstance(bots, list) and isinstance(means, list)  # noqa: PT018
    assert isinstance(matches, int) and isinstance(seconds, float)  # noqa: PT018
    covariance = array("d")
    covariance.frombytes(tail)
    return Standings(
        rows=[Standing(**row) for row in rows],
        skills=skills_of(bots, means, covariance),
        matches=matches,
        number=number,
        computed_ms=computed_ms,
        seconds=seconds,
    )
