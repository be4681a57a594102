"""How each language's bot talks to a referee: the same as the sample bots in Python."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from rummy.referee.v1.play_pb2 import (
    MatchEnded,
    MatchStarting,
    Ping,
    PlayResponse,
    Rejected,
    TimeControl,
    Update,
)
from rummy.referee.v1.play_pb2_grpc import add_PlayServiceServicer_to_server
from rummy.referee.v1.rummy_pb2 import Action, Event
from tests.bots.positions import basic_rules
from tests.bots.scripted_referee import (
    Script,
    ScriptedReferee,
    Session,
    draw_update,
    scripted_referee,
)
from tests.languages.building import BuiltBot, built
from tests.languages.languages import LANGUAGES, has_toolchain, is_ci
from tests.languages.running import Ended, running

PASSING = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
)
FINAL = (
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNIMPLEMENTED,
)
CLEAN = Ended(0, "", "")
# A field that is in no message of the schema: number 1000, one byte.
UNKNOWN = b"\xc2\x3e\x01x"
pytestmark = pytest.mark.timeout(1_800)  # whichever test is first builds


def starting(match_id: str, reconnect_ms: int = 0) -> PlayResponse:
    return PlayResponse(
        match_starting=MatchStarting(
            match_id=match_id,
            seats=2,
            rules=basic_rules(),
            time_control=TimeControl(reconnect_ms=reconnect_ms),
        )
    )


def ended(match_id: str) -> PlayResponse:
    return PlayResponse(match_ended=MatchEnded(match_id=match_id))


async def begin(session: Session, match_id: str, reconnect_ms: int = 0) -> None:
    await session.send(starting(match_id, reconnect_ms))
    assert (await session.receive()).ready.match_id == match_id


async def decide(session: Session, match_id: str, decision_id: int) -> None:
    await session.send(draw_update(match_id, decision_id))
    choice = (await session.receive()).choice
    assert (choice.match_id, choice.decision_id) == (match_id, decision_id)
    assert choice.HasField("legal_action_index")
    assert choice.legal_action_index == 0
    assert not choice.actions


async def outcome(bot: BuiltBot, folder: Path, *scripts: Script) -> Ended:
    """How a bot ends that meets these scripts, one in each session."""
    async with scripted_referee(folder, *scripts) as address, running(bot, address, "secret") as it:
        return await it.ended()


async def test_plays_a_match_and_leaves_when_the_referee_is_done(
    bot: BuiltBot, tmp_path: Path
) -> None:
    async def script(session: Session) -> None:
        assert session.token == "Bearer secret"
        hello = (await session.greet()).hello
        assert (hello.bot, hello.version) == (bot.name, bot.version)
        assert hello.max_concurrent_matches == 16
        await begin(session, "m")
        await decide(session, "m", 1)
        await session.send(ended("m"))

    assert await outcome(bot, tmp_path, script) == CLEAN


async def test_matches_at_once_are_told_apart_by_their_id(bot: BuiltBot, tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        await session.greet()
        await begin(session, "a")
        await begin(session, "b")
        await session.send(draw_update("b", 1))
        await session.send(draw_update("a", 5))
        answers = [(await session.receive()).choice for _ in range(2)]
        told = sorted((answer.match_id, answer.decision_id) for answer in answers)
        assert told == [("a", 5), ("b", 1)]
        await session.send(ended("a"))
        await session.send(draw_update("a", 6))  # over: no answer
        await decide(session, "b", 2)
        await session.send(ended("b"))

    assert await outcome(bot, tmp_path, script) == CLEAN


async def test_survives_what_it_does_not_know(bot: BuiltBot, tmp_path: Path) -> None:
    unknown = PlayResponse.FromString(UNKNOWN)

    async def script(session: Session) -> None:
        await session.send(unknown)
        await session.greet()
        await session.send(unknown)
        await session.send(PlayResponse())
        await session.send(draw_update("never heard of", 1))
        await session.send(PlayResponse(update=Update(match_id="never heard of")))
        await session.send(ended("never heard of"))
        await session.send(PlayResponse(ping=Ping(nonce=2**63 + 1)))
        assert (await session.receive()).pong.nonce == 2**63 + 1
        strange = starting("m")
        strange.match_starting.rules.match_end = 99  # type: ignore[assignment]
        strange.MergeFromString(UNKNOWN)
        await session.send(strange)
        assert (await session.receive()).ready.match_id == "m"
        events = [Event(), Event.FromString(UNKNOWN)]
        update = draw_update("m", 1, first_event_number=1, events=events).update
        update.decision.legal_actions.append(Action(type=99))  # type: ignore[arg-type]
        update.decision.observation.MergeFromString(UNKNOWN)
        await session.send(PlayResponse(update=update))
        assert (await session.receive()).choice.decision_id == 1
        update.decision.decision_id = 2
        update.decision.observation.phase = 99  # type: ignore[assignment]
        await session.send(PlayResponse(update=update))
        assert (await session.receive()).choice.decision_id == 2
        over = ended("m")
        over.match_ended.termination = 99  # type: ignore[assignment]
        await session.send(over)

    assert await outcome(bot, tmp_path, script) == CLEAN


async def test_events_without_a_decision_need_no_answer(bot: BuiltBot, tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        await session.greet()
        await begin(session, "m")
        update = Update(match_id="m", first_event_number=1, events=[Event()])
        await session.send(PlayResponse(update=update))
        await decide(session, "m", 1)
        await session.send(ended("m"))

    assert await outcome(bot, tmp_path, script) == CLEAN


async def test_rejections_are_told_to_the_author(bot: BuiltBot, tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        await session.greet()
        text = "discard KC: the hand does not hold KC"
        rejected = Rejected(match_id="m", text=text, reason=99)  # type: ignore[arg-type]
        await session.send(PlayResponse(rejected=rejected))

    how = await outcome(bot, tmp_path, script)
    assert (how.code, how.out) == (0, "")
    assert how.error == f"{bot.name}: choice rejected: discard KC: the hand does not hold KC\n"


@pytest.mark.parametrize("code", PASSING, ids=lambda code: code.name)
async def test_a_lost_stream_is_dialled_again(
    bot: BuiltBot, tmp_path: Path, code: grpc.StatusCode
) -> None:
    async def lost(session: Session) -> None:
        await session.greet()
        await begin(session, "m", reconnect_ms=30_000)
        await decide(session, "m", 1)
        await session.context.abort(code, "gone")

    async def ends_while_playing(session: Session) -> None:
        await session.greet("m")

    async def resumed(session: Session) -> None:
        assert (await session.greet("m")).hello.bot == bot.name
        await begin(session, "m")
        await decide(session, "m", 1)
        await session.send(ended("m"))

    assert await outcome(bot, tmp_path, lost, ends_while_playing, resumed) == CLEAN


async def test_a_match_that_is_not_resumed_is_over(bot: BuiltBot, tmp_path: Path) -> None:
    async def lost(session: Session) -> None:
        await session.greet()
        await begin(session, "a", reconnect_ms=30_000)
        await begin(session, "b", reconnect_ms=30_000)
        await session.context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    async def goes_on_with_one(session: Session) -> None:
        await session.greet("b")
        await session.send(draw_update("a", 1))  # over: no answer
        await decide(session, "b", 1)
        await session.context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    async def fresh(session: Session) -> None:
        await session.greet()

    assert await outcome(bot, tmp_path, lost, goes_on_with_one, fresh) == CLEAN


@pytest.mark.parametrize("code", FINAL, ids=lambda code: code.name)
async def test_a_final_status_ends_it(bot: BuiltBot, tmp_path: Path, code: grpc.StatusCode) -> None:
    async def refuse(session: Session) -> None:
        await session.context.abort(code, "so it is")

    how = await outcome(bot, tmp_path, refuse)
    assert (how.code, how.out) == (1, "")
    assert f"refused: {code.name}: so it is" in how.error
    assert how.error.count("\n") == 1


async def test_comes_back_when_the_referee_is_restarted(bot: BuiltBot, tmp_path: Path) -> None:
    playing, gone = asyncio.Event(), asyncio.Event()

    async def first(session: Session) -> None:
        await session.greet()
        await begin(session, "m", reconnect_ms=30_000)
        playing.set()
        await gone.wait()

    async def second(session: Session) -> None:
        await session.greet("m")
        await begin(session, "m")
        await session.send(ended("m"))

    async with running(bot, f"unix:{tmp_path}/r.sock") as it:
        async with scripted_referee(tmp_path, first):
            await playing.wait()
        gone.set()
        async with scripted_referee(tmp_path, second):
            # gRPC's own library may have said that the connection broke.
            assert (await it.ended()).code == 0


async def test_waits_for_a_referee_that_is_not_up_yet(bot: BuiltBot, tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        await session.greet()

    async with running(bot, f"unix:{tmp_path}/r.sock") as it:
        await asyncio.sleep(1.0)  # several tries find nobody
        async with scripted_referee(tmp_path, script):
            assert await it.ended() == CLEAN


async def test_an_unreachable_referee_is_named(tmp_path: Path) -> None:
    # All languages at once: they give up after ten seconds.
    bots = [built(row) for row in LANGUAGES if is_ci() or has_toolchain(row)]
    address = f"unix:{tmp_path}/nobody"

    async def outcome_of(bot: BuiltBot) -> None:
        async with running(bot, address) as it:
            how = await it.ended()
        assert (how.code, how.out) == (1, ""), bot.name
        assert how.error.startswith(f"no referee at {address} in "), bot.name
        assert how.error.count("\n") == 1, how.error

    await asyncio.gather(*map(outcome_of, bots))


async def test_a_missing_address_is_named(bot: BuiltBot) -> None:
    async with running(bot, "") as it:
        how = await it.ended()
    assert (how.code, how.out) == (2, "")
    assert how.error.startswith("RUMMY_REFEREE must be set")
    assert how.error.count("\n") == 1


async def test_a_missing_file_of_certificates_is_named(bot: BuiltBot, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    async with running(bot, "localhost:1", RUMMY_TLS_CA=missing) as it:
        how = await it.ended()
    assert (how.code, how.out) == (2, "")
    assert how.error.startswith(f"RUMMY_TLS_CA: {missing} cannot be read")
    assert how.error.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
async def test_a_signal_ends_it_at_once_and_in_silence(
    bot: BuiltBot, tmp_path: Path, number: signal.Signals
) -> None:
    playing, left = asyncio.Event(), asyncio.Event()

    async def script(session: Session) -> None:
        await session.greet()
        await begin(session, "m", reconnect_ms=30_000)
        playing.set()
        await left.wait()

    async with scripted_referee(tmp_path, script) as address, running(bot, address) as it:
        await playing.wait()
        it.send(number)
        how = await it.ended()
        left.set()
    assert how == CLEAN


async def test_sigterm_ends_it_also_between_two_tries(bot: BuiltBot, tmp_path: Path) -> None:
    lost = asyncio.Event()

    async def script(session: Session) -> None:
        await session.greet()
        await begin(session, "m", reconnect_ms=3_600_000)
        lost.set()
        await session.context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    async with running(bot, f"unix:{tmp_path}/r.sock") as it:
        async with scripted_referee(tmp_path, script):
            await lost.wait()
        it.send(signal.SIGTERM)
        assert (await it.ended()).code == 0


async def matched(session: Session) -> None:
    """A whole short match."""
    await session.greet()
    await begin(session, "m")
    await decide(session, "m", 1)
    await session.send(ended("m"))


@asynccontextmanager
async def tcp_referee(
    script: Script, credentials: grpc.ServerCredentials | None
) -> AsyncIterator[str]:
    """Serve one session on a port of the loopback, and give the address."""
    referee = ScriptedReferee([script])
    server = grpc.aio.server()
    add_PlayServiceServicer_to_server(referee, server)
    if credentials is None:
        port = server.add_insecure_port("localhost:0")
    else:
        port = server.add_secure_port("localhost:0", credentials)
    await server.start()
    try:
        yield f"localhost:{port}"
    finally:
        await server.stop(None)
    assert not referee.failures, referee.failures
    assert referee.sessions == 1


async def test_speaks_tcp(bot: BuiltBot) -> None:
    async with tcp_referee(matched, None) as address, running(bot, address) as it:
        assert await it.ended() == CLEAN


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A key, and a certificate of this machine's loopback signed by itself."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(
        ["openssl", "req", "-x509", *kind, *names, *files], check=True, capture_output=True
    )
    return key, certificate


async def test_speaks_tls(bot: BuiltBot, pair: tuple[Path, Path]) -> None:
    key, certificate = pair
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
    async with (
        tcp_referee(matched, credentials) as address,
        running(bot, address, RUMMY_TLS_CA=str(certificate)) as it,
    ):
        assert await it.ended() == CLEAN
