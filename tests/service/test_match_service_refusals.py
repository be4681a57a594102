"""What the match service refuses: to whom, with which reason, in which words."""

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from referee.engine.presets import PRESETS
from referee.service.match_codec import read_rules, rules_from_message
from referee.service.rules_message import rules_message
from rummy.referee.v1 import match_pb2 as pb
from rummy.referee.v1 import play_pb2, rummy_pb2
from tests.engine.random_rules import TABLES, random_rules
from tests.service.match_clients import QUICK, Caller, Organised, Refused, organised

FOR_ORGANISERS: list[tuple[Message, type[Message]]] = [
    (pb.IssueTokenRequest(bot="b"), pb.IssueTokenResponse),
    (pb.RevokeTokenRequest(), pb.RevokeTokenResponse),
    (pb.ListBotsRequest(), pb.ListBotsResponse),
    (pb.CreateMatchRequest(), pb.CreateMatchResponse),
    (pb.CancelMatchRequest(), pb.CancelMatchResponse),
    (pb.ReleaseMatchRequest(), pb.ReleaseMatchResponse),
]
FOR_ALL: list[type[Message]] = [
    pb.GetMatchResponse,
    pb.ListMatchesResponse,
    pb.GetRecordResponse,
]


@pytest.fixture
async def hall(tmp_path: Path, nothing_left: None) -> AsyncIterator[Organised]:  # noqa: ARG001
    async with organised(tmp_path) as found:
        yield found


async def refusal_of(
    caller: Caller, request: Message | bytes, kind: type[Message]
) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(Refused) as refused:
        await caller(request, kind)
    return refused.value.code, refused.value.reason


# --- who ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_open", [False, True])
async def test_organisers_alone_may_organise(tmp_path: Path, is_open: bool) -> None:
    async with organised(tmp_path, is_open=is_open) as hall:
        bot = hall.referee.issue_token("ann", "1")
        for token, reason in ((None, "NO_TOKEN"), (bot, "BAD_TOKEN"), ("x" * 43, "BAD_TOKEN")):
            caller = Caller(hall.channel, token)
            for request, kind in FOR_ORGANISERS:
                refusal = await refusal_of(caller, request, kind)
                assert refusal == (grpc.StatusCode.UNAUTHENTICATED, reason)
        services = pb.DESCRIPTOR.services_by_name["MatchService"].methods_by_name
        tried = {kind.DESCRIPTOR.name for _, kind in FOR_ORGANISERS}
        tried |= {kind.DESCRIPTOR.name for kind in FOR_ALL} | {"WatchMatchResponse"}
        assert {method.output_type.name for method in services.values()} == tried


async def test_spectators_see_what_is_open(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    closed = await hall.organiser.create(bots)
    opened = await hall.organiser.create(bots, open_to_spectators=True)
    seated = Caller(hall.channel, bots[0].token)
    for caller in (hall.spectator, seated):
        denied = (grpc.StatusCode.PERMISSION_DENIED, "NOT_OPEN")
        request = pb.GetMatchRequest(match_id=closed)
        assert await refusal_of(caller, request, pb.GetMatchResponse) == denied
        with pytest.raises(Refused) as refused:
            await caller.watch(closed).read()
        assert (refused.value.code, refused.value.reason) == denied
        with pytest.raises(Refused) as refused:
            await caller.watch(opened, perspective=pb.PERSPECTIVE_ALL_HANDS).read()
        assert refused.value.reason == "ORGANISERS_ONLY"
        listed = await caller(pb.ListMatchesRequest(), pb.ListMatchesResponse)
        assert [match.match_id for match in listed.matches] == [opened]
        async with hall.connected(bots[:1]):
            seen = await caller.match(opened)
        assert [(seat.bot, seat.bot_id, seat.connected) for seat in seen.seats] == [
            ("ann", "", False),
            ("bob", "", False),
        ]


async def test_records_before_the_end_and_without_leave(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    published = await hall.organiser.create(bots, publish_record=True)
    private = await hall.organiser.create(bots)
    too_early = (grpc.StatusCode.FAILED_PRECONDITION, "NOT_ENDED")
    for caller in (hall.organiser, hall.spectator):
        request = pb.GetRecordRequest(match_id=published)
        assert await refusal_of(caller, request, pb.GetRecordResponse) == too_early
    denied = (grpc.StatusCode.PERMISSION_DENIED, "NOT_OPEN")
    seen = pb.GetMatchRequest(match_id=published)
    assert await refusal_of(hall.spectator, seen, pb.GetMatchResponse) == denied
    async with hall.connected(bots):
        for match_id in (published, private):
            await hall.organiser.ended(match_id)
    record = await hall.spectator(pb.GetRecordRequest(match_id=published), pb.GetRecordResponse)
    assert record.content.endswith(b"\n")
    assert (await hall.spectator.match(published)).record_published
    not_published = (grpc.StatusCode.PERMISSION_DENIED, "NOT_PUBLISHED")
    for caller in (hall.spectator, Caller(hall.channel, bots[0].token)):
        request = pb.GetRecordRequest(match_id=private)
        assert await refusal_of(caller, request, pb.GetRecordResponse) == not_published
    too_far = pb.GetRecordRequest(match_id=published, offset=record.size + 1)
    assert (await refusal_of(hall.spectator, too_far, pb.GetRecordResponse))[1] == "BAD_OFFSET"


async def test_decks_are_shown_when_nobody_plays_on_them_any_more(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    decks = {"secret": b"s" * 32}
    for field in ("open_to_spectators", "publish_record"):
        with pytest.raises(Refused) as refused:
            await hall.organiser.create(bots, **decks, **{field: True})
        assert refused.value.reason == "SHARED_DECKS"
    legs = [await hall.organiser.create(bots, **decks) for _ in range(2)]
    release = pb.ReleaseMatchRequest(match_id=legs[0])
    not_ended = (grpc.StatusCode.FAILED_PRECONDITION, "NOT_ENDED")
    in_play = (grpc.StatusCode.FAILED_PRECONDITION, "DECKS_IN_PLAY")
    assert await refusal_of(hall.organiser, release, pb.ReleaseMatchResponse) == not_ended
    async with hall.connected(bots):
        await hall.organiser.ended(legs[0])
        await hall.organiser.ended(legs[1])
        other = await hall.organiser.create(bots, preset_rules=QUICK, **decks)
        assert await refusal_of(hall.organiser, release, pb.ReleaseMatchResponse) == in_play
        await hall.organiser.ended(other)
    released = await hall.organiser(release, pb.ReleaseMatchResponse)
    assert released.match.record_published
    record = pb.GetRecordRequest(match_id=legs[0])
    assert (await hall.spectator(record, pb.GetRecordResponse)).size
    assert (await hall.spectator.watch(legs[0]).to_end()).ended is not None
    with pytest.raises(Refused) as refused:
        await hall.organiser.create(bots, **decks)
    assert refused.value.reason == "DECKS_KNOWN"
    assert legs[0] in refused.value.text


# --- what -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for _, kind in FOR_ORGANISERS] + FOR_ALL)
async def test_bytes_that_are_no_message(hall: Organised, kind: type[Message]) -> None:
    refusal = await refusal_of(hall.organiser, b"\xff\xff", kind)
    assert refusal == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE")


@pytest.mark.parametrize(
    ("fields", "reason", "words"),
    [
        ({"preset_rules": None}, "NO_RULES", "preset_rules or rule_set"),
        ({"preset_rules": pb.PresetRules(preset="bridge")}, "BAD_RULES", "preset is 'bridge'"),
        (
            {"preset_rules": pb.PresetRules(preset="basic", overrides=["deals=201"])},
            "BAD_RULES",
            "deals is 201: allowed are 1–200",
        ),
        (
            {"preset_rules": pb.PresetRules(preset="basic", overrides=["deals"])},
            "BAD_RULES",
            "'deals' is not of the form",
        ),
        (
            {"preset_rules": pb.PresetRules(preset="basic", overrides=["deals=1"] * 101)},
            "BAD_RULES",
            "at most 100",
        ),
        ({"preset_rules": None, "rule_set": {}}, "BAD_RULES", "preset is ''"),
        (
            {"preset_rules": None, "rule_set": {"preset": "basic", "seats_min": 2, "seats_max": 6}},
            "BAD_RULES",
            "wilds is 'unspecified': allowed are none, jokers",
        ),
        ({"bots": 1}, "BAD_RULES", "1 seats: basic is played by 2–6"),
        ({"bots": 0}, "BAD_RULES", "0 seats"),
        ({"bots": 7}, "BAD_RULES", "7 seats"),
        ({"twice": True}, "BOT_TWICE", "names a bot twice"),
        ({"first_dealer": 2}, "BAD_DEALER", "first_dealer is 2: allowed are seats 0–1"),
        ({"connect_ms": 86_400_001}, "BAD_CONNECT_MS", "connect_ms is 86400001"),
        (
            {"time_control": play_pb2.TimeControl(bank_ms=1)},
            "BAD_TIME_CONTROL",
            "time_control.per_decision_ms is 0: allowed are",
        ),
        ({"secret": b"short"}, "BAD_SECRET", "secret has 5 bytes"),
        ({"salt": b"s" * 33}, "BAD_SECRET", "salt has 33 bytes"),
    ],
)
async def test_orders_that_cannot_be_meant(
    hall: Organised, fields: dict[str, Any], reason: str, words: str
) -> None:
    fields = dict(fields)
    number = fields.pop("bots", 2)
    bots = await hall.organiser.register(*(f"bot{seat}" for seat in range(number)))
    if fields.pop("twice", False):
        bots[1] = bots[0]
    with pytest.raises(Refused, match=words) as refused:
        await hall.organiser.create(bots, **fields)
    assert (refused.value.code, refused.value.reason) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        reason,
    )


@pytest.mark.parametrize(
    ("request_", "kind", "code", "reason"),
    [
        (pb.GetMatchRequest(match_id="x"), pb.GetMatchResponse, "NOT_FOUND", "NO_SUCH_MATCH"),
        (pb.CancelMatchRequest(match_id="x"), pb.CancelMatchResponse, "NOT_FOUND", "NO_SUCH_MATCH"),
        (pb.ReleaseMatchRequest(), pb.ReleaseMatchResponse, "NOT_FOUND", "NO_SUCH_MATCH"),
        (pb.GetRecordRequest(), pb.GetRecordResponse, "NOT_FOUND", "NO_SUCH_MATCH"),
        (pb.RevokeTokenRequest(bot_id="x"), pb.RevokeTokenResponse, "NOT_FOUND", "NO_SUCH_BOT"),
        (
            pb.CreateMatchRequest(preset_rules=QUICK, bot_ids=["x", "y"]),
            pb.CreateMatchResponse,
            "NOT_FOUND",
            "NO_SUCH_BOT",
        ),
        (pb.IssueTokenRequest(), pb.IssueTokenResponse, "INVALID_ARGUMENT", "BAD_NAME"),
        (
            pb.IssueTokenRequest(bot="b" * 65),
            pb.IssueTokenResponse,
            "INVALID_ARGUMENT",
            "BAD_NAME",
        ),
        (pb.IssueTokenRequest(bot="a\nb"), pb.IssueTokenResponse, "INVALID_ARGUMENT", "BAD_NAME"),
        (
            pb.IssueTokenRequest(bot="b", version="1" * 65),
            pb.IssueTokenResponse,
            "INVALID_ARGUMENT",
            "BAD_NAME",
        ),
        (
            pb.ListMatchesRequest(page_token="²"),
            pb.ListMatchesResponse,
            "INVALID_ARGUMENT",
            "BAD_PAGE_TOKEN",
        ),
        (
            pb.ListMatchesRequest(page_token="9" * 19),
            pb.ListMatchesResponse,
            "INVALID_ARGUMENT",
            "BAD_PAGE_TOKEN",
        ),
        (
            pb.ListMatchesRequest(states=[pb.MATCH_STATE_UNSPECIFIED]),
            pb.ListMatchesResponse,
            "INVALID_ARGUMENT",
            "BAD_STATE",
        ),
        (
            # A newer client's state: protobuf keeps its number.
            pb.ListMatchesRequest.FromString(b"\x0a\x01\x63"),
            pb.ListMatchesResponse,
            "INVALID_ARGUMENT",
            "BAD_STATE",
        ),
    ],
)
async def test_refused_requests(
    hall: Organised, request_: Message, kind: type[Message], code: str, reason: str
) -> None:
    assert await refusal_of(hall.organiser, request_, kind) == (grpc.StatusCode[code], reason)


async def test_a_failure_of_the_referee_is_told_as_one(
    hall: Organised, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("nothing works")

    monkeypatch.setattr(hall.referee, "bots", fail)
    refusal = await refusal_of(hall.organiser, pb.ListBotsRequest(), pb.ListBotsResponse)
    assert refusal == (grpc.StatusCode.INTERNAL, "INTERNAL")


# --- rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_come_back_as_they_were_sent(preset: str) -> None:
    assert rules_from_message(rules_message(PRESETS[preset])) == PRESETS[preset]


@pytest.mark.parametrize(("preset", "seats"), TABLES)
def test_any_rules_come_back_as_they_were_sent(preset: str, seats: int) -> None:
    chance = random.Random(f"{preset} {seats}")
    for _ in range(50):
        rules, _ = random_rules(chance, preset, seats)
        sent = rummy_pb2.RuleSet.FromString(rules_message(rules).SerializeToString())
        assert rules_from_message(sent) == rules


def test_overrides_are_written_as_on_the_command_line() -> None:
    overrides = ["hand_size.2=7", "hand_size.3=8", "max_melds_per_turn=1", "ace=high_or_low"]
    request = pb.CreateMatchRequest(
        preset_rules=pb.PresetRules(preset="basic", overrides=overrides)
    )
    rules = read_rules(request)
    assert (rules.hand_size[2:4], rules.max_melds_per_turn, rules.ace) == ((7, 8), 1, "high_or_low")


def test_unknown_value_of_an_enum_is_no_rule() -> None:
    message = rules_message(PRESETS["basic"])
    message.MergeFromString(b"\x38\x63")  # field 7, wilds, 99
    with pytest.raises(ValueError, match="wilds is 'number 99': allowed are none"):
        rules_from_message(message)


async def test_page_tokens_of_another_list_are_refused(hall: Organised) -> None:
    for token in ("zzz", "\x1b[3m", "a" * 5_000, "17"):
        request = pb.ListBotsRequest(page_token=token)
        refusal = await refusal_of(hall.organiser, request, pb.ListBotsResponse)
        assert refusal == (grpc.StatusCode.INVALID_ARGUMENT, "BAD_PAGE_TOKEN")


async def test_a_house_bot_is_none_of_an_organisers_business(hall: Organised) -> None:
    token = hall.referee.issue_token("house", "1")
    hall.referee.bot(token).is_house = True
    listed = await hall.organiser(pb.ListBotsRequest(), pb.ListBotsResponse)
    assert "house" not in [bot.bot for bot in listed.bots]


async def test_a_match_called_off_is_over_when_that_is_answered(hall: Organised) -> None:
    bots = await hall.organiser.register("ann", "bob")
    waiting = await hall.organiser.create(bots)
    answer = await hall.organiser(pb.CancelMatchRequest(match_id=waiting), pb.CancelMatchResponse)
    assert answer.match.state == pb.MATCH_STATE_ENDED
    async with hall.connected(bots):
        running = await hall.organiser.create(bots)
        for _ in range(2):
            request = pb.CancelMatchRequest(match_id=running)
            answer = await hall.organiser(request, pb.CancelMatchResponse)
            assert answer.match.state == pb.MATCH_STATE_ENDED
