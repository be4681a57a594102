"""Plays a record again, line by line, on the engine: each line must be what had to follow.

Whatever a record says of a match can be recomputed from its secret and the actions, but for the
times, the faults of a connection, and answers that were no actions. Of the times it is checked that
nobody was called late who was not, and nobody was forgiven a lateness.

Whoever wrote the file is not trusted: texts have a limit, and nothing but RecordError is raised.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final

from referee.engine.actions import Action, IllegalAction, MalformedAction, Reason
from referee.engine.events import Event
from referee.engine.game import RummyGame
from referee.engine.notation import parse_action
from referee.engine.observation import Observation
from referee.engine.shuffle import SAME_SUITS, commitment, own_suits
from referee.match.clock import SeatClock
from referee.match.deadline import AFTER_STALL_US, LOOK_AGAIN_US
from referee.match.outcome import Forfeit, Termination
from referee.match.policy import final_places
from referee.match.record_lines import (
    DealEndedLine,
    DecisionLine,
    ForcedLine,
    ForfeitLine,
    Line,
    MatchEndedLine,
    RecordError,
    RecordLines,
)

_REASONS: Final = frozenset(reason.value for reason in Reason)
_TIME_UP: Final = "time_up"
_NO_ACTION: Final = ("malformed", "bad_index", "plan_too_long")
"""Answers of which the record keeps words only."""
_PLAN_PAST_TURN: Final = "plan_past_turn"
_LONGEST_ACTION: Final = 200
"""Characters; thirteen wild cards with their meanings are half of it."""


@dataclass(frozen=True, slots=True)
class Step:
    """A line played: what happened by it, and what each seat (and last, a spectator) may know."""

    number: int
    """Of the line in the file, from 1."""
    line: Line | MatchEndedLine | None
    """None: the header, after which the first deal is dealt."""
    events: Sequence[Event]
    observations: tuple[Observation, ...]


@dataclass(slots=True)
class _Seat:
    clock: SeatClock
    decision_id: int = 0
    allowance: object = None
    illegal_strikes: int = 0
    time_strikes: int = 0


def replay(record: RecordLines) -> Iterator[Step]:
    """All lines played again, one by one. Raises RecordError at the first that does not follow."""
    return Replay(record).steps()


class Replay:
    """A match as far as it has been played again: `game` and clocks stand after the last step."""

    def __init__(self, record: RecordLines) -> None:
        header = record.header
        seats = len(header.bots)
        self._record = record
        suits = own_suits(record.end.salt) if header.has_own_suits else SAME_SUITS
        self.game = RummyGame(header.rules, seats, record.end.secret, header.first_dealer, suits)
        self._seats = [_Seat(SeatClock(header.time_control)) for _ in range(seats)]
        self._totals = (0,) * seats
        self._number = 1
        self._forfeits: list[int] = []
        self._must_forfeit: tuple[int, Forfeit] | None = None
        self._lost: int | None = None
        """Seat whose decision has just ended without a connection and without time to come back."""
        self._not_ready: int | None = None
        """The last seat that was not ready in time: they forfeit together, in order."""
        self._has_begun = False
        self._is_over = False

    def _refuse(self, text: str) -> RecordError:
        return RecordError(self._number, text)

    def clock_of(self, seat: int) -> SeatClock:
        """The clock of a seat as the next decision finds it; it is the caller's own."""
        mine = self._seats[seat]
        clock = copy(mine.clock)
        if self.game.allowance != mine.allowance:
            clock.grant()
        return clock

    def steps(self) -> Iterator[Step]:
        """Play all lines, one by one. Raises RecordError at the first that does not follow."""
        header, end = self._record.header, self._record.end
        if commitment(end.salt, end.secret) != header.commitment:
            last = len(self._record.lines) + 2
            raise RecordError(last, "salt and secret do not make the commitment of line 1")
        yield self._step(None, self.game.start())
        for line in self._record.lines:
            self._number += 1
            yield self._step(line, self._play(line))
        self._number += 1
        self._check_end(end)
        yield self._step(end, ())

    def _step(self, line: Line | MatchEndedLine | None, events: Sequence[Event]) -> Step:
        viewers = [*range(len(self._seats)), None]
        return Step(self._number, line, events, tuple(map(self.game.observe, viewers)))

    def _play(self, line: Line) -> Sequence[Event]:
        if self._is_over:
            raise self._refuse("the match was over before this line")
        lost, self._lost = self._lost, None
        if isinstance(line, ForfeitLine):
            self._forfeit(line, lost)
            return ()
        if self._must_forfeit:
            seat, fault = self._must_forfeit
            raise self._refuse(f"seat {seat} had to forfeit ({fault.value}) before this line")
        self._has_begun = True
        if isinstance(line, DealEndedLine):
            return self._end_deal(line)
        to_act = self.game.to_act
        if line.seat != to_act:
            expected = "the deal is over" if to_act is None else f"seat {to_act} is to act"
            raise self._refuse(f"seat {line.seat} acts: {expected}")
        if line.deal != self.game.deal:
            raise self._refuse(f"deal is {line.deal}: deal {self.game.deal} is being played")
        has_forfeited = line.seat in self._forfeits
        if isinstance(line, ForcedLine):
            if not has_forfeited:
                raise self._refuse(f"seat {line.seat} is played for, and has not forfeited")
            return self._forced(line.seat, line.actions)
        if has_forfeited:
            raise self._refuse(f"seat {line.seat} acts, and has forfeited")
        return self._decide(line)

    # --- one decision -------------------------------------------------------------------------

    def _decide(self, line: DecisionLine) -> Sequence[Event]:
        seat = self._seats[line.seat]
        seat.decision_id += 1
        if line.decision_id != seat.decision_id:
            raise self._refuse(f"id is {line.decision_id}: this is decision {seat.decision_id}")
        self._charge(seat, line)
        events = self._planned(line.seat, line.actions)
        if line.rejected:
            self._strike(seat, line)
        if self._must_forfeit is None and line.rejected == _TIME_UP:
            return [*events, *self._forced(line.seat, line.forced)]
        if line.forced:
            raise self._refuse("forced actions are there, and the time was not up or the seat lost")
        return events

    def _charge(self, seat: _Seat, line: DecisionLine) -> None:
        """Book the time, and see that it was judged rightly."""
        clock, allowance = seat.clock, self.game.allowance
        if allowance != seat.allowance:
            seat.allowance = allowance
            clock.grant()
        budget_us = clock.budget_us(with_reconnect=line.was_away)
        clock.charge(line.charged_us, line.forgiven_us, with_reconnect=line.was_away)
        is_spent = line.charged_us >= budget_us
        grace_us = AFTER_STALL_US if line.forgiven_us else LOOK_AGAIN_US
        is_late = line.charged_us > budget_us + grace_us
        spent = f"{line.charged_us} µs of {budget_us} µs"
        if line.rejected == _TIME_UP:
            if not is_spent:
                raise self._refuse(f"the time was not up: {spent} were charged")
            return
        if line.was_away and is_spent and not line.actions and not line.rejected:
            self._lost = line.seat
        if is_late:
            if self._lost is None:
                raise self._refuse(f"the time was up: {spent} were charged")
            self._must_forfeit = line.seat, Forfeit.DISCONNECT

    def _strike(self, seat: _Seat, line: DecisionLine) -> None:
        header = self._record.header
        if line.rejected == _TIME_UP:
            if line.actions or line.tried:
                raise self._refuse("the time was up, and yet actions were played or tried")
            seat.time_strikes += 1
            if seat.time_strikes > header.time_tolerated:
                self._must_forfeit = line.seat, Forfeit.TIME
            return
        self._check_refusal(line)
        seat.illegal_strikes += 1
        if seat.illegal_strikes > header.illegal_tolerated:
            self._must_forfeit = line.seat, Forfeit.ILLEGAL

    def _check_refusal(self, line: DecisionLine) -> None:
        """What was tried must be refused for the same reason again; what was no action stands."""
        game = self.game
        is_past = game.to_act != line.seat
        if is_past != (line.rejected == _PLAN_PAST_TURN):
            was = "was" if is_past else "was not"
            raise self._refuse(f"rejected is {line.rejected!r}: the turn {was} over")
        if line.rejected in _NO_ACTION:
            if line.actions:
                raise self._refuse(f"rejected is {line.rejected!r}: then nothing can be played")
        elif line.rejected in _REASONS:
            reason = game.violation(line.seat, self._action(line.tried))
            if reason is None or reason.value != line.rejected:
                found = "it is legal" if reason is None else f"the engine says {reason.value}"
                raise self._refuse(f"{line.tried!r} was rejected as {line.rejected}: {found}")
        elif is_past:
            self._action(line.tried)
        else:
            raise self._refuse(f"rejected is {line.rejected!r}: there is no such reason")

    def _planned(self, seat: int, actions: Sequence[str]) -> list[Event]:
        game = self.game
        events: list[Event] = []
        for text in actions:
            if game.to_act != seat:
                raise self._refuse(f"{text!r} comes after the end of the turn")
            try:
                events += game.apply(self._action(text))
            except IllegalAction as error:
                raise self._refuse(f"{text!r} is not legal: {error.reason.value}") from None
        return events

    def _action(self, text: str) -> Action:
        if len(text) > _LONGEST_ACTION:
            raise self._refuse(f"an action has {len(text)} characters: most are {_LONGEST_ACTION}")
        try:
            action = parse_action(text)
        except MalformedAction as error:
            raise self._refuse(str(error)) from None
        if self.game.text_of(action) != text:
            raise self._refuse(f"{text!r} is written {self.game.text_of(action)!r}")
        return action

    def _forced(self, seat: int, actions: Sequence[str]) -> list[Event]:
        """Forced actions go on to the end of the turn."""
        game = self.game
        events: list[Event] = []
        left = list(actions)
        while game.to_act == seat:
            action = game.forced_action()
            if not left or left[0] != game.text_of(action):
                found = repr(left[0]) if left else "nothing"
                raise self._refuse(f"the forced action is {game.text_of(action)!r}, not {found}")
            del left[0]
            events += game.apply(action)
        if left:
            raise self._refuse(f"{left[0]!r} comes after the end of the turn")
        return events

    # --- ends ---------------------------------------------------------------------------------

    def _forfeit(self, line: ForfeitLine, lost: int | None) -> None:
        must, self._must_forfeit = self._must_forfeit, None
        if line.seat >= len(self._seats) or line.seat in self._forfeits:
            raise self._refuse(f"seat {line.seat} cannot forfeit")
        if must and must != (line.seat, line.fault):
            raise self._refuse(f"seat {must[0]} had to forfeit ({must[1].value})")
        if not must and line.fault in (Forfeit.ILLEGAL, Forfeit.TIME):
            raise self._refuse(f"seat {line.seat} had strikes left")
        if line.fault is Forfeit.DISCONNECT and line.seat != lost:
            raise self._refuse(f"seat {line.seat} had time left to come back")
        if line.fault is Forfeit.STARTUP:
            self._startup(line.seat)
        elif self._not_ready is not None:
            self._has_begun = True
        self._forfeits.append(line.seat)
        self._is_over = len(self._seats) - len(self._forfeits) < 2

    def _startup(self, seat: int) -> None:
        if self._has_begun:
            raise self._refuse(f"seat {seat} was ready: the match had begun")
        if self._not_ready is not None and seat < self._not_ready:
            raise self._refuse(f"seat {seat} forfeits before seat {self._not_ready}")
        self._not_ready = seat

    def _end_deal(self, line: DealEndedLine) -> Sequence[Event]:
        game = self.game
        if game.to_act is not None:
            raise self._refuse(f"the deal is not over: seat {game.to_act} is to act")
        score = game.deal_score()
        assert score.termination is not None, "the deal is over"
        for name, found, right in (
            ("deal", line.deal, game.deal),
            ("ended", line.ended, score.termination.value),
            ("winner", line.winner, score.winner),
            ("points", line.points, score.points),
            ("totals", line.totals, score.totals),
        ):
            if found != right:
                raise self._refuse(f"{name} is {_plain(found)}: it must be {_plain(right)}")
        self._totals = score.totals
        self._is_over = game.standing().over
        return () if self._is_over else game.next_deal()

    def _check_end(self, end: MatchEndedLine) -> None:
        aborted = Termination.ABORTED, (0,) * len(self._seats)
        is_aborted = end.termination is Termination.ABORTED
        termination, places = aborted if is_aborted else self._outcome()
        for name, found, right in (
            ("termination", end.termination.value, termination.value),
            ("places", end.places, places),
            ("totals", end.totals, self._totals),
        ):
            if found != right:
                raise self._refuse(f"{name} is {_plain(found)}: it must be {_plain(right)}")

    def _outcome(self) -> tuple[Termination, tuple[int, ...]]:
        """What the end must be by the lines before it."""
        seats = len(self._seats)
        if seats - len(self._forfeits) < 2:
            return Termination.FORFEIT, final_places([1] * seats, self._forfeits)
        if self._is_over:
            standing = self.game.standing()
            assert standing.places is not None, "a match that is over has places"
            ended = Termination.ADJUDICATED if standing.capped else Termination.COMPLETED
            return ended, final_places(standing.places, self._forfeits)
        if not self._has_begun and self._not_ready is None:
            return Termination.NOT_STARTED, (0,) * seats
        raise self._refuse("the match was not over")


def _plain(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else repr(value)
