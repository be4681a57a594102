"""The shared client: what it answers, what it survives, how it ends."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import grpc
import pytest

from rummy.referee.v1.play_pb2 import (
    Decision,
    MatchEnded,
    MatchStarting,
    Ping,
    PlayResponse,
    Rejected,
    TimeControl,
    Update,
)
from rummy.referee.v1.rummy_pb2 import (
    ACTION_TYPE_DISCARD,
    CARD_AC,
    Action,
    Drew,
    Event,
)
from sample_bots.client import Bot, RefusedError, Strategy, main, play
from tests.bots.scripted_referee import Session, draw_update, scripted_referee

ROOT = Path(__file__).resolve().parents[2]


class Recorder(Strategy):
    """Remembers the events and answers with whatever the test wants."""

    def __init__(self, starting: MatchStarting) -> None:
        self.starting = starting
        self.events: list[Event] = []
        self.decisions: list[Decision] = []
        self.reply: Sequence[Action] | int = 0

    def choose(self, decision: Decision) -> Sequence[Action] | int:
        """Remember the decision."""
        self.decisions.append(decision)
        return self.reply

    def observe(self, event: Event) -> None:
        """Remember the event."""
        self.events.append(event)


def recorder_bot() -> tuple[Bot, list[Recorder]]:
    made: list[Recorder] = []

    def factory(starting: MatchStarting) -> Recorder:
        made.append(Recorder(starting))
        return made[-1]

    return Bot("recorder", "9", factory), made


def starting(match_id: str, reconnect_ms: int = 0) -> PlayResponse:
    return PlayResponse(
        match_starting=MatchStarting(
            match_id=match_id, seats=2, time_control=TimeControl(reconnect_ms=reconnect_ms)
        )
    )


def ended(match_id: str) -> PlayResponse:
    return PlayResponse(match_ended=MatchEnded(match_id=match_id))


def drew(seat: int) -> Event:
    return Event(drew=Drew(seat=seat))


async def test_plays_a_match_and_leaves_when_the_referee_is_done(tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        assert session.token == "Bearer secret"
        hello = (await session.greet()).hello
        assert (hello.bot, hello.version) == ("recorder", "9")
        assert hello.max_concurrent_matches >= 1
        await session.send(starting("m"))
        assert (await session.receive()).ready.match_id == "m"
        await session.send(draw_update("m", 7))
        choice = (await session.receive()).choice
        assert (choice.match_id, choice.decision_id) == ("m", 7)
        assert choice.HasField("legal_action_index")
        assert choice.legal_action_index == 0
        assert not choice.actions
        await session.send(ended("m"))

    bot, made = recorder_bot()
    async with scripted_referee(tmp_path, script) as address:
        await play(bot, address, "secret")
    assert len(made) == 1
    assert not bot.is_playing


async def test_matches_at_once_are_told_apart_by_their_id(tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        await session.greet()
        for match_id in ("a", "b"):
            await session.send(starting(match_id))
            assert (await session.receive()).ready.match_id == match_id
        await session.send(draw_update("b", 1))
        await session.send(draw_update("a", 5))
        answers = [(await session.receive()).choice for _ in range(2)]
        assert [(answer.match_id, answer.decision_id) for answer in answers] == [("b", 1), ("a", 5)]
        await session.send(ended("a"))
        await session.send(draw_update("b", 2))
        assert (await session.receive()).choice.decision_id == 2
        await session.send(ended("b"))

    bot, made = recorder_bot()
    async with scripted_referee(tmp_path, script) as address:
        await play(bot, address, "t")
    assert [len(strategy.decisions) for strategy in made] == [1, 2]


async def test_answers_pings_and_skips_what_it_does_not_know(tmp_path: Path) -> None:
    # Field 1000, length-delimited, is in no message of the schema.
    unknown = PlayResponse.FromString(b"\xc2\x3e\x01x")

    async def script(session: Session) -> None:
        await session.send(unknown)
        await session.greet()
        await session.send(unknown)
        await session.send(PlayResponse(rejected=Rejected(match_id="never heard of")))
        await session.send(draw_update("never heard of", 1))
        await session.send(PlayResponse(ping=Ping(nonce=42)))
        assert (await session.receive()).pong.nonce == 42
        await session.send(starting("m"))
        await session.receive()
        update = draw_update("m", 1, first_event_number=1, events=[Event()]).update
        update.decision.observation.phase = 99  # type: ignore[assignment]
        await session.send(PlayResponse(update=update))
        assert (await session.receive()).choice.decision_id == 1
        await session.send(ended("m"))

    bot, _ = recorder_bot()
    async with scripted_referee(tmp_path, script) as address:
        await play(bot, address, "t")


async def test_a_lost_stream_is_dialled_again_and_the_strategy_goes_on(tmp_path: Path) -> None:
    async def lost(session: Session) -> None:
        await session.greet()
        await session.send(starting("m", reconnect_ms=30_000))
        await session.receive()
        await session.send(draw_update("m", 1, first_event_number=1, events=[drew(0), drew(1)]))
        await session.receive()
        await session.context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    async def ends_while_playing(session: Session) -> None:
        await session.greet("m")

    async def resumed(session: Session) -> None:
        await session.greet("m")
        await session.send(starting("m"))
        assert (await session.receive()).ready.match_id == "m"
        again = [drew(0), drew(1), drew(2)]
        await session.send(draw_update("m", 2, first_event_number=1, events=again))
        assert (await session.receive()).choice.decision_id == 2
        await session.send(ended("m"))

    bot, made = recorder_bot()
    async with scripted_referee(tmp_path, lost, ends_while_playing, resumed) as address:
        await play(bot, address, "t")
    (strategy,) = made
    assert [event.drew.seat for event in strategy.events] == [0, 1, 2]


async def test_a_match_that_is_not_resumed_is_over(tmp_path: Path) -> None:
    async def lost(session: Session) -> None:
        await session.greet()
        await session.send(starting("m", reconnect_ms=30_000))
        await session.receive()
        await session.context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    async def fresh(session: Session) -> None:
        await session.greet()

    bot, _ = recorder_bot()
    async with scripted_referee(tmp_path, lost, fresh) as address:
        await play(bot, address, "t")
    assert not bot.is_playing


async def test_a_refused_token_is_final(tmp_path: Path) -> None:
    async def refuse(session: Session) -> None:
        await session.context.abort(grpc.StatusCode.UNAUTHENTICATED, "unknown token")

    bot, _ = recorder_bot()
    async with scripted_referee(tmp_path, refuse) as address:
        with pytest.raises(RefusedError, match=r"UNAUTHENTICATED: unknown token$"):
            await play(bot, address, "wrong")


async def test_waits_for_a_referee_that_is_not_up_yet(tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        await session.greet()

    bot, _ = recorder_bot()
    playing = asyncio.create_task(play(bot, f"unix:{tmp_path}/r.sock", "t", patience_s=60))
    await asyncio.sleep(0)
    async with scripted_referee(tmp_path, script):
        await playing


def test_plans_are_sent_as_actions() -> None:
    bot, made = recorder_bot()
    bot.answer(starting("m"))
    plan = [Action(type=ACTION_TYPE_DISCARD, cards=[CARD_AC])]
    made[0].reply = plan
    request = bot.answer(draw_update("m", 3))
    assert request is not None
    assert list(request.choice.actions) == plan
    assert not request.choice.HasField("legal_action_index")


def test_events_without_a_decision_need_no_answer() -> None:
    bot, made = recorder_bot()
    bot.answer(starting("m"))
    update = Update(match_id="m", first_event_number=1, events=[drew(1)])
    assert bot.answer(PlayResponse(update=update)) is None
    assert made[0].events == [drew(1)]


def test_rejections_are_told_to_the_author(capsys: pytest.CaptureFixture[str]) -> None:
    bot, _ = recorder_bot()
    rejected = Rejected(match_id="m", text="discard KC: the hand does not hold KC")
    assert bot.answer(PlayResponse(rejected=rejected)) is None
    assert "the hand does not hold KC" in capsys.readouterr().err


def test_a_missing_address_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    bot, _ = recorder_bot()
    assert main(bot, {"RUMMY_TOKEN": "t"}) == 2
    error = capsys.readouterr().err
    assert error.startswith("RUMMY_REFEREE must be set")
    assert error.count("\n") == 1


def test_an_unreachable_referee_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bot, _ = recorder_bot()
    address = f"unix:{tmp_path}/nobody"
    assert main(bot, {"RUMMY_REFEREE": address, "RUMMY_TOKEN": "t"}, patience_s=0.2) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"no referee at {address} in ")
    assert error.count("\n") == 1


async def start_bot(name: str, address: str) -> asyncio.subprocess.Process:
    folder = ROOT / "sample_bots" / name
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "bot.py",
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "proto")]),
            "RUMMY_REFEREE": address,
            "RUMMY_TOKEN": "t",
        },
        stderr=asyncio.subprocess.PIPE,
    )


@pytest.mark.parametrize("name", ["random", "greedy", "counting"])
async def test_each_sample_bot_runs_as_a_process(name: str, tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        hello = (await session.greet()).hello
        assert hello.bot == name
        await session.send(starting("m"))
        assert (await session.receive()).ready.match_id == "m"
        await session.send(draw_update("m", 1))
        assert (await session.receive()).choice.decision_id == 1
        await session.send(ended("m"))

    async with scripted_referee(tmp_path, script) as address:
        process = await start_bot(name, address)
        _, error = await process.communicate()
    assert (process.returncode, error) == (0, b"")


async def test_sigterm_ends_a_bot_at_once_and_in_silence(tmp_path: Path) -> None:
    playing = asyncio.Event()

    async def script(session: Session) -> None:
        await session.greet()
        await session.send(starting("m", reconnect_ms=30_000))
        await session.receive()
        playing.set()
        await session.closed()

    async with scripted_referee(tmp_path, script) as address:
        process = await start_bot("random", address)
        await playing.wait()
        process.send_signal(signal.SIGTERM)
        _, error = await process.communicate()
    assert (process.returncode, error) == (0, b"")
