"""Connections over a real unix socket: lost, replaced, refused, closed; health and reflection."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.match.outcome import Forfeit
from referee.match.spec import TimeControl
from referee.service.server import ListenError, Referee
from referee.service.session import Limits
from rummy.referee.v1 import play_pb2 as pb
from tests.service.clients import (
    PATIENCE_S,
    Client,
    choice_of,
    client,
    new_spec,
    referee_at,
    result_of,
    two_bots,
    until_asked,
    until_disconnected,
)

ROOT = Path(__file__).resolve().parents[2]
PLAY_SERVICE = "rummy.referee.v1.PlayService"

# --- lost connections ---------------------------------------------------------------------------


async def test_killed_process_comes_back_and_the_match_goes_on(
    served: tuple[Referee, str], tmp_path: Path
) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    processes: list[subprocess.Popen[bytes]] = []

    def launch() -> None:
        processes.append(
            subprocess.Popen(
                [sys.executable, str(ROOT / "sample_bots" / "random" / "bot.py")],
                cwd=tmp_path,
                env={
                    **os.environ,
                    "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}",
                    "RUMMY_REFEREE": address,
                    "RUMMY_TOKEN": tokens[0],
                },
                stderr=subprocess.DEVNULL,
            )
        )

    async def kill_now_and_then(bot: Client, update: pb.Update) -> pb.Choice:
        # While this bot thinks the other is not to act; the second time it is killed as it is.
        if bot.decisions in (6, 12):
            os.kill(processes[-1].pid, signal.SIGKILL)
            await asyncio.to_thread(processes[-1].wait)
            if bot.decisions == 6:
                await until_disconnected(referee, tokens[0])
            await asyncio.to_thread(launch)
            if bot.decisions == 6:
                await referee.wait_connected(tokens[0], PATIENCE_S)
        return choice_of(update, bot.index(update))

    try:
        launch()
        await referee.wait_connected(tokens[0], PATIENCE_S)
        async with client(address, tokens[1]) as other:
            await other.hello()
            playing = asyncio.create_task(
                referee.play(new_spec(match_end="fixed_deals", deals=3), tokens)
            )
            await other.play(kill_now_and_then)
            result = await result_of(playing)
        assert result.termination == "completed", result.text
        assert len(processes) == 3
        assert other.decisions > 12
        assert [seat.forfeit for seat in result.seats] == [None, None]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()


async def test_newer_session_takes_over(served: tuple[Referee, str]) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    async with (
        client(address, tokens[0]) as older,
        client(address, tokens[1]) as other,
        client(address, tokens[0]) as newer,
    ):
        await older.hello()
        await other.hello()
        spec = new_spec()
        playing = asyncio.create_task(referee.play(spec, tokens))
        for bot in (older, other):
            await bot.ready((await bot.until("match_starting")).match_starting.match_id)
        # Whoever begins plays its turn; then the one to be replaced is asked.
        asked = {
            await_bot: asyncio.create_task(await_bot.decision()) for await_bot in (older, other)
        }
        done, _ = await asyncio.wait(asked.values(), return_when=asyncio.FIRST_COMPLETED)
        if asked[older] not in done:
            await other.answer(asked[other].result())
            await other.answer(await other.decision())
        pending = await asked[older]
        asked[other].cancel()
        welcome = await newer.hello()
        assert list(welcome.resumed_match_ids) == [spec.match_id]
        assert await older.receive() is None
        assert await older.code() == grpc.StatusCode.ABORTED
        assert await older.reason() == "REPLACED"
        again = await newer.decision()
        assert again.first_event_number == 1
        assert again.decision.decision_id == pending.decision.decision_id
        assert again.decision.observation == pending.decision.observation
        assert again.decision.legal_actions == pending.decision.legal_actions
        referee._matches[spec.match_id].abort("enough")
        assert (await result_of(playing)).termination == "aborted"


async def test_choice_for_no_match_is_stale(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with client(address, referee.issue_token("b", "1")) as bot:
        await bot.hello()
        await bot.send(pb.PlayRequest(choice=pb.Choice(match_id="none", decision_id=3)))
        await bot.send(pb.PlayRequest(ready=pb.Ready(match_id="none")))
        rejected = (await bot.until("rejected")).rejected
        assert (rejected.match_id, rejected.decision_id) == ("none", 3)
        assert rejected.reason == pb.REASON_STALE_DECISION
        assert not rejected.HasField("strikes_left")


# --- limits, health, the end --------------------------------------------------------------------


async def test_sessions_are_limited(tmp_path: Path) -> None:
    async with referee_at(tmp_path, max_sessions=2) as (referee, address):
        tokens = [referee.issue_token("b", "1") for _ in range(3)]
        async with client(address, tokens[0]) as first, client(address, tokens[1]) as second:
            await first.hello()
            await second.hello()
            async with client(address, tokens[2]) as third:
                await third.send(pb.PlayRequest(hello=pb.Hello(bot="b")))
                assert await third.receive() is None
                assert await third.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
                assert await third.reason() == "SESSIONS"
            await first.send(pb.PlayRequest(goodbye=pb.Goodbye()))
            assert await first.receive() is None
        await until_disconnected(referee, tokens[0])
        async with client(address, tokens[2]) as third:
            await third.hello()


@pytest.mark.parametrize("fault", ["oversize", "malformed", "hello twice"])
async def test_broken_protocol_is_a_lost_connection_first(
    served: tuple[Referee, str], fault: str
) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    codes = {
        "oversize": grpc.StatusCode.RESOURCE_EXHAUSTED,
        "malformed": grpc.StatusCode.INVALID_ARGUMENT,
        "hello twice": grpc.StatusCode.FAILED_PRECONDITION,
    }
    async with client(address, tokens[1]) as other:
        await other.hello()
        spec = new_spec()
        playing = asyncio.create_task(referee.play(spec, tokens))
        async with client(address, tokens[0]) as bot:
            await bot.hello()
            await bot.until("match_starting")
            await bot.ready(spec.match_id)
            if fault == "oversize":
                await bot.send(pb.PlayRequest(ready=pb.Ready(match_id="x" * 70_000)))
            elif fault == "hello twice":
                await bot.send(pb.PlayRequest(hello=pb.Hello(bot="b")))
            else:
                await bot.send(b"\x12\x02\x0a\x7f")
            while await bot.receive() is not None:
                pass
            assert await bot.code() == codes[fault]
        ending = asyncio.create_task(other.play())
        async with client(address, tokens[0]) as bot:
            await bot.hello()
            assert await bot.play() is not None
        await ending
        result = await result_of(playing)
        assert [seat.forfeit for seat in result.seats] == [None, None]


async def test_protocol_broken_twice_forfeits(served: tuple[Referee, str]) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    async with client(address, tokens[1]) as other:
        await other.hello()
        spec = new_spec()
        playing = asyncio.create_task(referee.play(spec, tokens))
        ending = asyncio.create_task(other.play())
        for _ in range(2):
            async with client(address, tokens[0]) as bot:
                await bot.hello()
                await bot.until("match_starting")
                await bot.ready(spec.match_id)
                await until_asked(other)
                await bot.send(b"\xff")
                while await bot.receive() is not None:
                    pass
        await ending
        assert (await result_of(playing)).seats[0].forfeit is Forfeit.PROTOCOL


@pytest.mark.usefixtures("nothing_left")
async def test_flood_is_stopped(tmp_path: Path) -> None:
    limits = Limits(max_messages_per_second=50)
    async with referee_at(tmp_path, limits=limits) as (referee, address):
        token = referee.issue_token("b", "1")
        async with client(address, token) as bot:
            await bot.hello()
            for _ in range(900):
                await bot.send(pb.PlayRequest(pong=pb.Pong(nonce=1)))
            assert await bot.receive() is None
            # grpc.aio's client says INTERNAL when the status meets a write of its own.
            refusals = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL)
            assert await bot.code() in refusals
            await until_disconnected(referee, token)


async def test_health(tmp_path: Path) -> None:
    referee = Referee()
    address = f"unix:{tmp_path}/r.sock"
    await referee.listen(address)
    serving = health_pb2.HealthCheckResponse.SERVING
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        for name in ("", PLAY_SERVICE):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == serving
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Check(health_pb2.HealthCheckRequest(service="nonsense"))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
        await referee.drain(1)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=PLAY_SERVICE))
        assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING
        await referee.close()


async def test_reflection(served: tuple[Referee, str]) -> None:
    async with grpc.aio.insecure_channel(served[1]) as channel:
        connect: Any = reflection_pb2_grpc.ServerReflectionStub
        stub = connect(channel)
        call = stub.ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        listed = await call.read()
        names = {one.name for one in listed.list_services_response.service}
        assert names >= {PLAY_SERVICE, "grpc.health.v1.Health"}
        symbol = reflection_pb2.ServerReflectionRequest(file_containing_symbol=PLAY_SERVICE)
        await call.write(symbol)
        described = await call.read()
        assert described.file_descriptor_response.file_descriptor_proto
        await call.done_writing()
        assert await call.read() is grpc.aio.EOF


async def test_unknown_method(served: tuple[Referee, str]) -> None:
    async with grpc.aio.insecure_channel(served[1]) as channel:
        cheat: Any = channel.unary_unary("/rummy.referee.v1.PlayService/Cheat")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await cheat(b"")
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.usefixtures("nothing_left")
async def test_close_ends_idle_streams_cleanly(tmp_path: Path) -> None:
    async with referee_at(tmp_path) as (referee, address):
        tokens = [referee.issue_token("b", "1") for _ in range(3)]
        async with (
            client(address, tokens[0]) as one,
            client(address, tokens[1]) as two,
            client(address, tokens[2]) as silent,
        ):
            await one.hello()
            await two.hello()
            await silent.send(pb.PlayRequest())
            await referee.close()
            for bot in (one, two):
                assert await bot.receive() is None
                assert await bot.code() == grpc.StatusCode.OK


@pytest.mark.usefixtures("nothing_left")
async def test_close_in_the_middle_of_a_match(tmp_path: Path) -> None:
    async with (
        referee_at(tmp_path) as (referee, address),
        two_bots(referee, address) as (tokens, one, other),
    ):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        for bot in (one, other):
            await bot.ready((await bot.until("match_starting")).match_starting.match_id)
        await referee.close()
        assert (await result_of(playing)).termination == "aborted"
        for bot in (one, other):
            ended = (await bot.until("match_ended")).match_ended
            assert ended.termination == pb.TERMINATION_ABORTED
            assert await bot.receive() is None
            assert await bot.code() == grpc.StatusCode.OK


async def test_drain_waits_for_running_matches(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with two_bots(referee, address) as (tokens, one, other):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        await one.until("match_starting")
        assert not await referee.drain(0.05)
        draining = asyncio.create_task(referee.drain(PATIENCE_S))
        await one.ready(one.received[-1].match_starting.match_id)
        await asyncio.gather(one.play(), other.play())
        assert await draining
        assert (await result_of(playing)).termination == "completed"


async def test_never_back_is_a_disconnect(served: tuple[Referee, str]) -> None:
    referee, address = served
    tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
    control = TimeControl(per_decision_ms=100, bank_ms=50, reconnect_ms=100)
    async with client(address, tokens[1]) as other:
        await other.hello()
        async with client(address, tokens[0]) as bot:
            await bot.hello()
            playing = asyncio.create_task(referee.play(new_spec(control=control), tokens))
            await bot.ready((await bot.until("match_starting")).match_starting.match_id)
            await asyncio.sleep(0)
        assert await other.play() is not None
        assert (await result_of(playing)).seats[0].forfeit is Forfeit.DISCONNECT


# --- listening ----------------------------------------------------------------------------------


async def test_two_referees_cannot_share_a_port() -> None:
    one, other = Referee(), Referee()
    (address,) = await one.listen("127.0.0.1:0")
    assert not address.endswith(":0")
    with pytest.raises(ListenError, match=address):
        await other.listen(address)
    await one.close()
    await other.close()


async def test_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.sock"
    path.write_text("precious")
    referee = Referee()
    with pytest.raises(ListenError, match="not a socket"):
        await referee.listen(f"unix:{path}")
    await referee.close()
    assert path.read_text() == "precious"


async def test_several_addresses_at_once(tmp_path: Path) -> None:
    referee = Referee()
    addresses = await referee.listen("127.0.0.1:0", f"unix:{tmp_path}/r.sock")
    for address in addresses:
        async with client(address, referee.issue_token("b", "1")) as bot:
            await bot.hello()
    await referee.close()
