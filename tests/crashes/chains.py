"""Chains of kills: one tournament that is killed again and again, and goes on each time.

Each chain ends with a run that nobody disturbs, and is then held against the same plan played
without any kill.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from subprocess import Popen

from tests.crashes.arena import Arena, Plan, arena, hit, uninterrupted
from tests.crashes.finished import Finished, planned_tournaments, stored_count
from tests.crashes.killer import ALL, BOT, WORKER, Kill

PLANNING, FREEZING, TABLES = "planning", "freezing", "making tables"
MID_LEG, BETWEEN, STARTING = "mid-leg", "between legs", "starting bots"
IN_COMMIT, COMMITTED = "inside a commit", "after a commit, before its acknowledgement"
RATING, FINISHING, ROUNDS = "rating", "finishing", "between rounds"
RANDOM = "random moment"

ENCOUNTERS = Plan()
SHORT = Plan(encounters=1, seed=3)
THREE_SEATS = Plan(encounters=1, seed=11, more=("--seats", "3"))
SWISS = Plan(encounters=1, seed=5, file='format = "swiss"\nrounds = 3\n')

CHAINS: Mapping[str, tuple[Plan, tuple[Kill, ...]]] = {
    "planning": (
        SHORT,
        (
            Kill(TABLES, "sql:\nCREATE TABLE results"),
            Kill(TABLES, "commit:\nCREATE TABLE results"),
            Kill(FREEZING, "copying"),
            Kill(FREEZING, "copied", 2),
            Kill(PLANNING, "sql:INSERT INTO tournaments"),
            Kill(PLANNING, "sql:INSERT INTO fixtures"),
            Kill(PLANNING, "commit:INSERT INTO fixtures"),
            Kill(PLANNING, "created"),
        ),
    ),
    "commits": (
        ENCOUNTERS,
        (
            Kill(IN_COMMIT, "sql:INSERT INTO results"),
            Kill(IN_COMMIT, "sql:INSERT INTO seat_results", 2),
            Kill(IN_COMMIT, "sql:INSERT INTO records", target=ALL),
            Kill(IN_COMMIT, "commit:INSERT INTO results", target=ALL),
            Kill(IN_COMMIT, "commit:INSERT INTO records", 3),
            Kill(COMMITTED, "saved"),
            Kill(COMMITTED, "saved", 2, ALL),
            Kill(COMMITTED, "saved"),
        ),
    ),
    "legs": (
        ENCOUNTERS,
        (
            Kill(STARTING, "seating"),
            Kill(STARTING, "seating", 3, ALL),
            Kill(MID_LEG, "applied", 1, ALL),
            Kill(MID_LEG, "applied", 25),
            Kill(BETWEEN, "acknowledged"),
            Kill(MID_LEG, "applied", 120, ALL),
            Kill(BETWEEN, "acknowledged", 2, ALL),
            Kill(MID_LEG, "answered"),
        ),
    ),
    "workers": (SHORT, (Kill(MID_LEG, "applied", 60, WORKER),)),
    "workers that answer": (SHORT, (Kill(MID_LEG, "answered", 2, WORKER),)),
    "workers that start bots": (SHORT, (Kill(STARTING, "seating", 2, WORKER),)),
    "workers in a commit": (SHORT, (Kill(COMMITTED, "saved", 2, WORKER),)),
    "idle bots": (
        replace(SHORT, workers=1),
        (Kill(BETWEEN, "saved", 3, BOT),),
    ),
    "three seats": (
        THREE_SEATS,
        (
            Kill(MID_LEG, "applied", 50, ALL),
            Kill(COMMITTED, "saved"),
        ),
    ),
    "rounds": (
        SWISS,
        (
            Kill(ROUNDS, "sql:INSERT INTO encounters", 2),
            Kill(ROUNDS, "commit:INSERT INTO encounters"),
            Kill(ROUNDS, "added"),
            Kill(ROUNDS, "commit:INSERT INTO encounters", target=ALL),
            Kill(ROUNDS, "added", target=ALL),
        ),
    ),
    "the end": (
        SHORT,
        (
            Kill(FINISHING, "sql:UPDATE tournaments"),
            Kill(FINISHING, "commit:UPDATE tournaments"),
            Kill(RATING, "rating", 4),
            Kill(RATING, "rating", 1),
            Kill(RATING, "rating", 6, ALL),
        ),
    ),
}
LEAST: Mapping[str, int] = {
    TABLES: 2,
    FREEZING: 2,
    PLANNING: 4,
    STARTING: 3,
    MID_LEG: 6,
    BETWEEN: 3,
    IN_COMMIT: 5,
    COMMITTED: 5,
    FINISHING: 2,
    RATING: 3,
    ROUNDS: 5,
}
"""How often each phase is hit at least."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a chain: kills by phase and by target, and what is not as it should be."""

    phases: Counter[str]
    targets: Counter[str]
    differences: tuple[str, ...]
    seconds: float


_uninterrupted = cache(uninterrupted)


def uninterrupted_once(plan: Plan) -> tuple[Finished, str]:
    """Return the plan played without any kill; the number of workers makes no difference."""
    return _uninterrupted(replace(plan, workers=2))


def play_chain(name: str) -> Outcome:
    """Play one of `CHAINS`. Raises AssertionError when something is lost on the way or left."""
    plan, kills = CHAINS[name]

    def disturb(here: Arena) -> tuple[Counter[str], Counter[str]]:
        for kill in kills:
            finished = kill.at == "rating" and here.is_finished()
            hit(here, plan, kill, words=("leaderboard",) if finished else ())
        return Counter(kill.phase for kill in kills), Counter(kill.target for kill in kills)

    return _played(plan, disturb)


def play_random(seed: int, kills: int, plan: Plan = ENCOUNTERS) -> Outcome:
    """Kill runner, a worker or all of it at `kills` moments drawn from the seed."""
    chance = random.Random(seed)

    def disturb(here: Arena) -> tuple[Counter[str], Counter[str]]:
        targets: Counter[str] = Counter()
        for _ in range(kills):
            words = here.next_words(plan)
            if here.is_finished():
                break
            process = here.start(*words)
            _wait_for_results(here, process, chance)
            target = here.kill_at_random(process, chance)
            here.finish(process)
            here.check_stored()
            if target is not None:
                targets[target] += 1
        return Counter({RANDOM: targets.total()}), targets

    return _played(plan, disturb)


def _wait_for_results(here: Arena, process: Popen[str], chance: random.Random) -> None:
    """Wait for none to two further results, and a little longer: not even the start is spared."""
    more = chance.randrange(3)
    while more and process.poll() is None and stored_count(here.data) < len(here.kept) + more:
        time.sleep(0.02)
    time.sleep(chance.uniform(0.0, 0.3 if more else 1.0))


def _played(plan: Plan, disturb: Callable[[Arena], tuple[Counter[str], Counter[str]]]) -> Outcome:
    began = time.monotonic()
    with arena() as here:
        phases, targets = disturb(here)
        if not here.is_finished():
            done = here.begin_or_resume(plan)
            assert done.returncode == 0, done.stderr
        assert len(planned_tournaments(here.data)) == 1
        now, board = here.finished()
    expected, expected_board = uninterrupted_once(plan)
    differences = now.differences(expected)
    if board != expected_board:
        differences.append(f"leaderboards differ:\n{board}\n{expected_board}")
    return Outcome(phases, targets, tuple(differences), time.monotonic() - began)
