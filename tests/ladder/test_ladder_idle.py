"""Bots that do not answer, on a machine that is busy: they lose, and hold up nobody else."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from referee.match.outcome import Termination
from referee.service.loop_clock import LoopClock
from rummy.referee.v1 import play_pb2 as play
from rummy.tournament.v1 import tournament_pb2 as pb
from tests.ladder.stand import Stand, standing
from tests.ladder.visitors import Visitor
from tournament.ladder import ladder as module
from tournament.store import queries

QUICK = ("per_decision_ms=200", "bank_ms=1000")


class Sleeper(Visitor):
    """It is ready, and never answers a decision."""

    def _answer(self, response: play.PlayResponse) -> play.PlayRequest | None:
        is_asked = response.WhichOneof("message") == "update"
        return None if is_asked else super()._answer(response)


async def sleeper(stand: Stand, bot: str) -> str:
    token = await stand.caller.register(bot)
    found = Sleeper(stand.address, token)
    stand.visitors.append(found)
    found.come()
    return token


async def test_who_never_answers_forfeits_though_the_machine_stands_still(tmp_path: Path) -> None:
    """A quarter of all time is the referee's own: a long decision has much of it forgiven."""
    async with standing(tmp_path, time=QUICK, is_patient=False, most=2) as stand:
        stand.host.referee.clock.stalled_us = (  # type: ignore[method-assign]
            lambda since_us, until_us: max(0, until_us - since_us) // 4
        )
        token = await sleeper(stand, "sleeper")
        await stand.visitor("well")
        place = stand.ladder.field.places["sleeper@1"]
        await stand.until(lambda: place.paused, "paused")
        assert "was out of time too often" in place.paused
        [*own] = (await stand.caller(pb.GetOwnLogRequest(), pb.GetOwnLogResponse, token)).matches
        assert {match.forfeit for match in own} == {play.FORFEIT_TIME}
        # More than is forgiven elsewhere, and nothing was aborted for it.
        assert min(match.forgiven_us for match in own) > 250_000
        rows = queries.matches(stand.store, stand.ladder.id)
        assert not any(row.aborts for row in rows)


async def test_fewer_matches_run_while_the_machine_stands_still(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ADAPT_S", 0.02)

    class Clock:
        share = 1.0

        @property
        def total_stalled_us(self) -> int:
            return int(self.share * 1e6 * asyncio.get_running_loop().time())

    clock = Clock()
    adapting = asyncio.create_task(stand.ladder._adapt())
    monkeypatch.setattr(stand.ladder._referee, "clock", cast("LoopClock", clock))
    await stand.until(lambda: stand.ladder.field.most_now == 2, "a quarter of eight")
    clock.share = 0.0
    await stand.until(lambda: stand.ladder.field.most_now == 8, "all of them")
    stand.ladder._lost_by_load = True
    await stand.until(lambda: not stand.ladder._lost_by_load, "it was seen")
    assert stand.ladder.field.most_now == 6
    adapting.cancel()
    await asyncio.gather(adapting, return_exceptions=True)


# --- what counts for nothing ----------------------------------------------------------------------


async def own_log(stand: Stand, token: str) -> pb.GetOwnLogResponse:
    return await stand.caller(pb.GetOwnLogRequest(page_size=1), pb.GetOwnLogResponse, token)


async def test_an_author_reads_of_tests_and_when_the_next_is(tmp_path: Path) -> None:
    async with standing(tmp_path, first_pause_s=0.2) as stand:
        token, other = await stand.caller.register("broken"), await stand.caller.register("well")
        broken = await stand.visitor("broken", token=token, is_broken=True)
        await stand.visitor("well", token=other)
        place = stand.ladder.field.places["broken@1"]
        await stand.until(lambda: place.tests_failed >= 2 and place.next_test_ms, "tried twice")
        log = await own_log(stand, token)
        assert log.paused
        assert log.tests_failed >= 2
        assert len(log.uncounted) >= 2
        assert all(match.is_test for match in log.uncounted)
        latest, before = log.uncounted[:2]
        assert latest.ended_unix_ms > before.ended_unix_ms
        # Each test is as many seconds after the last as it was told: twice as many every time.
        assert log.next_test_unix_ms >= latest.ended_unix_ms
        assert latest.forfeit == play.FORFEIT_ILLEGAL
        assert latest.seat == 0
        assert "too many illegal choices" in latest.text
        assert [one.reason for one in latest.rejections] == [play.REASON_BAD_INDEX] * 4
        assert latest.rejection_count == latest.illegal_strikes == 4
        assert latest.match_id not in {match.match_id for match in await stand.caller.matches()}
        assert not (await own_log(stand, other)).uncounted
        broken.is_broken = False
        await stand.until(lambda: not place.paused, "let in again")
        log = await own_log(stand, token)
        assert (log.paused, log.tests_failed, log.next_test_unix_ms) == ("", 0, 0)
        assert log.uncounted[0].forfeit == play.FORFEIT_UNSPECIFIED
        assert log.uncounted[0].place


async def test_an_author_reads_of_matches_that_ended_without_a_result(stand: Stand) -> None:
    tokens = [await stand.caller.register(name) for name in ("one", "two")]
    visitors = [await stand.visitor("", token=token) for token in tokens]
    await stand.until(lambda: stand.host.referee.running, "playing")
    visitors[0].is_broken = True
    await stand.until(lambda: stand.ladder.field.places["one@1"].failures, "it is broken")
    visitors[0].is_broken = False
    aborted: list[str] = []

    def is_aborted() -> bool:
        aborted.extend(stand.host.referee.abort_running("the machine was on fire"))
        return bool(aborted)

    await stand.until(is_aborted, "aborted")
    await stand.until(lambda: stand.ladder.uncounted.of("two@1"), "noted")
    for token in tokens:
        [match] = (await own_log(stand, token)).uncounted[:1]
        assert match.match_id == aborted[0]
        assert match.termination == play.TERMINATION_ABORTED
        assert (match.place, match.text) == (0, "the machine was on fire")
        assert not match.is_test
    assert Termination.ABORTED not in {
        row.termination for row in queries.matches(stand.store, stand.ladder.id)
    }
