"""Has a plan played by workers and stores each result once, whatever dies on the way.

A leg whose worker died, or that ended aborted, is played again in new processes; after three
attempts without a result it is left unplayed. Ratings are no business of this module.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from referee.match.outcome import MatchResult, Termination
from tournament.errors import StoreError, WorkerError
from tournament.runner.course import Course
from tournament.runner.failures import Failures, reasons
from tournament.runner.legs import ABORTS_MOST, Job, LegQueue, Warm
from tournament.runner.progress import ProgressView
from tournament.runner.worker_process import NotReadyError, WorkerLostError
from tournament.schedule import seeds
from tournament.schedule.fixtures import Fixture
from tournament.store.stored import PlannedLeg
from tournament.worker.messages import Failed, PlayLeg, Result

STARTS_MOST = 3
"""Workers that may end one after another while they start, before the run gives up."""

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

    def save_result(
        self, tournament: str, fixture: str, result: MatchResult, *, reasons: str = ""
    ) -> bool:
        """Store a result durably; False if there was one."""

    def note_abort(self, tournament: str, fixture: str, text: str) -> None:
        """Count an attempt without a result."""


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A leg that was given up, and why its last attempt had no result."""

    leg: PlannedLeg
    text: str


@dataclass(slots=True, eq=False)
class _Slot:
    """A place for one worker, started when it is needed first."""

    warm: Warm
    worker: Worker | None = field(default=None)

    async def stop(self) -> None:
        """End the worker, if there is one."""
        worker, self.worker = self.worker, None
        if worker is not None:
            self.warm.processes.clear()
            await worker.stop()


class Runner:
    """Plays `legs` of one tournament, and what `course` adds, with up to `workers` at a time.

    `failures_in_a_row` says for bots in how many of their latest matches their process failed.
    """

    def __init__(
        self,
        *,
        tournament: str,
        legs: Sequence[PlannedLeg],
        course: Course,
        store: Results,
        make_worker: Callable[[], Awaitable[Worker]],
        workers: int,
        progress: ProgressView,
        leg_limit_s: float,
        warm: int = 8,
        failures_in_a_row: Mapping[str, int],
    ) -> None:
        self._tournament = tournament
        self._course = course
        self._store = store
        self._make_worker = make_worker
        self._progress = progress
        self._leg_limit_s = leg_limit_s
        self._slots = [_Slot(Warm(warm)) for _ in range(workers)]
        self._queue = LegQueue(warm)
        self._queue.add(legs)
        self._replays: list[Job] = []
        self._unplayed: list[Unplayed] = []
        self._bots = Failures(failures_in_a_row, progress.note)
        self._attempts_lost = 0
        self._store_error: StoreError | None = None

    async def run(self) -> list[Unplayed]:
        """Play everything and return what could not be played. When cancelled, end all workers."""
        try:
            while not self._course.is_decided:
                if self._queue:
                    await self._play_side_by_side()
                elif self._replays:
                    await self._play_alone()
                elif legs := await self._course.more():
                    self._queue.add(legs)
                else:
                    break
                if self._course.replays_at_once and self._replays:
                    await self._play_alone()
        finally:
            await self._stop()
        return self._unplayed

    async def _play_side_by_side(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for slot in self._slots[: len(self._queue)]:
                    group.create_task(self._keep_busy(slot))
        except ExceptionGroup as errors:
            # The first one ended the others.
            raise errors.exceptions[0] from errors

    async def _keep_busy(self, slot: _Slot) -> None:
        """Have one worker play until nothing is left, or something else comes first."""
        while self._queue and not self._course.is_decided:
            if self._course.replays_at_once and self._replays:
                return
            job = self._queue.take(slot.warm)
            if not await self._play(slot, job):
                self._queue.put_back(job)

    async def _play_alone(self) -> None:
        """Play again what was aborted, with nothing beside it.

        What aborted a leg may have been a machine too busy, or a worker that is not well.
        """
        await self._stop()
        slot = self._slots[0]
        while self._replays and not self._course.is_decided:
            job = self._replays.pop(0)
            while not await self._play(slot, job):
                pass
        await self._stop()

    async def _stop(self) -> None:
        """End all workers, whatever goes wrong with one of them, and if it is cancelled first."""
        stopping = asyncio.gather(*(slot.stop() for slot in self._slots), return_exceptions=True)
        try:
            # Cancelled in its first moment, a stop of a worker would not even begin.
            ends = await asyncio.shield(stopping)
        except asyncio.CancelledError:
            await stopping
            raise
        for error in filter(None, ends):
            raise error

    async def _play(self, slot: _Slot, job: Job) -> bool:
        """Play a leg once; False if it is to be played again at once, its worker being lost."""
        if slot.worker is None:
            slot.worker = await self._started()
        try:
            outcome = await slot.worker.play(self._order(job), limit_s=self._leg_limit_s)
        except WorkerLostError as error:
            await slot.stop()
            self._count_lost_attempt(str(error))
            is_again = self._note_abort(job, str(error))
            return not is_again
        self._take(job, outcome)
        await slot.worker.acknowledge(job.fixture.fixture_id)
        return True

    async def _started(self) -> Worker:
        """Start a worker; one that is killed meanwhile says nothing about the next."""
        for _ in range(STARTS_MOST - 1):
            with contextlib.suppress(NotReadyError):
                return await self._make_worker()
        return await self._make_worker()

    def _order(self, job: Job) -> PlayLeg:
        leg, fixture = job.leg, job.fixture
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
            withdrawn=self._bots.withdrawn(fixture.seats),
        )

    def _take(self, job: Job, outcome: Result | Failed) -> None:
        """Store a result, or have the leg played again."""
        if isinstance(outcome, Failed):
            self._count_lost_attempt(outcome.text)
            text = outcome.text
        elif not _is_final(outcome.result):
            text = outcome.result.text
        else:
            self._attempts_lost = 0
            fixture = job.fixture
            self._save(fixture, outcome)
            self._bots.count(fixture.seats, outcome)
            self._course.stored(fixture, outcome.result)
            self._progress.advance()
            return
        if self._note_abort(job, text):
            self._replays.append(job)

    def _save(self, fixture: Fixture, outcome: Result) -> None:
        if self._store_error is not None:
            # It can take long to fail: not once for each worker that has just finished a leg.
            raise self._store_error
        try:
            self._store.save_result(
                self._tournament, fixture.fixture_id, outcome.result, reasons=reasons(outcome)
            )
        except StoreError as error:
            self._store_error = error
            raise

    def _note_abort(self, job: Job, text: str) -> bool:
        """Count an attempt without a result; whether the leg is to be played again."""
        job.aborts += 1
        self._store.note_abort(self._tournament, job.fixture.fixture_id, text)
        if job.aborts < ABORTS_MOST:
            self._progress.note(f"{_name(job.leg)} will be played again: {text}")
            return True
        self._progress.note(f"{_name(job.leg)} stays unplayed: {text}")
        self._unplayed.append(Unplayed(job.leg, text))
        self._course.given_up(job.fixture)
        return False

    def _count_lost_attempt(self, text: str) -> None:
        self._attempts_lost += 1
        if self._attempts_lost >= FAILURES_MOST * len(self._slots):
            raise WorkerError(
                f"{self._attempts_lost} attempts one after another ended without a result, the last"
                f" because: {text}. See the workers' logs in the data folder, then"
                " `tournament resume`"
            )


def _is_final(result: MatchResult) -> bool:
    """Whether a leg is not to be played again: nobody ever ready is an end, aborted is not."""
    return result.termination is not Termination.ABORTED


def _name(leg: PlannedLeg) -> str:
    return f"match {leg.fixture.position} ({' – '.join(leg.fixture.seats)})"
