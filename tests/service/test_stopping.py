"""How `referee serve` stops: by one signal in peace, by two at once; and what it tells."""

import signal
import time
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2

from tests.service.serving import SHORT, check_played, health_of, processes_in, serving, stream


def test_first_signal_waits_for_running_matches_and_begins_no_other(tmp_path: Path) -> None:
    """The first bot dawdles over its only match while the server stops."""
    arguments = ["--play", "random", "--matches", "0", "--grace", "600"]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments, *SHORT) as server:
        address = server.wait_for("listening")["address"]
        server.wait_for("house bot is ready")
        assert health_of(address) == health_pb2.HealthCheckResponse.SERVING
        with stream(address) as bot:
            match_id = bot.begin()
            server.process.send_signal(signal.SIGTERM)
            stopping = server.wait_for("stopping")
            assert stopping["running"] == [match_id]
            assert stopping["grace_s"] == 600
            assert health_of(address) == health_pb2.HealthCheckResponse.NOT_SERVING
            with stream(address, "late") as late:
                assert late.rest() == ["welcome"]
            bot.play()
            assert bot.rest() == []
        assert server.process.wait(30) == 0
        (ended,) = server.lines("match ended")
        check_played(ended)
        assert not server.lines("matches aborted")
    assert processes_in(tmp_path) == []


def test_matches_that_last_longer_than_the_grace_are_aborted_by_name(tmp_path: Path) -> None:
    arguments = ["--play", "random", "--grace", "0.1"]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments) as server:
        server.wait_for("house bot is ready")
        with stream(server.wait_for("listening")["address"]) as bot:
            match_id = bot.begin()
            server.process.send_signal(signal.SIGTERM)
            assert bot.rest()[-1] == "match_ended"
        assert server.process.wait(30) == 0
        (aborted,) = server.lines("matches aborted")
        assert aborted["match_ids"] == [match_id]
        (ended,) = server.lines("match ended")
        assert (ended["match_id"], ended["termination"]) == (match_id, "aborted")
        assert ended["text"] == "the referee is stopping"
    assert processes_in(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_second_signal_stops_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """A match is running, with a bot that never answers: the first signal waits for it."""
    arguments = ["--play", "random", "--grace", "3600"]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments) as server:
        server.wait_for("house bot is ready")
        with stream(server.wait_for("listening")["address"]) as bot:
            match_id = bot.begin()
            server.process.send_signal(number)
            server.wait_for("stopping")
            assert server.process.poll() is None
            assert server.stop(number) == 0
            assert bot.rest()[-1] == "match_ended"
        assert server.lines("matches aborted")[0]["match_ids"] == [match_id]
    assert processes_in(tmp_path) == []


def test_signal_while_house_bots_start_is_heard(tmp_path: Path) -> None:
    arguments = ["--play", "random", "--seats", "6"]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments) as server:
        server.wait_for("listening")
        assert server.stop() == 0
    assert processes_in(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_without_bots_stops_at_once(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, "--listen", "127.0.0.1:0") as server:
        server.wait_for("listening")
        begin = time.monotonic()
        assert server.stop(number) == 0
        assert time.monotonic() - begin < 8
