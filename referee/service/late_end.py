"""A seat whose bot hears of the end of a match no sooner than its result is kept."""

from collections.abc import Sequence

from referee.engine.events import Event
from referee.match.outcome import MatchResult
from referee.match.seat_player import Decision, Rejected
from referee.service.bots import SeatOfBot


class LateEnd:
    """A `SeatPlayer` that holds back `match_ended` until `tell`; all else goes on at once."""

    def __init__(self, seat: SeatOfBot) -> None:
        self._seat = seat
        self._result: MatchResult | None = None

    def match_starting(self) -> None:
        """Tell the bot."""
        self._seat.match_starting()

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Tell the bot."""
        self._seat.update(first_event_number, events, decision)

    def rejected(self, rejected: Rejected) -> None:
        """Tell the bot."""
        self._seat.rejected(rejected)

    def match_ended(self, result: MatchResult) -> None:
        """Keep it for later."""
        self._result = result

    def tell(self) -> None:
        """Tell the bot how its match ended, if it has."""
        if self._result is not None:
            self._seat.match_ended(self._result)
