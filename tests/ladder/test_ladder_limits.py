"""What strangers may ask of a ladder together, and what they are told when it cannot answer."""

import asyncio
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.service.errors import CallError
from rummy.tournament.v1 import tournament_pb2 as pb
from tests.ladder.stand import Stand, refused
from tests.service.match_clients import Refused
from tournament.errors import StoreError
from tournament.ladder import entrants, rates, service


async def test_too_many_calls_are_refused(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "_MOST_CALLS", 1)
    calls = [stand.caller.status() for _ in range(30)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refusals = [one for one in answers if isinstance(one, Refused)]
    assert {(one.code, one.reason) for one in refusals} == {
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE")
    }
    # An organiser is not in the way of others.
    await stand.caller(pb.GetStatusRequest(), pb.GetStatusResponse, stand.organiser)


async def test_nobody_uses_up_the_calls_of_others(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = [await stand.caller.register(name) for name in ("one", "two")]
    monkeypatch.setattr(rates, "_MOST_CALLS_OF_ONE", 1)
    request = pb.GetOwnLogRequest()
    calls = [stand.caller(request, pb.GetOwnLogResponse, tokens[0]) for _ in range(30)]
    calls += [stand.caller(request, pb.GetOwnLogResponse) for _ in range(30)]
    begun = [asyncio.create_task(call) for call in calls]
    # Hers comes among them, and is answered.
    await stand.caller(request, pb.GetOwnLogResponse, tokens[1])
    answers = await asyncio.gather(*begun, return_exceptions=True)
    refusals = [one.text for one in answers if isinstance(one, Refused) and one.reason == "RATE"]
    for whose in ("with one token", "without a token from one address"):
        assert any(f"more than 1 calls {whose} in a second" in text for text in refusals)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans(), st.floats(0.0, 0.9)),
        max_size=200,
    )
)
def test_rates_are_what_they_say(
    calls: list[tuple[int, int, bool, float]],
) -> None:
    """Held against a count of what was let through in each second that began with a call."""
    now_s = 0.0
    found = rates.Rates(lambda: now_s)
    passed: list[str] = []
    begin_s = 0.0
    for host, port, has_token, wait_s in calls:
        now_s += wait_s / 40
        if now_s - begin_s >= 1.0:
            passed, begin_s = [], now_s
        key = f"key {host}" if has_token else ""
        caller = key or f"ipv4:10.0.0.{host}"
        strangers = sum(name.startswith("ipv4") for name in passed)
        is_allowed = passed.count(caller) < 20 and (has_token or strangers < 50)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rates, "_MOST_CALLS_OF_ONE", 20)
            patch.setattr(rates, "_MOST_CALLS", 50)
            if is_allowed:
                found.call(f"ipv4:10.0.0.{host}:{port}", key)
                passed.append(caller)
            else:
                with pytest.raises(CallError):
                    found.call(f"ipv4:10.0.0.{host}:{port}", key)


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
    monkeypatch.setattr(rates, "_REGISTRATIONS", 2)
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


async def test_versions_that_are_withdrawn_make_room_for_others(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrants, "MOST_VERSIONS", 2)
    monkeypatch.setattr(entrants, "MOST_VERSIONS_EVER", 4)
    first = await stand.caller.register("bot")
    await stand.caller.register("bot", "2", first)
    for version in ("3", "4"):
        with pytest.raises(Refused, match="bot has 2 versions: allowed are 2") as caught:
            await stand.caller.register("bot", version, first)
        assert (caught.value.code.name, caught.value.reason) == ("RESOURCE_EXHAUSTED", "ENTRANTS")
        gone = pb.WithdrawRequest(bot="bot", version=str(int(version) - 1))
        await stand.caller(gone, pb.WithdrawResponse, first)
        await stand.caller.register("bot", version, first)
    await stand.caller(pb.WithdrawRequest(bot="bot", version="4"), pb.WithdrawResponse, first)
    with pytest.raises(Refused, match="bot has had 4 versions: allowed are 4"):
        await stand.caller.register("bot", "5", first)
    monkeypatch.setattr(entrants, "MOST_ENTRANTS", 2)
    other = await stand.caller.register("other")
    with pytest.raises(Refused, match="the ladder has 2 versions: allowed are 2, besides"):
        await stand.caller.register("third")
    await stand.caller(pb.WithdrawRequest(), pb.WithdrawResponse, other)
    await stand.caller.register("third")
    monkeypatch.setattr(entrants, "MOST_ENTRANTS", 10)
    monkeypatch.setattr(entrants, "MOST_ENTRANTS_EVER", 6)
    with pytest.raises(Refused, match="the ladder has had 6 versions: allowed are 6, with"):
        await stand.caller.register("fourth")


async def test_what_was_read_before_a_change_undoes_nothing(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token is replaced while the registrations are being read: the old one stays refused."""
    token = await stand.caller.register("bot")
    known = stand.ladder.entrants
    place = known.of_token(token)
    read = known._desk.read
    news: list[str] = []

    async def slow(*given: Any, **named: Any) -> Any:
        answer = await read(*given, **named)
        if not news:
            news.append(await known.replace_token(place))
        return answer

    monkeypatch.setattr(known._desk, "read", slow)
    await known.load()
    [new] = news
    assert known.of_token(new) is place
    assert stand.host.referee.tokens.identify(token) is None
    assert stand.host.referee.tokens.identify(new) is not None
