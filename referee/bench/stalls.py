"""Proof that a referee that stands still takes no time from a bot, and gives none away.

Three processes. This one holds the truth and judges; it also stops the referee by SIGSTOP.
`stalls_referee` is the referee, unchanged, with blocking calls, long computations and storms of
garbage collection on its event loop. `stalls_client` is all the bots.

What makes it honest:

- For strikes the referee's own notion of a stall (its heartbeat) is not asked. Every stall that is
  made is written down by whoever makes it, with true begin and end, on the clock that all share.
- The bots keep a diary on the same clock: when a decision was read, when its answer was handed to
  gRPC, when the write was complete. A bot on a busy machine can really be late. So a strike is
  *false* if from the moment when the decision was queued to the end of the write, without the true
  stalls between, less than the budget had passed. It is the *bot's own* if the bot thought, or its
  process stood still, for more than the budget. What is neither is *unclear*: the time went by
  between the two, in gRPC's threads or in a queue; it is reported, not explained away.
- Bots do not only answer at once: some use up to 80 % of their time, where a few milliseconds
  that are not forgiven would show.
- Forgiveness must not be a gift. Some bots answer 50 ms after all their time was gone: each such
  answer must be called late unless the referee stood still by 20 ms or more meanwhile. Made stalls
  and what only the heartbeat tells of (a machine that is too small) are counted apart: the second
  is the referee's word, and should be rare where there is room. Some bots read nothing after the
  start: they must lose by time.
- Most stalls are short enough that the match goes on (up to 200 ms): a long one aborts it, and
  nothing is judged. Aborted matches are counted and played again.
"""

import asyncio
import json
import os
import random
import signal
import sys
import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, cycle
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from referee.bench.stalls_client import DEAF, LATE, PROMPT, THINKER, now_us

BUDGET_MS: Final = 50
_LAG_US: Final = 20_000
_STOPS_S: Final = (0.03, 0.1, 0.15, 2.0, 0.06, 0.2, 0.1, 0.03)
_TABLES: Final = (
    (PROMPT, PROMPT), (THINKER, THINKER), (LATE, PROMPT), (DEAF, PROMPT),
    *((PROMPT, THINKER), (PROMPT, PROMPT), (THINKER, THINKER)) * 3,
    (LATE, PROMPT), (LATE, THINKER), (PROMPT, PROMPT),
)  # fmt: skip
"""The bots at each table, over and over; who is watched sits at seat 0."""
_EVIDENCE: Final = 20


@dataclass(slots=True)
class StallReport:
    """What came of it. `false_strikes`, `late_missed`, `deaf_missed` must be 0."""

    matches: int = 0
    """With a result."""
    aborted: int = 0
    decisions: int = 0
    seconds: float = 0.0
    stalls: int = 0
    stalled_s: float = 0.0
    """True stalls, of all kinds."""
    forgiven_s: float = 0.0
    """By the referee's own measure, summed over decisions."""
    strikes: int = 0
    """Time strikes of bots that did not mean to be late."""
    false_strikes: int = 0
    bots_own: int = 0
    unclear: int = 0
    late_answers: int = 0
    """Sent on purpose 50 ms past the time."""
    late_caught: int = 0
    late_excused: int = 0
    """Accepted, but the referee was made to stand still for 20 ms or more meanwhile."""
    late_by_heartbeat: int = 0
    """Accepted, and only the referee's own measure says that it stood still so long."""
    late_missed: int = 0
    deaf_matches: int = 0
    deaf_missed: int = 0
    other_forfeits: int = 0
    """Forfeits for anything but time."""
    kinds: dict[str, int] = field(default_factory=dict)
    """Stalls by kind."""
    evidence: list[dict[str, Any]] = field(default_factory=list)
    """The first strikes that are false or unclear, and late answers that were missed."""

    @property
    def is_clean(self) -> bool:
        """Whether nobody was wronged, and nothing late went through."""
        wrong = self.false_strikes + self.late_missed + self.deaf_missed + self.other_forfeits
        return wrong == 0 and self.strikes == self.false_strikes + self.bots_own + self.unclear


class Truth:
    """The stalls as they were."""

    def __init__(self, stalls: Sequence[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for begin, end in sorted(stalls):
            if merged and begin <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((begin, end))
        self._begins = [begin for begin, _ in merged]
        self._ends = [end for _, end in merged]
        self._before = [0, *accumulate(end - begin for begin, end in merged)]

    def _until(self, moment: int) -> int:
        number = bisect_left(self._begins, moment)
        over = max(0, self._ends[number - 1] - moment) if number else 0
        return self._before[number] - over

    def last_before(self, moment: int) -> int:
        """When the last stall before a moment began; 0 for none."""
        number = bisect_left(self._begins, moment)
        return self._begins[number - 1] if number else 0

    def overlap_us(self, since: int, until: int) -> int:
        """How much of a time span was stalled."""
        return self._until(until) - self._until(since)


@dataclass(slots=True)
class _Run:
    """What the three processes have said so far."""

    stalls: list[tuple[int, int]] = field(default_factory=list)
    slept: list[tuple[int, int]] = field(default_factory=list)
    """When the bots' process stood still by its own measure."""
    kinds: Counter[str] = field(default_factory=Counter)
    by_begin: dict[int, str] = field(default_factory=dict)
    matches: list[dict[str, Any]] = field(default_factory=list)
    diary: dict[tuple[str, int, int], list[int]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    done: bool = False

    def stall(self, begin: int, end: int, kind: str) -> None:
        """One more."""
        self.stalls.append((begin, end))
        self.kinds[kind] += 1
        self.by_begin[begin] = kind


def bench_stalls(
    matches: int, at_once: int, progress: Callable[[str], None], *, seed: int = 1
) -> StallReport:
    """Play until so many matches have a result. Raises RuntimeError if a process fails."""
    begin = perf_counter()
    roles = [_TABLES[table % len(_TABLES)] for table in range(at_once)]
    run = _Run()
    with tempfile.TemporaryDirectory(prefix="rummy-") as folder:
        asyncio.run(_play(run, roles, matches, Path(folder), seed, progress))
    report = judge(run.matches, run.diary, roles, Truth(run.stalls), run.slept)
    report.seconds = round(perf_counter() - begin, 1)
    for fact in report.evidence:
        fact["stall_kind"] = run.by_begin.get(fact["stall_began_us"], "")
    report.stalls, report.kinds = len(run.stalls), dict(run.kinds)
    report.stalled_s = round(sum(end - start for start, end in run.stalls) / 1e6, 1)
    return report


# --- running --------------------------------------------------------------------------------------


async def _play(
    run: _Run,
    roles: Sequence[tuple[str, str]],
    matches: int,
    folder: Path,
    seed: int,
    progress: Callable[[str], None],
) -> None:
    address = f"unix:{folder}/referee.sock"
    # A match lasts longer beside many others; most shall be over before a stall aborts them.
    pause = 1 if len(roles) <= 32 else 3
    task: dict[str, object] = {"address": address, "budget_ms": BUDGET_MS, "seed": seed}
    task["pause"] = pause
    watched = [0 if LATE in pair or DEAF in pair else -1 for pair in roles]
    referee = await _start("stalls_referee", {**task, "matches": matches, "watched": watched})
    processes = [referee]
    try:
        tokens = (await _line(referee))["tokens"]
        bots = [
            (token, role)
            for pair, table in zip(tokens, roles, strict=True)
            for token, role in zip(pair, table, strict=True)
        ]
        client = await _start("stalls_client", {**task, "bots": bots})
        processes.append(client)
        stopping = asyncio.create_task(_stop_now_and_then(referee, run, pause, seed))
        diary = asyncio.create_task(_read_client(client, run))
        try:
            await _read_referee(referee, run, matches, progress)
        finally:
            stopping.cancel()
            await asyncio.gather(stopping, return_exceptions=True)
        await asyncio.wait({diary}, timeout=30)
        diary.cancel()
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
            await process.wait()
    if run.broken or not run.done:
        raise RuntimeError(f"a process of the stall proof failed: {run.broken or 'see above'}")


async def _start(module: str, task: dict[str, object]) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"referee.bench.{module}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        process_group=0,  # Ctrl-C is for this process, which ends it
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        limit=1 << 24,
    )
    assert process.stdin, "it is a pipe"
    process.stdin.write(json.dumps(task).encode() + b"\n")
    await process.stdin.drain()
    return process


async def _line(process: asyncio.subprocess.Process) -> dict[str, Any]:
    """The next line; nothing at the end."""
    assert process.stdout, "it is a pipe"
    line = await process.stdout.readline()
    said: dict[str, Any] = json.loads(line) if line else {}
    return said


async def _read_referee(
    referee: asyncio.subprocess.Process, run: _Run, matches: int, progress: Callable[[str], None]
) -> None:
    played = 0
    while said := await _line(referee):
        if "stall" in said:
            begin, end = said["stall"]
            run.stall(begin, end, said["kind"])
        elif "match" in said:
            run.matches.append(said)
            played += said["has_result"]
            aborted = len(run.matches) - played
            progress(f"{played} of {matches} matches, {aborted} aborted, {len(run.stalls)} stalls")
        run.done = run.done or "done" in said


async def _read_client(client: asyncio.subprocess.Process, run: _Run) -> None:
    while said := await _line(client):
        for number, entry in said.get("told", {}).items():
            run.diary[said["match"], said["seat"], int(number)] = entry
        if "slept" in said:
            begin, end = said["slept"]
            run.slept.append((begin, end))
        run.broken += said.get("broken", [])


async def _stop_now_and_then(
    referee: asyncio.subprocess.Process, run: _Run, pause: float, seed: int
) -> None:
    """SIGSTOP: all threads of the referee, as a machine that freezes would do."""
    chance = random.Random(seed)  # noqa: S311 - no cryptography
    for seconds in cycle(_STOPS_S):
        await asyncio.sleep(chance.uniform(0.3, 1.5) * pause)
        begin = now_us()
        os.kill(referee.pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            os.kill(referee.pid, signal.SIGCONT)
        run.stall(begin, now_us(), "sigstop")


# --- judging --------------------------------------------------------------------------------------


def judge(
    matches: Sequence[dict[str, Any]],
    diary: dict[tuple[str, int, int], list[int]],
    roles: Sequence[tuple[str, str]],
    truth: Truth,
    slept: Sequence[tuple[int, int]] = (),
) -> StallReport:
    """Hold every judgement of the referee against diary and truth."""
    report = StallReport()
    for match in matches:
        report.decisions += match["decisions"]
        report.forgiven_s = round(report.forgiven_s + match["forgiven_us"] / 1e6, 3)
        report.matches += match["has_result"]
        report.aborted += not match["has_result"]
        table = roles[match["table"]]
        report.other_forfeits += sum(one not in (None, "time") for one in match["forfeits"])
        if DEAF in table and match["has_result"]:
            report.deaf_matches += 1
            report.deaf_missed += match["forfeits"][table.index(DEAF)] != "time"
        for seat, number, queued, left, is_up, charged, forgiven, unread in match["judged"]:
            if table[seat] == DEAF:
                continue
            entry = diary.get((match["match"], seat, number), [0, 0, 0, 0])
            received, handed, written, on_purpose = entry
            if on_purpose:
                made = truth.overlap_us(queued, max(queued, handed))
                kind = _late(report, is_up, made, forgiven)
            elif is_up:
                kind = _strike(report, left, queued, (received, written), truth, slept)
            else:
                continue
            if kind and len(report.evidence) < _EVIDENCE:
                fact = {"kind": kind, "queued_us": queued, "left_us": left}
                moments = {"received_us": received, "handed_us": handed, "written_us": written}
                overlap = truth.overlap_us(queued, max(queued, written))
                report.evidence.append(
                    {
                        **fact,
                        **moments,
                        "charged_us": charged,
                        "forgiven_us": forgiven,
                        "true_stall_us": overlap,
                        "unread": unread,
                        "stall_began_us": truth.last_before(written or queued),
                    }
                )
    return report


def _late(report: StallReport, is_up: bool, made_us: int, forgiven_us: int) -> str:
    """An answer that was late on purpose."""
    report.late_answers += 1
    if is_up:
        report.late_caught += 1
    elif made_us >= _LAG_US:
        report.late_excused += 1
    elif forgiven_us >= _LAG_US:
        report.late_by_heartbeat += 1
    else:
        report.late_missed += 1
        return "missed"
    return ""


def _strike(
    report: StallReport,
    left: int,
    queued: int,
    answer: tuple[int, int],
    truth: Truth,
    slept: Sequence[tuple[int, int]],
) -> str:
    """A strike of a bot that did not mean to be late."""
    report.strikes += 1
    received, written = answer
    if written and written - queued - truth.overlap_us(queued, written) < left:
        report.false_strikes += 1
        return "false"
    if received and not written:
        report.bots_own += 1
        return ""
    own = Truth([*slept, (received, written)]).overlap_us(queued, written)
    if received and own >= left:
        report.bots_own += 1
        return ""
    report.unclear += 1
    return "unclear"
