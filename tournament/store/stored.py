"""What the store keeps, as the rest of the program sees it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Row

from tournament.schedule.fixtures import Fixture
from tournament.statistics.standings import SeatRow

UNFINISHED, FINISHED = "unfinished", "finished"


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot version in a tournament. `manifest` is its bot.toml, `folder` where it came from."""

    bot: str
    version: str
    author: str
    language: str
    content_hash: str
    folder: str
    manifest: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PlannedLeg:
    """A fixture with what its match is made from. `aborts` counts attempts without a result."""

    fixture: Fixture
    secret: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    aborts: int = 0


@dataclass(frozen=True, slots=True)
class Tournament:
    """A stored tournament and how far it is.

    Of a test that is decided, the first `counted` encounters of the plan count; None: all do.
    """

    id: str
    config: Mapping[str, object]
    config_hash: str
    created: str
    status: str
    counted: int | None
    matches: int
    planned: int


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A planned match as people list it; without a result `termination` is empty.

    `text` may be shown to everybody, `reasons` to the organiser alone. Without a result `text` says
    why the last of `aborts` attempts had none. `sequence` counts the results of the tournament from
    1 as they came in.
    """

    fixture: Fixture
    number: int
    match_id: str
    termination: str
    text: str
    deals: int | None
    record_hash: str
    seats: tuple[SeatRow, ...]
    round: int = 0
    reasons: str = ""
    aborts: int = 0
    sequence: int | None = None


@dataclass(frozen=True, slots=True)
class MatchDetails:
    """One match, and all legs of its encounter in plan order, itself among them."""

    match: MatchRow
    legs: tuple[MatchRow, ...]


@dataclass(frozen=True, slots=True)
class EncounterScore:
    """A planned encounter and what it was for its bots.

    `scores` are means over its legs: 1 for a win, ½ for a draw, 0 for a loss; at tables of three to
    six the share of the others that a bot was placed before, a shared place counting half. They are
    None until every one of its `legs` has a result; `played` of them are stored.
    """

    encounter_id: str
    round: int
    number: int
    bots: tuple[str, ...]
    legs: int
    played: int
    scores: Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class RoundCount:
    """How far a round is: `matches` of the `planned` ones are stored."""

    round: int
    encounters: int
    matches: int
    planned: int


def fixture_of(row: Row[tuple[object, ...]]) -> Fixture:
    """Read a fixture from a row of its table."""
    return Fixture(
        fixture_id=row.fixture,
        encounter_id=row.encounter,
        position=row.position,
        leg=row.leg,
        seats=tuple(json.loads(row.seats)),
        first_dealer=row.first_dealer,
    )
