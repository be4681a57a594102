"""What one seat was asked in a recorded match and what came of its answers: its own side alone.

Nothing here depends on what the seat may not know: it is made of its observations, its own lines
and what everybody is told, so it can be given to the author of the bot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from referee.engine.actions import Action
from referee.engine.cards import Cards
from referee.engine.events import DealEnded
from referee.engine.observation import Observation
from referee.engine.state import Phase
from referee.match.clock import SeatClock
from referee.match.outcome import Forfeit
from referee.match.policy import Policy
from referee.match.record_lines import DecisionLine, ForfeitLine, RecordLines
from referee.match.replay import Replay, Step

_LOST_BY_AN_ANSWER: Final = (Forfeit.ILLEGAL, Forfeit.TIME, Forfeit.DISCONNECT)
"""Faults that are part of a decision; others come from outside of it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for actions as it reached the seat, with the clock at that moment."""

    decision_id: int
    observation: Observation
    legal: Sequence[str]
    """What was offered, as text; left empty where nothing was wrong with the answer."""
    clock: SeatClock

    @property
    def is_draw(self) -> bool:
        """Whether it asked for the draw."""
        return self.observation.phase is Phase.DRAW


@dataclass(frozen=True, slots=True)
class Answered:
    """A decision and what came of it."""

    asked: Asked
    line: DecisionLine
    clock: SeatClock
    """After it."""
    strikes: int = 0
    """Strikes of this kind in the match, with this one; 0 if it was none."""
    hand: Cards = 0
    """What the seat held when the refused action was tried; of interest after a rejection."""
    legal: Sequence[str] = ()
    """What it could have done then."""


@dataclass(frozen=True, slots=True)
class DealScore:
    """A deal that was played to its end, as everybody saw it."""

    deal: int
    ended: str
    winner: int | None
    points: tuple[int, ...]
    hand: Cards
    """What the seat had left."""


@dataclass(frozen=True, slots=True)
class Hindsight:
    """A match from one seat's side."""

    decisions: tuple[Answered, ...]
    deals: tuple[DealScore, ...]
    forfeit: Forfeit | None
    pending: Asked | None
    """What it was asked and had not answered when it forfeited by something else."""
    may_precede_play: bool
    """Whether it may have forfeited before that was put to it: the record begins with it."""

    @property
    def strikes(self) -> tuple[Answered, ...]:
        """The decisions that were strikes, in order."""
        return tuple(one for one in self.decisions if one.line.rejected)

    @property
    def decisive(self) -> Answered | None:
        """The decision by which it forfeited."""
        return self.decisions[-1] if self.forfeit in _LOST_BY_AN_ANSWER else None


def look_back(record: RecordLines, seat: int) -> Hindsight:
    """Play a record again from one seat's side. Raises RecordError where it can't be played."""
    return _Look(record, seat).back()


class _Look:
    """Collects what concerns a seat while the match is played again."""

    def __init__(self, record: RecordLines, seat: int) -> None:
        self._record = record
        self._seat = seat
        self._again = Replay(record)
        self._decisions: list[Answered] = []
        self._deals: list[DealScore] = []
        self._forfeit: Forfeit | None = None
        self._pending: Asked | None = None
        self._may_precede_play = False
        self._strikes = {False: 0, True: 0}
        """By whether the time was up."""

    def back(self) -> Hindsight:
        asked: Asked | None = None
        for step in self._again.steps():
            if isinstance(step.line, DecisionLine) and step.line.seat == self._seat:
                assert asked is not None, "it was noted one step before"
                self._answer(asked, step.line, step)
            self._note_deals(step)
            asked = self._next(step)
        return Hindsight(
            decisions=tuple(self._decisions),
            deals=tuple(self._deals),
            forfeit=self._forfeit,
            pending=self._pending,
            may_precede_play=self._may_precede_play,
        )

    def _next(self, step: Step) -> Asked | None:
        """Note what comes next if it is the seat's: its decision, or its forfeit."""
        lines = self._record.lines
        # A step is numbered by its line from 1, and line 1 is the header.
        line = lines[step.number - 1] if step.number <= len(lines) else None
        if isinstance(line, DecisionLine) and line.seat == self._seat:
            return self._asked(step, with_legal=bool(line.rejected) or not line.actions)
        if isinstance(line, ForfeitLine) and line.seat == self._seat:
            self._forfeit = line.fault
            is_asked = self._again.game.to_act == self._seat
            if is_asked and line.fault not in (*_LOST_BY_AN_ANSWER, Forfeit.STARTUP):
                self._pending = self._asked(step, with_legal=True)
                before = lines[: step.number - 1]
                self._may_precede_play = all(isinstance(one, ForfeitLine) for one in before)
        return None

    def _asked(self, step: Step, *, with_legal: bool) -> Asked:
        return Asked(
            decision_id=len(self._decisions) + 1,
            observation=step.observations[self._seat],
            legal=self._legal() if with_legal else (),
            clock=self._again.clock_of(self._seat),
        )

    def _legal(self) -> tuple[str, ...]:
        """What the seat to act is offered."""
        game = self._again.game
        actions: Sequence[Action] = game.some_legal_actions(Policy().most_wild_actions)[0]
        return tuple(map(game.text_of, actions))

    def _answer(self, asked: Asked, line: DecisionLine, step: Step) -> None:
        answered = Answered(asked, line, self._again.clock_of(self._seat))
        if line.rejected:
            is_late = line.rejected == "time_up"
            self._strikes[is_late] += 1
            is_on = not is_late and self._again.game.to_act == self._seat
            answered = replace(
                answered,
                strikes=self._strikes[is_late],
                hand=step.observations[self._seat].hand,
                legal=self._legal() if is_on else (),
            )
        self._decisions.append(answered)

    def _note_deals(self, step: Step) -> None:
        for event in step.events:
            if isinstance(event, DealEnded):
                self._deals.append(
                    DealScore(
                        deal=len(self._deals) + 1,
                        ended=event.termination.value,
                        winner=event.winner,
                        points=event.points,
                        hand=event.hands[self._seat],
                    )
                )
