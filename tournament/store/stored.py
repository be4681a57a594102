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
    """A stored tournament and how far it is."""

    id: str
    config: Mapping[str, object]
    config_hash: str
    created: str
    status: str
    matches: int
    planned: int


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A planned match as people list it; without a result `termination` is empty."""

    fixture: Fixture
    number: int
    match_id: str
    termination: str
    text: str
    deals: int | None
    record_hash: str
    seats: tuple[SeatRow, ...]


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
