"""What the referee noted about one bot in a match, from the record: its own seat's lines alone."""

import json
import time
from collections import deque
from itertools import islice
from typing import Final

from referee.match.outcome import MatchResult, SeatResult
from referee.service.messages import FORFEITS, TERMINATIONS
from rummy.referee.v1 import play_pb2
from rummy.tournament.v1 import tournament_pb2 as pb
from tournament.statistics.standings import SeatRow

MOST_REJECTIONS: Final = 50
MOST_CHARACTERS: Final = 200
MOST_UNCOUNTED: Final = 10
_MOST_KEPT: Final = 1_000
"""Matches that count for nothing, of all bots together."""


def noted(seat: SeatRow | SeatResult, number: int, record: bytes) -> pb.OwnMatch:
    """Return what was noted about the seat with this number; what the match was is left empty."""
    found, count = rejections(record, number)
    return pb.OwnMatch(
        seat=number,
        place=seat.place,
        total=seat.total,
        forfeit=play_pb2.Forfeit.ValueType(FORFEITS[seat.forfeit] if seat.forfeit else 0),
        decisions=seat.decisions,
        charged_us=seat.charged_us,
        longest_charged_us=seat.longest_us,
        forgiven_us=seat.forgiven_us,
        illegal_strikes=seat.illegal_strikes,
        time_strikes=seat.time_strikes,
        rejections=found,
        rejection_count=count,
    )


def uncounted(result: MatchResult, seat: int, *, is_test: bool) -> pb.OwnMatch:
    """Return what was noted about a seat in a match that just ended and is not stored."""
    message = noted(result.seats[seat], seat, result.record)
    message.match_id = result.match_id
    message.termination = play_pb2.Termination.ValueType(TERMINATIONS[result.termination])
    message.text = result.text
    message.ended_unix_ms = time.time_ns() // 1_000_000
    message.is_test = is_test
    return message


class Uncounted:
    """The latest matches that count for nothing. Those of bots that had none for long are lost."""

    def __init__(self) -> None:
        self._kept: deque[tuple[str, pb.OwnMatch]] = deque(maxlen=_MOST_KEPT)

    def add(self, entrant: str, match: pb.OwnMatch) -> None:
        """Keep a match for one of its bots."""
        self._kept.appendleft((entrant, match))

    def of(self, entrant: str) -> list[pb.OwnMatch]:
        """Return the matches of a bot, the latest first."""
        own = (match for name, match in self._kept if name == entrant)
        return list(islice(own, MOST_UNCOUNTED))


def rejections(record: bytes, seat: int) -> tuple[list[pb.OwnRejection], int]:
    """Return the first choices of a seat that were not accepted, and how many there were."""
    found: list[pb.OwnRejection] = []
    count = 0
    for line in record.splitlines():
        # Most lines are not parsed at all.
        if b'"rejected":"' not in line:
            continue
        fields = json.loads(line)
        if fields["kind"] != "decision" or fields["seat"] != seat:
            continue
        count += 1
        if count <= MOST_REJECTIONS:
            found.append(
                pb.OwnRejection(
                    deal=fields["deal"],
                    decision_id=fields["id"],
                    reason=play_pb2.Reason.Value(f"REASON_{fields['rejected'].upper()}"),
                    tried=fields["tried"][:MOST_CHARACTERS],
                    applied=fields["actions"],
                    forced=fields.get("forced", ()),
                    charged_us=fields["charged_us"],
                )
            )
    return found, count
