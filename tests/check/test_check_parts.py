"""The parts of a check, each by itself."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.match.outcome import Forfeit, MatchResult, SeatResult, Termination
from referee.match.spec import TimeControl
from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1 import rummy_pb2
from tests.scale import repeatable
from tournament.check.report import Finding, Report, Settings, Status, Verdict
from tournament.check.room import (
    LEAST_TURNS,
    QUICK_PART,
    TURNS,
    Played,
    Room,
    fault_of,
    turns_for,
)
from tournament.check.steps.resources import share
from tournament.check.steps.table import STEPS
from tournament.check.steps.trouble import _Spoil, _Strange, at_once
from tournament.check.text import finding_text, last_lines
from tournament.check.usage import Peak, look_at
from tournament.check.where import Where
from tournament.check.wire import Refused, Script, Seen, Wire

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "check.md"


# --- documents ------------------------------------------------------------------------------------


_SAYS = {
    Where.CONNECT: ("PlayService", "RUMMY_TOKEN"),
    Where.MESSAGES: ("match_starting", "ready", "goodbye", "ping"),
    Where.DECISIONS: ("legal_action_index", "actions"),
    Where.REJECTIONS: ("`MALFORMED`", "strike", "write it to your log"),
    Where.CLOCK: ("per_decision_ms", "bank"),
    Where.LOST: ("Dial again", "reconnect_ms"),
    Where.CHANGE: ("unknown",),
    Where.MANIFEST: ("`name`", "`version`", "hello", "SIGTERM"),
    Where.INSIDE: ("memory_mb", "64 processes"),
    Where.STEPS: ("SIGTERM", "256 KiB"),
}
"""Words of what a step points there for."""


@pytest.mark.parametrize("where", Where)
def test_every_section_that_is_named_says_what_it_is_named_for(where: Where) -> None:
    file, _, heading = where.partition(", ")
    parts = re.split(r"^#+ (.*)$", (ROOT / file).read_text(), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert heading in sections
    own = re.sub(r"\[[^]]*\]\([^)]*\)", "", sections[heading])
    assert [word for word in _SAYS[where] if word not in own] == []


def test_the_guide_has_every_step_by_number_and_key() -> None:
    text = GUIDE.read_text()
    listed = re.findall(r"^(\d+)\. \*\*(.*?)\*\*:", text, re.MULTILINE)
    assert listed == [(str(number), step.title) for number, step in enumerate(STEPS, 1)]
    keys = text[text.index("`step` is one of") :]
    assert re.findall(r"`([a-z_]+)`", keys)[1:] == [step.key for step in STEPS]


def test_the_guide_has_every_status_and_setting() -> None:
    text = GUIDE.read_text()
    assert re.findall(r"^\| `([a-z ]+)` \|", text, re.MULTILINE)[:6] == list(Status)
    assert all(f"`{name}`" in text for name in Settings.__dataclass_fields__)


# --- text -----------------------------------------------------------------------------------------

_ANY = st.text(st.characters(codec="utf-8"), max_size=200)


@repeatable
@given(
    status=st.sampled_from(Status), text=_ANY, sent=_ANY, expected=_ANY, width=st.integers(1, 160)
)
def test_lines_keep_within_the_terminal_and_obey_nothing(
    status: Status, text: str, sent: str, expected: str, width: int
) -> None:
    verdict = Verdict(status, text, sent, expected, Where.CLOCK)
    shown = finding_text(Finding(3, "x", "a title", verdict, 1.0), width).plain
    lines = shown.splitlines()
    assert all(line.isprintable() for line in lines)
    # However narrow it is, some characters beside the columns are for words.
    assert max(map(len, lines)) <= max(width, 46 + 24)
    assert all(len(line) <= max(width, 14 + 24) for line in lines if line.startswith("    sent:"))
    if width >= 60:
        is_told = f"    see:      {Where.CLOCK}" in lines
        assert is_told is (status in (Status.WARNING, Status.FAILED))


@repeatable
@given(text=_ANY, sent=_ANY)
def test_without_a_terminal_nothing_is_folded(text: str, sent: str) -> None:
    verdict = Verdict(Status.FAILED, text, sent, "", Where.CLOCK)
    lines = finding_text(Finding(3, "x", "a title", verdict, 1.0), None).plain.split("\n")
    assert len(lines) == 2 + bool(sent)
    assert lines[-1] == f"    see:      {Where.CLOCK}"


def test_output_is_shown_when_it_helps() -> None:
    def lines(status: Status, *, verbose: bool) -> list[str]:
        finding = Finding(1, "x", "a title", Verdict(status, ""), 0.0)
        report = Report("b", "1", "none", Settings(), [finding], 0.0, ["last words"])
        return list(last_lines(report, verbose=verbose))

    assert "  | last words" in lines(Status.FAILED, verbose=False)
    assert "  | last words" in lines(Status.PASSED, verbose=True)
    assert "  | last words" not in lines(Status.WARNING, verbose=False)


# --- figures --------------------------------------------------------------------------------------


@repeatable
@given(st.lists(st.integers(0, 1000), min_size=1), st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_a_share_is_the_smallest_value_that_so_many_do_not_exceed(
    values: list[int], part: float
) -> None:
    fitting = [one for one in values if sum(other <= one for other in values) >= part * len(values)]
    assert share(sorted(values), part) == min(fitting)


def test_a_tree_is_seen_with_its_children() -> None:
    size = 32 << 20
    hold = f"held = bytearray(b'x') * {size}; print(flush=True); input()"
    inner = f"import sys, subprocess; child = subprocess.Popen([sys.executable, '-c', {hold!r}])"
    program = f"{inner}; {hold}; child.wait()"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,  # its child ends with the pipe
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert process.stdout is not None
            assert [process.stdout.readline() for _ in range(2)] == [b"\n", b"\n"]
            peak = Peak()
            look_at(peak, process.pid)
            assert peak.looks == 1
            assert peak.processes == 2
            assert 2 * size <= peak.memory_bytes < 4 * size
            first = Peak(peak.memory_bytes, peak.processes, peak.looks)
            look_at(peak, 2**22 + 1)  # no process has this number
            assert peak == first
        finally:
            process.kill()


# --- the wire -------------------------------------------------------------------------------------


def test_what_is_no_message_is_handed_on_as_it_is() -> None:
    wire = Wire()
    assert wire.from_bot(b"\xff\xff") == b"\xff\xff"
    assert wire.first == "2 bytes that are no PlayRequest"
    hello = pb.PlayRequest(hello=pb.Hello(bot="b", version="1")).SerializeToString()
    assert wire.from_bot(hello) == hello
    assert wire.hello == pb.Hello(bot="b", version="1")
    assert wire.hellos == 1


def test_choices_of_other_matches_are_left_alone() -> None:
    wire = Wire()
    seen = wire.watch("here", Script())
    choice = pb.PlayRequest(choice=pb.Choice(match_id="there", decision_id=1, legal_action_index=0))
    assert wire.from_bot(choice.SerializeToString()) == choice.SerializeToString()
    assert seen.answered == set()


def test_strikes_and_lateness_are_told_apart() -> None:
    wire = Wire()
    seen = wire.watch("m", Script())
    for reason, left in ((pb.REASON_BAD_INDEX, 3), (pb.REASON_TIME_UP, 1)):
        rejected = pb.Rejected(match_id="m", decision_id=1, reason=reason, strikes_left=left)
        wire.to_bot(pb.PlayResponse(rejected=rejected).SerializeToString())
    stale = pb.Rejected(match_id="m", decision_id=1, reason=pb.REASON_STALE_DECISION)
    wire.to_bot(pb.PlayResponse(rejected=stale).SerializeToString())
    assert [one.reason for one in seen.strikes] == [pb.REASON_BAD_INDEX]
    assert [one.reason for one in seen.late] == [pb.REASON_TIME_UP]


# --- scripts --------------------------------------------------------------------------------------


def _update(number: int, events: int, decision: int) -> pb.PlayResponse:
    update = pb.Update(match_id="m", first_event_number=number if events else 0)
    for at in range(events):
        update.events.add().discarded.seat = at
    if decision:
        update.decision.decision_id = decision
        update.decision.observation.hand.append(rummy_pb2.CARD_7H)
        update.decision.legal_actions.add(type=rummy_pb2.ACTION_TYPE_DRAW_STOCK)
    return pb.PlayResponse(update=update)


@repeatable
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=12))
def test_strange_messages_say_the_same(parts: Sequence[tuple[int, bool]]) -> None:
    """Who skips what is unknown sees the same story, and events are numbered without gaps."""
    wire = Wire()
    wire.watch("m", _Strange())
    number, decision, wanted = 1, 0, []
    got: list[pb.Update] = []
    alone = 0
    for events, asks in parts:
        decision += asks
        original = _update(number, events, decision if asks else 0)
        number += events
        wanted.append(original.update)
        for message in wire.to_bot(original.SerializeToString()):
            response = pb.PlayResponse.FromString(message)
            kind = response.WhichOneof("message")
            assert response.SerializeToString() != b""
            if kind == "update":
                got.append(response.update)
            elif kind is None:
                alone += 1
            else:
                assert response.rejected.reason not in pb.Reason.values()
                assert not response.rejected.HasField("strikes_left")
    assert alone == (1 if decision >= 2 else 0)
    due = 1
    for update, original_update in zip(got, wanted, strict=True):
        assert len(update.SerializeToString()) > len(original_update.SerializeToString())
        known = [event for event in update.events if event.WhichOneof("event")]
        if update.events:
            assert update.first_event_number == due
        due += len(update.events)
        del update.events[:]
        update.events.extend(known)
        update.first_event_number = original_update.first_event_number
        update.DiscardUnknownFields()
        assert update == original_update


@repeatable
@given(
    st.lists(
        st.tuples(
            st.sampled_from([rummy_pb2.PHASE_DRAW, rummy_pb2.PHASE_PLAY]),
            st.integers(0, 3),
        ),
        max_size=8,
    )
)
def test_one_choice_of_each_phase_is_spoiled(turns: Sequence[tuple[int, int]]) -> None:
    script = _Spoil()
    seen = Seen("m", script)
    spoiled_phases = []
    for number, (phase, actions) in enumerate(turns, 1):
        seen.phase, seen.last_decision = phase, number
        choice = pb.Choice(match_id="m", decision_id=number)
        if actions:
            for _ in range(actions):
                choice.actions.add(type=rummy_pb2.ACTION_TYPE_DISCARD, cards=[1])
        else:
            choice.legal_action_index = 0
        sent = script.to_referee(seen, choice)
        assert (sent == choice) is (number not in script.spoiled)
        assert (sent.match_id, sent.decision_id) == ("m", number)
        if sent == choice:
            continue
        spoiled_phases.append(phase)
        if phase == rummy_pb2.PHASE_DRAW:
            assert sent.legal_action_index >= 1_000
            assert not sent.actions
        else:
            kept = list(choice.actions)[:1] if actions > 1 else []
            assert list(sent.actions)[:-1] == kept
            assert sent.actions[-1].type == rummy_pb2.ACTION_TYPE_DRAW_STOCK
    assert sorted(spoiled_phases) == sorted({phase for phase, _ in turns})


# --- slow bots ------------------------------------------------------------------------------------


@repeatable
@given(st.floats(0, 100))
def test_a_deal_takes_a_slow_bot_no_longer_than_one_that_just_is_not_slow(part: float) -> None:
    turns = turns_for(part)
    assert LEAST_TURNS <= turns <= TURNS
    assert (turns == TURNS) is (part <= QUICK_PART)
    if turns > LEAST_TURNS:
        assert turns * part <= TURNS * QUICK_PART + 1e-9
    assert turns_for(part * 2) <= turns


async def test_the_last_part_of_its_time_makes_any_match_short() -> None:
    room = _room()
    assert room.short("basic").turn_cap_per_seat == TURNS
    room.hurry_at = 0.0
    assert room.short("basic", {"wilds": "jokers", "jokers": 4}).turn_cap_per_seat == LEAST_TURNS


class _Late:
    """Stands in for a room: of two matches at once, each ends so."""

    def __init__(self, pace: float, played: Played, *, is_late: bool) -> None:
        self.pace = pace
        self.is_late = is_late
        self.wire = SimpleNamespace(hello=pb.Hello(max_concurrent_matches=2))
        self.subject = _Gone("")
        self.referee = SimpleNamespace(sessions_ended={})
        self._played = played

    def short(self, _preset: str) -> None:
        """Return nothing: it is for `play`."""

    async def play(self, _rules: None, **_: int) -> Played:
        """Return how each match ends."""
        return self._played


@pytest.mark.parametrize(
    ("forfeit", "pace", "is_late", "status"),
    [
        (Forfeit.TIME, 0.6, False, Status.WARNING),
        (Forfeit.TIME, 0.4, False, Status.FAILED),
        (Forfeit.TIME, 0.6, True, Status.FAILED),
        (Forfeit.RESIGN, 0.6, False, Status.FAILED),
        (None, 0.6, False, Status.WARNING),
        (None, 0.4, False, Status.FAILED),
        (None, 0.4, True, Status.PASSED),  # it was said before
    ],
)
async def test_two_matches_in_turn_are_too_much_for_a_slow_bot(
    forfeit: Forfeit | None, pace: float, status: Status, *, is_late: bool
) -> None:
    played = _played(forfeit, Termination.FORFEIT if forfeit else Termination.COMPLETED)
    late = Refused(7, pb.REASON_TIME_UP, "time is up", "", is_strike=True)
    played.seen.refused.append(late)
    room = _Late(pace, played, is_late=is_late)
    verdict = await at_once(room)  # type: ignore[arg-type] # enough of one
    assert verdict.status is status
    assert ("max_concurrent_matches of 1" in verdict.expected) is (status is not Status.PASSED)


# --- forfeits -------------------------------------------------------------------------------------


class _Gone:
    """A subject whose process may have ended."""

    name, version, token, is_elsewhere = "b", "1", "", False

    def __init__(self, how: str) -> None:
        self._how = how

    async def ensure(self) -> None:
        """It is always there."""

    def ending(self) -> str:
        """Return how it ended."""
        return self._how


def _played(forfeit: Forfeit | None, termination: Termination = Termination.FORFEIT) -> Played:
    mine, other = (SeatResult(1, 0, one, 1, 0, 0, 0, 0, 0) for one in (forfeit, None))
    result = MatchResult("m", termination, "why", (mine, other), 1, b"", b"")
    return Played(result, Seen("m", Script()), 0, TimeControl())


def _room(how: str = "") -> Room:
    referee = SimpleNamespace(sessions_ended={"ENDED": 1, "RATE": 2, "CHECK": 1})
    return Room(referee, _Gone(how), Wire(), Settings(), [])  # type: ignore[arg-type] # enough


@pytest.mark.parametrize("forfeit", Forfeit)
def test_every_forfeit_is_explained(forfeit: Forfeit) -> None:
    verdict = fault_of(_room(), _played(forfeit))
    assert verdict is not None
    assert verdict.status is Status.FAILED
    assert verdict.text
    assert verdict.expected
    assert verdict.where is not None


def test_a_refusal_of_the_referee_is_named() -> None:
    verdict = fault_of(_room(), _played(Forfeit.PROTOCOL))
    assert verdict is not None
    assert verdict.sent == "what the referee refused as RATE"


def test_a_good_match_has_no_fault() -> None:
    assert fault_of(_room(), _played(None, Termination.COMPLETED)) is None
    assert fault_of(_room(), _played(None, Termination.ADJUDICATED)) is None


@pytest.mark.parametrize("forfeit", [Forfeit.CRASH, Forfeit.STARTUP, Forfeit.DISCONNECT])
def test_an_ended_process_is_the_reason(forfeit: Forfeit) -> None:
    verdict = fault_of(_room("ended with exit code 3"), _played(forfeit))
    assert verdict is not None
    assert verdict.text == "its process ended with exit code 3"


def test_a_match_that_nobody_was_ready_for_is_the_bots_fault() -> None:
    verdict = fault_of(_room(), _played(None, Termination.NOT_STARTED))
    assert verdict is not None
    assert "not ready in time" in verdict.text
