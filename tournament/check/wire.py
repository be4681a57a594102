"""What passes between the referee and the bot: noted on its way, and changed where a script says.

It stands between the stream and the session, so both sides see nothing but ordinary messages.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from referee.service.mailbox import Mailbox
from referee.service.session import Stream
from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1 import rummy_pb2

_MOST = 240
_WILD_RANK = 1


def shown(message: Message) -> str:
    """Return a message in one line, cut where it is long."""
    text = text_format.MessageToString(message, as_one_line=True).strip()
    return text if len(text) <= _MOST else f"{text[:_MOST]} …"


class Script:
    """What is changed in one match: nothing, here."""

    def to_bot(self, seen: "Seen", response: pb.PlayResponse, message: bytes) -> Sequence[bytes]:
        """Return what to write instead of a message of the match; `response` is its content."""
        del seen, response
        return [message]

    def to_referee(self, seen: "Seen", choice: pb.Choice) -> pb.Choice:
        """Return what to hand on instead of a choice."""
        del seen
        return choice


@dataclass(frozen=True, slots=True)
class Refused:
    """A choice that the referee did not accept. `sent` is what the bot sent, as text."""

    decision_id: int
    reason: int
    text: str
    sent: str
    is_strike: bool


@dataclass(eq=False, slots=True)
class Seen:
    """What passed in one match."""

    match_id: str
    script: Script
    phases: Counter[int] = field(default_factory=Counter)
    """Decisions by phase."""
    phase: int = 0
    """Of the last decision."""
    last_decision: int = 0
    legal: int = 0
    """Legal actions of the last decision."""
    answered: set[int] = field(default_factory=set)
    """Decisions that a choice came for, in time or not."""
    indexes: int = 0
    plans: int = 0
    longest: int = 0
    """Actions of the longest plan."""
    refused: list[Refused] = field(default_factory=list)
    used_bank: bool = False
    wild_cards: int = 0
    """Decisions with a joker or a deuce in hand."""
    _bank_us: int = 0
    _sent: dict[int, str] = field(default_factory=dict)

    def told(self, response: pb.PlayResponse) -> None:
        """Note a message to the bot."""
        match response.WhichOneof("message"):
            case "match_starting":
                self._bank_us = response.match_starting.time_control.bank_ms * 1_000
            case "update" if response.update.HasField("decision"):
                self._asked(response.update.decision)
            case "rejected":
                rejected = response.rejected
                sent = self._sent.get(rejected.decision_id, "")
                is_strike = rejected.HasField("strikes_left")
                self.refused.append(
                    Refused(rejected.decision_id, rejected.reason, rejected.text, sent, is_strike)
                )

    def _asked(self, decision: pb.Decision) -> None:
        if decision.decision_id > self.last_decision:
            self.last_decision = decision.decision_id
            self.phase = decision.observation.phase
            self.phases[self.phase] += 1
            self.wild_cards += any(map(_may_be_wild, decision.observation.hand))
        self.legal = len(decision.legal_actions)
        self.used_bank = self.used_bank or decision.bank_left_us < self._bank_us

    def chose(self, choice: pb.Choice) -> None:
        """Note a choice of the bot."""
        self.answered.add(choice.decision_id)
        self._sent[choice.decision_id] = shown(choice)
        if choice.HasField("legal_action_index"):
            self.indexes += 1
        else:
            self.plans += 1
            self.longest = max(self.longest, len(choice.actions))

    @property
    def strikes(self) -> list[Refused]:
        """The refusals that were strikes for what the bot sent."""
        return [one for one in self.refused if one.is_strike and one.reason != pb.REASON_TIME_UP]

    @property
    def late(self) -> list[Refused]:
        """The decisions that were out of time."""
        return [one for one in self.refused if one.reason == pb.REASON_TIME_UP]


def _may_be_wild(card: int) -> bool:
    return card == rummy_pb2.CARD_XX or (card - 1) % 13 == _WILD_RANK


class Wire:
    """All streams of the bot, one after another."""

    def __init__(self) -> None:
        self.hello: pb.Hello | None = None
        """The last one."""
        self.hellos = 0
        self.first = ""
        """Kind of the very first message, or words for what is none."""
        self.pongs: set[int] = set()
        """Nonces."""
        self.is_polled = False
        """It has no stream, but polls."""
        self._seen: dict[str, Seen] = {}

    def watch(self, match_id: str, script: Script) -> Seen:
        """Note what passes in a match from now on."""
        seen = self._seen[match_id] = Seen(match_id, script)
        return seen

    def tap(self, stream: Stream) -> Stream:
        """Return a stream that hands on what this one brings and takes."""
        self.is_polled = isinstance(stream, Mailbox)
        return _Tap(stream, self)

    def from_bot(self, message: bytes) -> bytes:
        """Note a message of the bot; return what to hand on."""
        try:
            request = pb.PlayRequest.FromString(message)
        except DecodeError:
            self.first = self.first or f"{len(message)} bytes that are no PlayRequest"
            return message
        kind = request.WhichOneof("message")
        self.first = self.first or kind or "a message that is unknown"
        match kind:
            case "hello":
                self.hello = request.hello
                self.hellos += 1
            case "pong":
                self.pongs.add(request.pong.nonce)
            case "choice":
                seen = self._seen.get(request.choice.match_id)
                if seen is not None:
                    seen.chose(request.choice)
                    choice = seen.script.to_referee(seen, request.choice)
                    return pb.PlayRequest(choice=choice).SerializeToString()
        return message

    def to_bot(self, message: bytes) -> Sequence[bytes]:
        """Note a message to the bot; return what to write."""
        response = pb.PlayResponse.FromString(message)
        seen = self._seen.get(_match_id(response))
        if seen is None:
            return [message]
        seen.told(response)
        return seen.script.to_bot(seen, response, message)


def _match_id(response: pb.PlayResponse) -> str:
    match response.WhichOneof("message"):
        case "match_starting":
            return response.match_starting.match_id
        case "update":
            return response.update.match_id
        case "rejected":
            return response.rejected.match_id
        case "match_ended":
            return response.match_ended.match_id
    return ""


class _Tap:
    """A stream with somebody who listens."""

    def __init__(self, stream: Stream, wire: Wire) -> None:
        self._stream = stream
        self._wire = wire

    async def read(self) -> object:
        """The next message as bytes, or grpc.aio.EOF."""
        message = await self._stream.read()
        return self._wire.from_bot(message) if isinstance(message, bytes) else message

    async def write(self, message: bytes) -> None:
        """Send a message."""
        for part in self._wire.to_bot(message):
            await self._stream.write(part)
