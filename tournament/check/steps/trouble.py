"""Steps that make trouble: a rejection, a lost stream, strange messages, two matches at once."""

import asyncio
from collections.abc import Callable, Sequence

import grpc

from referee.match.outcome import Forfeit
from referee.service.errors import CallError
from referee.service.wire import bytes_field, number_field, varint
from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1 import rummy_pb2
from tournament.check.report import Status, Verdict
from tournament.check.room import CUT, Room, failed, fault_of
from tournament.check.where import Where
from tournament.check.wire import Script, Seen

_FAR_INDEX = 1_000_000
_CUT_AT = 3
"""The decision at which the stream is cut."""
_UNKNOWN = 999
"""Number of fields, messages and values that nobody has defined."""
_TEXT = b"from the future"
_FIELD = varint(_UNKNOWN << 3 | 2) + varint(len(_TEXT)) + _TEXT
"""A field that nobody knows. Alone, it is a message that nobody knows."""


# --- a rejection ----------------------------------------------------------------------------------


class _Spoil(Script):
    """Makes one draw and one later choice illegal. `spoiled` are their decisions."""

    def __init__(self) -> None:
        self.spoiled: dict[int, str] = {}
        self._phases: set[int] = set()

    def to_referee(self, seen: Seen, choice: pb.Choice) -> pb.Choice:
        """Return the choice, made illegal the first time in each phase."""
        if choice.decision_id != seen.last_decision or seen.phase in self._phases:
            return choice
        self._phases.add(seen.phase)
        spoiled = pb.Choice(match_id=choice.match_id, decision_id=choice.decision_id)
        if seen.phase == rummy_pb2.PHASE_DRAW:
            spoiled.legal_action_index = _FAR_INDEX
            self.spoiled[choice.decision_id] = f"the index {_FAR_INDEX} in place of its draw"
            return spoiled
        # The first action of a plan stands; a draw after the draw does not.
        spoiled.actions.extend(choice.actions[:1] if len(choice.actions) > 1 else ())
        spoiled.actions.add(type=rummy_pb2.ACTION_TYPE_DRAW_STOCK)
        self.spoiled[choice.decision_id] = "a second draw in place of the rest of its answer"
        return spoiled


async def rejection(room: Room) -> Verdict:
    """Two choices of the bot are made illegal: it must answer the decisions that follow."""
    played = await room.play(room.short("basic"), script=_Spoil)
    seen, script, fault = played.seen, played.seen.script, fault_of(room, played)
    assert isinstance(script, _Spoil), "it was asked for"
    if fault is not None and script.spoiled and played.outcome.forfeit is not Forfeit.TIME:
        what = " and ".join(script.spoiled.values())
        text = f"the referee had rejected {what}; then {fault.text}"
        return failed(text, fault.sent, "that it plays on", Where.REJECTIONS)
    late = {one.decision_id for one in seen.late}
    for decision, what in script.spoiled.items():
        following = decision + 1
        if following <= seen.last_decision and (
            following not in seen.answered or following in late
        ):
            stale = [one.sent for one in seen.refused if one.reason == pb.REASON_STALE_DECISION]
            return failed(
                f"after the referee had rejected {what} (decision {decision}),"
                f" the decision {following} was not answered in time",
                stale[-1] if stale else f"nothing for decision {following}",
                f"a choice for decision {following}",
                Where.REJECTIONS,
            )
    if fault is not None:
        return fault
    if not script.spoiled:
        return failed("it made no choice", "nothing", "a choice", Where.DECISIONS)
    text = f"{len(script.spoiled)} choices were rejected, the new decisions answered"
    return Verdict(Status.PASSED, text, figures={"rejected": len(script.spoiled)})


# --- a lost stream --------------------------------------------------------------------------------


class _Cut(Script):
    """Cuts the stream just after a decision was sent."""

    def __init__(self, cut: Callable[[], None]) -> None:
        self._cut: Callable[[], None] | None = cut

    def to_bot(self, seen: Seen, response: pb.PlayResponse, message: bytes) -> Sequence[bytes]:
        """Return the message; after the decision it was waiting for, cut."""
        del response
        if seen.last_decision >= _CUT_AT and self._cut is not None:
            asyncio.get_running_loop().call_soon(self._cut)
            self._cut = None
        return [message]


async def reconnect(room: Room) -> Verdict:
    """The bot's stream is closed while a decision is pending: it comes back and goes on."""
    loop = asyncio.get_running_loop()
    hellos = 0
    cut_at = 0.0
    # Each of them is what asks for a new hello; UNAVAILABLE asks a bot that polls to poll on.
    code = grpc.StatusCode.INTERNAL if room.wire.is_polled else grpc.StatusCode.UNAVAILABLE

    def cut() -> None:
        nonlocal cut_at, hellos
        session = room.referee.bot(room.subject.token).session
        cut_at, hellos = loop.time(), room.wire.hellos
        if session is not None:
            session.close(CallError(code, CUT, "the check closes this stream: dial again"))

    played = await room.play(room.short("basic"), script=lambda: _Cut(cut))
    if not cut_at:
        fault = fault_of(room, played)
        text = "the match was over before the stream could be cut"
        return fault if fault is not None else failed(text, where=Where.STEPS)
    if room.wire.hellos == hellos:
        sent = f"no hello after its stream had ended with {code.name}"
        ending = room.subject.ending()
        allowed = f"a new stream with hello within {room.settings.reconnect_ms} ms"
        text = f"its process {ending}" if ending else "it did not come back"
        return failed(text, sent, allowed, Where.LOST)
    fault = fault_of(room, played)
    if fault is not None:
        return fault
    return Verdict(Status.PASSED, "its stream was cut, it came back and played on")


# --- strange messages -----------------------------------------------------------------------------


class _Strange(Script):
    """Puts what nobody has defined into every message, and unknown ones between them."""

    def __init__(self) -> None:
        self._events = 0
        """Unknown events so far: those that follow have higher numbers."""
        self._said = False

    def to_bot(self, seen: Seen, response: pb.PlayResponse, message: bytes) -> Sequence[bytes]:
        """Return the message with unknown parts, once a match after unknown messages."""
        del message
        before: list[bytes] = []
        response.MergeFromString(_FIELD)
        match response.WhichOneof("message"):
            case "match_starting":
                response.match_starting.MergeFromString(_FIELD)
                response.match_starting.rules.MergeFromString(_FIELD)
            case "update":
                before = self._once(seen)
                self._change(response.update)
        return [*before, response.SerializeToString()]

    def _once(self, seen: Seen) -> list[bytes]:
        """Return whole messages that mean nothing, once a match."""
        if self._said or seen.last_decision < 2:
            return []
        self._said = True
        rejected = bytes_field(1, seen.match_id.encode()) + number_field(3, _UNKNOWN)
        return [_FIELD, bytes_field(4, rejected + bytes_field(4, b"an unknown reason"))]

    def _change(self, update: pb.Update) -> None:
        update.MergeFromString(_FIELD)
        if update.HasField("decision"):
            update.decision.MergeFromString(_FIELD)
            update.decision.observation.MergeFromString(_FIELD)
        if update.events:
            update.first_event_number += self._events
            self._events += 1
            update.events.append(rummy_pb2.Event.FromString(_FIELD))


async def unknown(room: Room) -> Verdict:
    """Unknown messages, events, values and fields come: the bot skips them and plays on."""
    hellos = room.wire.hellos
    played = await room.play(room.short("basic"), script=_Strange)
    sent = "messages, events and fields of unknown numbers, a rejected of an unknown reason"
    fault = fault_of(room, played)
    if fault is None and room.wire.hellos > hellos and played.seen.last_decision:
        fault = failed("it lost its stream", "a second hello")
    if fault is None and played.seen.strikes and not room.is_struck:
        first = played.seen.strikes[0]
        fault = failed(f"its choice was rejected: {first.text}", first.sent)
    if fault is None and played.seen.late and not room.is_late:
        first = played.seen.late[0]
        fault = failed(f"decision {first.decision_id} was out of time", "no answer in time")
    if fault is not None:
        text = f"after {sent}: {fault.text}"
        return failed(text, fault.sent, "that it skips what it does not know", Where.CHANGE)
    return Verdict(Status.PASSED, f"{sent}: skipped")


# --- two matches at once --------------------------------------------------------------------------


async def at_once(room: Room) -> Verdict:
    """Two matches over one stream, if the bot says that it can."""
    hello = room.wire.hello
    most = hello.max_concurrent_matches if hello is not None else 0
    if most < 2:
        text = f"hello.max_concurrent_matches is {most}: one match at a time"
        return Verdict(Status.NOT_CLAIMED, text)
    both = await asyncio.gather(
        room.play(room.short("basic"), first_partner=0),
        room.play(room.short("standard"), seat=1, first_partner=1),
    )
    for played in both:
        fault = fault_of(room, played)
        is_time = played.outcome.forfeit in (None, Forfeit.TIME)
        if fault is None and played.seen.late and not room.is_late:
            late = played.seen.late[0]
            fault = failed(f"decision {late.decision_id} was out of time", "no answer in time")
        if fault is not None:
            # Who needs more than half of the time, one match at a time, can't do two in turn. A
            # launched bot is never asked to.
            is_slow = is_time and 2 * room.pace > 1 and not room.is_late
            return Verdict(
                Status.WARNING if is_slow else Status.FAILED,
                f"it says that it can play {most} matches at once; of two, one went wrong:"
                f" {fault.text}",
                fault.sent,
                "that both are played, or max_concurrent_matches of 1",
                Where.MESSAGES,
            )
    return Verdict(Status.PASSED, f"it says {most}; two were played over one stream")
