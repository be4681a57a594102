"""The bot in shell: a whole match against a house bot, how it ends, and where its token is."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from referee.match.spec import TimeControl
from referee.service.server import Referee
from tests.service.clients import new_spec, referee_at

ROOT = Path(__file__).resolve().parents[2]
BOT = ROOT / "sample_bots" / "shell" / "bot.sh"
PATIENCE_S = 240.0
"""Each call of the bot starts a process, and there are a hundred of them."""
SLOW = TimeControl(
    per_decision_ms=60_000, bank_ms=0, startup_ms=60_000, reconnect_ms=60_000, match_cap_ms=600_000
)


@pytest.fixture(autouse=True)
def programs() -> None:
    """What it needs; buf comes with the extra `dev`, beside the Python that runs this."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    missing = [program for program in ("sh", "buf", "jq") if not shutil.which(program, path=path)]
    if missing:
        pytest.skip(f"not found: {', '.join(missing)}")


@asynccontextmanager
async def started(folder: Path, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The bot as a process, with nothing in its environment but this.

    It is killed at the end, with the call that it waits for.
    """
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        "sh",
        str(BOT),
        cwd=folder,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "TMPDIR": str(scratch),
            **variables,
        },
        start_new_session=True,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def output_of(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    """Wait for its end: exit code, and what it said to standard error. It prints nothing."""
    async with asyncio.timeout(PATIENCE_S):
        out, error = await process.communicate()
    assert out == b""
    return process.returncode, error.decode()


@asynccontextmanager
async def greedy(address: str, token: str) -> AsyncIterator[None]:
    """The house bot as a process, killed at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "sample_bots" / "greedy" / "bot.py"),
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}",
            "RUMMY_REFEREE": address,
            "RUMMY_TOKEN": token,
        },
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        await process.wait()


def environ(address: str, token: str) -> dict[str, str]:
    """As every bot gets it."""
    return {"RUMMY_REFEREE": address, "RUMMY_TOKEN": token}


async def test_plays_a_match_to_its_end_against_a_house_bot(tmp_path: Path) -> None:
    async with referee_at(tmp_path) as (referee, address):
        tokens = [referee.issue_token(name, "1") for name in ("shell", "greedy")]
        async with started(tmp_path, **environ(address, tokens[0])) as process:
            async with greedy(address, tokens[1]):
                for token in tokens:
                    await referee.wait_connected(token, PATIENCE_S)
                spec = new_spec(control=SLOW, target=50)
                async with asyncio.timeout(PATIENCE_S):
                    result = await referee.play(spec, tokens)
            session = referee.bot(tokens[0]).session
            assert session is not None
            session.close()
            code, error = await output_of(process)
    assert result.termination == "completed", result.text
    for seat in result.seats:
        assert (seat.forfeit, seat.illegal_strikes, seat.time_strikes) == (None, 0, 0)
    places = ",".join(str(seat.place) for seat in result.seats)
    told = f"match {spec.match_id}: played to its end, places [{places}]\n"
    assert (code, error) == (0, told)
    assert not list((tmp_path / "scratch").iterdir()), "its token lay there"


async def test_over_tcp_with_a_token_that_is_refused(tmp_path: Path) -> None:
    referee = Referee()
    (address,) = await referee.listen("127.0.0.1:0")
    async with started(tmp_path, **environ(address, "a-secret")) as process:
        code, error = await output_of(process)
    await referee.close()
    assert code == grpc.StatusCode.UNAUTHENTICATED.value[0] << 3, error
    assert "the token is not known here, or was revoked" in error
    assert "a-secret" not in error
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("missing", ["RUMMY_REFEREE", "RUMMY_TOKEN"])
async def test_without_its_environment(tmp_path: Path, missing: str) -> None:
    found = environ("unix:r.sock", "t")
    del found[missing]
    async with started(tmp_path, **found) as process:
        code, error = await output_of(process)
    assert code not in (0, None)
    assert missing in error
    assert not list((tmp_path / "scratch").iterdir())


async def test_a_bot_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    async with referee_at(tmp_path) as (referee, address):
        token = referee.issue_token("shell", "1")
        async with started(tmp_path, **environ(address, token)) as process:
            await referee.wait_connected(token, PATIENCE_S)
            os.killpg(process.pid, signal.SIGTERM)
            code, _ = await output_of(process)
    assert code not in (0, None)
    assert not list((tmp_path / "scratch").iterdir()), "its token lay there"
