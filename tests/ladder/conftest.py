"""A ladder for each test that wants one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.ladder.stand import Stand, standing


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    async with standing(tmp_path) as found:
        yield found
