"""Organisers register bots, order matches and get their records, over a real socket."""

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import grpc
import pytest

from referee.match.record_lines import read_record
from referee.match.verify import verify
from referee.service.organiser import MatchLimits
from rummy.referee.v1 import match_pb2 as pb
from rummy.referee.v1 import play_pb2
from tests.service.clients import PATIENCE_S, client
from tests.service.match_clients import QUICK, Caller, Organised, Refused, organised

LONG = pb.PresetRules(preset="basic", overrides=["match_end=fixed_deals", "deals=200"])
HURRY = play_pb2.TimeControl(
    per_decision_ms=20_000, bank_ms=0, startup_ms=200, reconnect_ms=0, match_cap_ms=300_000
)


@pytest.fixture
async def hall(tmp_path: Path, nothing_left: None) -> AsyncIterator[Organised]:  # noqa: ARG001
    async with organised(tmp_path) as found:
        yield found


async def record_of(caller: Caller, match_id: str, offset: int = 0) -> pb.GetRecordResponse:
    return await caller(pb.GetRecordRequest(match_id=match_id, offset=offset), pb.GetRecordResponse)


# --- from registration to the record --------------------------------------------------------------


async def test_a_match_from_registration_to_its_record(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    listed = await hall.organiser(pb.ListBotsRequest(), pb.ListBotsResponse)
    assert {bot.bot: bot.connected for bot in listed.bots} == {"ann": False, "bob": False}
    match_id = await hall.organiser.create(bots, first_dealer=1)
    waiting = await hall.organiser.match(match_id)
    assert waiting.state == pb.MATCH_STATE_WAITING
    assert [seat.connected for seat in waiting.seats] == [False, False]
    assert (waiting.first_dealer, waiting.rules.deals, waiting.ended_unix_ms) == (1, 1, 0)
    async with hall.connected(bots):
        listed = await hall.organiser(pb.ListBotsRequest(), pb.ListBotsResponse)
        assert [bot.connected for bot in listed.bots] == [True, True]
        ended = await hall.organiser.ended(match_id)
    assert ended.result.termination == play_pb2.TERMINATION_COMPLETED
    assert ended.ended_unix_ms >= ended.created_unix_ms > 1_700_000_000_000
    assert [(seat.bot, seat.version) for seat in ended.seats] == [("ann", "1"), ("bob", "1")]
    record = await record_of(hall.organiser, match_id)
    assert record.size == len(record.content)
    assert record.record_hash == ended.result.record_hash
    assert sha256(record.content.splitlines(keepends=True)[-1]).digest() == record.record_hash
    assert verify(record.content) is not None
    assert (
        sha256(
            read_record(record.content).end.salt + read_record(record.content).end.secret
        ).digest()
        == ended.commitment
    )
    rest = await record_of(hall.organiser, match_id, offset=100)
    assert rest.content == record.content[100:]


async def test_secrets_are_drawn_anew_or_given(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    async with hall.connected(bots):
        ids = [await hall.organiser.create(bots) for _ in range(2)]
        ids += [await hall.organiser.create(bots, secret=b"s" * 32) for _ in range(2)]
        ids.append(await hall.organiser.create(bots, salt=b"t" * 32))
        for match_id in ids:
            await hall.organiser.ended(match_id)
        ends = [read_record((await record_of(hall.organiser, one)).content).end for one in ids]
    assert len({end.secret for end in ends}) == 4
    assert ends[2].secret == ends[3].secret == b"s" * 32
    assert len({end.salt for end in ends}) == 5
    assert ends[4].salt == b"t" * 32
    assert len({chance for end in ends for chance in end.randomness}) == 10


async def test_who_is_not_there_in_time_forfeits(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    nobody = await hall.organiser.create(bots, time_control=HURRY, connect_ms=1)
    ended = await hall.organiser.ended(nobody)
    assert ended.result.termination == play_pb2.TERMINATION_NOT_STARTED
    async with hall.connected(bots[:1]):
        one = await hall.organiser.create(bots, time_control=HURRY, connect_ms=1)
        result = (await hall.organiser.ended(one)).result
    assert result.termination == play_pb2.TERMINATION_FORFEIT
    assert [seat.forfeit for seat in result.results] == [0, play_pb2.FORFEIT_STARTUP]
    assert [seat.place for seat in result.results] == [1, 2]


async def test_it_waits_for_bots_and_for_room(hall: Organised) -> None:
    """A bot that plays one match at a time gets the next one when it has ended."""
    bots = await hall.organiser.register("ann", "bob")
    async with (
        client(hall.address, bots[0].token) as ann,
        client(hall.address, bots[1].token) as bob,
    ):
        first = await hall.organiser.create(bots)
        second = await hall.organiser.create(bots)
        await ann.hello()
        await bob.hello()
        await ann.until("match_starting")
        assert (await hall.organiser.match(first)).state == pb.MATCH_STATE_RUNNING
        await asyncio.sleep(0.6)
        assert (await hall.organiser.match(second)).state == pb.MATCH_STATE_WAITING
        await hall.organiser(pb.CancelMatchRequest(match_id=first), pb.CancelMatchResponse)
        assert (await ann.until("match_starting")).match_starting.match_id == second


async def test_bots_without_registration_can_be_seated(tmp_path: Path) -> None:
    """Where any token is let in, a bot has an id while it is connected."""
    async with organised(tmp_path, is_open=True) as hall:
        async with client(hall.address, "a") as ann, client(hall.address, None) as bob:
            await ann.hello("ann")
            await bob.hello("bob")
            listed = await hall.organiser(pb.ListBotsRequest(), pb.ListBotsResponse)
            assert {bot.bot for bot in listed.bots} == {"ann", "bob"}
            ids = [bot.bot_id for bot in sorted(listed.bots, key=lambda bot: bot.bot)]
            request = pb.CreateMatchRequest(preset_rules=QUICK, bot_ids=ids)
            made = await hall.organiser(request, pb.CreateMatchResponse)
            ended, _ = await asyncio.gather(ann.play(), bob.play())
            assert ended is not None
            assert ended.match_id == made.match.match_id
        for answer in (await hall.organiser.match(made.match.match_id)).seats:
            assert answer.bot in ("ann", "bob")


async def test_revoked_bot(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    async with client(hall.address, bots[0].token) as ann:
        await ann.hello()
        request = pb.RevokeTokenRequest(bot_id=bots[0].bot_id)
        await hall.organiser(request, pb.RevokeTokenResponse)
        assert await ann.receive() is None
    async with client(hall.address, bots[0].token) as ann:
        assert await ann.receive() is None
        assert await ann.reason() == "BAD_TOKEN"
    with pytest.raises(Refused) as refused:
        await hall.organiser.create(bots)
    assert (refused.value.code, refused.value.reason) == (
        grpc.StatusCode.NOT_FOUND,
        "NO_SUCH_BOT",
    )


async def test_bots_are_listed_in_pages(hall: Organised) -> None:
    bots = await hall.organiser.register(*(f"bot{number}" for number in range(7)))
    found: list[str] = []
    token = ""
    for _ in range(3):
        request = pb.ListBotsRequest(page_size=3, page_token=token)
        page = await hall.organiser(request, pb.ListBotsResponse)
        found += [bot.bot_id for bot in page.bots]
        token = page.next_page_token
    assert token == ""
    assert sorted(found) == found == sorted(bot.bot_id for bot in bots)


async def test_matches_are_listed_in_pages_and_by_state(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    ids = [await hall.organiser.create(bots) for _ in range(5)]
    await hall.organiser(pb.CancelMatchRequest(match_id=ids[1]), pb.CancelMatchResponse)

    async def listed(caller: Caller, *states: pb.MatchState.ValueType) -> list[str]:
        found: list[str] = []
        token = ""
        while True:
            request = pb.ListMatchesRequest(states=states, page_size=2, page_token=token)
            page = await caller(request, pb.ListMatchesResponse)
            assert not any(match.HasField("rules") for match in page.matches)
            found += [match.match_id for match in page.matches]
            token = page.next_page_token
            if not token:
                return found

    assert await listed(hall.organiser) == ids
    assert await listed(hall.organiser, pb.MATCH_STATE_ENDED) == [ids[1]]
    assert await listed(hall.organiser, pb.MATCH_STATE_WAITING) == [ids[0], *ids[2:]]
    assert await listed(hall.organiser, pb.MATCH_STATE_RUNNING) == []
    assert await listed(hall.spectator) == []


# --- calling off ----------------------------------------------------------------------------------


async def test_cancelled_while_it_waits_and_again(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots)
    for _ in range(2):
        request = pb.CancelMatchRequest(match_id=match_id)
        match = (await hall.organiser(request, pb.CancelMatchResponse)).match
        assert match.state == pb.MATCH_STATE_ENDED
        assert match.result.termination == play_pb2.TERMINATION_ABORTED
        assert [seat.place for seat in match.result.results] == [0, 0]
    with pytest.raises(Refused, match="it never began") as refused:
        await record_of(hall.organiser, match_id)
    assert refused.value.reason == "NO_RECORD"


async def test_cancelled_while_it_runs(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots, preset_rules=LONG)
    async with hall.connected(bots) as sessions:
        async with asyncio.timeout(PATIENCE_S):
            while not any(one.HasField("update") for one in sessions[0].received):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await hall.organiser(pb.CancelMatchRequest(match_id=match_id), pb.CancelMatchResponse)
        ended = await hall.organiser.ended(match_id)
        assert ended.result.termination == play_pb2.TERMINATION_ABORTED
        assert ended.result.text == "called off by an organiser"
        assert (await record_of(hall.organiser, match_id)).size > 0


async def test_cancelled_in_the_moment_in_which_it_begins(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots)
    match = hall.service._matches.find(match_id)
    hall.service._matches._begin(match)
    hall.service._matches.cancel(match, "called off")
    ended = await hall.organiser.ended(match_id)
    assert ended.result.text == "called off"


async def test_stopping_calls_off_what_waits(tmp_path: Path) -> None:
    async with organised(tmp_path) as hall:
        bots = await hall.organiser.register("ann", "bob")
        match_id = await hall.organiser.create(bots)
        hall.referee.is_draining = True
        assert (await hall.organiser.ended(match_id)).result.text == "the referee is stopping"
        with pytest.raises(Refused) as refused:
            await hall.organiser.create(bots)
        assert (refused.value.code, refused.value.reason) == (
            grpc.StatusCode.UNAVAILABLE,
            "STOPPING",
        )


async def test_a_referee_that_fails_ends_the_match(
    hall: Organised, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise OSError("nothing works")

    monkeypatch.setattr(hall.referee, "play_bots", fail)
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots, connect_ms=1)
    assert (await hall.organiser.ended(match_id)).result.text == "the referee failed (OSError)"


# --- what is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "kept"),
    [(MatchLimits(most_kept=2), 2), (MatchLimits(most_kept_bytes=1), 1)],
    ids=["number", "bytes"],
)
async def test_old_matches_are_forgotten(tmp_path: Path, limits: MatchLimits, kept: int) -> None:
    async with organised(tmp_path, limits) as hall:
        bots = await hall.organiser.register("ann", "bob")
        ids = []
        async with hall.connected(bots):
            for _ in range(4):
                ids.append(await hall.organiser.create(bots))
                await hall.organiser.ended(ids[-1])
        for match_id in ids[:-kept]:
            with pytest.raises(Refused) as refused:
                await hall.organiser.match(match_id)
            assert refused.value.reason == "NO_SUCH_MATCH"
        assert len([await hall.organiser.match(match_id) for match_id in ids[-kept:]]) == kept


async def test_limits(tmp_path: Path) -> None:
    async with organised(tmp_path, MatchLimits(most_at_once=2, most_bots=2)) as hall:
        bots = await hall.organiser.register("ann", "bob")
        with pytest.raises(Refused) as refused:
            await hall.organiser.register("carl")
        assert refused.value.reason == "BOTS"
        first = await hall.organiser.create(bots)
        await hall.organiser.create(bots)
        with pytest.raises(Refused) as refused:
            await hall.organiser.create(bots)
        assert refused.value.reason == "MATCHES"
        await hall.organiser(pb.CancelMatchRequest(match_id=first), pb.CancelMatchResponse)
        await hall.organiser.create(bots)


async def test_spectators_call_only_so_often(tmp_path: Path) -> None:
    async with organised(tmp_path, MatchLimits(most_spectator_calls=3)) as hall:
        request = pb.ListMatchesRequest()
        found = await asyncio.gather(
            *(hall.spectator(request, pb.ListMatchesResponse) for _ in range(20)),
            return_exceptions=True,
        )
        refused = [one for one in found if isinstance(one, Refused)]
        assert 10 < len(refused) < 20
        assert {one.reason for one in refused} == {"RATE"}
        await hall.organiser(pb.ListMatchesRequest(), pb.ListMatchesResponse)
