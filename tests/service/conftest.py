"""A referee on a socket for each test that wants one; nothing of it may be left."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from referee.service.server import Referee
from tests.service.clients import referee_at


@pytest.fixture
async def served(
    tmp_path: Path,
    nothing_left: None,  # noqa: ARG001 - it looks when the referee is closed
) -> AsyncIterator[tuple[Referee, str]]:
    async with referee_at(tmp_path) as found:
        yield found


@pytest.fixture
async def nothing_left() -> AsyncIterator[None]:
    """After each test, once the referee is closed, no task of a session is left."""
    yield
    for _ in range(100):
        left = [
            task
            for task in asyncio.all_tasks()
            if task.get_name().startswith(("read s", "write s")) and not task.done()
        ]
        if not left:
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"tasks are left: {left}")
