"""One seat of a running match: its player, clock, strikes, and what it has been shown."""

from dataclasses import dataclass

from referee.match.clock import SeatClock
from referee.match.outcome import Forfeit, SeatResult
from referee.match.seat_player import Rejected, SeatPlayer


@dataclass(slots=True)
class Seat:
    """Everything is numbered per seat, so that nobody can count what others did."""

    number: int
    player: SeatPlayer
    clock: SeatClock
    is_ready: bool = False
    is_absent: bool = False
    """It will not get ready any more."""
    is_connected: bool = True
    was_away: bool = False
    """The connection was lost during the decision: it may use the reconnect time to its end."""
    lost_us: int = 0
    """When the connection was last lost."""
    protocol_faults: int = 0
    forfeit: Forfeit | None = None
    trouble: str = ""
    """What went wrong with its process or session, for people."""
    illegal_strikes: int = 0
    time_strikes: int = 0
    allowance: object = None
    """The part of the turn for which time was last granted."""
    decision_id: int = 0
    """Number of the last decision."""
    shown: int = 0
    """Events of the current deal that the player has."""
    waiting_since_us: int = 0
    """When the oldest event that the player does not have was added."""

    def reject(
        self,
        reason: str,
        text: str,
        *,
        decision_id: int,
        applied: int = 0,
        strikes_left: int | None = None,
    ) -> None:
        """Tell the player that an answer was not accepted."""
        self.player.rejected(Rejected(decision_id, reason, text, applied, strikes_left))

    def result(self, place: int, total: int) -> SeatResult:
        """What the match was for this seat."""
        clock = self.clock
        return SeatResult(
            place=place,
            total=total,
            forfeit=self.forfeit,
            decisions=clock.decisions,
            charged_us=clock.charged_us,
            forgiven_us=clock.forgiven_us,
            longest_us=clock.longest_us,
            illegal_strikes=self.illegal_strikes,
            time_strikes=self.time_strikes,
        )
