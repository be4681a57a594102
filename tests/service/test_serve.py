"""`referee serve` as a process: it starts, plays, is stopped, and leaves nothing behind."""

import json
import queue
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1.play_pb2_grpc import PlayServiceStub
from tests.commands import ENVIRONMENT, ROOT, referee


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it where it cannot start, to its end."""
    return referee("serve", *arguments)


class Server:
    """A running `referee serve`; its log lines are JSON."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def text(self) -> str:
        """Standard error so far."""
        return self._log.read_text()

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Log lines of an event."""
        parsed = [json.loads(line) for line in self.text.splitlines() if line.startswith("{")]
        return [line for line in parsed if line["event"] == event]

    def wait_for(self, event: str, timeout_s: float = 40.0) -> dict[str, Any]:
        """The first log line of an event."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            found = self.lines(event)
            if found:
                return found[0]
            assert self.process.poll() is None, f"it ended:\n{self.text}"
            time.sleep(0.05)
        pytest.fail(f"no {event!r} within {timeout_s} s:\n{self.text}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    log = folder / "log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "referee", "serve", *arguments],
            cwd=folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            text=True,
        )
    server = Server(process, log)
    try:
        yield server
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert "Traceback" not in server.text, server.text


def sample_bot(name: str, address: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a sample bot until the referee ends its stream."""
    return subprocess.run(
        [sys.executable, str(ROOT / "sample_bots" / name / "bot.py")],
        cwd=folder,
        env={**ENVIRONMENT, "RUMMY_REFEREE": address, "RUMMY_TOKEN": f"token of {name}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def processes_in(folder: Path) -> list[str]:
    """Processes that work in a folder (where the system tells)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve().is_relative_to(folder.resolve()):
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_serve_plays_a_match_against_the_house_and_stops(tmp_path: Path) -> None:
    with serving(tmp_path, "--listen", "127.0.0.1:0", "--play", "greedy") as server:
        address = server.wait_for("listening")["address"]
        assert re.fullmatch(r"127\.0\.0\.1:\d+", address)
        assert not address.endswith(":0")
        server.wait_for("house bot is ready")
        done = sample_bot("random", address, tmp_path)
        assert done.returncode == 0, done.stderr
        result = server.wait_for("result")
        assert result["bot"] == "random"
        assert result["forfeit"] is None
        assert result["place"] in (1, 2)
        assert max(result["totals"]) >= 100
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
        server.wait_for("result")
        assert {line["bot"] for line in server.lines("result")} == {"random", "greedy"}
        assert server.stop(signal.SIGINT) == 0
    assert processes_in(tmp_path) == []


def test_serve_plays_several_matches_with_changing_seats(tmp_path: Path) -> None:
    arguments = ["--play", "random", "--seats", "3", "--matches", "2", "--set", "target=50"]
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", *arguments) as server:
        address = server.wait_for("listening")["address"]
        server.wait_for("house bot is ready")
        done = sample_bot("random", address, tmp_path)
        assert done.returncode == 0, done.stderr
        seats = [line["seat"] for line in server.lines("result")]
        assert (len(seats), len(set(seats))) == (2, 2)
        assert server.stop() == 0
    assert processes_in(tmp_path) == []


class Stream:
    """A bot that has said hello, and says no more than it is told to."""

    def __init__(self, channel: grpc.Channel, timeout_s: float) -> None:
        self.outbox: queue.SimpleQueue[pb.PlayRequest | None] = queue.SimpleQueue()
        self.outbox.put(pb.PlayRequest(hello=pb.Hello(bot="silent")))
        metadata = (("authorization", "Bearer silent"),)
        play = PlayServiceStub(channel).Play
        self.call = play(iter(self.outbox.get, None), metadata=metadata, timeout=timeout_s)

    def until(self, kind: str) -> pb.PlayResponse:
        """Read on to a message of a kind; fails at the end of the stream, at last by timeout."""
        try:
            for response in self.call:
                if response.WhichOneof("message") == kind:
                    return response
        except grpc.RpcError as error:
            pytest.fail(f"no {kind}: {error}")
        pytest.fail(f"the stream ended before {kind}")


@contextmanager
def stream(address: str, timeout_s: float = 40) -> Iterator[Stream]:
    with grpc.insecure_channel(address) as channel:
        one = Stream(channel, timeout_s)
        try:
            yield one
        finally:
            one.outbox.put(None)
            one.call.cancel()


def test_bot_that_is_faster_than_the_house_is_seated(tmp_path: Path) -> None:
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", "--play", "random") as server:
        with stream(server.wait_for("listening")["address"], timeout_s=12) as bot:
            bot.until("welcome")
            bot.until("match_starting")
        server.process.send_signal(signal.SIGTERM)
        assert server.stop() == 0


def test_second_signal_stops_at_once(tmp_path: Path) -> None:
    """A match is running, with a bot that never answers: the first signal waits for it."""
    with serving(tmp_path, "--listen", f"unix:{tmp_path}/r.sock", "--play", "random") as server:
        server.wait_for("house bot is ready")
        with stream(server.wait_for("listening")["address"]) as bot:
            match_id = bot.until("match_starting").match_starting.match_id
            bot.outbox.put(pb.PlayRequest(ready=pb.Ready(match_id=match_id)))
            bot.until("update")
            server.process.send_signal(signal.SIGTERM)
            server.wait_for("stopping: running matches have ten seconds; again to stop at once")
            time.sleep(0.5)
            assert server.process.poll() is None
            begin = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - begin < 8
    assert processes_in(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_without_bots_stops_at_once(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, "--listen", "127.0.0.1:0") as server:
        server.wait_for("listening")
        begin = time.monotonic()
        assert server.stop(number) == 0
        assert time.monotonic() - begin < 8


def test_serve_knows_its_house_bots() -> None:
    done = serve("--listen", "127.0.0.1:0", "--play", "nobody")
    assert done.returncode in (1, 2)
    assert "'nobody'" in done.stderr
    assert "greedy" in done.stderr


def test_serve_insecure_is_allowed_when_asked_for(tmp_path: Path) -> None:
    with serving(tmp_path, "--listen", "0.0.0.0:0", "--insecure") as server:
        server.wait_for("listening")
        assert server.stop() == 0


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
