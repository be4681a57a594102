"""Decisions per second of the referee against a raw echo, with the same clients in the same run.

Two processes: this one serves, `referee.bench.wire_client` plays. For M matches there are 2·M bots,
each on a connection of its own, and one decision in flight for each match. The echo server answers
every message with the bytes of a real decision and does nothing else; the referee plays matches.
A second echo, the tuned one, has what a busy referee has around gRPC: threads that are scheduled
alike (service/scheduling.py), and wakes that are merged (service/event_loop.py). So what comes of
those, and what the referee itself costs, can be told apart.
"""

import asyncio
import contextlib
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

import grpc

from referee.engine.game import RummyGame
from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet
from referee.match.clock import SeatClock
from referee.match.policy import Policy
from referee.match.seat_player import Decision
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.collector import settle_collector
from referee.service.descriptors import allow_many_descriptors
from referee.service.event_loop import ServingLoop, run
from referee.service.messages import MatchMessages
from referee.service.meter import Meter
from referee.service.scheduling import set_batch
from referee.service.server import Referee

_ROUNDS = 3
_WARM_UP_S = 0.5
_OTHER_FILES = 100
"""What a process has open beside its sessions, and more."""


@dataclass(frozen=True, slots=True)
class WireRow:
    """Medians over the rounds. Times: from a choice sent to the match's next decision received."""

    matches: int
    echo_per_s: int
    tuned_echo_per_s: int
    """Of the second echo."""
    referee_per_s: int
    ratio: float
    """To the first echo, which is gRPC as it comes."""
    tuned_ratio: float
    """To the second one."""
    echo_p50_ms: float
    p50_ms: float
    echo_p99_ms: float
    p99_ms: float
    echo_server_us: float
    """CPU of the serving process for a decision."""
    server_us: float


@dataclass(frozen=True, slots=True)
class _Round:
    per_s: float
    p50_ms: float
    p99_ms: float
    server_us: float


def bench_idle(sessions: int) -> float | None:
    """KiB of memory for each session that is open and idle; None where that cannot be seen.

    Raises ValueError if the limit on open files is too low.
    """
    limit = allow_many_descriptors()
    if sessions + _OTHER_FILES > limit:
        raise ValueError(
            f"{sessions} idle sessions: the limit on open files is {limit} (ulimit -n)"
        )
    return run(_idle(sessions))


def bench_wire(
    matches: Sequence[int], seconds: float, progress: Callable[[str], None]
) -> list[WireRow]:
    """Measure each number of matches at once, echo and referee in turn, `_ROUNDS` times each."""
    settle_collector()  # as `referee serve` does; the echo has it too
    return run(_bench(matches, seconds, progress))


async def _bench(
    matches: Sequence[int], seconds: float, progress: Callable[[str], None]
) -> list[WireRow]:
    rows = []
    for count in matches:
        echo: list[_Round] = []
        tuned_echo: list[_Round] = []
        referee: list[_Round] = []
        for number in range(_ROUNDS):
            progress(f"{count} matches, round {number + 1} of {_ROUNDS}")
            echo.append(await _echo_round(count, seconds))
            tuned_echo.append(await _echo_round(count, seconds, is_tuned=True))
            referee.append(await _referee_round(count, seconds))
        rows.append(_row(count, echo, tuned_echo, referee))
    return rows


def _row(
    matches: int,
    echo: Sequence[_Round],
    tuned_echo: Sequence[_Round],
    referee: Sequence[_Round],
) -> WireRow:
    return WireRow(
        matches=matches,
        echo_per_s=round(median(one.per_s for one in echo)),
        tuned_echo_per_s=round(median(one.per_s for one in tuned_echo)),
        referee_per_s=round(median(one.per_s for one in referee)),
        ratio=_ratio(referee, echo),
        tuned_ratio=_ratio(referee, tuned_echo),
        echo_p50_ms=round(median(one.p50_ms for one in echo), 3),
        p50_ms=round(median(one.p50_ms for one in referee), 3),
        echo_p99_ms=round(median(one.p99_ms for one in echo), 3),
        p99_ms=round(median(one.p99_ms for one in referee), 3),
        echo_server_us=round(median(one.server_us for one in echo), 1),
        server_us=round(median(one.server_us for one in referee), 1),
    )


def _ratio(ours: Sequence[_Round], raw: Sequence[_Round]) -> float:
    return round(median(one.per_s / other.per_s for one, other in zip(ours, raw, strict=True)), 3)


class _Clients:
    """The client process; `tokens` are those of each match's two bots. It speaks line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(
        cls, address: str, mode: str, tokens: Sequence[Sequence[str]], seconds: float
    ) -> "_Clients":
        """Start it with its task."""
        clients = cls(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "referee.bench.wire_client",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                process_group=0,  # Ctrl-C is for this process, which ends it
            )
        )
        task = {"address": address, "mode": mode, "tokens": tokens, "seconds": seconds}
        clients._pipe.write(json.dumps({**task, "warm_up_s": _WARM_UP_S}).encode() + b"\n")
        await clients._pipe.drain()
        return clients

    @property
    def _pipe(self) -> asyncio.StreamWriter:
        assert self._process.stdin, "it is a pipe"
        return self._process.stdin

    async def says(self) -> dict[str, float]:
        """Its next line. Raises RuntimeError if none comes."""
        assert self._process.stdout, "it is a pipe"
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("the client process failed")
        answer: dict[str, float] = json.loads(line)
        return answer

    async def end(self) -> None:
        """End it, whatever it does."""
        self._pipe.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


async def _measured(
    address: str, mode: str, tokens: Sequence[Sequence[str]], seconds: float
) -> _Round:
    clients = await _Clients.start(address, mode, tokens, seconds)
    try:
        await clients.says()
        begin = process_time()
        measured = await clients.says()
        spent = process_time() - begin
    finally:
        await clients.end()
    return _Round(
        per_s=measured["decisions"] / measured["seconds"],
        p50_ms=measured["p50_ms"],
        p99_ms=measured["p99_ms"],
        server_us=spent / measured["decisions"] * 1e6,
    )


# --- echo -------------------------------------------------------------------------------------


async def _echo_round(matches: int, seconds: float, *, is_tuned: bool = False) -> _Round:
    payloads = _real_decisions()

    async def play(_requests: object, context: "grpc.aio.ServicerContext[bytes, bytes]") -> None:
        number = 0
        while isinstance(await context.read(), bytes):
            number += 1
            await context.write(payloads[number % len(payloads)])

    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(play)
    server = grpc.aio.server()
    name = "rummy.referee.v1.PlayService"
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(name, {"Play": handler}),)
    )
    with tempfile.TemporaryDirectory(prefix="rummy-") as folder:
        address = f"unix:{folder}/echo.sock"
        server.add_insecure_port(address)
        await server.start()
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ServingLoop), "that of `run`"
        loop.merges_wakes = is_tuned
        set_batch(is_tuned)
        try:
            return await _measured(address, "echo", [["", ""]] * matches, seconds)
        finally:
            loop.merges_wakes = True
            set_batch(False)
            await server.stop(0)


def _real_decisions() -> list[bytes]:
    """Messages as a seat gets them in play: the first legal action, or one in the middle."""
    spec = _spec(make_ruleset("basic"))
    game = RummyGame(spec.rules, 2, bytes(32))
    messages = MatchMessages(spec, Policy())
    clock = SeatClock(spec.time_control)
    found = []
    events = list(game.start())
    for number in range(1, 101):
        if game.to_act is None:
            events += game.next_deal()
            continue
        legal, is_complete = game.some_legal_actions(Policy().most_wild_actions)
        decision = Decision(number, game.observe(game.to_act), legal, is_complete, clock)
        found.append(messages.update(game.to_act, 1, events[-2:], decision))
        events = list(game.apply(legal[number * 7 % len(legal)]))
    return found


# --- referee ----------------------------------------------------------------------------------


def _spec(rules: RuleSet) -> MatchSpec:
    return MatchSpec(
        match_id=secrets.token_hex(8),
        rules=rules,
        seats=tuple(SeatSpec("bench", "1", secrets.token_bytes(32)) for _ in range(2)),
        secret=secrets.token_bytes(32),
        salt=secrets.token_bytes(32),
        time_control=TimeControl(per_decision_ms=60_000),
    )


async def _referee_round(matches: int, seconds: float) -> _Round:
    rules = make_ruleset("basic")
    referee = Referee(meter=Meter())
    with tempfile.TemporaryDirectory(prefix="rummy-") as folder:
        [address] = await referee.listen(f"unix:{folder}/referee.sock")
        tokens = [[referee.issue_token("bench", "1") for _ in range(2)] for _ in range(matches)]

        async def endless(pair: Sequence[str]) -> None:
            for token in pair:
                await referee.wait_connected(token, 60.0)
            while True:
                await referee.play(_spec(rules), pair)

        tasks = [asyncio.create_task(endless(pair)) for pair in tokens]
        try:
            return await _measured(address, "referee", tokens, seconds)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await referee.close(0)


# --- idle sessions ----------------------------------------------------------------------------


async def _idle(sessions: int) -> float | None:
    referee = Referee()
    with tempfile.TemporaryDirectory(prefix="rummy-") as folder:
        [address] = await referee.listen(f"unix:{folder}/referee.sock")
        try:
            few = await _open_idle(referee, address, 20)  # what is loaded and allocated once
            before = _resident_kib()
            many = await _open_idle(referee, address, sessions)
            after = _resident_kib()
        finally:
            await referee.close(0)
        await few.end()
        await many.end()
    return None if before is None or after is None else round((after - before) / sessions, 1)


async def _open_idle(referee: Referee, address: str, sessions: int) -> _Clients:
    """Have so many bots say hello; they stay until the referee closes."""
    tokens = [referee.issue_token("bench", "1") for _ in range(sessions)]
    clients = await _Clients.start(address, "idle", [[token] for token in tokens], 0)
    await clients.says()
    for token in tokens:
        await referee.wait_connected(token, 60.0)
    return clients


def _resident_kib() -> float | None:
    """Memory of this process, where there is /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024
