"""In what order legs are played: near plan order, few new processes, few encounters half played.

The order of play changes no rating. It decides how many processes must be started, which cost more
than most matches, and how many encounters are not whole yet when a run is interrupted.
"""

import itertools
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from tournament.schedule.fixtures import Fixture
from tournament.store.stored import PlannedLeg

ABORTS_MOST = 3
"""Attempts without a result after which a leg is left unplayed."""

LOOKAHEAD = 256
"""How far ahead in the plan a leg may be that is played next."""

OPEN_MOST = 32
"""Encounters that may be begun and not finished before another one is begun.

With two workers and more it hardly ever binds: they drift apart to different leg indexes. With one,
8 would start up to twice the processes in large fields that 32 does, and 256 saves few more.
"""

Process = tuple[str, int]
"""Name of the bot and leg index: process i of a bot plays leg i only."""


@dataclass(slots=True, eq=False)
class Job:
    """A leg to be played. `aborts` counts this run's attempts without a result."""

    leg: PlannedLeg
    aborts: int = 0

    @property
    def fixture(self) -> Fixture:
        """Who sits where."""
        return self.leg.fixture


@dataclass(slots=True, eq=False)
class Warm:
    """The processes that one worker was last seen with, the latest last; it keeps `most`."""

    most: int
    processes: list[Process] = field(default_factory=list)

    def count(self, fixture: Fixture) -> int:
        """Return how many of the processes that a leg needs are running."""
        return sum((bot, fixture.leg) in self.processes for bot in fixture.seats)

    def use(self, fixture: Fixture) -> None:
        """Note that the processes of a leg are the latest used."""
        used = [(bot, fixture.leg) for bot in fixture.seats]
        kept = [process for process in self.processes if process not in used]
        self.processes = (kept + used)[-self.most :]


class LegQueue:
    """The legs that wait for a worker. A worker keeps `warm` processes running."""

    def __init__(self, warm: int) -> None:
        self._warm = warm
        self._jobs: deque[Job] = deque()
        self._waiting: Counter[str] = Counter()  # legs by encounter
        self._begun: set[str] = set()  # encounters of which some legs wait and others do not
        self._all_fit = True

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, legs: Iterable[PlannedLeg]) -> None:
        """Add legs in plan order; an encounter that comes with some of its legs is begun."""
        jobs = [Job(leg) for leg in legs]
        self._jobs.extend(jobs)
        self._waiting.update(job.fixture.encounter_id for job in jobs)
        for fixture in (job.fixture for job in jobs):
            if self._waiting[fixture.encounter_id] < len(fixture.seats):
                self._begun.add(fixture.encounter_id)
        needed = {(bot, job.fixture.leg) for job in self._jobs for bot in job.fixture.seats}
        self._all_fit = len(needed) <= self._warm

    def put_back(self, job: Job) -> None:
        """Put a leg that was taken before all others."""
        self._jobs.appendleft(job)
        self._count(job.fixture, 1)

    def take(self, warm: Warm) -> Job:
        """Take the leg that is to be played next by a worker with these processes.

        When every process can be kept it is plan order, encounters that are begun first; else the
        leg that needs the fewest new processes, and of equals one of an encounter that is begun.
        """
        near = list(itertools.islice(self._jobs, LOOKAHEAD))
        if len(self._begun) >= OPEN_MOST:
            near = [job for job in near if job.fixture.encounter_id in self._begun] or near

        def preferred(job: Job) -> tuple[int, bool]:
            running = 0 if self._all_fit else warm.count(job.fixture)
            return running, job.fixture.encounter_id in self._begun

        job = max(near, key=preferred)  # of equals the first
        self._jobs.remove(job)
        self._count(job.fixture, -1)
        warm.use(job.fixture)
        return job

    def _count(self, fixture: Fixture, change: int) -> None:
        """Count a leg that left, or came back, and note whether its encounter is half played."""
        encounter = fixture.encounter_id
        self._waiting[encounter] += change
        if 0 < self._waiting[encounter] < len(fixture.seats):
            self._begun.add(encounter)
        else:
            self._begun.discard(encounter)
            if not self._waiting[encounter]:
                del self._waiting[encounter]
