"""Fixtures of the bots in other languages."""

import pytest

from tests.languages.building import BuiltBot, built
from tests.languages.languages import LANGUAGES, Language, need_toolchain


@pytest.fixture(params=LANGUAGES, ids=lambda row: row.name, scope="session")
def row(request: pytest.FixtureRequest) -> Language:
    """Each language whose toolchain is there."""
    row = request.param
    assert isinstance(row, Language)
    need_toolchain(row)
    return row


@pytest.fixture(scope="session")
def bot(row: Language) -> BuiltBot:
    """Its bot, built."""
    return built(row)
