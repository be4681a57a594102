"""A bot that polls is sent what a stream would be sent: the same messages, and nothing besides."""

import asyncio
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from referee.match.spec import MatchSpec
from referee.service.mailbox import Mailbox
from rummy.referee.v1 import play_pb2 as pb
from tests.service.clients import Client, choice_of, client, new_spec, referee_at, result_of
from tests.service.poll_clients import desk, poller


def fixed_spec() -> MatchSpec:
    """A match that is the same each time, with hidden hands worth hiding."""
    spec = new_spec(match_end="fixed_deals", deals=2)
    return replace(spec, match_id="fixed", secret=bytes(range(32)), salt=bytes(32))


async def last(_: Client, update: pb.Update) -> pb.Choice:
    """The last legal action, as a Poller chooses."""
    return choice_of(update, len(update.decision.legal_actions) - 1)


async def test_messages_are_those_that_the_session_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, for both seats."""
    written: dict[Mailbox, list[bytes]] = defaultdict(list)
    write = Mailbox.write

    async def noted(mailbox: Mailbox, message: bytes) -> None:
        written[mailbox].append(message)
        await write(mailbox, message)

    monkeypatch.setattr(Mailbox, "write", noted)
    async with desk() as one:
        tokens, *bots = await one.pair()
        playing = one.begin(fixed_spec(), tokens)
        await asyncio.gather(*(bot.play() for bot in bots))
        assert (await result_of(playing)).termination == "completed"
        for token, bot in zip(tokens, bots, strict=True):
            mailbox = one.service._sessions[one.referee.bot(token).identity.key].mailbox
            assert len(bot.received) > 20
            assert bot.received == [pb.PlayResponse.FromString(raw) for raw in written[mailbox]]


def _without_time(message: Message) -> str:
    """All fields but those that tell of time, or are made from such."""
    bare: Any = type(message)()
    bare.CopyFrom(message)
    for name in [field.name for field, _ in bare.ListFields()]:
        if name.endswith(("_us", "_ms")) or name in ("record_hash", "results"):
            bare.ClearField(name)
    return str(bare)


def _story(received: list[pb.PlayResponse]) -> dict[str, list[str]]:
    """What was told, apart from how it was put into updates, which depends on time."""
    story: dict[str, list[str]] = defaultdict(list)
    for response in received:
        kind = response.WhichOneof("message") or "?"
        if kind == "welcome":
            story[kind].append(str(response.welcome.limits))
        elif kind == "update":
            update = response.update
            numbered = enumerate(update.events, update.first_event_number)
            story["event"] += [f"{number} {event}" for number, event in numbered]
            if update.HasField("decision"):
                story["decision"].append(_without_time(update.decision))
        elif kind == "match_ended":
            ended = response.match_ended
            story[kind] += [_without_time(one) for one in (ended, *ended.results)]
        else:
            story[kind].append(str(response))
    return story


async def _story_of_seat_0(folder: Path, *, polls: bool) -> dict[str, list[str]]:
    """Play the fixed match; what the bot at seat 0 is told."""
    async with referee_at(folder) as (referee, address):
        tokens = [referee.issue_token(f"bot{seat}", "1") for seat in range(2)]
        opened = poller(address, tokens[0]) if polls else client(address, tokens[0])
        async with opened as one, client(address, tokens[1]) as other:
            await one.hello()
            await other.hello()
            playing = asyncio.create_task(referee.play(fixed_spec(), tokens))
            mine = one.play(last) if isinstance(one, Client) else one.play()
            await asyncio.gather(mine, other.play(last))
            assert (await result_of(playing)).termination == "completed"
            return _story(one.received)


async def test_a_stream_is_told_the_same(tmp_path: Path) -> None:
    polled = await _story_of_seat_0(tmp_path, polls=True)
    streamed = await _story_of_seat_0(tmp_path, polls=False)
    assert polled == streamed
    assert set(polled) == {"welcome", "match_starting", "event", "decision", "match_ended"}
    assert len(polled["decision"]) > 20
