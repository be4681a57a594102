"""The record of a match: JSON lines, each carrying the hash of the one before it.

Line 1 is the header, then a line for each decision and each deal's end, then the match's end with
the secret. `prev` of a line is the SHA-256 of the line before it (its bytes with the newline); the
head, which stands in the result, is the SHA-256 of the last line.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from referee.engine.scoring import DealScore
from referee.match.outcome import Forfeit, Termination
from referee.match.policy import Policy
from referee.match.seat_player import Refusal
from referee.match.spec import MatchSpec

FORMAT: Final = 1
_WRITTEN_TOGETHER: Final = 64


def spelled(value: object) -> str:
    """JSON as it stands in a record."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@dataclass(slots=True)  # Freezing it would double the time that one takes to make.
class Decided:
    """A decision and its answer: a line of the record."""

    seat: int
    decision_id: int
    deal: int
    actions: Sequence[str]
    charged_us: int
    forgiven_us: int
    was_away: bool = False
    refusal: Refusal | None = None
    forced: Sequence[str] = ()

    def unfinished(self) -> str:
        """Write the line but for its end by hand, for there is one for each choice of a match.

        Texts of actions hold nothing that JSON would escape.
        """
        played = ",".join([f'"{action}"' for action in self.actions])
        line = (
            f'{{"kind":"decision","seat":{self.seat},"id":{self.decision_id},"deal":{self.deal},'
            f'"actions":[{played}],'
            f'"charged_us":{self.charged_us},"forgiven_us":{self.forgiven_us}'
        )
        if self.was_away:
            line += ',"away":true'
        if self.refusal:
            line += f',"rejected":"{self.refusal.reason}","tried":{spelled(self.refusal.tried)}'
        if self.forced:
            line += f',"forced":{spelled(self.forced)}'
        return line


class Record:
    """Lines as they come. Values are written once and never changed.

    Decisions wait as text until there are some to be hashed together: one at a time, between others
    of a hundred matches, costs twice as much.
    """

    __slots__ = ("_lines", "_prev", "_waiting")

    def __init__(self, spec: MatchSpec, policy: Policy) -> None:
        """Begin with the header: who, under which rules, on decks that are committed to."""
        self._lines: list[bytes] = []
        self._prev = ""
        self._waiting: list[str] = []
        control = spec.time_control
        self._line(
            "match",
            format=FORMAT,
            match_id=spec.match_id,
            rules=spec.rules.to_dict(),
            seats=[{"bot": seat.bot, "version": seat.version} for seat in spec.seats],
            first_dealer=spec.first_dealer,
            time_control={name: getattr(control, name) for name in control.__slots__},
            strikes_tolerated={
                "illegal": policy.illegal_strikes_tolerated,
                "time": policy.time_strikes_tolerated,
            },
            commitment=spec.commitment.hex(),
            **({"own_suits": True} if spec.has_own_suits else {}),
        )

    def deal_ended(self, deal: int, score: DealScore) -> None:
        """How a deal ended and what it was worth."""
        assert score.termination is not None, "the deal is over"
        self._line(
            "deal_ended",
            deal=deal,
            ended=score.termination.value,
            winner=score.winner,
            points=score.points,
            totals=score.totals,
        )

    def forfeit(self, seat: int, fault: Forfeit) -> None:
        """A seat is out of contention."""
        self._line("forfeit", seat=seat, fault=fault.value)

    def forced(self, seat: int, deal: int, actions: Sequence[str]) -> None:
        """A turn that was played for a seat that has forfeited."""
        self._line("forced", seat=seat, deal=deal, actions=actions)

    def end(
        self,
        spec: MatchSpec,
        termination: Termination,
        text: str,
        places: Sequence[int],
        totals: Sequence[int],
    ) -> None:
        """The result, and what was secret: where the decks and each seat's randomness came from."""
        self._line(
            "match_ended",
            termination=termination.value,
            text=text,
            places=places,
            totals=totals,
            salt=spec.salt.hex(),
            secret=spec.secret.hex(),
            randomness=[seat.randomness.hex() for seat in spec.seats],
        )

    def _line(self, kind: str, **fields: object) -> None:
        self._write_waiting()
        self._add(spelled({"kind": kind, **fields})[:-1])

    def decision(self, decided: Decided) -> None:
        """A decision and its answer."""
        self._waiting.append(decided.unfinished())
        if len(self._waiting) == _WRITTEN_TOGETHER:
            self._write_waiting()

    def _write_waiting(self) -> None:
        for unfinished in self._waiting:
            self._add(unfinished)
        self._waiting.clear()

    def _add(self, unfinished: str) -> None:
        line = f'{unfinished},"prev":"{self._prev}"}}\n'.encode()
        self._lines.append(line)
        self._prev = sha256(line).hexdigest()

    @property
    def head(self) -> bytes:
        """SHA-256 of the last line."""
        self._write_waiting()
        return bytes.fromhex(self._prev)

    @property
    def content(self) -> bytes:
        """All lines."""
        self._write_waiting()
        return b"".join(self._lines)
