"""Many bots at one ladder, from one program: `python -m tests.ladder.crowd --bots 200 --minutes 3`.

It serves `tournament ladder` as a process of its own, registers and connects the bots. When each
has begun a match, a newcomer comes every few seconds, and some bots leave and return. It prints the
figures as JSON.
"""

import argparse
import asyncio
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.ladder.hall import Hall, children, hall, memory_mb
from tests.ladder.visitors import Caller, Visitor

NEWCOMER_S = 3.0
"""How often a newcomer comes, at least."""
REGISTER_S = 0.01
"""Between two registrations: the ladder refuses who calls too often."""
AWAY_S = 2.0
"""For how long a bot is away that leaves and returns."""


@dataclass(frozen=True)
class Figures:
    """What a run was like."""

    bots: int
    minutes: float
    matches: int
    matches_per_s: float
    matches_per_bot_least: int
    matches_per_bot_most: int
    crowd_first_match_s_p50: float
    crowd_first_match_s_worst: float
    newcomers: int
    newcomer_first_match_s_p50: float
    newcomer_first_match_s_worst: float
    returned: int
    streams_lost: int
    lost_by: dict[str, int]
    forfeits: int
    aborted: int
    ladder_mb: float
    rater_mb: float
    loop_stalls: int
    loop_stalled_s: float
    fit_s: float
    fit_matches: int
    encounters: int


async def crowd(at: Hall, bots: int, seconds: float, at_once: int) -> Figures:
    """Run a crowd against a ladder that is served, and stop the ladder."""
    caller = Caller(at.address)
    chance = random.Random(1)
    visitors = []
    for number in range(bots):
        token = await caller.register(f"bot{number}")
        visitors.append(Visitor(at.address, token, at_once=at_once, seed=number))
        await asyncio.sleep(REGISTER_S)
    for visitor in visitors:
        visitor.come()
    before = (await caller.status()).matches
    begin = time.monotonic()
    pause_s = min(NEWCOMER_S, seconds / 10)
    newcomers: list[Visitor] = []
    away: list[tuple[float, Visitor]] = []
    returned = 0
    while (spent := time.monotonic() - begin) < seconds:
        await asyncio.sleep(min(pause_s, max(0.0, seconds - spent)))
        is_settled = all(visitor.begun for visitor in visitors)
        if is_settled and seconds - spent > 2 * pause_s:
            token = await caller.register(f"newcomer{len(newcomers)}")
            newcomers.append(Visitor(at.address, token, seed=-len(newcomers)))
            newcomers[-1].come()
            leaver = chance.choice(visitors)
            if leaver not in [one for _, one in away]:
                await leaver.leave()
                away.append((time.monotonic() + AWAY_S, leaver))
        for due, one in list(away):
            if time.monotonic() >= due:
                away.remove((due, one))
                one.come()
                returned += 1
    spent = time.monotonic() - begin
    status = await caller.status()
    rows = await caller.leaderboard()
    ladder_mb = memory_mb(at.process.pid)
    rater_mb = sum(memory_mb(pid) for pid in children(at.process.pid))
    aborted = sum(line["termination"] == "aborted" for line in at.lines("match ended"))
    everybody = [*visitors, *newcomers]
    await asyncio.gather(*(visitor.close() for visitor in everybody))
    await caller.channel.close()
    await asyncio.to_thread(at.stop)
    last = at.lines("progress")[-1]
    stayed = {f"bot{number}" for number in range(bots)}
    played = [row.matches_ended for row in rows if row.bot in stayed]
    first, late = _waits(visitors, seconds), _waits(newcomers, seconds)
    return Figures(
        bots=bots,
        minutes=round(spent / 60, 2),
        matches=status.matches - before,
        matches_per_s=round((status.matches - before) / spent, 2),
        matches_per_bot_least=min(played),
        matches_per_bot_most=max(played),
        crowd_first_match_s_p50=round(statistics.median(first), 3),
        crowd_first_match_s_worst=round(max(first), 3),
        newcomers=len(newcomers),
        newcomer_first_match_s_p50=round(statistics.median(late), 3),
        newcomer_first_match_s_worst=round(max(late), 3),
        returned=returned,
        streams_lost=sum(visitor.lost for visitor in everybody),
        lost_by=Counter(
            f"{code}: {text}"
            for visitor in everybody
            for code, text in zip(visitor.codes, visitor.texts, strict=True)
        ),
        forfeits=sum(row.forfeits for row in rows),
        aborted=aborted,
        ladder_mb=round(ladder_mb, 1),
        rater_mb=round(rater_mb, 1),
        loop_stalls=last["stalls"],
        loop_stalled_s=round(last["stalled_ms"] / 1_000, 3),
        fit_s=last["fit_s"],
        fit_matches=last["fit_matches"],
        encounters=last["encounters"],
    )


def _waits(visitors: list[Visitor], longest_s: float) -> list[float]:
    """Seconds from each one's hello to its first match; the longest if it had none."""
    return [
        visitor.first_match - visitor.said_hello if visitor.first_match is not None else longest_s
        for visitor in visitors
    ] or [0.0]


def run(bots: int, seconds: float, *rules: str, at_once: int = 1) -> Figures:
    """Serve a ladder in a folder that is removed, and run a crowd against it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8_192)), hard))
    with (
        tempfile.TemporaryDirectory(prefix="crowd-") as folder,
        hall(Path(folder), "--grace", "5", *rules) as at,
    ):
        return asyncio.run(crowd(at, bots, seconds, at_once))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--at-once", type=int, default=1, help="matches that each bot takes")
    parser.add_argument("--deals", type=int, default=2, help="deals of each match")
    asked = parser.parse_args()
    rules = ("--set", "match_end=fixed_deals", "--set", f"deals={asked.deals}")
    figures = run(asked.bots, asked.minutes * 60, *rules, at_once=asked.at_once)
    sys.stdout.write(json.dumps(asdict(figures), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
