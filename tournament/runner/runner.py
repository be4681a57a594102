"""Has a plan played by workers and stores each result once, whatever dies on the way.

A leg whose worker died, or that ended aborted, is played again in new processes; after three
attempts without a result it is left unplayed. Ratings are no business of this module.
"""

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from referee.match.outcome import Forfeit, MatchResult, Termination
from tournament.errors import WorkerError
from tournament.runner.progress import ProgressView
from tournament.runner.worker_process import WorkerLostError
from tournament.schedule import seeds
from tournament.store.stored import PlannedLeg
from tournament.worker.messages import PUBLIC_WORDS, BotFailure, Failed, Failure, PlayLeg, Result

ABORTS_MOST = 3
"""Attempts without a result after which a leg is left unplayed."""

CRASHES_MOST = 3
"""Matches in a row that its process failed in, after which a bot is not started any more."""

LOOKAHEAD = 256
"""How far ahead in the plan a leg may be that is played next."""

FAILURES_MOST = 10
"""Workers that may die or fail one after another, for each that runs, without a result between."""


class Worker(Protocol):
    """A process that plays one leg after another."""

    async def play(self, leg: PlayLeg, *, limit_s: float) -> Result | Failed:
        """Have a leg played. Raises WorkerLostError."""

    async def acknowledge(self, fixture_id: str) -> None:
        """Tell that a leg is done with."""

    async def stop(self) -> None:
        """End it and its bots."""


class Results(Protocol):
    """Where results are kept."""

    def save_result(self, tournament: str, fixture: str, result: MatchResult) -> bool:
        """Store a result durably; False if there was one."""

    def note_abort(self, tournament: str, fixture: str, text: str) -> None:
        """Count an attempt without a result."""


@dataclass(slots=True, eq=False)
class _Job:
    leg: PlannedLeg
    aborts: int = 0  # in this run
    text: str = ""


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A leg that was given up, and why its last attempt had no result."""

    leg: PlannedLeg
    text: str


class Runner:
    """Plays `legs` of one tournament with up to `workers` workers at a time."""

    def __init__(
        self,
        *,
        tournament: str,
        legs: Sequence[PlannedLeg],
        store: Results,
        make_worker: Callable[[], Awaitable[Worker]],
        workers: int,
        progress: ProgressView,
        leg_limit_s: float,
        warm: int = 8,
    ) -> None:
        self._tournament = tournament
        self._store = store
        self._make_worker = make_worker
        self._workers = workers
        self._progress = progress
        self._leg_limit_s = leg_limit_s
        self._warm = warm
        self._queue = deque(_Job(leg) for leg in legs)
        self._replays: deque[_Job] = deque()
        self._unplayed: list[Unplayed] = []
        self._crashes: Counter[str] = Counter()
        self._noted: set[tuple[str, Failure]] = set()
        self._failures = 0

    async def run(self) -> list[Unplayed]:
        """Play everything and return what could not be played. When cancelled, end all workers."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._workers, len(self._queue))):
                    group.create_task(self._slot())
        except ExceptionGroup as errors:
            # The first one ended the others.
            raise errors.exceptions[0] from errors
        while self._replays:
            # With nothing beside it: what aborted a leg may have been a machine too busy.
            self._queue, self._replays = self._replays, deque()
            await self._slot()
        return self._unplayed

    async def _slot(self) -> None:
        """Keep one worker busy until nothing is left."""
        worker: Worker | None = None
        recent: list[tuple[str, int]] = []
        try:
            while self._queue:
                job = self._next_job(recent)
                if worker is None:
                    worker = await self._make_worker()
                try:
                    outcome = await worker.play(self._order(job), limit_s=self._leg_limit_s)
                except WorkerLostError as error:
                    lost, worker = worker, None
                    await lost.stop()
                    self._count_failure(str(error))
                    self._aborted(job, str(error), self._queue.appendleft)
                    continue
                self._take(job, outcome)
                await worker.acknowledge(job.leg.fixture.fixture_id)
        finally:
            if worker is not None:
                await worker.stop()

    def _next_job(self, recent: list[tuple[str, int]]) -> _Job:
        """Take the job, among the next ones, that needs the fewest new processes.

        `recent` holds the bots and leg indexes that the worker used last, and is kept so.
        Starting a bot costs more than most matches; the order of play changes no rating.
        """

        def running(job: _Job) -> int:
            fixture = job.leg.fixture
            return sum((bot, fixture.leg) in recent for bot in fixture.seats)

        # Of equals max takes the first, so without anything running this is plan order.
        job = max(itertools.islice(self._queue, LOOKAHEAD), key=running)
        self._queue.remove(job)
        fixture = job.leg.fixture
        used = [(bot, fixture.leg) for bot in fixture.seats]
        recent[:] = ([key for key in recent if key not in used] + used)[-self._warm :]
        return job

    def _order(self, job: _Job) -> PlayLeg:
        leg, fixture = job.leg, job.leg.fixture
        attempt = leg.aborts + job.aborts
        return PlayLeg(
            fixture_id=fixture.fixture_id,
            match_id=seeds.match_id(leg.secret, fixture.leg, attempt),
            leg=fixture.leg,
            seats=fixture.seats,
            first_dealer=fixture.first_dealer,
            secret=leg.secret,
            salt=leg.salt,
            randomness=tuple(
                seeds.bot_randomness(leg.secret, fixture.leg, seat)
                for seat in range(len(fixture.seats))
            ),
            fresh=attempt > 0,
            withdrawn=tuple(bot for bot in fixture.seats if self._crashes[bot] >= CRASHES_MOST),
        )

    def _take(self, job: _Job, outcome: Result | Failed) -> None:
        """Store a result, or have the leg played again."""
        if isinstance(outcome, Failed):
            self._count_failure(outcome.text)
            self._aborted(job, outcome.text, self._replays.append)
        elif not _is_final(outcome.result):
            self._aborted(job, outcome.result.text, self._replays.append)
        else:
            self._failures = 0
            fixture = job.leg.fixture
            self._store.save_result(self._tournament, fixture.fixture_id, _with_reasons(outcome))
            self._note_failures(outcome.failures)
            self._count_crashes(fixture.seats, outcome)
            self._progress.advance()

    def _aborted(self, job: _Job, text: str, again: Callable[[_Job], None]) -> None:
        fixture = job.leg.fixture
        job.aborts += 1
        self._store.note_abort(self._tournament, fixture.fixture_id, text)
        if job.aborts < ABORTS_MOST:
            self._progress.note(f"{_name(job.leg)} will be played again: {text}")
            again(job)
        else:
            self._progress.note(f"{_name(job.leg)} stays unplayed: {text}")
            self._unplayed.append(Unplayed(job.leg, text))

    def _count_failure(self, text: str) -> None:
        self._failures += 1
        if self._failures >= FAILURES_MOST * self._workers:
            raise WorkerError(
                f"{self._failures} attempts one after another ended without a result, the last"
                f" because: {text}. See the workers' logs in the data folder, then"
                " `tournament resume`"
            )

    def _note_failures(self, failures: Sequence[BotFailure]) -> None:
        """Tell the organiser about the first failure of its kind of each bot."""
        for item in failures:
            # The one who withdrew a bot has told so.
            if item.failure is Failure.WITHDRAWN or (item.bot, item.failure) in self._noted:
                continue
            self._noted.add((item.bot, item.failure))
            self._progress.note(_described(item))

    def _count_crashes(self, seats: Sequence[str], outcome: Result) -> None:
        failures = {item.bot: item for item in outcome.failures}
        for bot, seat in zip(seats, outcome.result.seats, strict=True):
            failed = bot in failures or seat.forfeit in (Forfeit.CRASH, Forfeit.STARTUP)
            if not failed:
                self._crashes[bot] = 0
                continue
            self._crashes[bot] += 1
            if self._crashes[bot] == CRASHES_MOST:
                last = failures.get(bot)
                self._progress.note(
                    f"{bot} failed {CRASHES_MOST} times in a row: it forfeits the rest without"
                    " being started" + (f"; the last time it {_where(last)}" if last else "")
                )


def _with_reasons(outcome: Result) -> MatchResult:
    """Return the result with the reasons for the organiser in place of what opponents read."""
    text = outcome.result.text
    for item in outcome.failures:
        text = text.removesuffix(f": {PUBLIC_WORDS.get(item.failure, '')}")
    reasons = "; ".join(f"{item.bot} {item.text}" for item in outcome.failures)
    return replace(outcome.result, text=f"{text}: {reasons}") if reasons else outcome.result


def _described(item: BotFailure) -> str:
    output = f"its output ends with: {item.tail}" if item.tail else "it wrote no output"
    return f"{item.bot} (leg {item.leg}) {_where(item, output)}"


def _where(item: BotFailure, *more: str) -> str:
    """Return what went wrong, and more and its log if it ever ran."""
    if not item.log:
        return item.text
    log, here = Path(item.log), Path.cwd()
    shown = log.relative_to(here) if log.is_relative_to(here) else log
    return "; ".join((item.text, *more, f"log: {shown}"))


def _is_final(result: MatchResult) -> bool:
    """Whether a leg is not to be played again: nobody ever ready is an end, aborted is not."""
    return result.termination is not Termination.ABORTED


def _name(leg: PlannedLeg) -> str:
    return f"match {leg.fixture.position} ({' – '.join(leg.fixture.seats)})"
