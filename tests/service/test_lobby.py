"""Practice matches: house bots that die and come back, and who is seated."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import grpc
import pytest
from structlog.testing import capture_logs

from referee.engine.presets import make_ruleset
from referee.service.errors import CallError
from referee.service.lobby import HouseBotError, Lobby, LobbySpec, _HouseBot, house_bots
from referee.service.server import Referee, StoppingError
from tests.service.clients import (
    PATIENCE_S,
    client,
    new_spec,
    referee_at,
    two_bots,
)

RULES = make_ruleset("basic", {"match_end": "fixed_deals", "deals": 1})


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.subprocess.Process]:
    """The processes that were started."""
    found: list[asyncio.subprocess.Process] = []
    really = asyncio.create_subprocess_exec

    async def start(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        process = await really(*arguments, **options)
        found.append(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    return found


async def killed(process: asyncio.subprocess.Process) -> None:
    os.kill(process.pid, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE_S):
        await process.wait()


async def test_tables_that_find_the_same_house_bot_dead_start_it_once(
    tmp_path: Path, started: list[asyncio.subprocess.Process]
) -> None:
    async with referee_at(tmp_path, is_open=True) as (referee, address):
        house = _HouseBot(referee, "random", house_bots()["random"], address)
        await house.start()
        first, token = await house.player(), house._token
        await killed(started[0])
        async with asyncio.timeout(PATIENCE_S):
            one, other = await asyncio.gather(house.player(), house.player())
        assert one is other
        assert one is not first
        assert one.is_connected
        assert len(started) == 2
        assert referee.tokens.identify(token) is None, "the old token is refused"
        assert referee.tokens.identify(house._token) is not None
        assert await house.player() is one
        await house.stop()
        assert [process.returncode is None for process in started] == [False, False]
        assert referee.tokens._known == {}


async def test_house_bot_that_only_lost_its_stream_is_kept(
    tmp_path: Path, started: list[asyncio.subprocess.Process]
) -> None:
    async with referee_at(tmp_path, is_open=True) as (referee, address):
        house = _HouseBot(referee, "random", house_bots()["random"], address)
        await house.start()
        session = (await house.player()).session
        assert session is not None
        session.close(CallError(grpc.StatusCode.UNAVAILABLE, "TEST", "go and come back"))
        async with asyncio.timeout(PATIENCE_S):
            while referee.bot(house._token).session is session:  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.01)
        assert (await house.player()).is_connected
        assert len(started) == 1
        await house.stop()


async def test_house_bot_that_does_not_start(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text("raise SystemExit(7)\n")
    async with referee_at(tmp_path, is_open=True) as (referee, address):
        house = _HouseBot(referee, "broken", program, address)
        for ask in (house.start, house.player):
            with pytest.raises(HouseBotError, match="broken did not start: exit code 7"):
                await ask()
            assert house._token == ""
        assert referee.tokens._known == {}


async def test_guest_is_let_go_when_the_house_does_not_come_back(
    tmp_path: Path, started: list[asyncio.subprocess.Process]
) -> None:
    spec = LobbySpec(RULES, 2, "random")
    async with referee_at(tmp_path, is_open=True) as (referee, address):
        lobby = Lobby(referee, address, spec)
        await lobby.open()
        lobby._house[0]._program = tmp_path / "none.py"
        await killed(started[0])
        with capture_logs() as lines:
            async with client(address, None) as guest:
                await guest.hello()
                assert await guest.receive() is None
        (line,) = [line for line in lines if line["event"] == "no match"]
        assert line["log_level"] == "error"
        assert "random did not start" in line["why"]
        await lobby.close()


async def test_guests_meet_and_others_wait(tmp_path: Path) -> None:
    async with referee_at(tmp_path, is_open=True) as (referee, address):
        lobby = Lobby(referee, "", LobbySpec(RULES, 2))
        await lobby.open()
        async with (
            client(address, referee.issue_token("issued", "1")) as issued,
            client(address, "one") as one,
            client(address, "other") as other,
        ):
            await issued.hello()
            await one.hello("one")
            await other.hello("other")
            ended = await asyncio.gather(one.play(), other.play())
            assert all(ended)
            for guest in (one, other):
                assert await guest.receive() is None
            assert [kind.WhichOneof("message") for kind in issued.received] == ["welcome"]
            assert referee.running == []
        await lobby.close()


async def test_guests_do_not_wait_for_others_while_the_referee_stops(tmp_path: Path) -> None:
    async with referee_at(tmp_path, is_open=True) as (referee, address):
        lobby = Lobby(referee, "", LobbySpec(RULES, 2))
        await lobby.open()
        async with client(address, "early") as early, client(address, "late") as late:
            await early.hello("early")
            await referee.drain(1)
            lobby.dismiss_waiting()
            await late.hello("late")
            for guest in (early, late):
                assert await guest.receive() is None
                assert await guest.code() is grpc.StatusCode.OK
        await lobby.close()


async def test_no_match_begins_while_the_referee_stops(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with two_bots(referee, address) as (tokens, one, _):
        assert await referee.drain(1)
        spec = new_spec()
        with pytest.raises(StoppingError, match=f"stopping: {spec.match_id} does not begin"):
            await referee.play(spec, tokens)
        await referee.close()
        assert await one.receive() is None, "and it was not told of one"


async def test_what_is_aborted_is_named(served: tuple[Referee, str]) -> None:
    referee, address = served
    specs = [new_spec(), new_spec()]
    async with two_bots(referee, address) as (tokens, one, _):
        playing = [asyncio.create_task(referee.play(spec, tokens)) for spec in specs]
        await one.until("match_starting")
        ids = [spec.match_id for spec in specs]
        assert referee.running == ids
        with capture_logs() as lines:
            assert referee.abort_running("a reason") == ids
        assert referee.running == []
        (line,) = [line for line in lines if line["event"] == "matches aborted"]
        assert (line["match_ids"], line["why"]) == (ids, "a reason")
        for result in await asyncio.gather(*playing):
            assert (result.termination, result.text) == ("aborted", "a reason")
        assert referee.abort_running("once more") == []
