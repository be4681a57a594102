"""Bots on a ladder, over TCP: who is seated, what is stored, who is paused and let in again."""

import threading
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from referee.match.verify import verify
from rummy.referee.v1 import play_pb2 as play
from rummy.tournament.v1 import tournament_pb2 as pb
from tests.ladder.stand import PATIENCE_S, Stand, standing
from tournament.ladder.field import Place
from tournament.report.results import load
from tournament.store import queries
from tournament.store.registry import Registry
from tournament.store.store import Store


async def test_eight_bots_play_mirrored_encounters(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        bots = [await stand.visitor(f"bot{number}") for number in range(8)]
        await stand.until(lambda: stand.ladder.field.whole >= 24, "24 encounters")
        await stand.until(
            lambda: min(p.matches for p in stand.ladder.field.places.values()) >= 4,
            "everybody plays",
        )
        ratings = stand.host.ratings
        await stand.until(lambda: ratings.latest.matches >= 16, "standings")
        rows = await stand.caller.leaderboard()
        assert [row.state for row in rows] == [pb.ENTRANT_STATE_CONNECTED] * 8
        ratings_shown = [round(row.rating, 9) for row in rows]  # equal ones are in order of names
        assert ratings_shown == sorted(ratings_shown, reverse=True)
        assert sum(row.matches for row in rows) == 2 * ratings.latest.matches
        assert {row.forfeits for row in rows} == {0}
        assert max(bot.most_at_once for bot in bots) == 1  # each said that it takes one
        _check_stored(stand)
    with Store.view(tmp_path) as store:
        [ladder] = store.tournaments()
        # Whatever was under way is closed, and what counts are whole encounters.
        open_ = [row for row in queries.matches(store, ladder.id) if not row.termination]
        assert all(row.aborts == 1 for row in open_)
        counted = load(store, ladder.id).legs
        assert len(counted) >= 48
        assert set(Counter(leg.encounter_id for leg in counted).values()) == {2}


def _check_stored(stand: Stand) -> None:
    store, ladder = stand.store, stand.ladder.id
    rows = queries.matches(store, ladder)
    ended = [row for row in rows if row.termination]
    assert len({row.match_id for row in ended}) == len(ended)
    encounters: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        encounters.setdefault(row.fixture.encounter_id, []).append(row.fixture.seats)
    for legs in encounters.values():
        # Each bot once in each seat.
        assert len(legs) == 2
        assert legs[0] == tuple(reversed(legs[1]))
    met = Counter(frozenset(legs[0]) for legs in encounters.values())
    assert len(met) > 8  # not the same pairs again and again
    assert max(met.values()) <= min(len(encounters), 10)
    assert len(list(combinations(range(8), 2))) >= len(met)
    for row in ended[:12]:
        verdict = verify(queries.record(store, ladder, row.fixture.fixture_id), row.record_hash)
        assert (verdict.problems, verdict.is_anchored) == ((), True)
    # The legs of an encounter have the same decks, but for their suits; others have others.
    decks = {(row.fixture.encounter_id, deck_of(stand, row.fixture.fixture_id)) for row in ended}
    assert len(decks) == len({encounter for encounter, _ in decks})
    assert len(decks) == len({secret for _, secret in decks})
    for row in ended[:12]:
        header = queries.record(store, ladder, row.fixture.fixture_id).splitlines()[0]
        assert b'"own_suits":true' in header


def deck_of(stand: Stand, fixture: str) -> bytes:
    last = queries.record(stand.store, stand.ladder.id, fixture).splitlines()[-1]
    return last.split(b'"secret":"')[1][:64]


async def test_who_is_told_of_an_end_can_rely_on_it(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result is on the disk before its bots hear of it: a kill loses nothing that was told."""
    save, may_save = stand.store.save_result, threading.Event()
    told: list[int] = []

    def slow(*given: Any, **named: Any) -> bool:
        assert may_save.wait(PATIENCE_S)
        told.append(sum(bot.ended for bot in bots))
        return save(*given, **named)

    monkeypatch.setattr(stand.store, "save_result", slow)
    bots = [await stand.visitor(name) for name in ("a", "b")]
    try:
        await stand.until(lambda: stand.host.referee.running, "it begins")
        await stand.until(lambda: not stand.host.referee.running, "it has ended")
        assert stand.ladder.running
        # Whatever was sent to the bots before has come by now.
        for _ in range(20):
            await stand.caller.status()
        # One comes back meanwhile, and hears of it all the same.
        sessions = bots[0].sessions
        await bots[0].leave()
        bots[0].come()
        await stand.until(lambda: bots[0].sessions > sessions, "it is back")
    finally:
        may_save.set()
    await stand.until(lambda: all(bot.ended for bot in bots), "told")
    assert told[:1] == [0]


async def test_bots_leave_and_return_and_nothing_is_lost(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        token = await stand.caller.register("comes-and-goes")
        goer = await stand.visitor("comes-and-goes", token=token)
        for name in ("stays1", "stays2"):
            await stand.visitor(name)
        place = stand.ladder.field.places["comes-and-goes@1"]
        await stand.until(lambda: place.matches >= 2, "it plays")
        for _ in range(3):
            await goer.leave()
            await stand.until(lambda: not stand.ladder.is_connected("comes-and-goes@1"), "gone")
            goer.come()
            await _until_more(stand, place, 2)
        # It was back in time, whatever it was in: reconnecting resumes.
        stored = queries.matches(stand.store, stand.ladder.id)
        assert [s.forfeit for row in stored for s in row.seats if s.forfeit] == []


async def _until_more(stand: Stand, place: Place, count: int) -> None:
    wanted = place.matches + count
    await stand.until(lambda: place.matches >= wanted, f"{place.entrant} plays on")


async def test_who_fails_three_times_is_paused_and_let_in_after_a_test(tmp_path: Path) -> None:
    async with standing(tmp_path, first_pause_s=0.3) as stand:
        broken = await stand.visitor("broken", is_broken=True)
        for name in ("well1", "well2"):
            await stand.visitor(name)
        place = stand.ladder.field.places["broken@1"]
        await stand.until(lambda: place.paused, "paused")
        assert place.failures == 3
        assert "illegal" in place.paused
        own = Registry(stand.store)
        [stored] = own.of("broken")
        await stand.until(lambda: own.of("broken")[0].paused, "stored")
        assert stored.bot == "broken"
        [row] = [row for row in await stand.caller.leaderboard() if row.bot == "broken"]
        assert row.state == pb.ENTRANT_STATE_PAUSED
        # It is tried, fails, and is tried later again: no rated match meanwhile.
        rated, begun = place.matches, broken.begun
        await stand.until(lambda: broken.begun >= begun + 2, "tried twice")
        assert place.matches <= rated + 1  # one may have been under way
        assert place.paused
        rated = place.matches
        broken.is_broken = False
        await stand.until(lambda: not place.paused, "let in again")
        assert own.of("broken")[0].paused is None
        await stand.until(lambda: place.matches >= rated + 2, "it plays again")
        assert place.failures == 0
        stored_matches = queries.matches(stand.store, stand.ladder.id)
        assert all("ladder-partner" not in str(row.fixture.seats) for row in stored_matches)


async def test_a_paused_bot_is_still_paused_after_a_restart(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        token = await stand.caller.register("broken")
        await stand.visitor("broken", token=token, is_broken=True)
        await stand.visitor("well")
        await stand.until(lambda: Registry(stand.store).of("broken")[0].paused, "paused")
        matches = stand.ladder.field.matches
    async with standing(tmp_path, first_pause_s=0.2) as stand:
        place = stand.ladder.field.places["broken@1"]
        assert place.paused
        assert stand.ladder.field.matches >= matches
        well = await stand.visitor("broken", token=token)
        await stand.visitor("other")
        await stand.until(lambda: not place.paused, "let in")
        await stand.until(lambda: well.ended >= 3, "it plays")


async def test_versions_of_one_bot_do_not_meet(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        first = await stand.caller.register("one")
        second = await stand.caller.register("one", "2", first)
        old = await stand.visitor("one", token=first)
        new = await stand.visitor("one", token=second)
        await stand.until(lambda: old.sessions and new.sessions, "both are there")
        for _ in range(20):
            stand.ladder._fill()
        assert stand.ladder.field.encounters == 0
        await stand.visitor("two")
        await stand.until(lambda: old.ended and new.ended, "both play the other")


async def test_a_bot_plays_as_many_matches_at_once_as_it_says(tmp_path: Path) -> None:
    async with standing(tmp_path, most=6) as stand:
        wide = await stand.visitor("wide", at_once=3)
        narrow = [await stand.visitor(f"narrow{number}") for number in range(4)]
        await stand.until(lambda: wide.most_at_once >= 2, "several at once")
        await stand.until(lambda: stand.ladder.field.matches >= 20, "20 matches")
        assert wide.most_at_once <= 3
        # Whoever takes more is told at once how many it gets.
        greedy = await stand.visitor("greedy", at_once=1_000)
        greedy.keeps = True
        await stand.until(lambda: greedy.seen, "welcome")
        welcome = play.PlayResponse.FromString(greedy.seen[0]).welcome
        assert welcome.limits.max_concurrent_matches == 4
        assert {bot.most_at_once for bot in narrow} == {1}


async def test_who_is_withdrawn_plays_no_more_and_keeps_its_results(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        token = await stand.caller.register("leaves")
        visitor = await stand.visitor("leaves", token=token)
        await stand.visitor("stays")
        place = stand.ladder.field.places["leaves@1"]
        await stand.until(lambda: stand.ladder.field.whole >= 2, "two encounters")
        await visitor.hold()
        answer = await stand.caller(pb.WithdrawRequest(), pb.WithdrawResponse, token)
        assert list(answer.entrants) == ["leaves@1"]
        await stand.until(lambda: not stand.ladder.is_connected("leaves@1"), "shown out")
        await stand.until(lambda: visitor.codes, "told")
        assert (visitor.codes[0], visitor.reasons[0]) == ("UNAUTHENTICATED", "REVOKED")
        assert "it was withdrawn" in visitor.texts[0]
        await stand.until(lambda: not place.busy and not stand.ladder.field.open, "nothing open")
        rows = {row.bot: row for row in await stand.caller.leaderboard()}
        assert rows["leaves"].state == pb.ENTRANT_STATE_WITHDRAWN
        assert rows["leaves"].matches_ended >= 4
        aborts = [row for row in queries.matches(stand.store, stand.ladder.id) if row.aborts]
        assert all("withdrawn" in row.text for row in aborts)


async def test_a_ladder_of_tables_rotates_all_seats(tmp_path: Path) -> None:
    async with standing(tmp_path, seats=3) as stand:
        for number in range(5):
            await stand.visitor(f"bot{number}")
        await stand.until(lambda: stand.ladder.field.whole >= 2, "two encounters")
        encounters: dict[str, list[tuple[str, ...]]] = {}
        for row in queries.matches(stand.store, stand.ladder.id):
            encounters.setdefault(row.fixture.encounter_id, []).append(row.fixture.seats)
        for legs in encounters.values():
            assert [len(set(seat)) for seat in zip(*legs, strict=True)] == [3, 3, 3]


async def test_who_computes_the_standings_may_be_killed(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        ratings = stand.host.ratings
        ratings._every_s = 0.1
        for name in ("a", "b"):
            await stand.visitor(name)
        await stand.until(lambda: ratings.latest.matches >= 2, "standings")
        process = ratings._process
        assert process is not None
        process.kill()
        number = ratings.latest.number
        await stand.until(lambda: ratings.latest.number > number + 1, "standings again")
        assert ratings._process is not process
    assert ratings._process is None
