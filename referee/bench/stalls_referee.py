"""The referee of `referee bench stalls`: a process of its own that is made to stand still.

Task on stdin, one JSON line. On stdout, as JSON lines: the tokens; every stall that was made, with
its true begin and end; every match, with all that was judged late in it.
"""

import asyncio
import fcntl
import gc
import json
import os
import random
import secrets
import stat
import sys
import termios
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from referee.bench.stalls_client import now_us, say
from referee.engine.events import Event
from referee.engine.presets import make_ruleset
from referee.match.outcome import Forfeit, MatchResult
from referee.match.runner import Match
from referee.match.seat_player import Decision, Rejected, SeatPlayer
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.event_loop import run
from referee.service.logs import configure_logs
from referee.service.server import Referee


def unread() -> int:
    """How many connections have bytes that the kernel holds and gRPC has not read."""
    waiting = 0
    for path in Path("/dev/fd").iterdir():
        fd = int(path.name)
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                waiting += fcntl.ioctl(fd, termios.FIONREAD, bytes(4)) != bytes(4)
        except OSError:
            continue  # Closed meanwhile, or a listening socket.
    return waiting


class _Stamped:
    """A seat's player that notes when each decision was queued for it."""

    def __init__(self, player: SeatPlayer) -> None:
        self._player = player
        self.unread: dict[int, int] = {}
        """By decision that was called late: connections with unread bytes at that moment."""
        self.queued: dict[int, tuple[int, int]] = {}
        """By decision: the moment, and the time it had; both in microseconds."""

    def match_starting(self) -> None:
        """Pass it on."""
        self._player.match_starting()

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Note the moment and pass it on."""
        if decision is not None:
            left_us = decision.clock.budget_us(with_reconnect=False)
            self.queued[decision.decision_id] = now_us(), left_us
        self._player.update(first_event_number, events, decision)

    def rejected(self, rejected: Rejected) -> None:
        """Look into the sockets if time was called, and pass it on."""
        if rejected.reason == "time_up":
            self.unread[rejected.decision_id] = unread()
        self._player.rejected(rejected)

    def match_ended(self, result: MatchResult) -> None:
        """Look into the sockets if time has decided the match, and pass it on."""
        if Forfeit.TIME in [seat.forfeit for seat in result.seats] and self.queued:
            self.unread.setdefault(max(self.queued), unread())
        self._player.match_ended(result)


def stamp(match: Match) -> list[_Stamped]:
    """Note from now on when decisions are queued: between a match and its players."""
    stamps = [_Stamped(seat.player) for seat in match.seats]
    for seat, stamped in zip(match.seats, stamps, strict=True):
        seat.player = stamped
    return stamps


# --- stalls -----------------------------------------------------------------------------------


def _sleep(seconds: float) -> None:
    """A blocking call that leaves other threads alone."""
    time.sleep(seconds)


def _spin(seconds: float) -> None:
    """A long computation: gRPC's threads get the interpreter late as well."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def _collect(seconds: float) -> None:
    """A storm of garbage collections over many cycles."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(10_000):
            cycle: list[object] = []
            cycle.append(cycle)
        gc.collect()


async def _stand_still(task: dict[str, Any]) -> None:
    """Stalls of every kind and length, for ever."""
    chance = random.Random(task["seed"])  # noqa: S311 - no cryptography
    # Short ones are judged, long ones abort what runs: the short ones are the harder test.
    kinds = [(_sleep, 5, 200)] * 5 + [(_spin, 5, 200)] * 4 + [(_collect, 20, 200)] * 4
    kinds += [(_sleep, 200, 2_000)]
    chance.shuffle(kinds)
    for stall, least_ms, most_ms in cycle(kinds):
        await asyncio.sleep(chance.uniform(0.1, 1.4) * task["pause"])
        begin = now_us()
        stall(chance.uniform(least_ms, most_ms) / 1_000)
        say({"stall": [begin, now_us()], "kind": stall.__name__.strip("_")})


# --- matches ----------------------------------------------------------------------------------


def _spec(budget_ms: int) -> MatchSpec:
    overrides = {"match_end": "fixed_deals", "deals": 1, "turn_cap_per_seat": 20}
    return MatchSpec(
        match_id=secrets.token_hex(8),
        rules=make_ruleset("basic", overrides),
        seats=tuple(SeatSpec("bench", "1", secrets.token_bytes(32)) for _ in range(2)),
        secret=secrets.token_bytes(32),
        salt=secrets.token_bytes(32),
        time_control=TimeControl(per_decision_ms=budget_ms, bank_ms=0, startup_ms=60_000),
    )


def _report(table: int, result: MatchResult, stamps: Sequence[_Stamped], watched: int) -> None:
    """Say how a match ended, with every strike, and with every decision of the watched seat."""
    judged = []
    if watched >= 0 or any(seat.time_strikes for seat in result.seats):
        for line in map(json.loads, result.record.splitlines()):
            if line["kind"] != "decision":
                continue
            is_up = line.get("rejected") == "time_up"
            if is_up or line["seat"] == watched:
                queued_us, left_us = stamps[line["seat"]].queued[line["id"]]
                entry = [line["seat"], line["id"], queued_us, left_us, is_up]
                waiting = stamps[line["seat"]].unread.get(line["id"], 0)
                judged.append([*entry, line["charged_us"], line["forgiven_us"], waiting])
    say(
        {
            "match": result.match_id,
            "table": table,
            "has_result": result.has_result,
            "forfeits": [seat.forfeit and seat.forfeit.value for seat in result.seats],
            "decisions": sum(seat.decisions for seat in result.seats),
            "forgiven_us": sum(seat.forgiven_us for seat in result.seats),
            "judged": judged,
        }
    )


async def _run(task: dict[str, Any]) -> None:
    referee = Referee()
    await referee.listen(task["address"])
    pairs = [[referee.issue_token("bench", "1") for _ in range(2)] for _ in task["watched"]]
    say({"tokens": pairs})
    left = task["matches"]

    async def play(table: int, watched: int) -> None:
        nonlocal left
        for token in pairs[table]:
            await referee.wait_connected(token, 60.0)
        stamps: list[_Stamped] = []
        while left > 0:
            spec = _spec(task["budget_ms"])
            stamps.clear()
            bots = [referee.bot(token) for token in pairs[table]]
            result = await referee.play_bots(spec, bots, lambda match: stamps.extend(stamp(match)))
            left -= result.has_result
            _report(table, result, stamps, watched)

    stalls = asyncio.create_task(_stand_still(task))
    try:
        async with asyncio.TaskGroup() as tables:
            for table, watched in enumerate(task["watched"]):
                tables.create_task(play(table, watched))
    finally:
        stalls.cancel()
        await referee.close()
    say({"done": True})


if __name__ == "__main__":
    configure_logs(quiet=True)
    run(_run(json.loads(sys.stdin.readline())))
