"""The log that all watchers read, and the writer of each of them, without a network."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import grpc
import pytest

from referee.engine.events import Event
from referee.engine.game import RummyGame
from referee.engine.observation import Observation
from referee.engine.presets import make_ruleset
from referee.match.seat import Seat
from referee.match.spec import SeatSpec
from referee.service import spectators
from referee.service.bots import Bot
from referee.service.errors import CallError
from referee.service.match_codec import match_message
from referee.service.ordered_match import OrderedMatch
from referee.service.spectators import EventLog, Turnstile, Watcher
from referee.service.tokens import Identity
from rummy.referee.v1 import match_pb2 as pb
from rummy.referee.v1 import play_pb2
from tests.match.fakes import Table, make_spec
from tests.service.fake_stream import FakeStream, settle

END = pb.WatchMatchResponse(match_ended=play_pb2.MatchEnded(match_id="m")).SerializeToString()
FIRST = pb.WatchMatchResponse(match=pb.Match(match_id="m")).SerializeToString()


class Played:
    """A match at random, as a log follows it."""

    def __init__(self, seed: int = 1, deals: int = 3) -> None:
        rules = make_ruleset("basic", {"match_end": "fixed_deals", "deals": deals})
        self.game = RummyGame(rules, 2, bytes([seed]) * 32)
        self.seats: Sequence[Seat] = [None, None]  # type: ignore[list-item]
        self._chance = random.Random(seed)

    def watch(self, watcher: object) -> None:
        """Nothing: what happens is put in by hand."""

    def observe(self, seat: int | None) -> Observation:
        """As the game has it."""
        return self.game.observe(seat)

    def play(self) -> Iterator[Sequence[Event]]:
        """What happens, in batches."""
        yield self.game.start()
        while True:
            while self.game.to_act is not None:
                yield self.game.apply(self._chance.choice(self.game.legal_actions()))
            if self.game.standing().over:
                return
            yield self.game.next_deal()


def filled(seed: int = 1, most_bytes: int = 1 << 30) -> EventLog:
    """The log of a whole match."""
    log, match = EventLog(most_bytes), Played(seed)
    log.follow(match)
    for events in match.play():
        log.add(events)
    return log


def read(log: EventLog, after: int, *, whole: bool = False) -> list[pb.WatchUpdate]:
    """All updates after an event."""
    found = []
    while after < log.last:
        message, after = log.update(after, whole=whole)
        found.append(pb.WatchMatchResponse.FromString(message).watch_update)
    return found


def numbered(updates: Sequence[pb.WatchUpdate]) -> list[tuple[int, bytes]]:
    return [
        (update.first_event_number + place, event.SerializeToString())
        for update in updates
        for place, event in enumerate(update.events)
    ]


# --- the log --------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [False, True])
def test_every_place_has_the_same_rest(whole: bool) -> None:
    log = filled()
    story = numbered(read(log, 0, whole=whole))
    assert [number for number, _ in story] == list(range(1, log.last + 1))
    for after in range(log.last + 1):
        updates = read(log, after, whole=whole)
        assert numbered(updates) == story[after:]
        for update in updates:
            assert 1 <= len(update.events) <= 200
            assert not any(event.HasField("deal_started") for event in update.events[1:])
            starts = update.events[0].HasField("deal_started")
            assert len(update.dealt_hands) == (2 if starts and whole else 0)
            assert update.HasField("observation") == (update is updates[-1])
            assert len(update.hands) == (2 if whole and update is updates[-1] else 0)


def test_long_stories_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled()
    story = numbered(read(log, 0))
    monkeypatch.setattr(spectators, "_MOST_EVENTS", 7)
    updates = read(log, 0)
    assert max(len(update.events) for update in updates) == 7
    assert numbered(updates) == story


def test_old_deals_are_forgotten_but_not_the_current_one() -> None:
    story = numbered(read(filled(), 0))
    log = filled(most_bytes=1)
    assert log.first == log.before_deal + 1 > 1
    assert numbered(read(log, log.before_deal)) == story[log.before_deal :]
    assert log.size == size_of(log)
    log.check(log.first - 1)
    log.check(log.last)
    for after in (log.first - 2, log.last + 1):
        with pytest.raises(CallError, match=f"allowed are {log.first - 1}–{log.last}") as refused:
            log.check(after)
        assert refused.value.code == grpc.StatusCode.OUT_OF_RANGE


def size_of(log: EventLog) -> int:
    return sum(len(event) + 60 for event in log._public)


def test_events_without_secrets_are_made_once() -> None:
    log = filled()
    same = sum(one is other for one, other in zip(log._public, log._whole, strict=True))
    assert 0 < same < len(log._public)


def test_nothing_of_the_match_is_kept_after_its_end() -> None:
    log = filled()
    before = [read(log, 0, whole=whole) for whole in (False, True)]
    log.close(END)
    assert log._match is None
    assert [read(log, 0, whole=whole) for whole in (False, True)] == before


def test_a_log_that_fails_does_not_harm_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError("no bytes")

    table = Table()
    log = EventLog()
    log.follow(table.match)
    monkeypatch.setattr(spectators, "event_bytes", fail)
    table.begin().play_turn()
    assert table.player.decisions
    assert log.last == 0
    with pytest.raises(CallError) as refused:
        log.check(0)
    assert refused.value.reason == "INTERNAL"
    log.close(END)


# --- writers --------------------------------------------------------------------------------------


def watcher(log: EventLog, stream: FakeStream, *, after: int = 0) -> Watcher:
    return Watcher(stream, log, Turnstile(), whole=False, after=after)


def updates_of(stream: FakeStream) -> list[pb.WatchUpdate]:
    responses = [pb.WatchMatchResponse.FromString(raw) for raw in stream.written]
    return [one.watch_update for one in responses if one.HasField("watch_update")]


async def test_a_writer_follows_to_the_end() -> None:
    log, match, stream = EventLog(), Played(), FakeStream()
    log.follow(match)
    running = asyncio.create_task(watcher(log, stream).run(FIRST, 5))
    for number, events in enumerate(match.play()):
        log.add(events)
        if number % 40 == 0:
            await asyncio.sleep(0.06)
    log.close(END)
    async with asyncio.timeout(5):
        assert await running is None
    assert stream.written[0] == FIRST
    assert stream.written[-1] == END
    assert numbered(updates_of(stream)) == numbered(read(log, 0))
    assert 3 <= len(updates_of(stream)) < log.last


async def test_what_happens_shortly_after_comes_together() -> None:
    log, match, stream = EventLog(), Played(), FakeStream()
    log.follow(match)
    running = asyncio.create_task(watcher(log, stream).run(FIRST, 5))
    events = match.play()
    log.add(next(events))
    await settle()
    assert len(updates_of(stream)) == 1
    for _ in range(5):
        log.add(next(events))
        await settle()
    assert len(updates_of(stream)) == 1
    await asyncio.sleep(0.1)
    assert len(updates_of(stream)) == 2
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_who_does_not_read_holds_up_nobody() -> None:
    log, match = EventLog(), Played()
    log.follow(match)
    turnstile = Turnstile()
    slow, fast = FakeStream(), FakeStream()
    slow.may_write.clear()
    running = [
        asyncio.create_task(Watcher(one, log, turnstile, whole=False, after=0).run(FIRST, 0.2))
        for one in (slow, fast)
    ]
    for events in match.play():
        log.add(events)
    log.close(END)
    async with asyncio.timeout(5):
        dropped, finished = await asyncio.gather(*running)
    assert finished is None
    assert numbered(updates_of(fast)) == numbered(read(log, 0))
    assert dropped is not None
    assert (dropped.code, dropped.reason) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "NOT_READING",
    )
    assert slow.written == []


async def test_who_reads_slowly_is_not_dropped() -> None:
    log, stream = filled(), FakeStream()
    log.close(END)

    async def one_at_a_time() -> None:
        while END not in stream.written:
            stream.may_write.clear()
            await asyncio.sleep(0.1)
            stream.may_write.set()
            await asyncio.sleep(0)

    reading = asyncio.create_task(one_at_a_time())
    assert await watcher(log, stream).run(FIRST, 0.15) is None
    await reading


async def test_time_counts_from_the_update_on() -> None:
    """However long nothing happened before it."""
    log, match, stream = EventLog(), Played(), FakeStream()
    log.follow(match)
    running = asyncio.create_task(watcher(log, stream).run(FIRST, 0.4))
    await asyncio.sleep(0.3)
    stream.may_write.clear()
    log.add(next(match.play()))
    await asyncio.sleep(0.25)
    stream.may_write.set()
    log.close(END)
    assert await running is None
    assert stream.written[-1] == END


async def test_an_idle_match_drops_nobody() -> None:
    log, stream = EventLog(), FakeStream()
    running = asyncio.create_task(watcher(log, stream).run(FIRST, 0.05))
    await asyncio.sleep(0.2)
    log.close(END)
    assert await running is None
    assert log._idle == []


async def test_who_is_too_far_behind_is_told_so() -> None:
    log, match, stream = EventLog(1), Played(), FakeStream()
    log.follow(match)
    stream.may_write.clear()
    running = asyncio.create_task(watcher(log, stream).run(FIRST, 5))
    await settle()
    for events in match.play():
        log.add(events)
    stream.may_write.set()
    error = await running
    assert error is not None
    assert error.reason == "NO_SUCH_EVENT"


async def test_a_stream_that_breaks_is_no_error() -> None:
    class Broken(FakeStream):
        async def write(self, message: bytes) -> None:  # noqa: ARG002
            raise grpc.aio.UsageError("RPC already finished.")

    assert await watcher(EventLog(), Broken()).run(FIRST, 5) is None


async def test_a_failure_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    log, stream = filled(), FakeStream()
    monkeypatch.setattr(log, "update", lambda *_, **__: 1 / 0)
    error = await watcher(log, stream).run(FIRST, 5)
    assert error is not None
    assert error.reason == "INTERNAL"


async def test_one_goes_on_in_each_round_of_the_loop() -> None:
    turnstile, order = Turnstile(), []
    rounds = 0

    async def enter(number: int) -> None:
        await turnstile.enter()
        order.append((number, rounds))

    entering = [asyncio.create_task(enter(number)) for number in range(50)]
    await asyncio.sleep(0)
    entering[7].cancel()
    while len(order) < 49:
        rounds += 1
        await asyncio.sleep(0)
    assert [number for number, _ in order] == [n for n in range(50) if n != 7]
    assert len({when for _, when in order}) == 49
    await asyncio.gather(*entering, return_exceptions=True)
    await asyncio.wait_for(turnstile.enter(), 1)


# --- no leak --------------------------------------------------------------------------------------
# What a log writes for spectators is compared in test_secrets.py.


def test_a_match_is_described_without_its_secrets() -> None:
    bots = [Bot(Identity(letter * 64, f"bot {letter}", "1")) for letter in "ab"]

    def described(secret: bytes, *, for_organiser: bool) -> bytes:
        spec = replace(
            make_spec(2),
            secret=secret,
            salt=secret[::-1],
            seats=tuple(SeatSpec(bot.name, bot.version, secret[4:] * 2) for bot in bots),
        )
        match = OrderedMatch(1, spec, bots, due_s=0, is_open=True, is_published=True)
        match.created_ms = 1
        message = match_message(match, for_organiser=for_organiser)
        assert message.commitment == spec.commitment
        message.ClearField("commitment")
        return message.SerializeToString()

    for for_organiser in (False, True):
        one = described(bytes(range(32)), for_organiser=for_organiser)
        assert one == described(bytes(range(32, 64)), for_organiser=for_organiser)
        assert (b"a" * 16 in one) == for_organiser
        assert b"a" * 17 not in one
