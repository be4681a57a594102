"""One match that an organiser has ordered, from its order until it is forgotten."""

import asyncio
import time
from collections.abc import Sequence
from enum import StrEnum

from referee.match.outcome import MatchResult, SeatResult, Termination
from referee.match.runner import Match
from referee.match.spec import MatchSpec
from referee.service.bots import Bot
from referee.service.spectators import EventLog


class MatchState(StrEnum):
    """How far a match is."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"


class OrderedMatch:
    """What is known of it. `number` counts the orders from 1, times are milliseconds since 1970."""

    def __init__(
        self,
        number: int,
        spec: MatchSpec,
        bots: Sequence[Bot],
        *,
        due_s: float,
        is_open: bool,
        is_published: bool,
    ) -> None:
        """`due_s` is the loop's time at which it begins, whoever is there."""
        self.number = number
        self.spec = spec
        self.bots = list(bots)
        self.due_s = due_s
        self.is_open = is_open
        """Everybody may watch."""
        self.is_published = is_published
        """Everybody may watch and get the record, once it has ended."""
        self.state = MatchState.WAITING
        self.created_ms = _now_ms()
        self.ended_ms = 0
        self.result: MatchResult | None = None
        self.log = EventLog()
        self.is_over = asyncio.Event()
        self._match: Match | None = None
        self._called_off = ""

    @property
    def is_for_everybody(self) -> bool:
        """Whether spectators may watch it now."""
        return self.is_open or (self.is_published and self.result is not None)

    @property
    def has_record(self) -> bool:
        """Whether it was played, and can be looked at."""
        return self.result is not None and bool(self.result.record)

    @property
    def size(self) -> int:
        """Bytes that keeping it takes, about."""
        return self.log.size + (len(self.result.record) if self.result is not None else 0)

    def created(self, match: Match) -> None:
        """It is about to start."""
        self._match = match
        self.log.follow(match)
        if self._called_off:
            match.abort(self._called_off)

    def abort(self, text: str) -> None:
        """End it without a result, at once or as soon as it starts."""
        self._called_off = text
        if self._match is not None:
            self._match.abort(text)

    def ended(self, result: MatchResult, last_message: bytes) -> None:
        """It is over."""
        self._match = None
        self.result = result
        self.state = MatchState.ENDED
        self.ended_ms = _now_ms()
        self.log.close(last_message)
        self.is_over.set()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def never_begun(spec: MatchSpec, text: str) -> MatchResult:
    """The result of a match that was called off while it waited, or could not be played."""
    seat = SeatResult(
        place=0,
        total=0,
        forfeit=None,
        decisions=0,
        charged_us=0,
        forgiven_us=0,
        longest_us=0,
        illegal_strikes=0,
        time_strikes=0,
    )
    return MatchResult(
        match_id=spec.match_id,
        termination=Termination.ABORTED,
        text=text,
        seats=(seat,) * len(spec.seats),
        deals=0,
        record=b"",
        record_hash=b"",
    )
