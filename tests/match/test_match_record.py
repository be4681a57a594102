"""The record of a match: a chain of hashes, and enough to play the match again."""

import random
from hashlib import sha256
from typing import Any

import pytest

from referee.engine.cards import cards_of
from referee.engine.rule_fields import FIELDS
from referee.engine.shuffle import commitment
from referee.match.outcome import Forfeit, MatchResult
from referee.match.spec import TimeControl
from tests.match.fakes import Table, lines_of, make_spec
from tests.match.tampering import ENDS, check_honest, play_out


def check_chain(result: MatchResult) -> None:
    """Every line carries the hash of the one before it, the result that of the last."""
    previous = ""
    lines = result.record.splitlines(keepends=True)
    for line, parsed in zip(lines, lines_of(result.record), strict=True):
        assert line.endswith(b"\n")
        assert parsed["prev"] == previous
        previous = sha256(line).hexdigest()
    assert result.record_hash.hex() == previous


def deal_ends(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == "deal_ended"]


@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("case", ENDS)
def test_whole_match_can_be_replayed_from_its_record(case: str, faults: bool) -> None:
    preset, seats, overrides = ENDS[case]
    chance = random.Random(f"{case} {faults}")
    control = TimeControl(per_decision_ms=1_000, bank_ms=1_000)
    spec = make_spec(seats, preset, overrides, seed=77, control=control, first_dealer=seats - 1)
    table = Table(spec).begin()
    play_out(table, chance, faults=faults)
    result = table.result
    check_chain(result)
    lines = lines_of(result.record)
    check_honest(result)
    ends = deal_ends(lines)
    assert result.deals == len(ends)
    if not faults:
        assert result.termination == "completed"
        assert len(ends) > 1, "the case is meant to have several deals"
    if ends:
        assert [seat.total for seat in result.seats] == ends[-1]["totals"]
    assert lines[-1]["totals"] == [seat.total for seat in result.seats]
    assert lines[-1]["places"] == list(table.places)
    strikes = sum(seat.illegal_strikes + seat.time_strikes for seat in result.seats)
    assert strikes == sum("rejected" in line for line in lines)
    charged = [0] * seats
    for line in lines:
        if line["kind"] == "decision":
            charged[line["seat"]] += line["charged_us"]
    assert charged == [seat.charged_us for seat in result.seats]


def test_head_says_what_was_played() -> None:
    spec = make_spec(3, "traditional", {"target": 150}, match_id="abc", first_dealer=2)
    table = Table(spec).begin()
    table.match.abort("enough")
    head, *_, tail = lines_of(table.result.record)
    assert (head["kind"], head["format"], head["match_id"]) == ("match", 1, "abc")
    assert set(head["rules"]) == {"preset", *FIELDS}
    assert head["seats"][1] == {"bot": "bot1", "version": "1.1"}
    assert head["first_dealer"] == 2
    assert head["time_control"]["bank_ms"] == 30_000
    salt, secret = bytes.fromhex(tail["salt"]), bytes.fromhex(tail["secret"])
    assert (salt, secret) == (spec.salt, spec.secret)
    assert bytes.fromhex(head["commitment"]) == commitment(salt, secret) == spec.commitment
    assert (tail["termination"], tail["text"]) == ("aborted", "enough")


def test_rejections_stand_in_the_record() -> None:
    table = Table().begin()
    seat = table.turn
    table.illegal()
    table.play()
    table.match.abort("enough")
    first, second = (line for line in lines_of(table.result.record) if line["kind"] == "decision")
    assert (first["seat"], first["id"], first["actions"]) == (seat, 1, [])
    assert first["rejected"] == "bad_index"
    assert (second["id"], len(second["actions"])) == (2, 1)
    assert "rejected" not in second


def test_bot_names_cannot_break_a_line() -> None:
    spec = make_spec()
    object.__setattr__(spec.seats[0], "bot", 'quote" \n back\\slash ü \x00')
    table = Table(spec).begin()
    table.match.forfeit(0, Forfeit.RESIGN)
    check_chain(table.result)
    assert lines_of(table.result.record)[0]["seats"][0]["bot"] == spec.seats[0].bot
    assert spec.seats[0].bot in lines_of(table.result.record)[-1]["text"]


def test_same_secret_gives_the_same_decks_whoever_plays() -> None:
    hands = []
    for match_id in ("one", "two"):
        table = Table(make_spec(3, match_id=match_id, seed=8)).begin()
        hands.append([cards_of(hand) for hand in table.game.state.hands])
    assert hands[0] == hands[1]


def test_secret_is_not_in_the_representation() -> None:
    spec = make_spec()
    assert spec.secret.hex() not in repr(spec)
    assert repr(spec.secret) not in repr(spec)
    assert repr(spec.salt) not in repr(spec)
