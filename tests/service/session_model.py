"""What a bot may expect of its streams: every message it is sent is held against this."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import grpc

from referee.match.outcome import MatchResult
from referee.match.policy import Policy
from referee.match.spec import MatchSpec
from referee.service.messages import FORFEITS, TERMINATIONS
from rummy.referee.v1 import play_pb2 as pb
from tests.service.fake_stream import FakeStream

_POLICY = Policy()
_NO_STRIKE = {pb.REASON_STALE_DECISION}
CARD: Final = re.compile(r"\b(?:[A2-9TJQK][CDHS]|XX)\b")
_NO_SUCH_MATCH = "no such match is being played by this bot"


def secrets_of(spec: MatchSpec) -> dict[str, tuple[str, ...]]:
    """What nobody is told while a match runs, in every spelling that could come up in a text."""
    values = {"secret": spec.secret, "salt": spec.salt}
    values |= {f"randomness {number}": seat.randomness for number, seat in enumerate(spec.seats)}
    return {
        name: (
            value.hex(),
            value.hex().upper(),
            repr(value)[2:-1],
            b64encode(value).decode().rstrip("="),
            urlsafe_b64encode(value).decode().rstrip("="),
        )
        for name, value in values.items()
    }


@dataclass
class Seen:
    """What one seat of one match has been told, over all streams of its bot."""

    spec: MatchSpec
    seat: int
    decision: pb.Decision | None = None
    """The last one."""
    is_asked: bool = False
    """It has not been answered."""
    has_lost: bool = False
    """The bot has left messages unread in a stream that has ended."""
    events: dict[int, bytes] = field(default_factory=dict)
    illegal: int = 0
    late: int = 0
    ended: pb.MatchEnded | None = None

    @property
    def last_event(self) -> int:
        """The highest number so far."""
        return max(self.events, default=0)

    @property
    def last_decision(self) -> int:
        """The highest number so far."""
        return self.decision.decision_id if self.decision else 0

    def rejected(self, message: pb.Rejected) -> None:
        """Count the strikes as docs/judgement.md says."""
        assert message.text, "a rejection has words"
        assert message.decision_id <= 2**32 - 1
        if message.reason in _NO_STRIKE:
            assert not message.HasField("strikes_left"), "stale answers are no strikes"
            return
        if message.reason == pb.REASON_TIME_UP:
            self.late = self._strikes(self.late, _POLICY.time_strikes_tolerated, message)
        else:
            self.illegal = self._strikes(self.illegal, _POLICY.illegal_strikes_tolerated, message)
        assert message.decision_id <= self.last_decision, "it is the answer to what was asked"

    def _strikes(self, before: int, tolerated: int, message: pb.Rejected) -> int:
        """How many there are now: one more, or more of which the bot has not read."""
        now, left = before + 1, message.strikes_left
        if self.has_lost and left < tolerated - now:
            return tolerated - left
        assert left == max(0, tolerated - now), f"{left} are left after {now} of {tolerated}"
        return now

    def match_ended(self, result: MatchResult) -> None:
        """What the bot was told is what came of the match."""
        told, own = self.ended, result.seats[self.seat]
        assert self.illegal <= own.illegal_strikes
        assert self.late <= own.time_strikes
        if told is None:
            return
        assert self.last_decision >= own.decisions or self.has_lost
        assert told.termination == TERMINATIONS[result.termination]
        assert (told.deals, told.record_hash) == (result.deals, result.record_hash)
        for number, (one, other) in enumerate(zip(told.results, result.seats, strict=True)):
            forfeit = FORFEITS[other.forfeit] if other.forfeit else 0
            wanted = (number, other.place, other.total, forfeit, other.charged_us)
            assert (one.seat, one.place, one.total, one.forfeit, one.charged_us) == wanted


@dataclass
class InStream:
    """How far one stream has told one match."""

    decision: int = 0
    event: int = 0
    has_ended: bool = False
    is_ready: bool = False
    """The bot has said so."""


class Account:
    """One token's bot as its author sees it."""

    def __init__(self, name: str, token: str) -> None:
        self.name = name
        self.token = token
        self.is_revoked = False
        self.has_been_stuck = False
        """It did not read for a while: what it had not read when the stream ended is lost."""
        self.matches: dict[str, Seen] = {}


class Line:
    """One stream, from the bot's side."""

    def __init__(self, account: Account | None, stream: FakeStream) -> None:
        self.account = account
        """None: a stream whose token nobody knows."""
        self.stream = stream
        self.said_hello = False
        self.is_welcome = False
        self.is_closed = False
        """By the bot: nothing more can be sent."""
        self.may_end: set[grpc.StatusCode | None] = set()
        """How the stream may end by now; None for OK."""
        self.sent = 0
        """Messages."""
        self.pings: deque[int] = deque()
        self._read = 0
        self._matches: dict[str, InStream] = {}

    def read(self) -> None:
        """Take all that has been written since the last time, and check it."""
        written = self.stream.written[self._read :]
        self._read += len(written)
        for raw in written:
            self._check_secrets(raw)
            self._take(pb.PlayResponse.FromString(raw))

    def _check_secrets(self, raw: bytes) -> None:
        account = self.account
        assert account is not None, "who is not known is told nothing"
        assert len(account.token) < 20 or account.token.encode() not in raw
        for seen in account.matches.values():
            spec = seen.spec
            assert spec.secret not in raw
            assert spec.salt not in raw
            others = [seat for number, seat in enumerate(spec.seats) if number != seen.seat]
            assert not any(seat.randomness in raw for seat in others)

    def _take(self, message: pb.PlayResponse) -> None:
        kind = message.WhichOneof("message")
        assert kind is not None, "every message is of a known kind"
        assert self.is_welcome == (kind != "welcome"), "welcome is the first message, and once"
        account = self.account
        assert account is not None
        if kind == "welcome":
            self._welcome(account, message.welcome)
        elif kind == "pong":
            assert message.pong.nonce == self.pings.popleft()
        elif kind == "match_starting":
            self._starting(account, message.match_starting)
        elif kind == "update":
            self._update(account, message.update)
        elif kind == "rejected":
            self._rejected(account, message.rejected)
        elif kind == "match_ended":
            self._ended(account, message.match_ended)

    def _welcome(self, account: Account, message: pb.Welcome) -> None:
        assert self.said_hello
        self.is_welcome = True
        running = {name for name, seen in account.matches.items() if seen.ended is None}
        assert set(message.resumed_match_ids) <= running, "matches that are over, or not its own"

    def _seen(self, account: Account, match_id: str) -> tuple[Seen, InStream]:
        assert match_id in account.matches, f"{match_id} is not a match of {account.name}"
        assert match_id in self._matches, f"{match_id} has not begun in this stream"
        told = self._matches[match_id]
        assert not told.has_ended, f"{match_id} is over"
        account.matches[match_id].has_lost = account.has_been_stuck
        return account.matches[match_id], told

    def _starting(self, account: Account, message: pb.MatchStarting) -> None:
        match_id = message.match_id
        assert match_id in account.matches, f"{match_id} is not a match of {account.name}"
        assert match_id not in self._matches, f"{match_id} begins twice in a stream"
        self._matches[match_id] = InStream()
        seen = account.matches[match_id]
        assert seen.ended is None
        assert (message.seat, message.seats) == (seen.seat, len(seen.spec.seats))
        assert message.randomness == seen.spec.seats[seen.seat].randomness
        assert message.commitment == seen.spec.commitment

    def _update(self, account: Account, message: pb.Update) -> None:
        seen, told = self._seen(account, message.match_id)
        if message.events:
            first = message.first_event_number
            if told.event:
                assert first == told.event + 1, f"events from {first} on, after {told.event}"
            else:
                # Earlier deals are over: who was away never hears of them.
                assert message.events[0].WhichOneof("event") == "deal_started"
                assert first in seen.events or first > seen.last_event
            for number, event in enumerate(message.events, first):
                raw = event.SerializeToString()
                assert seen.events.setdefault(number, raw) == raw, f"event {number} has changed"
                told.event = number
        if message.HasField("decision"):
            decision = message.decision
            last, number = told.decision or seen.last_decision, decision.decision_id
            is_again = number == last > told.decision
            is_later = seen.has_lost and not told.decision and number > last
            assert number == last + 1 or is_again or is_later, f"decision {number} after {last}"
            assert decision.observation.seat == decision.observation.turn == seen.seat
            assert decision.legal_actions, "something can always be done"
            told.decision = decision.decision_id
            seen.decision = decision
            seen.is_asked = True

    def _rejected(self, account: Account, message: pb.Rejected) -> None:
        told = self._matches.get(message.match_id)
        if told is None or told.has_ended:
            assert message.reason == pb.REASON_STALE_DECISION
            seen = account.matches.get(message.match_id)
            assert message.text == _NO_SUCH_MATCH or seen is not None
            assert not message.HasField("strikes_left")
        else:
            self._seen(account, message.match_id)[0].rejected(message)

    def _ended(self, account: Account, message: pb.MatchEnded) -> None:
        seen, told = self._seen(account, message.match_id)
        assert seen.ended is None, f"{message.match_id} ends twice for {account.name}"
        told.has_ended = True
        seen.ended = message

    def running(self) -> Iterable[tuple[str, Seen, InStream]]:
        """Matches that have begun in this stream and not ended, with what is known of them."""
        account = self.account
        if account is None:
            return []
        return [
            (match_id, account.matches[match_id], told)
            for match_id, told in self._matches.items()
            if not told.has_ended
        ]
