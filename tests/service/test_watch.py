"""Watching matches over a real socket: from the start, late, again, with all cards."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.service import spectators
from referee.service.organiser import MatchLimits
from referee.service.wire import bytes_field
from rummy.referee.v1 import match_pb2 as pb
from rummy.referee.v1 import play_pb2, rummy_pb2
from tests.service.clients import PATIENCE_S, Client, choice_of, client
from tests.service.match_clients import Organised, Refused, organised

DEALS = pb.PresetRules(preset="standard", overrides=["match_end=fixed_deals", "deals=3"])
ALL = pb.PERSPECTIVE_ALL_HANDS


@pytest.fixture
async def hall(tmp_path: Path, nothing_left: None) -> AsyncIterator[Organised]:  # noqa: ARG001
    async with organised(tmp_path) as found:
        yield found


async def at_leisure(session: Client, update: play_pb2.Update) -> play_pb2.Choice:
    """A match that takes long enough to watch it."""
    await asyncio.sleep(0.002)
    return choice_of(update, session.index(update))


def seen_by(session: Client) -> list[rummy_pb2.Event]:
    """All events that a bot was sent."""
    return [
        event for one in session.received if one.HasField("update") for event in one.update.events
    ]


def public(event: rummy_pb2.Event) -> rummy_pb2.Event:
    """A seat's event without what is the seat's own."""
    copy = rummy_pb2.Event()
    copy.CopyFrom(event)
    if copy.HasField("deal_started"):
        copy.deal_started.ClearField("hand")
    if copy.HasField("drew") and not copy.drew.from_discard:
        copy.drew.ClearField("card")
    return copy


# --- from start to end ----------------------------------------------------------------------------


async def test_a_spectator_sees_what_is_public(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots, preset_rules=DEALS, open_to_spectators=True)
    watch = hall.spectator.watch(match_id)
    assert await watch.read()
    assert watch.first is not None
    assert watch.first.state == pb.MATCH_STATE_WAITING
    async with hall.connected(bots) as sessions:
        await watch.to_end()
        ended = await hall.organiser.ended(match_id)
    assert watch.ended == ended.result
    assert watch.ended.deals == 3
    numbers = [number for number, _ in watch.numbered]
    assert numbers == list(range(1, ended.last_event_number + 1))
    events = [event for update in watch.updates for event in update.events]
    for session in sessions:
        assert [public(event) for event in seen_by(session)] == events
    for update in watch.updates:
        assert not update.dealt_hands
        assert not update.hands
        assert not update.observation.hand
        assert [event.HasField("deal_started") for event in update.events[1:]].count(True) == 0
    last = watch.updates[-1].observation
    assert (last.deal, last.phase) == (3, rummy_pb2.PHASE_OVER)


async def test_an_organiser_sees_all_cards(hall: Organised) -> None:
    """The hands dealt, and what is drawn and put down, add up to the hands that are told."""
    bots = await hall.organiser.register("ann", "bob", "carl")
    match_id = await hall.organiser.create(bots, preset_rules=DEALS)
    watch = hall.organiser.watch(match_id, perspective=ALL)
    async with hall.connected(bots) as sessions:
        await watch.to_end()
    hands: list[list[int]] = []
    dealt: list[list[int]] = []
    compared = 0
    for update in watch.updates:
        if update.events[0].HasField("deal_started"):
            hands = [list(hand.cards) for hand in update.dealt_hands]
            dealt += [list(hand) for hand in hands]
            assert list(map(len, hands)) == list(update.events[0].deal_started.hand_counts)
        else:
            assert not update.dealt_hands
        for event in update.events:
            _play(hands, event)
        if update.HasField("observation"):
            assert [sorted(hand) for hand in hands] == [list(one.cards) for one in update.hands]
            compared += 1
    assert compared
    own = [
        list(event.deal_started.hand)
        for session in sessions
        for event in seen_by(session)
        if event.HasField("deal_started")
    ]
    assert sorted(own) == sorted(dealt)


def _play(hands: list[list[int]], event: rummy_pb2.Event) -> None:
    """What an event does to the hands."""
    kind = event.WhichOneof("event")
    if kind == "drew":
        assert event.drew.card
        hands[event.drew.seat].append(event.drew.card)
    elif kind == "melded":
        for card in event.melded.meld.cards:
            hands[event.melded.seat].remove(card)
    elif kind == "laid_off":
        for card in event.laid_off.cards:
            hands[event.laid_off.seat].remove(card)
    elif kind == "discarded":
        hands[event.discarded.seat].remove(event.discarded.card)


async def test_late_again_and_afterwards(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots, preset_rules=DEALS)
    whole = hall.organiser.watch(match_id)
    sessions = [Client(hall.address, bot.token) for bot in bots]
    for session in sessions:
        await session.hello()
    playing = [asyncio.create_task(session.play(at_leisure)) for session in sessions]
    while not any(update.observation.deal >= 2 for update in whole.updates):
        assert await whole.read()
    late = hall.organiser.watch(match_id)
    while not late.updates:
        assert await late.read()
    assert late.updates[0].events[0].HasField("deal_started")
    assert late.updates[0].events[0].deal_started.deal >= 2
    seen = late.numbered[-1][0]
    late.call.cancel()
    again = hall.organiser.watch(match_id, after_event_number=seen)
    await asyncio.gather(whole.to_end(), again.to_end(), *playing)
    story = whole.numbered
    start = late.numbered[0][0]
    assert late.numbered + again.numbered == story[start - 1 :]
    for after in (0, 1, 17, len(story) - 1, len(story)):
        found = await hall.organiser.watch(match_id, after_event_number=after).to_end()
        assert found.numbered == story[after:]
        assert found.ended == whole.ended
    last = await hall.organiser.watch(match_id).to_end()
    assert last.updates[0].events[0].deal_started.deal == 3
    assert last.updates[-1].observation == whole.updates[-1].observation
    for session in sessions:
        await session.close()


async def test_called_off_before_it_began(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots)
    watch = hall.organiser.watch(match_id)
    assert await watch.read()
    await hall.organiser(pb.CancelMatchRequest(match_id=match_id), pb.CancelMatchResponse)
    await watch.to_end()
    assert watch.ended is not None
    assert watch.ended.termination == play_pb2.TERMINATION_ABORTED
    assert watch.updates == []


async def test_the_referee_stops(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    waiting = hall.organiser.watch(await hall.organiser.create(bots))
    async with (
        client(hall.address, bots[0].token) as ann,
        client(hall.address, bots[1].token) as bob,
    ):
        running = hall.organiser.watch(await hall.organiser.create(bots))
        hall.service._matches.cancel(next(iter(hall.service._matches)), "not this one")
        await ann.hello()
        await bob.hello()
        await ann.ready((await ann.until("match_starting")).match_starting.match_id)
        await bob.ready((await bob.until("match_starting")).match_starting.match_id)
        while not running.updates:
            assert await running.read()
        closing = asyncio.create_task(hall.referee.close(1.0))
        for watch in (waiting, running):
            assert (await watch.to_end()).ended is not None
        await closing


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code", "reason", "words"),
    [
        ({"match_id": "x"}, "NOT_FOUND", "NO_SUCH_MATCH", "no match 'x' is known"),
        ({"after_event_number": 1}, "OUT_OF_RANGE", "NO_SUCH_EVENT", "is 1: allowed are 0–0"),
        ({"perspective": 9}, "INVALID_ARGUMENT", "BAD_PERSPECTIVE", "perspective is 9"),
    ],
)
async def test_refused(
    hall: Organised, fields: dict[str, Any], code: str, reason: str, words: str
) -> None:
    bots = await hall.organiser.register("ann", "bob")
    match_id = await hall.organiser.create(bots)
    with pytest.raises(Refused, match=words) as refused:
        await hall.organiser.watch(**{"match_id": match_id, **fields}).read()
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode[code], reason)


async def test_places_are_limited_and_become_free(tmp_path: Path) -> None:
    async with organised(tmp_path, MatchLimits(most_watchers=1)) as hall:
        bots = await hall.organiser.register("ann", "bob")
        match_id = await hall.organiser.create(bots, open_to_spectators=True)
        first = hall.spectator.watch(match_id)
        assert await first.read()
        with pytest.raises(Refused) as refused:
            await hall.spectator.watch(match_id).read()
        assert refused.value.reason == "WATCHERS"
        organiser = hall.organiser.watch(match_id)
        assert await organiser.read()
        first.call.cancel()
        async with asyncio.timeout(PATIENCE_S):
            while hall.service._watchers[False]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert await hall.spectator.watch(match_id).read()


async def test_who_does_not_read_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others do not notice; who reads on at last finds the reason."""
    monkeypatch.setattr(spectators, "_MOST_EVENTS", 20_000)
    async with organised(tmp_path, MatchLimits(unread_s=0.3)) as hall:
        bots = await hall.organiser.register("ann", "bob")
        long = await hall.organiser.create(bots)
        short = await hall.organiser.create(bots, preset_rules=DEALS)
        await hall.organiser(pb.CancelMatchRequest(match_id=long), pb.CancelMatchResponse)
        # More than fits into the buffers on the way.
        log = hall.service._matches.find(long).log
        log._public += [bytes_field(2, bytes_field(6, b"\x08\x01\x10\x07"))] * 2_000_000
        lazy = hall.organiser.watch(long)
        assert await lazy.read()
        eager = hall.organiser.watch(short)
        async with hall.connected(bots):
            assert (await eager.to_end()).ended is not None
        async with asyncio.timeout(PATIENCE_S):
            while hall.service._watchers[True]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        with pytest.raises(Refused) as refused:
            await lazy.to_end()
        assert refused.value.code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert refused.value.reason == "NOT_READING"
        assert "come back with the number" in refused.value.text
