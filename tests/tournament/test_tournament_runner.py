"""The runner alone, with fake workers and a fake store: who plays what, again, and how often."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from referee.match.outcome import Forfeit, MatchResult, Termination
from tests.tournament.fakes import match_result
from tournament.errors import WorkerError
from tournament.runner.progress import LineProgress
from tournament.runner.runner import Runner, Unplayed
from tournament.runner.worker_process import WorkerLostError
from tournament.schedule.fixtures import Entrant
from tournament.schedule.round_robin import round_robin
from tournament.store.stored import PlannedLeg
from tournament.worker.messages import PUBLIC_WORDS, BotFailure, Failed, Failure, PlayLeg, Result

Reaction = Callable[[PlayLeg, int], MatchResult]
"""What happens when a leg is played for the n-th time (from 1)."""


class FakeStore:
    """Keeps results in memory."""

    def __init__(self) -> None:
        self.results: dict[str, MatchResult] = {}
        self.aborts: list[tuple[str, str]] = []

    def save_result(self, tournament: str, fixture: str, result: MatchResult) -> bool:
        """Keep a result; a second one is a failure of the test."""
        assert tournament == "t"
        assert fixture not in self.results
        self.results[fixture] = result
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
    react: Reaction, legs: list[PlannedLeg], workers: int = 2, warm: int = 8
) -> tuple[Hall, list[str], Callable[[], Awaitable[list[Unplayed]]]]:
    store = FakeStore()
    hall = Hall(react, store)
    said: list[str] = []
    runner = Runner(
        tournament="t",
        legs=legs,
        store=store,
        make_worker=hall.make_worker,
        workers=workers,
        progress=LineProgress(said.append),
        leg_limit_s=5,
        warm=warm,
    )
    return hall, said, runner.run


def wins(_leg: PlayLeg, _attempt: int) -> MatchResult:
    return match_result([1, 2])


async def test_every_leg_is_played_and_stored_once() -> None:
    legs = planned()
    hall, _, run = await play(wins, legs)
    assert await run() == []
    assert set(hall.store.results) == {leg.fixture.fixture_id for leg in legs}
    assert set(hall.attempts.values()) == {1}
    assert (hall.started, hall.stopped, hall.busiest) == (2, 2, 2)


async def test_no_more_workers_than_legs() -> None:
    hall, _, run = await play(wins, planned("ab", 1), workers=16)
    await run()
    assert hall.started == 2


async def test_seats_get_randomness_of_their_own_and_the_fixtures_deals() -> None:
    hall, _, run = await play(wins, planned("ab", 1), workers=1)
    await run()
    chances = [chance for order in hall.orders for chance in order.randomness]
    assert len(set(chances)) == 4
    assert [order.seats for order in hall.orders] == [("a", "b"), ("b", "a")]
    assert {order.fresh for order in hall.orders} == {False}
    assert len({order.match_id for order in hall.orders}) == 2


async def test_a_lost_worker_is_replaced_and_its_leg_played_again_in_new_processes() -> None:
    def react(leg: PlayLeg, attempt: int) -> MatchResult:
        if leg.leg == 1 and attempt == 1:
            raise WorkerLostError("gone")
        return match_result([1, 2])

    hall, said, run = await play(react, planned("ab", 1), workers=1)
    assert await run() == []
    assert (hall.started, hall.stopped) == (2, 2)
    first, second = (order for order in hall.orders if order.leg == 1)
    assert (first.fresh, second.fresh) == (False, True)
    assert first.match_id != second.match_id
    assert first.secret == second.secret
    assert hall.store.aborts == [(first.fixture_id, "gone")]
    assert "will be played again: gone" in "\n".join(said)


@pytest.mark.parametrize("how", ["aborted", "failed"])
async def test_aborted_legs_are_played_again_after_the_rest_and_alone(how: str) -> None:
    def react(leg: PlayLeg, attempt: int) -> MatchResult:
        if attempt == 1 and leg.leg == 0:
            if how == "failed":
                raise RuntimeError("broken")
            return match_result([0, 0], termination=Termination.ABORTED, text="stalled")
        return match_result([1, 2])

    legs = planned()
    hall, _, run = await play(react, legs, workers=3)
    assert await run() == []
    assert len(hall.store.results) == 12
    again = hall.orders[12:]
    assert {order.leg for order in again} == {0}
    assert all(order.fresh for order in again)
    assert hall.started == 4


async def test_three_aborts_leave_a_leg_unplayed() -> None:
    def react(leg: PlayLeg, _attempt: int) -> MatchResult:
        if "c" in leg.seats:
            return match_result([0, 0], termination=Termination.ABORTED, text="stalled")
        return match_result([1, 2])

    hall, said, run = await play(react, planned(encounters=1))
    unplayed = await run()
    assert sorted({seat for item in unplayed for seat in item.leg.fixture.seats}) == ["a", "b", "c"]
    assert {item.text for item in unplayed} == {"stalled"}
    assert len(unplayed) == 4
    assert len(hall.store.results) == 2
    assert {hall.attempts[item.leg.fixture.fixture_id] for item in unplayed} == {3}
    assert sum("stays unplayed: stalled" in text for text in said) == 4


async def test_nobody_ever_ready_is_an_end_and_not_played_again() -> None:
    hall, _, run = await play(
        lambda *_: match_result([0, 0], termination=Termination.NOT_STARTED), planned("ab", 1)
    )
    assert await run() == []
    assert set(hall.attempts.values()) == {1}


async def test_workers_that_always_die_end_the_run() -> None:
    def react(_leg: PlayLeg, _attempt: int) -> MatchResult:
        raise WorkerLostError("gone")

    hall, _, run = await play(react, planned("abcdef"), workers=2)
    with pytest.raises(WorkerError, match=r"20 attempts one after another .* because: gone"):
        await run()
    assert hall.started == hall.stopped


async def test_a_worker_that_always_fails_ends_the_run() -> None:
    def react(_leg: PlayLeg, _attempt: int) -> MatchResult:
        raise RuntimeError("broken")

    hall, _, run = await play(react, planned("abcdef"), workers=1)
    with pytest.raises(WorkerError, match=r"10 attempts one after another .* because: broken"):
        await run()
    assert hall.started == hall.stopped == 1


async def test_a_worker_is_given_legs_of_bots_that_it_runs_already() -> None:
    legs = planned("abcdef", 4)
    hall, _, run = await play(wins, legs, workers=1, warm=4)
    assert await run() == []
    assert sorted(hall.attempts) == sorted(leg.fixture.fixture_id for leg in legs)
    running: list[tuple[str, int]] = []
    starts = 0
    for order in hall.orders:
        used = [(bot, order.leg) for bot in order.seats]
        starts += sum(key not in running for key in used)
        running = ([key for key in running if key not in used] + used)[-4:]
    assert starts < len(legs) / 3  # in plan order it would be two for each leg
    first = hall.orders[0]
    assert first.fixture_id == legs[0].fixture.fixture_id


async def test_a_bot_that_ends_three_times_in_a_row_is_withdrawn() -> None:
    def react(leg: PlayLeg, _attempt: int) -> MatchResult:
        return match_result([1, 2], forfeits={leg.seats.index("b"): Forfeit.CRASH})

    hall, said, run = await play(react, planned("ab", 3), workers=1)
    await run()
    assert [order.withdrawn for order in hall.orders] == [()] * 3 + [("b",)] * 3
    assert sum("b failed 3 times in a row" in text for text in said) == 1


async def test_failures_are_noted_once_a_kind_and_kept_with_the_result() -> None:
    kinds = [Failure.NO_HELLO, Failure.ENDED, Failure.ENDED]

    def react(leg: PlayLeg, _attempt: int) -> MatchResult:
        seat = leg.seats.index("b")
        kind = kinds[len(hall.store.results)]
        hall.failures = (BotFailure("b", leg.leg, kind, f"why {kind}", "last", "/logs/b.log"),)
        return match_result(
            [1, 2], forfeits={seat: Forfeit.STARTUP}, text=f"late: {PUBLIC_WORDS[kind]}"
        )

    hall, said, run = await play(react, planned("ab", 2)[:3], workers=1)
    await run()
    notes = [text for text in said if text.startswith("b ")]
    assert notes == [
        "b (leg 0) why no_hello; its output ends with: last; log: /logs/b.log",
        "b (leg 0) why ended; its output ends with: last; log: /logs/b.log",
        (
            "b failed 3 times in a row: it forfeits the rest without being started; the last time"
            " it why ended; log: /logs/b.log"
        ),
    ]
    assert [result.text for result in hall.store.results.values()] == [
        "late: b why no_hello", "late: b why ended", "late: b why ended",
    ]  # fmt: skip


async def test_a_match_without_a_crash_counts_anew() -> None:
    def react(leg: PlayLeg, _attempt: int) -> MatchResult:
        return match_result([1, 2], forfeits={0: Forfeit.CRASH} if leg.leg == 0 else {})

    hall, _, run = await play(react, planned("ab", 6), workers=1)
    await run()
    assert {order.withdrawn for order in hall.orders} == {()}


async def test_cancelling_stops_all_workers() -> None:
    legs = planned()
    hall, _, run = await play(wins, legs)
    never, both_play = asyncio.Event(), asyncio.Event()

    class Stuck(FakeWorker):
        async def play(self, leg: PlayLeg, *, limit_s: float) -> Result | Failed:
            self.hall.orders.append(leg)
            if len(self.hall.orders) == 2:
                both_play.set()
            assert limit_s
            await never.wait()
            raise AssertionError

    async def make_stuck() -> FakeWorker:
        hall.started += 1
        return Stuck(hall)

    runner: Runner = run.__self__  # type: ignore[attr-defined]
    runner._make_worker = make_stuck
    task = asyncio.create_task(runner.run())
    await both_play.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (hall.started, hall.stopped) == (2, 2)
