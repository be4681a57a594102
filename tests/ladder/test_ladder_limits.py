"""What strangers may ask of a ladder together, and what they are told when it cannot answer."""

import asyncio
from typing import Any

import grpc
import pytest

from rummy.tournament.v1 import tournament_pb2 as pb
from tests.ladder.stand import Stand, refused
from tests.ladder.visitors import Refused
from tournament.errors import StoreError
from tournament.ladder import service


async def test_too_many_calls_are_refused(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_MOST_CALLS", 1)
    calls = [stand.caller.status() for _ in range(30)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refusals = [one for one in answers if isinstance(one, Refused)]
    assert {(one.code, one.reason) for one in refusals} == {
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE")
    }
    # An organiser is not in the way of others.
    await stand.caller(pb.GetStatusRequest(), pb.GetStatusResponse, stand.organiser)


async def test_too_many_readers_are_refused(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_MOST_READING", 0)
    answer = await refused(stand, pb.ListMatchesRequest(), pb.ListMatchesResponse)
    assert answer == ("RESOURCE_EXHAUSTED", "BUSY")


async def test_a_database_that_fails_is_not_described_to_strangers(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise StoreError(f"{stand.data} is broken")

    monkeypatch.setattr(service, "ended_matches", fails)
    with pytest.raises(Refused) as caught:
        await stand.caller(pb.ListMatchesRequest(), pb.ListMatchesResponse)
    assert (caught.value.code.name, caught.value.reason) == ("UNAVAILABLE", "STORE")
    assert str(stand.data) not in caught.value.text


async def test_strangers_register_so_many_bots_and_no_more(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_REGISTRATIONS", 2)
    calls = [stand.caller.register(f"bot{number}") for number in range(40)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refusals = {one.reason for one in answers if isinstance(one, Refused)}
    assert refusals == {"REGISTRATIONS"}
    tokens = [one for one in answers if isinstance(one, str)]
    assert len(tokens) >= 2
    # Authors of bots that are known, and organisers, are not held up by them.
    bot = stand.ladder.entrants.of_token(tokens[0]).bot
    await stand.caller.register(bot, "2", tokens[0])
    await stand.caller.register("organised", token=stand.organiser)


async def test_what_was_read_before_a_change_undoes_nothing(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token is replaced while the registrations are being read: the old one stays refused."""
    token = await stand.caller.register("bot")
    entrants = stand.ladder.entrants
    place = entrants.of_token(token)
    read = entrants._desk.read
    news: list[str] = []

    async def slow(*given: Any, **named: Any) -> Any:
        answer = await read(*given, **named)
        if not news:
            news.append(await entrants.replace_token(place))
        return answer

    monkeypatch.setattr(entrants._desk, "read", slow)
    await entrants.load()
    [new] = news
    assert entrants.of_token(new) is place
    assert stand.host.referee.tokens.identify(token) is None
    assert stand.host.referee.tokens.identify(new) is not None
