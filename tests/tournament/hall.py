"""A runner with fake workers and a fake store, which remember what they were asked."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from referee.match.outcome import MatchResult
from tests.tournament.fakes import match_result
from tournament.errors import StoreError
from tournament.runner.course import Course, WholePlan
from tournament.runner.progress import LineProgress
from tournament.runner.runner import Runner, Unplayed
from tournament.schedule.fixtures import Entrant
from tournament.schedule.round_robin import round_robin
from tournament.store.stored import PlannedLeg
from tournament.worker.messages import BotFailure, Failed, PlayLeg, Result

Reaction = Callable[[PlayLeg, int], MatchResult]
"""What happens when a leg is played for the n-th time (from 1)."""


class FakeStore:
    """Keeps results in memory."""

    def __init__(self) -> None:
        self.results: dict[str, MatchResult] = {}
        self.reasons: list[str] = []
        self.aborts: list[tuple[str, str]] = []
        self.is_broken = False
        self.attempts = 0

    def save_result(
        self, tournament: str, fixture: str, result: MatchResult, *, reasons: str = ""
    ) -> bool:
        """Keep a result; a second one is a failure of the test."""
        assert tournament == "t"
        assert fixture not in self.results
        self.attempts += 1
        if self.is_broken:
            raise StoreError("locked")
        self.results[fixture] = result
        self.reasons.append(reasons)
        return True

    def note_abort(self, tournament: str, fixture: str, text: str) -> None:
        """Keep the reason."""
        assert tournament == "t"
        self.aborts.append((fixture, text))


class Hall:
    """Makes fake workers and remembers what they were asked."""

    def __init__(self, react: Reaction, store: FakeStore) -> None:
        self.react = react
        self.store = store
        self.orders: list[PlayLeg] = []
        self.attempts: Counter[str] = Counter()
        self.started = self.stopped = 0
        self.busy = self.busiest = 0
        self.failures: tuple[BotFailure, ...] = ()

    async def make_worker(self) -> "FakeWorker":
        """Start a worker."""
        self.started += 1
        return FakeWorker(self)


class FakeWorker:
    """Answers as the hall says."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self.unacknowledged: str | None = None

    async def play(self, leg: PlayLeg, *, limit_s: float) -> Result | Failed:
        """Play a leg, which must not come before the last one is acknowledged."""
        assert self.unacknowledged is None
        assert limit_s == 5
        hall = self.hall
        hall.orders.append(leg)
        hall.attempts[leg.fixture_id] += 1
        hall.busy += 1
        hall.busiest = max(hall.busiest, hall.busy)
        await asyncio.sleep(0)
        hall.busy -= 1
        self.unacknowledged = leg.fixture_id
        try:
            result = hall.react(leg, hall.attempts[leg.fixture_id])
            return Result(leg.fixture_id, result, hall.failures)
        except RuntimeError as error:
            return Failed(leg.fixture_id, str(error))

    async def acknowledge(self, fixture_id: str) -> None:
        """Note that the leg is done with; by then it is stored or counted as aborted."""
        assert self.unacknowledged == fixture_id
        stored = fixture_id in self.hall.store.results
        assert stored or fixture_id in dict(self.hall.store.aborts)
        self.unacknowledged = None

    async def stop(self) -> None:
        """End."""
        self.hall.stopped += 1


def planned(bots: str = "abc", encounters: int = 2) -> list[PlannedLeg]:
    entrants = [Entrant(bot, bot) for bot in bots]
    plan = round_robin(entrants, seats=2, encounters=encounters, rules="r")
    return [PlannedLeg(leg, b"s" * 32, b"t" * 32) for e in plan for leg in e.legs]


async def play(
    react: Reaction,
    legs: list[PlannedLeg],
    workers: int = 2,
    warm: int = 8,
    *,
    course: Course | None = None,
    failures_in_a_row: Mapping[str, int] | None = None,
) -> tuple[Hall, list[str], Callable[[], Awaitable[list[Unplayed]]]]:
    store = FakeStore()
    hall = Hall(react, store)
    said: list[str] = []
    runner = Runner(
        tournament="t",
        legs=legs,
        course=course or WholePlan(),
        store=store,
        make_worker=hall.make_worker,
        workers=workers,
        progress=LineProgress(said.append),
        leg_limit_s=5,
        warm=warm,
        failures_in_a_row=failures_in_a_row or {},
    )
    return hall, said, runner.run


def wins(_leg: PlayLeg, _attempt: int) -> MatchResult:
    return match_result([1, 2])
