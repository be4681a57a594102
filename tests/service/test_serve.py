"""`referee serve` as a process: it starts, plays, is stopped, and leaves nothing behind."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import grpc
import pytest

from referee.engine.presets import make_ruleset
from referee.service.serve import ServeOptions, prepare
from rummy.referee.v1 import match_pb2
from rummy.referee.v1.match_pb2_grpc import MatchServiceStub
from tests.commands import ENVIRONMENT, ROOT, referee, refused
from tests.service.serving import check_played, processes_in, sample_bot, serving, stream


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it where it cannot start, to its end."""
    return referee("serve", *arguments)


def test_serve_plays_a_match_against_the_house_and_stops(tmp_path: Path) -> None:
    with serving(tmp_path, "--listen", "127.0.0.1:0", "--play", "greedy") as server:
        address = server.wait_for("listening")["address"]
        assert re.fullmatch(r"127\.0\.0\.1:\d+", address)
        assert not address.endswith(":0")
        server.wait_for("house bot is ready")
        done = sample_bot("random", address, tmp_path)
        assert done.returncode == 0, done.stderr
        (ended,) = server.lines("match ended")
        assert ended["bots"] == ["random", "house-greedy"]
        check_played(ended)
        assert server.stop() == 0
    assert processes_in(tmp_path) == []


def test_serve_on_a_socket_lets_bots_meet(tmp_path: Path) -> None:
    listen = f"unix:{tmp_path}/r.sock"
    arguments = ["--listen", listen, "--rules", "traditional", "--set", "target=50"]
    with serving(tmp_path, *arguments) as server:
        assert server.wait_for("listening")["address"] == listen
        bots = [
            subprocess.Popen(
                [sys.executable, str(ROOT / "sample_bots" / name / "bot.py")],
                cwd=tmp_path,
                env={**ENVIRONMENT, "RUMMY_REFEREE": listen, "RUMMY_TOKEN": f"token of {name}"},
                stderr=subprocess.DEVNULL,
            )
            for name in ("random", "greedy")
        ]
        try:
            assert [bot.wait(60) for bot in bots] == [0, 0]
        finally:
            for bot in bots:
                if bot.poll() is None:
                    bot.kill()
                    bot.wait()
        (ended,) = server.lines("match ended")
        assert set(ended["bots"]) == {"random", "greedy"}
        check_played(ended)
        assert server.stop(signal.SIGINT) == 0
    assert processes_in(tmp_path) == []


def test_serve_plays_several_matches_with_changing_seats(tmp_path: Path) -> None:
    arguments = ["--play", "random", "--seats", "3", "--matches", "2", "--set", "target=50"]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments) as server:
        address = server.wait_for("listening")["address"]
        server.wait_for("house bot is ready")
        done = sample_bot("random", address, tmp_path)
        assert done.returncode == 0, done.stderr
        guests = [line["bots"].index("random") for line in server.lines("match ended")]
        assert (len(guests), len(set(guests))) == (2, 2)
        assert server.stop() == 0
    assert processes_in(tmp_path) == []


def test_bot_that_is_faster_than_the_house_is_seated(tmp_path: Path) -> None:
    arguments = ["--play", "random", "--grace", "0.1"]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments) as server:
        with stream(server.wait_for("listening")["address"]) as bot:
            bot.until("welcome")
            bot.until("match_starting")
        assert server.stop() == 0


def test_matches_go_on_when_nobody_reads_the_log_any_more(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/r.sock"
    server = subprocess.Popen(
        [sys.executable, "-m", "referee", "serve", "--listen", address, "--play", "greedy"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        assert any("house bot is ready" in line for line in server.stderr)
        server.stderr.close()
        done = sample_bot("random", address, tmp_path)
        assert done.returncode == 0, done.stderr
        server.terminate()
        assert server.wait(30) == 0
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()


@pytest.mark.parametrize("option", ["--play", "--metrics"])
def test_an_empty_value_is_not_taken_for_none(option: str) -> None:
    told = refused("serve", "--listen", "127.0.0.1:0", option, "")
    assert f"{option} is ''" in told


def test_a_folder_for_the_socket_of_the_house_that_is_too_deep(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "referee", "serve", "--listen", "127.0.0.1:0", "--play", "greedy"],
        env={**ENVIRONMENT, "TMPDIR": str(deep)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "TMPDIR" in done.stderr
    assert "a socket path has 1–" in done.stderr


def test_serve_knows_its_house_bots() -> None:
    told = refused("serve", "--listen", "127.0.0.1:0", "--play", "nobody")
    assert "'nobody'" in told
    assert "greedy" in told


def test_plain_tcp_beyond_this_machine_takes_a_word() -> None:
    """What is allowed is not tried: tests listen on loopback."""
    for listen in ("0.0.0.0:0", "[::]:0", "192.0.2.1:50051"):
        told = refused("serve", "--listen", listen)
        assert listen in told
        assert "--insecure" in told
        assert "--tls-cert" in told
        prepare(ServeOptions((listen,), make_ruleset("basic"), insecure=True))


def test_tokens_that_nobody_could_issue(tmp_path: Path) -> None:
    serve = ("serve", "--listen", "127.0.0.1:0", "--require-tokens")
    assert "--require-tokens needs --organiser-token-file" in refused(*serve)
    path = str(tmp_path / "organiser")
    told = refused(*serve, "--organiser-token-file", path, "--play", "greedy")
    assert "--play greedy is for guests" in told
    Path(path).write_text("x" * 40)
    Path(path).chmod(0o644)
    told = refused(*serve, "--organiser-token-file", path)
    assert f"{path} has mode 0644" in told


def test_organiser_lets_bots_in_and_begins_a_match(tmp_path: Path) -> None:
    path = tmp_path / "organiser"
    arguments = ["--require-tokens", "--organiser-token-file", str(path)]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments) as server:
        address = server.wait_for("listening")["address"]
        with stream(address) as bot:
            with pytest.raises(grpc.RpcError):
                list(bot.call)
            assert bot.call.code() is grpc.StatusCode.UNAUTHENTICATED
        secret = path.read_text().strip()
        with grpc.insecure_channel(address) as channel:
            organiser = MatchServiceStub(channel)
            metadata = (("authorization", f"Bearer {secret}"),)
            with pytest.raises(grpc.RpcError):
                organiser.ListBots(match_pb2.ListBotsRequest())
            issued = [
                organiser.IssueToken(
                    match_pb2.IssueTokenRequest(bot=name, version="1"), metadata=metadata
                )
                for name in ("one", "other")
            ]
            with (
                stream(address, token=issued[0].token) as one,
                stream(address, token=issued[1].token) as other,
            ):
                ordered = organiser.CreateMatch(
                    match_pb2.CreateMatchRequest(
                        bot_ids=[each.bot_id for each in issued],
                        preset_rules=match_pb2.PresetRules(preset="basic"),
                    ),
                    metadata=metadata,
                )
                assert one.get_ready() == other.get_ready() == ordered.match.match_id
                one.until("update")
                server.process.send_signal(signal.SIGTERM)
                server.wait_for("stopping")
                server.process.send_signal(signal.SIGTERM)
                assert [bot.rest()[-1] for bot in (one, other)] == ["match_ended"] * 2
        assert server.process.wait(30) == 0
        (ended,) = server.lines("match ended")
        assert ended["bots"] == ["one", "other"]
        for token in (secret, *(each.token for each in issued)):
            assert token not in server.text


def test_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = serve("--listen", f"127.0.0.1:{port}")
    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "taken" in done.stderr


def test_socket_that_is_taken_and_one_that_is_left_over(tmp_path: Path) -> None:
    path = tmp_path / "r.sock"
    with serving(tmp_path, "--listen", f"unix:{path}") as server:
        server.wait_for("listening")
        done = serve("--listen", f"unix:{path}")
        assert done.returncode == 1
        assert str(path) in done.stderr.replace("\n", "")
        server.process.kill()
        server.process.wait()
    # Killed, it has left its socket behind: the next one takes the path over.
    with serving(tmp_path, "--listen", f"unix:{path}") as server:
        server.wait_for("listening")
        assert server.stop() == 0
    path.unlink(missing_ok=True)
    path.write_text("precious")
    done = serve("--listen", f"unix:{path}")
    assert done.returncode == 1
    assert "not a socket" in done.stderr
    assert path.read_text() == "precious"
