"""What a match tells one of its seats, as the bytes of a PlayResponse."""

from collections.abc import Mapping, Sequence
from typing import Final

from referee.engine.events import Event
from referee.engine.observation import view
from referee.match.outcome import Forfeit, MatchResult, Termination
from referee.match.policy import Policy
from referee.match.seat_player import Decision, Rejected
from referee.match.spec import MatchSpec, TimeControl
from referee.service.codec import LEGAL_ACTIONS, event_bytes, observation_bytes
from referee.service.rules_message import rules_message
from referee.service.wire import bytes_field, number_field
from rummy.referee.v1 import play_pb2 as pb


def _enum(prefix: str, value: str) -> int:
    return int(getattr(pb, f"{prefix}_{value.upper()}"))


TERMINATIONS: Final[Mapping[Termination, int]] = {
    value: _enum("TERMINATION", value) for value in Termination
}
FORFEITS: Final[Mapping[Forfeit, int]] = {value: _enum("FORFEIT", value) for value in Forfeit}


class MatchMessages:
    """The messages of one match."""

    __slots__ = ("_match_id_field", "_policy", "_rules", "_spec", "match_id")

    def __init__(self, spec: MatchSpec, policy: Policy) -> None:
        self.match_id = spec.match_id
        self._spec = spec
        self._policy = policy
        self._match_id_field = bytes_field(1, spec.match_id.encode())
        self._rules = rules_message(spec.rules)

    def match_starting(self, seat: int) -> bytes:
        """The match begins for a seat."""
        spec = self._spec
        return pb.PlayResponse(
            match_starting=pb.MatchStarting(
                match_id=spec.match_id,
                seat=seat,
                seats=len(spec.seats),
                rules=self._rules,
                time_control=time_control_message(spec.time_control),
                opponents=[
                    pb.Opponent(seat=number, bot=other.bot, version=other.version)
                    for number, other in enumerate(spec.seats)
                    if number != seat
                ],
                commitment=spec.commitment,
                randomness=spec.seats[seat].randomness,
                illegal_strikes=self._policy.illegal_strikes_tolerated + 1,
                time_strikes=self._policy.time_strikes_tolerated + 1,
            )
        ).SerializeToString()

    def update(
        self, seat: int, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> bytes:
        """Events as the seat may see them, and perhaps a decision."""
        parts = [self._match_id_field]
        if events:
            parts.append(number_field(2, first_event_number))
            parts += [bytes_field(3, event_bytes(view(event, seat))) for event in events]
        if decision is not None:
            parts.append(bytes_field(4, _decision(decision)))
        return bytes_field(3, b"".join(parts))

    def rejected(self, rejected: Rejected) -> bytes:
        """An answer was not accepted."""
        message = pb.Rejected(
            match_id=self._spec.match_id,
            decision_id=rejected.decision_id,
            reason=pb.Reason.ValueType(_enum("REASON", rejected.reason)),
            text=rejected.text,
            applied=rejected.applied,
        )
        if rejected.strikes_left is not None:
            message.strikes_left = rejected.strikes_left
        return pb.PlayResponse(rejected=message).SerializeToString()

    def match_ended(self, result: MatchResult) -> bytes:
        """The match is over."""
        return pb.PlayResponse(match_ended=match_ended_message(result)).SerializeToString()


def time_control_message(control: TimeControl) -> pb.TimeControl:
    """The message of a clock's limits."""
    return pb.TimeControl(
        per_decision_ms=control.per_decision_ms,
        bank_ms=control.bank_ms,
        startup_ms=control.startup_ms,
        reconnect_ms=control.reconnect_ms,
        match_cap_ms=control.match_cap_ms,
    )


def match_ended_message(result: MatchResult) -> pb.MatchEnded:
    """The message of a result, without its record."""
    return pb.MatchEnded(
        match_id=result.match_id,
        termination=pb.Termination.ValueType(TERMINATIONS[result.termination]),
        text=result.text,
        results=[
            pb.SeatResult(
                seat=number,
                place=seat.place,
                total=seat.total,
                forfeit=pb.Forfeit.ValueType(FORFEITS[seat.forfeit] if seat.forfeit else 0),
                charged_us=seat.charged_us,
            )
            for number, seat in enumerate(result.seats)
        ],
        deals=result.deals,
        record_hash=result.record_hash,
    )


def _decision(decision: Decision) -> bytes:
    clock = decision.clock
    decision_left_us, bank_left_us = clock.left_after(decision.spent_us)
    # Of numbers alone the generated code is the fastest.
    numbers = pb.Decision(
        legal_actions_cut=not decision.is_complete,
        decision_left_us=decision_left_us,
        bank_left_us=bank_left_us,
        charged_us=clock.charged_us,
        last_charged_us=clock.last_charged_us,
        last_forgiven_us=clock.last_forgiven_us,
    )
    return b"".join(
        [
            number_field(1, decision.decision_id),
            bytes_field(2, observation_bytes(decision.observation)),
            *LEGAL_ACTIONS.of(decision.legal_actions),
            numbers.SerializeToString(),
        ]
    )
