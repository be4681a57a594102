"""`referee serve` as a process, and bots for it that say no more than they are told to."""

import json
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1.play_pb2_grpc import PlayServiceStub
from tests.commands import ENVIRONMENT, ROOT


class Server:
    """A running `referee serve`; its log lines are JSON."""

    stop_s = 30
    """How long it may take to end."""

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
        return self.process.wait(self.stop_s)


_Server = TypeVar("_Server", bound=Server)


@contextmanager
def running(
    kind: type[_Server], command: Sequence[str], folder: Path, log: Path
) -> Iterator[_Server]:
    """Run `python -m` of a command whose standard error goes to the log."""
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            text=True,
        )
    server = kind(process, log)
    try:
        yield server
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert "Traceback" not in server.text, server.text


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    with running(Server, ["referee", "serve", *arguments], folder, folder / "log") as server:
        yield server


def sample_bot(
    name: str, address: str, folder: Path, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run a sample bot, with more in its environment, until the referee ends its stream."""
    return subprocess.run(
        [sys.executable, str(ROOT / "sample_bots" / name / "bot.py")],
        cwd=folder,
        env={**ENVIRONMENT, "RUMMY_REFEREE": address, "RUMMY_TOKEN": f"token of {name}", **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def check_played(ended: dict[str, Any]) -> None:
    """Hold that a match of two was played to its end.

    On a busy machine the referee itself can stand still for too long, and it then says so.
    """
    if ended["text"].startswith("the referee stood still"):
        assert ended["termination"] == "aborted"
        return
    assert ended["termination"] == "completed"
    assert ended["forfeits"] == [None, None]
    assert sorted(ended["places"]) in ([1, 2], [1, 1])


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


class Stream:
    """A bot that has said hello, and says no more than it is told to."""

    def __init__(self, channel: grpc.Channel, name: str, token: str) -> None:
        self.outbox: queue.SimpleQueue[pb.PlayRequest | None] = queue.SimpleQueue()
        self.outbox.put(pb.PlayRequest(hello=pb.Hello(bot=name)))
        metadata = (("authorization", f"Bearer {token}"),)
        play = PlayServiceStub(channel).Play
        self.call = play(iter(self.outbox.get, None), metadata=metadata, timeout=60)
        self._unanswered: pb.Update | None = None

    def until(self, kind: str) -> pb.PlayResponse:
        """Read on to a message of a kind; fails at the end of the stream, at last by timeout."""
        try:
            for response in self.call:
                if response.WhichOneof("message") == kind:
                    return response
        except grpc.RpcError as error:
            pytest.fail(f"no {kind}: {error}")
        pytest.fail(f"the stream ended before {kind}")

    def get_ready(self) -> str:
        """Answer a match_starting; the id of the match."""
        match_id = self.until("match_starting").match_starting.match_id
        self.outbox.put(pb.PlayRequest(ready=pb.Ready(match_id=match_id)))
        return match_id

    def begin(self) -> str:
        """Get ready and see the match begin, to a decision perhaps; its id."""
        match_id = self.get_ready()
        self._unanswered = self.until("update").update
        return match_id

    def play(self) -> None:
        """Play a match to its end, by the last legal action of each decision."""
        if self._unanswered is not None:
            self._answer(self._unanswered)
        for response in self.call:
            kind = response.WhichOneof("message")
            if kind == "match_starting":
                match_id = response.match_starting.match_id
                self.outbox.put(pb.PlayRequest(ready=pb.Ready(match_id=match_id)))
            elif kind == "update":
                self._answer(response.update)
            elif kind == "match_ended":
                return
        pytest.fail("the stream ended before the match")

    def _answer(self, update: pb.Update) -> None:
        if update.HasField("decision"):
            choice = pb.Choice(
                match_id=update.match_id,
                decision_id=update.decision.decision_id,
                legal_action_index=len(update.decision.legal_actions) - 1,
            )
            self.outbox.put(pb.PlayRequest(choice=choice))

    def rest(self) -> list[str | None]:
        """The kinds of what still comes, to the end of the stream, which must be OK."""
        kinds: list[str | None] = [response.WhichOneof("message") for response in self.call]
        assert self.call.code() is grpc.StatusCode.OK
        return kinds


@contextmanager
def stream(
    address: str,
    name: str = "silent",
    *,
    token: str = "",
    credentials: grpc.ChannelCredentials | None = None,
) -> Iterator[Stream]:
    with (
        grpc.insecure_channel(address)
        if credentials is None
        else grpc.secure_channel(address, credentials)
    ) as channel:
        one = Stream(channel, name, token or f"token of {name}")
        try:
            yield one
        finally:
            one.outbox.put(None)
            one.call.cancel()


def health_of(address: str) -> int:
    """The serving status of the whole server."""
    with grpc.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        status: int = stub.Check(health_pb2.HealthCheckRequest(service=""), timeout=30).status
        return status


SHORT = ("--set", "match_end=fixed_deals", "--set", "deals=1")
