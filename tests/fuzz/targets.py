"""What is fed: each target takes bytes; what comes out of it and is no answer is a bug."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError, Message

from referee.engine.actions import MalformedAction
from referee.engine.legality import violation
from referee.engine.notation import action_text, parse_action
from referee.match.policy import Policy
from referee.match.seat_player import Choice, plan_of
from referee.match.verify import verify
from referee.service.codec import action_bytes, decode_action
from referee.service.errors import CallError
from referee.service.outbox import Writes
from referee.service.session import Limits, Session, _read_choice
from rummy.referee.v1 import play_pb2 as play
from rummy.referee.v1 import rummy_pb2 as pb
from tests.match.fakes import Table, make_spec
from tests.service.fake_stream import HELLO, FakeStream, Owner

_WILD: Final = {
    "wilds": "jokers_and_deuces",
    "jokers": 4,
    "wild_swap": True,
    "hand_size": {"2": 5, "3": 5},
    "packs": {"2": 2, "3": 2},
}
_POLICY: Final = Policy(illegal_strikes_tolerated=10_000)
"""Matches that go on, into positions where there is more to do."""
_TABLES: Final = (("basic", 2, None), ("standard", 3, None), ("traditional", 2, _WILD))


class Positions:
    """Matches that go on whatever is answered, so that every input meets another position."""

    def __init__(self) -> None:
        self._number = 0
        self._tables = [self._new(number) for number in range(len(_TABLES))]

    def _new(self, number: int) -> Table:
        preset, seats, overrides = _TABLES[number]
        self._number += 1
        spec = make_spec(seats, preset, overrides, seed=self._number)
        return Table(spec, policy=_POLICY).begin()

    def each(self) -> list[Table]:
        """A table for each kind of rules; matches that are over are checked and replaced."""
        for number, table in enumerate(self._tables):
            if table.is_over:
                result = table.result
                assert verify(result.record, result.record_hash.hex()).problems == ()
                self._tables[number] = self._new(number)
        return self._tables


_positions = Positions()


def start_anew() -> None:
    """Forget the positions: what follows depends on its inputs alone."""
    _positions.__init__()  # type: ignore[misc]


def action(raw: bytes) -> None:
    """An action is malformed, or can be written, read, named and judged."""
    try:
        message = pb.Action.FromString(raw)
    except DecodeError:
        return
    try:
        found = decode_action(message)
    except MalformedAction:
        return
    assert decode_action(pb.Action.FromString(action_bytes(found))) == found
    for table in _positions.each():
        state = table.game.state
        text = action_text(found, state.tables)
        assert parse_action(text) == found, text
        for seat in range(state.seats):
            violation(state, seat, found)
        table.play()


def _check(choice: Choice) -> None:
    parts = (choice.plan is not None) + (choice.index is not None) + bool(choice.malformed)
    assert parts == 1, "a plan, an index, or why it is neither"


def choice(raw: bytes) -> None:
    """A choice is a plan, an index, or malformed."""
    try:
        message = play.Choice.FromString(raw)
    except DecodeError:
        return
    found = _read_choice(message)
    _check(found)
    plan, refusal = plan_of(found, [], 32)
    assert refusal is not None or 1 <= len(plan) <= 32


def answer(raw: bytes) -> None:
    """Any choice is judged, and the match goes on or ends; its record is right."""
    try:
        message = play.Choice.FromString(raw)
    except DecodeError:
        return
    found = _read_choice(message)
    for table in _positions.each():
        table.match.choose(table.turn, message.decision_id, found)
        if not table.is_over:
            table.choose(found)
        if not table.is_over:
            table.play()


def session(raw: bytes) -> None:
    """A message, as the first of a stream or after a hello, is answered, or ends the stream."""
    asyncio.run(_session(raw))


async def _session(raw: bytes) -> None:
    for greeted in (False, True):
        owner = Owner()
        stream = Session(FakeStream(), owner, Limits(), Writes(), "s1")
        if greeted:
            stream._handle(HELLO.SerializeToString())
        with suppress(CallError):
            stream._handle(raw)
        assert len(owner.hellos) <= 1
        assert greeted or not owner.choices, "nothing is done before hello"
        for _, _, found in owner.choices:
            _check(found)


TARGETS: Final[dict[str, tuple[Callable[[bytes], None], type[Message], str]]] = {
    "action": (action, pb.Action, "action"),
    "choice": (choice, play.Choice, "choice"),
    "answer": (answer, play.Choice, "choice"),
    "session": (session, play.PlayRequest, "request"),
}
"""By name: the target, the message that it takes, and the folder of its seeds."""
