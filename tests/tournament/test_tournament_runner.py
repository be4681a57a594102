"""The runner alone, with fake workers and a fake store: who plays what, again, and how often."""

import asyncio
import itertools

import pytest

from referee.match.outcome import Forfeit, MatchResult, Termination
from tests.tournament.fakes import match_result
from tests.tournament.hall import FakeWorker, planned, play, wins
from tournament.errors import StoreError, WorkerError
from tournament.runner.runner import Runner
from tournament.runner.worker_process import NotReadyError, WorkerLostError
from tournament.worker.messages import PUBLIC_WORDS, BotFailure, Failed, Failure, PlayLeg, Result


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
    assert hall.store.reasons == ["b why no_hello", "b why ended", "b why ended"]
    assert [result.text for result in hall.store.results.values()] == [
        f"late: {PUBLIC_WORDS[kind]}" for kind in kinds
    ]


async def test_failures_before_a_resume_count_with_those_after_it() -> None:
    def react(leg: PlayLeg, _attempt: int) -> MatchResult:
        return match_result([1, 2], forfeits={leg.seats.index("b"): Forfeit.STARTUP})

    legs = planned("ab", 3)
    hall, said, run = await play(react, legs, workers=1, failures_in_a_row={"a": 1, "b": 2})
    await run()
    assert [order.withdrawn for order in hall.orders] == [()] + [("b",)] * 5
    assert sum("b failed 3 times in a row" in text for text in said) == 1
    hall, said, run = await play(react, legs, workers=1, failures_in_a_row={"b": 3})
    await run()
    assert {order.withdrawn for order in hall.orders} == {("b",)}
    assert not any("in a row" in text for text in said)


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


async def test_cancelling_at_any_moment_stops_all_workers() -> None:
    for turns in itertools.count(1):
        hall, _, run = await play(wins, planned("ab", 1))
        running = asyncio.ensure_future(run())
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        [ended] = await asyncio.gather(running, return_exceptions=True)
        assert hall.started == hall.stopped, f"cancelled after {turns} turns of the loop"
        if ended == []:
            break  # it was faster
        assert isinstance(ended, asyncio.CancelledError)
    assert turns > 5


async def test_a_worker_that_ends_while_it_starts_is_started_again() -> None:
    hall, _, run = await play(wins, planned("ab", 1), workers=1)
    runner: Runner = run.__self__  # type: ignore[attr-defined]
    make, failures = hall.make_worker, [NotReadyError("killed"), NotReadyError("killed")]

    async def make_third() -> FakeWorker:
        if failures:
            raise failures.pop()
        return await make()

    runner._make_worker = make_third
    assert await run() == []
    assert hall.store.aborts == []
    failures[:] = [NotReadyError("killed"), NotReadyError("killed"), NotReadyError("at last")]
    runner._queue.add(planned("cd", 1))
    with pytest.raises(NotReadyError, match="killed"):
        await run()
    assert hall.started == hall.stopped


async def test_a_store_that_fails_is_asked_once() -> None:
    hall, _, run = await play(wins, planned(), workers=4)
    hall.store.is_broken = True
    with pytest.raises(StoreError, match="locked"):
        await run()
    assert hall.store.attempts == 1
    assert hall.started == hall.stopped
