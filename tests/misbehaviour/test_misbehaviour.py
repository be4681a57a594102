"""Every behaviour of the table: what comes of it, the next match, and what is left of it."""

from pathlib import Path

import pytest

from referee.service.session import Limits
from rummy.referee.v1 import play_pb2 as pb
from tests.misbehaviour import behaviours, processes, provoked  # noqa: F401 - they fill the table
from tests.misbehaviour.arena import (
    TABLE,
    Behaviour,
    Left,
    arena,
    back_to,
    healthy_match,
    misbehave,
)
from tests.service.clients import client

MOST_CHARGED_US = 5_000_000
"""Of a healthy opponent that answers at once, in a whole match on a busy machine."""


def test_the_table_is_long_and_without_doubles() -> None:
    names = [behaviour.name for behaviour in TABLE]
    assert len(names) == len(set(names)) >= 60


@pytest.mark.parametrize("behaviour", TABLE, ids=lambda behaviour: behaviour.name)
async def test_behaviour(behaviour: Behaviour, tmp_path: Path) -> None:
    async with arena(tmp_path, behaviour.limits) as (referee, address):
        before = Left.now()
        result = await misbehave(behaviour, referee, address)

        expected = behaviour.expected
        bad, good = result.seats
        found = (bad.forfeit and bad.forfeit.value, bad.illegal_strikes, bad.time_strikes)
        assert found == (expected.forfeit, expected.illegal, expected.time), result.text
        assert result.termination == ("forfeit" if expected.forfeit else "completed"), result.text
        # The other one is not to suffer: no strike, no time, and it wins if somebody forfeits.
        assert (good.forfeit, good.illegal_strikes, good.time_strikes) == (None, 0, 0)
        assert good.charged_us < MOST_CHARGED_US
        assert result.deals == behaviour.deals if expected.forfeit is None else True
        if expected.forfeit:
            assert (bad.place, good.place) == (2, 1)
            assert result.text.startswith("bot0 (seat 0)")

        await back_to(before)
        await healthy_match(referee, address)
        await back_to(before)


def resident_kib() -> int:
    """Memory of this process; 0 where that is not told."""
    path = Path("/proc/self/status")
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


async def test_many_bad_sessions_leave_nothing(tmp_path: Path) -> None:
    async with arena(tmp_path, Limits()) as (referee, address):
        token = referee.issue_token("bad", "1")

        async def storm(rounds: int) -> None:
            for number in range(rounds):
                async with client(address, token) as one:
                    await one.hello()
                    junk = (b"\xff" * 60_000, b"", pb.PlayRequest(hello=pb.Hello(bot="b")))
                    await one.send(junk[number % 3])
                    if number % 3 != 1:
                        assert await one.receive() is None

        await storm(50)
        before, used_kib = Left.now(), resident_kib()
        await storm(150)
        await back_to(before)
        assert resident_kib() - used_kib < 16 * 1_024
        await healthy_match(referee, address)
