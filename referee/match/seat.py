"""One seat of a running match: its player, clock, strikes, and what it has been shown."""

from dataclasses import dataclass, field

from referee.engine.events import Event
from referee.match.clock import SeatClock
from referee.match.outcome import Forfeit, SeatResult
from referee.match.seat_player import Decision, Rejected, SeatPlayer


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
    deal_events: list[Event] = field(default_factory=list)
    """Events of the current deal."""
    shown: int = 0
    """How many of them the player has."""
    waiting_since_us: int = 0
    """When the oldest event that the player does not have was added."""
    earlier_events: int = 0
    """Number of events of earlier deals."""

    def begin_deal(self) -> None:
        """Forget the events of the last deal; only their number counts from now on."""
        self.earlier_events += len(self.deal_events)
        self.deal_events = []
        self.shown = 0

    def show(self, decision: Decision | None) -> None:
        """Tell the player all that it has not seen yet, and perhaps a decision."""
        unseen = self.deal_events[self.shown :] if self.shown else self.deal_events
        if unseen or decision is not None:
            first = self.earlier_events + self.shown + 1
            self.shown = len(self.deal_events)
            self.player.update(first, unseen, decision)

    def show_again(self, decision: Decision | None) -> None:
        """Tell a returning player the whole deal, under the same numbers."""
        self.shown = 0
        self.show(decision)

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
