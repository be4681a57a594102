"""Databases for the tests of the store: every test may ask for one of each kind."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tournament import postgres
from tournament.store.store import Store


@dataclass(frozen=True)
class Place:
    """Where a store is: a data folder, and the URL of its database unless that is a file in it."""

    data: Path
    url: str | None

    def open(self) -> Store:
        """Open it for writing."""
        return Store.open(self.data, self.url)

    def view(self) -> Store:
        """Open it for reading."""
        return Store.view(self.data, self.url)


@pytest.fixture(scope="session")
def postgres_programs() -> Path:
    """The folder of PostgreSQL's programs."""
    found = postgres.programs()
    if found is None:
        pytest.skip("PostgreSQL is not installed: on Debian `apt-get install postgresql`")
    return found


@pytest.fixture(scope="session")
def postgres_server(postgres_programs: Path) -> Iterator[postgres.Server]:
    """One server for all tests that don't harm it. A crash of its host may cost it everything."""
    with postgres.running_server(postgres_programs, is_durable=False) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: postgres.Server) -> Iterator[str]:
    """The URL of an empty database."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where nothing is stored yet, on each kind of database."""
    is_file = request.param == "sqlite"
    return Place(tmp_path / "data", None if is_file else request.getfixturevalue("postgres_url"))


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    """An open store with nothing in it, on each kind of database."""
    with place.open() as store:
        yield store
