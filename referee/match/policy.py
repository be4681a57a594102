"""The table of judgement: what each fault costs, in the order in which faults are looked at.

| fault | effect |
|---|---|
| illegal or malformed choice | rejected, a strike; more than `illegal_strikes_tolerated`: forfeit |
| time up | forced actions to the end of the turn, a strike; more than tolerated: forfeit |
| connection lost | the clock runs on, then the reconnect time; none left: forfeit |
| protocol broken | session closed: a lost connection; repeated: forfeit |
| process ended | forfeit at once |
| never ready | forfeit; nobody ready: no result |
| goodbye | forfeit |
| all seats lost together, or the referee's own fault | aborted: nobody's loss |
"""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.engine.scoring import places_by_merit


@dataclass(frozen=True, slots=True)
class Policy:
    """What is tolerated in a match."""

    illegal_strikes_tolerated: int = 3
    time_strikes_tolerated: int = 2
    most_forgiven_us_per_decision: int = 250_000
    most_forgiven_us_per_match: int = 5_000_000
    most_forgiven_part: float = 0.1
    """So much of the time that was measured may be forgiven in any case: a short stall spoils no
    long decision, and must not save a bot that hangs."""
    protocol_faults_tolerated: int = 1
    """Sessions closed for what the bot sent."""
    together_us: int = 1_000_000
    """Connections that are lost within this time are lost together."""
    max_plan: int = 32
    """Actions in one choice."""
    most_wild_actions: int = 500
    """Legal actions with wild cards in one decision: more would only be slow to list and read."""
    flush_after_us: int = 50_000
    """How long events wait for a decision of their recipient."""

    def is_referees_fault(
        self, forgiven_us: int, spent_us: int, match_forgiven_us: int, match_spent_us: int
    ) -> bool:
        """Whether so much was forgiven that the match should be played again.

        First what a decision took, then all decisions of the match; `spent_us` is what counted.
        """
        return self._is_too_much(
            forgiven_us, spent_us, self.most_forgiven_us_per_decision
        ) or self._is_too_much(match_forgiven_us, match_spent_us, self.most_forgiven_us_per_match)

    def _is_too_much(self, forgiven_us: int, spent_us: int, most_us: int) -> bool:
        return forgiven_us > most_us and (
            forgiven_us > self.most_forgiven_part * (forgiven_us + spent_us)
        )


def final_places(standing: Sequence[int], forfeited: Sequence[int]) -> tuple[int, ...]:
    """Places by seat: by the standing among those who did not forfeit, then the forfeits.

    `standing` is lower-is-better by seat; `forfeited` lists seats, first forfeit first: the later
    a seat forfeits, the higher it is placed.
    """
    merits = [
        (0, forfeited.index(seat)) if seat in forfeited else (1, -place)
        for seat, place in enumerate(standing)
    ]
    return places_by_merit(merits)
