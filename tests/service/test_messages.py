"""The messages around a match: start, rejections, end, and the rules in the start."""

import random

import pytest

from referee.engine.actions import Reason
from referee.engine.observation import view
from referee.engine.presets import PRESETS
from referee.engine.rule_fields import BY_SEATS, FIELDS
from referee.engine.ruleset import RuleSet
from referee.match.outcome import Forfeit, MatchResult, SeatResult, Termination
from referee.match.policy import Policy
from referee.match.seat_player import Rejected
from referee.match.spec import TimeControl
from referee.service.messages import MatchMessages
from referee.service.rules_message import rules_message
from rummy.referee.v1 import play_pb2 as play
from rummy.referee.v1 import rummy_pb2 as pb
from tests.engine.random_rules import TABLES, random_rules
from tests.match.fakes import make_spec
from tests.service.test_codec import check_event, random_play

PROTOCOL_REASONS = ("stale_decision", "time_up", "bad_index", "plan_too_long", "plan_past_turn")
ENUMS = {
    "exhausted_result": "DEAL_RESULT",
    "cap_result": "DEAL_RESULT",
}


def parse(message: bytes) -> play.PlayResponse:
    """With the generated code; and nothing is in the bytes that it does not know."""
    response = play.PlayResponse.FromString(message)
    assert response.SerializeToString() == message
    return response


def check_rules(message: pb.RuleSet, rules: RuleSet) -> None:
    """Every field by its name in the schema."""
    assert message.preset == rules.preset
    fields = pb.RuleSet.DESCRIPTOR.fields_by_name
    assert set(fields) == {"preset", *FIELDS}
    for name in FIELDS:
        value, told = getattr(rules, name), getattr(message, name)
        if name in BY_SEATS:
            assert dict(told) == {seats: entry for seats, entry in enumerate(value) if entry}
            continue
        enum = fields[name].enum_type
        if enum is not None:
            text = enum.values_by_number[told].name
            assert text == f"{ENUMS.get(name, name.upper())}_{value.upper()}"
        elif value is None:
            assert not message.HasField(name)  # type: ignore[arg-type]
        else:
            assert told == value
            assert type(told) is type(value)
            if fields[name].has_presence:
                assert message.HasField(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_of_presets(preset: str) -> None:
    check_rules(rules_message(PRESETS[preset]), PRESETS[preset])


def test_rules_of_any_kind() -> None:
    for preset, seats in TABLES:
        chance = random.Random(f"rules {preset} {seats}")
        for _ in range(20):
            rules, _ = random_rules(chance, preset, seats)
            check_rules(rules_message(rules), rules)


@pytest.mark.parametrize("seats", range(2, 7))
def test_match_starting(seats: int) -> None:
    control = TimeControl(1, 2, 3, 4, 5)
    spec = make_spec(seats, match_id="some match", control=control)
    policy = Policy(illegal_strikes_tolerated=6, time_strikes_tolerated=0)
    for seat in range(seats):
        response = parse(MatchMessages(spec, policy).match_starting(seat))
        starting = response.match_starting
        assert (starting.match_id, starting.seat, starting.seats) == ("some match", seat, seats)
        check_rules(starting.rules, spec.rules)
        told = starting.time_control
        assert (told.per_decision_ms, told.bank_ms, told.startup_ms) == (1, 2, 3)
        assert (told.reconnect_ms, told.match_cap_ms) == (4, 5)
        others = [(one.seat, one.bot, one.version) for one in starting.opponents]
        assert others == [(n, f"bot{n}", f"1.{n}") for n in range(seats) if n != seat]
        assert starting.commitment == spec.commitment
        assert starting.randomness == spec.seats[seat].randomness
        assert (starting.illegal_strikes, starting.time_strikes) == (7, 1)


@pytest.mark.parametrize("reason", [*(one.value for one in Reason), *PROTOCOL_REASONS])
def test_rejected(reason: str) -> None:
    messages = MatchMessages(make_spec(match_id="m"), Policy())
    for strikes_left in (None, 0, 2):
        rejected = parse(
            messages.rejected(Rejected(7, reason, "why", applied=3, strikes_left=strikes_left))
        ).rejected
        assert play.Reason.Name(rejected.reason) == f"REASON_{reason.upper()}"
        assert (rejected.match_id, rejected.decision_id) == ("m", 7)
        assert (rejected.text, rejected.applied) == ("why", 3)
        assert rejected.HasField("strikes_left") == (strikes_left is not None)
        assert rejected.strikes_left == (strikes_left or 0)


def test_every_reason_of_the_schema_is_used() -> None:
    names = {f"REASON_{one.value.upper()}" for one in Reason}
    names |= {f"REASON_{one.upper()}" for one in PROTOCOL_REASONS}
    assert names | {"REASON_UNSPECIFIED"} == set(play.Reason.keys())
    numbers = [play.Reason.Value(f"REASON_{one.value.upper()}") for one in Reason]
    assert numbers == list(range(1, len(numbers) + 1)), "in the order in which they are tested"


@pytest.mark.parametrize("termination", Termination)
@pytest.mark.parametrize("forfeit", [None, *Forfeit])
def test_match_ended(termination: Termination, forfeit: Forfeit | None) -> None:
    seats = (
        SeatResult(1, 120, None, 5, 6, 7, 8, 0, 0),
        SeatResult(2, 0, forfeit, 50, 60_000_000, 70, 80, 4, 1),
    )
    result = MatchResult("m", termination, "words", seats, 3, b"lines", bytes(range(32)))
    ended = parse(MatchMessages(make_spec(), Policy()).match_ended(result)).match_ended
    assert play.Termination.Name(ended.termination) == f"TERMINATION_{termination.value.upper()}"
    assert (ended.match_id, ended.text, ended.deals) == ("m", "words", 3)
    assert ended.record_hash == bytes(range(32))
    told = [(one.seat, one.place, one.total, one.charged_us) for one in ended.results]
    assert told == [(0, 1, 120, 6), (1, 2, 0, 60_000_000)]
    wanted = "UNSPECIFIED" if forfeit is None else forfeit.value.upper()
    assert [play.Forfeit.Name(one.forfeit) for one in ended.results] == [
        "FORFEIT_UNSPECIFIED",
        f"FORFEIT_{wanted}",
    ]


def test_public_events_are_written_once_and_stay_right() -> None:
    """Many more events than are remembered, each seen by all seats."""
    messages = MatchMessages(make_spec(3), Policy())
    for _, events, _ in random_play("standard", 3):
        for seat in range(3):
            update = parse(messages.update(seat, 1, events, None)).update
            for message, event in zip(update.events, events, strict=True):
                check_event(message, view(event, seat))
