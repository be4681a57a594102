"""Which bots are started, kept and ended; only the gate of the referee is a fake."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tournament.bots.sandbox.choose import choose
from tournament.worker.messages import BotEnded, BotSpec, BotStarted, Failure, Message, Setup
from tournament.worker.pool import BotPool

WAIT = "import time; time.sleep(600)"


class FakeGate:
    """Says that bots are connected as soon as they are waited for, but for those that are not."""

    def __init__(self) -> None:
        self.issued: list[str] = []
        self.revoked: list[str] = []
        self.exits: list[tuple[str, str]] = []
        self.deaf: set[str] = set()
        self.two_exits = asyncio.Event()

    def issue_token(self, bot: str, version: str) -> str:
        """Name the n-th token of a bot."""
        token = f"{bot}@{version}#{len(self.issued)}"
        self.issued.append(token)
        return token

    async def wait_connected(self, token: str, timeout_s: float) -> None:
        """Answer at once."""
        if token in self.deaf:
            raise TimeoutError
        assert timeout_s > 0

    def report_exit(self, token: str, reason: str) -> None:
        """Note it."""
        self.exits.append((token, reason))
        if len(self.exits) == 2:
            self.two_exits.set()

    def revoke_token(self, token: str) -> None:
        """Note it."""
        assert token not in self.revoked
        self.revoked.append(token)


@pytest.fixture
def gate() -> FakeGate:
    return FakeGate()


@pytest.fixture
def said() -> list[Message]:
    return []


@pytest.fixture
async def pool(tmp_path: Path, gate: FakeGate, said: list[Message]) -> AsyncIterator[BotPool]:
    setup = Setup(
        socket_dir=str(tmp_path / "sockets"),
        log_dir=str(tmp_path / "logs"),
        sandbox="none",
        hidden=(),
        preset="basic",
        overrides={},
        time_control={"startup_ms": 10_000},
        bots=tuple(BotSpec(n, "1", str(tmp_path), ("python3", "-c", WAIT)) for n in "abcdef"),
        warm=4,
        launch_s=60.0,
    )
    pool = BotPool(gate, "unix:/nowhere", setup, choose("none"), said.append)
    yield pool
    await pool.close()
    started = {message.pid for message in said if isinstance(message, BotStarted)}
    await asyncio.sleep(0)  # ends are reported through the loop
    assert {message.pid for message in said if isinstance(message, BotEnded)} == started
    assert sorted(gate.revoked) == sorted(gate.issued)


async def seat(pool: BotPool, names: str, leg: int = 0, *, fresh: bool = False) -> list[str]:
    return await pool.seat(names, leg, fresh=fresh, withdrawn=())


async def test_a_bot_is_kept_for_its_next_leg_of_the_same_index_only(
    pool: BotPool, gate: FakeGate
) -> None:
    first = await seat(pool, "ab")
    assert await seat(pool, "ba") == first[::-1]
    assert set(await seat(pool, "ab", leg=1)).isdisjoint(first)
    assert len(gate.issued) == 4
    assert gate.exits == []


async def test_fresh_means_new_processes(pool: BotPool, gate: FakeGate) -> None:
    first = await seat(pool, "ab")
    assert set(await seat(pool, "ab", fresh=True)).isdisjoint(first)
    assert gate.revoked == first


async def test_the_least_recently_used_are_ended_when_there_are_too_many(
    pool: BotPool, gate: FakeGate
) -> None:
    first = await seat(pool, "ab")
    second = await seat(pool, "cd")
    assert await seat(pool, "ab") == first
    await seat(pool, "ef")
    assert gate.revoked == second
    assert await seat(pool, "ab") == first


async def test_a_full_table_may_be_larger_than_what_is_kept(pool: BotPool) -> None:
    assert len(await seat(pool, "abcdef")) == 6


async def test_a_kept_bot_that_lost_its_connection_is_started_anew(
    pool: BotPool, gate: FakeGate
) -> None:
    (first,) = await seat(pool, "a")
    gate.deaf.add(first)
    assert await seat(pool, "a") != [first]
    assert gate.revoked == [first]


async def test_a_withdrawn_bot_is_not_started(
    pool: BotPool, gate: FakeGate, said: list[Message]
) -> None:
    tokens = await pool.seat("ab", 0, fresh=False, withdrawn=("b",))
    assert [token for token, _ in gate.exits] == [tokens[1]]
    assert len(said) == 1
    await pool.dismiss_ended()
    assert gate.revoked == [tokens[1]]


async def test_dismissed_bots_are_started_anew(pool: BotPool, gate: FakeGate) -> None:
    first = await seat(pool, "ab")
    await pool.dismiss(["a"], 0)
    assert gate.revoked == [first[0]]
    again = await seat(pool, "ab")
    assert (again[0] != first[0], again[1]) == (True, first[1])


async def test_opponents_learn_nothing_of_programs_and_the_organiser_all(
    pool: BotPool, gate: FakeGate
) -> None:
    pool._bots["a"] = replace(pool._bots["a"], run=("./secret-program",))
    pool._bots["b"] = replace(
        pool._bots["b"], run=("python3", "-c", "import sys; sys.exit('my secret')")
    )
    await seat(pool, "ab")
    await gate.two_exits.wait()
    assert [text for _, text in gate.exits] == ["no process was started", "no process is left"]
    first, second = await pool.failures("ab", 0)
    assert (first.bot, first.failure, first.log) == ("a", Failure.NOT_STARTED, "")
    assert "'./secret-program'" in first.text
    assert (second.failure, second.text, second.tail) == (
        Failure.ENDED, "ended with exit code 1", "my secret",
    )  # fmt: skip


async def test_a_bot_that_says_no_hello_or_is_never_ready_is_told_apart(
    pool: BotPool, gate: FakeGate
) -> None:
    gate.deaf.add("a@1#0")
    await seat(pool, "ab")
    first, second = await pool.failures("ab", 0)
    assert (first.failure, first.text) == (Failure.NO_HELLO, "said no hello within 60 s")
    assert second.failure is Failure.NOT_READY
    assert second.text == "said hello, but not within 10 s that it was ready to play"
    assert gate.exits == [("a@1#0", "it said no hello")]
