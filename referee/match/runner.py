"""One match as a state machine: told what arrives and when, it tells the players what follows.

It never waits and never asks for the time itself: a clock is handed in. Whatever happens to a
connection, the deal and the match go on from their own state.
"""

from collections.abc import Callable, Sequence
from typing import Final

from referee.engine.actions import Action, IllegalAction
from referee.engine.events import Event
from referee.engine.observation import Observation
from referee.match.clock import Clock, SeatClock, Timer
from referee.match.deadline import Deadline
from referee.match.game import Game
from referee.match.guard import entry
from referee.match.news import News
from referee.match.outcome import FAULTS, Forfeit, MatchResult, Termination
from referee.match.policy import Policy, final_places
from referee.match.record import Decided, Record
from referee.match.seat import Seat
from referee.match.seat_player import Choice, Decision, Refusal, SeatPlayer, plan_of
from referee.match.spec import MatchSpec

_TIME_UP: Final = Refusal("time_up", "", "")


class Match:
    """One match from `start` to `result`. Every method returns at once, and none raises."""

    __slots__ = (
        "_clock", "_deadline", "_deals_ended", "_forfeits", "_forgiven_us", "_game",
        "_legal_actions", "_news", "_on_end", "_on_fault", "_playing", "_record", "_spent_us",
        "_startup", "_to_act", "_totals", "policy", "result", "seats", "spec",
    )  # fmt: skip

    def __init__(
        self,
        spec: MatchSpec,
        game: Game,
        players: Sequence[SeatPlayer],
        clock: Clock,
        on_end: Callable[[MatchResult], None],
        on_fault: Callable[[Exception], None],
        policy: Policy = Policy(),  # noqa: B008 - frozen
    ) -> None:
        self.spec = spec
        self.policy = policy
        self.result: MatchResult | None = None
        self.seats = [
            Seat(number, player, SeatClock(spec.time_control))
            for number, player in enumerate(players)
        ]
        self._game = game
        self._clock = clock
        self._on_end = on_end
        self._on_fault = on_fault
        self._record = Record(spec, policy)
        self._totals = [0] * len(players)
        self._forgiven_us = self._spent_us = 0
        self._deals_ended = 0
        self._forfeits: list[int] = []
        self._to_act: Seat | None = None
        """The seat whose last decision is pending."""
        self._legal_actions: Sequence[Action] = ()
        """As the pending decision listed them."""
        self._deadline = Deadline(clock, self._budget_us, self._expired)
        self._playing = False
        self._startup: Timer | None = None
        self._news = News(self.seats, clock, policy.flush_after_us, self._news_are_due)

    def watch(self, watcher: Callable[[Sequence[Event]], None]) -> None:
        """Before `start`: call back with whole events as they happen. It must not raise."""
        self._news.watcher = watcher

    def observe(self, seat: int | None) -> Observation:
        """What a seat (None: a spectator) may know now."""
        return self._game.observe(seat)

    # --- beginning ------------------------------------------------------------------------------

    @entry
    def start(self) -> None:
        """Tell the players; they have the startup time to get ready."""
        if self.result is not None:
            return
        due_us = self._clock.now_us() + self.spec.time_control.startup_ms * 1_000
        self._startup = self._clock.call_at(due_us, self._begin)
        for seat in self.seats:
            seat.player.match_starting()

    @entry
    def ready(self, number: int) -> None:
        """A seat is prepared. Saying so again changes nothing."""
        self.seats[number].is_ready = True
        self._begin_if_settled()

    @entry
    def absent(self, number: int, why: str) -> None:
        """A seat will not get ready: its process is gone."""
        seat = self.seats[number]
        seat.is_absent = True
        seat.trouble = why
        self._begin_if_settled()

    def _begin_if_settled(self) -> None:
        if all(seat.is_ready or seat.is_absent for seat in self.seats):
            self._begin()

    @entry
    def _begin(self) -> None:
        """Deal. Whoever is not ready by now has forfeited."""
        if self._playing or self.result is not None:
            return
        self._playing = True
        if self._startup is not None:
            self._startup.cancel()
        playing = [seat for seat in self.seats if seat.forfeit is None]
        if not any(seat.is_ready for seat in playing):
            self._finish(Termination.NOT_STARTED, "no seat was ready in time")
            return
        for seat in playing:
            if not seat.is_ready:
                self._forfeit(seat, Forfeit.STARTUP)
        if self.result is None:
            self._news.add(self._game.start())
            self._advance()

    # --- the loop -------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Go on to the next decision, over deal ends and seats that the referee plays for."""
        game = self._game
        while self.result is None:
            number = game.to_act
            if number is None:
                self._end_deal()
                continue
            seat = self.seats[number]
            if seat.forfeit is None:
                self._ask(seat)
                return
            self._play_forced(seat)

    def _ask(self, seat: Seat) -> None:
        """Put the next decision to a seat, with all that it has not seen yet."""
        game = self._game
        allowance = game.allowance
        if allowance != seat.allowance:
            seat.allowance = allowance
            seat.clock.grant()
        seat.was_away = not seat.is_connected
        seat.decision_id += 1
        decision = self._decision(seat)
        self._to_act, self._legal_actions = seat, decision.legal_actions
        self._deadline.begin()
        self._news.tell(seat, decision)

    def _decision(self, seat: Seat, spent_us: int = 0) -> Decision:
        """What a seat is to decide now. It is made to be told; all that lasts is in the game."""
        game = self._game
        legal, is_complete = game.some_legal_actions(self.policy.most_wild_actions)
        observation = game.observe(seat.number)
        return Decision(seat.decision_id, observation, legal, is_complete, seat.clock, spent_us)

    @entry
    def _news_are_due(self) -> None:
        if self.result is None:
            self._news.tell_waiting()

    def _end_deal(self) -> None:
        game = self._game
        score, standing = game.deal_score(), game.standing()
        self._deals_ended += 1
        self._totals = list(score.totals)
        self._record.deal_ended(game.deal, score)
        self._news.tell_all()
        self._news.begin_deal()
        if standing.over:
            assert standing.places is not None, "a match that is over has places"
            if standing.capped:
                text = f"the cap of {game.deal} deals was reached"
                self._finish(Termination.ADJUDICATED, text, standing.places)
            else:
                self._finish(Termination.COMPLETED, "played to its end", standing.places)
            return
        self._news.add(game.next_deal())

    def _play_forced(self, seat: Seat) -> list[str]:
        """Play the rest of a seat's turn for it; returns the actions as text."""
        played = []
        while self._game.to_act == seat.number:
            action = self._game.forced_action()
            played.append(self._game.text_of(action))
            self._news.add(self._game.apply(action))
        if seat.forfeit is not None:
            self._record.forced(seat.number, self._game.deal, played)
        return played

    # --- answers --------------------------------------------------------------------------------

    @entry
    def choose(self, number: int, decision_id: int, choice: Choice) -> None:
        """An answer has arrived."""
        seat = self.seats[number]
        is_pending = self._to_act is seat
        if not is_pending or seat.decision_id != decision_id:
            waiting = f"the pending one is {seat.decision_id}" if is_pending else "none is pending"
            text = f"decision {decision_id} is not to be answered: {waiting}"
            seat.reject("stale_decision", text, decision_id=decision_id)
            return
        spent_us, forgiven_us = self._deadline.measure()
        if self._deadline.is_over(spent_us):
            self._time_is_up(seat, spent_us, forgiven_us)
            return
        self._close_decision(seat, spent_us, forgiven_us)
        if self.result is None:
            self._apply_choice(seat, choice)
            self._advance()

    def _close_decision(self, seat: Seat, spent_us: int, forgiven_us: int) -> None:
        self._to_act = None
        self._deadline.end()
        seat.clock.charge(spent_us, forgiven_us, with_reconnect=seat.was_away)
        self._forgiven_us += forgiven_us
        self._spent_us += spent_us
        # Where nothing is forgiven, the part of the match that was has become smaller.
        if forgiven_us and self.policy.is_referees_fault(
            forgiven_us, spent_us, self._forgiven_us, self._spent_us
        ):
            ms, match_ms = forgiven_us // 1000, self._forgiven_us // 1000
            text = f"the referee stood still for {ms} ms of a decision, {match_ms} ms in the match"
            self._finish(Termination.ABORTED, text)

    def _apply_choice(self, seat: Seat, choice: Choice) -> None:
        """Apply a plan as far as it is legal; at most one strike comes of it."""
        plan, refusal = plan_of(choice, self._legal_actions, self.policy.max_plan)
        played: list[str] = []
        for action in plan:
            if self._game.to_act != seat.number:
                text = f"action {len(played) + 1} of {len(plan)} comes after the end of the turn"
                refusal = Refusal("plan_past_turn", self._game.text_of(action), text)
                break
            try:
                events = self._game.apply(action)
            except IllegalAction as error:
                tried = self._game.text_of(action)
                refusal = Refusal(error.reason.value, tried, f"{tried}: {error.reason.value}")
                break
            self._news.add(events)
            played.append(self._game.text_of(action))
        self._record_decision(seat, played, refusal)
        if refusal:
            seat.illegal_strikes += 1
            left = self.policy.illegal_strikes_tolerated - seat.illegal_strikes
            seat.reject(
                refusal.reason,
                refusal.text,
                decision_id=seat.decision_id,
                applied=len(played),
                strikes_left=max(left, 0),
            )
            if left < 0:
                self._forfeit(seat, Forfeit.ILLEGAL)

    def _record_decision(
        self,
        seat: Seat,
        played: Sequence[str],
        refusal: Refusal | None = None,
        forced: Sequence[str] = (),
    ) -> None:
        self._record.decision(
            Decided(
                seat.number,
                seat.decision_id,
                self._game.deal,
                played,
                charged_us=seat.clock.last_charged_us,
                forgiven_us=seat.clock.last_forgiven_us,
                was_away=seat.was_away,
                refusal=refusal,
                forced=forced,
            )
        )

    # --- time -----------------------------------------------------------------------------------

    def _budget_us(self) -> int:
        seat = self._to_act
        return 0 if seat is None else seat.clock.budget_us(with_reconnect=seat.was_away)

    @entry
    def _expired(self, spent_us: int, forgiven_us: int) -> None:
        seat = self._to_act
        assert seat is not None, "a decision that expires is pending"
        if seat.is_connected:
            self._time_is_up(seat, spent_us, forgiven_us)
            return
        self._close_decision(seat, spent_us, forgiven_us)
        if self.result is None:
            self._record_decision(seat, [])
            self._forfeit(seat, Forfeit.DISCONNECT)
            self._advance()

    def _time_is_up(self, seat: Seat, spent_us: int, forgiven_us: int) -> None:
        self._close_decision(seat, spent_us, forgiven_us)
        if self.result is not None:
            return
        seat.time_strikes += 1
        left = self.policy.time_strikes_tolerated - seat.time_strikes
        if left < 0:
            self._record_decision(seat, [], _TIME_UP)
            self._forfeit(seat, Forfeit.TIME)
        else:
            forced = self._play_forced(seat)
            self._record_decision(seat, [], _TIME_UP, forced)
            seat.reject(
                _TIME_UP.reason,
                f"out of time after {spent_us // 1000} ms: the referee played {'; '.join(forced)}",
                decision_id=seat.decision_id,
                strikes_left=left,
            )
        self._advance()

    # --- connections and ends -------------------------------------------------------------------

    @entry
    def connection_lost(self, number: int) -> None:
        """The seat can't be reached. If it is to act, its clock runs on into the reconnect time."""
        seat = self.seats[number]
        seat.is_connected = False
        seat.was_away = True
        seat.lost_us = self._clock.now_us()
        self._deadline.budget_changed()
        playing = [seat for seat in self.seats if seat.forfeit is None]
        if not self._playing or self.result or any(seat.is_connected for seat in playing):
            return
        lost_us = [seat.lost_us for seat in playing]
        if max(lost_us) - min(lost_us) <= self.policy.together_us:
            self._finish(Termination.ABORTED, "the connections of all seats were lost together")

    @entry
    def protocol_broken(self, number: int, why: str) -> None:
        """The seat's session was closed for what it sent: a lost connection, if not repeated."""
        seat = self.seats[number]
        seat.trouble = why
        seat.protocol_faults += 1
        if seat.protocol_faults > self.policy.protocol_faults_tolerated:
            self.forfeit(number, Forfeit.PROTOCOL)
        self.connection_lost(number)

    @entry
    def connection_back(self, number: int) -> None:
        """The seat can be reached again, perhaps by a process that knows nothing of the match.

        It gets the start, the current deal's events under their old numbers, and its decision.
        """
        seat = self.seats[number]
        seat.is_connected = True
        if self.result is not None:
            return
        seat.player.match_starting()
        if self._playing:
            is_pending = self._to_act is seat
            decision = self._decision(seat, self._deadline.measure()[0]) if is_pending else None
            self._news.tell_again(seat, decision)

    @entry
    def forfeit(self, number: int, fault: Forfeit, why: str = "") -> None:
        """The seat has lost the match by a fault outside of play; `why` in words."""
        seat = self.seats[number]
        seat.trouble = seat.trouble or why
        if fault is Forfeit.CRASH and not self._playing and not seat.is_ready:
            self.absent(number, why)
        elif self.result is None and seat.forfeit is None:
            was_to_act = self._to_act is seat
            if was_to_act:
                self._to_act = None
                self._deadline.end()
            self._forfeit(seat, fault)
            if was_to_act:
                self._advance()

    @entry
    def abort(self, text: str) -> None:
        """Nobody's fault: the match ends without a result."""
        if self.result is None:
            self._finish(Termination.ABORTED, text)

    def fault(self, error: Exception) -> None:
        """The referee itself failed: nobody loses by it."""
        self._on_fault(error)
        if self.result is None:
            self._finish(Termination.ABORTED, f"the referee failed ({type(error).__name__})")

    def _forfeit(self, seat: Seat, fault: Forfeit) -> None:
        """Take a seat out of contention; the match goes on if two others are left."""
        seat.forfeit = fault
        seat.is_absent = True
        self._forfeits.append(seat.number)
        self._record.forfeit(seat.number, fault)
        if len(self.seats) - len(self._forfeits) < 2:
            bot = self.spec.seats[seat.number].bot
            text = f"{bot} (seat {seat.number}) {FAULTS[fault]}"
            if seat.trouble:
                text += f": {seat.trouble}"
            self._finish(Termination.FORFEIT, text, [1] * len(self.seats))
        self._begin_if_settled()

    def _finish(
        self, termination: Termination, text: str, standing: Sequence[int] | None = None
    ) -> None:
        if self._startup is not None:
            self._startup.cancel()
        self._deadline.cancel()
        self._news.cancel()
        self._to_act = None
        if standing is None:
            places = (0,) * len(self.seats)
        else:
            places = final_places(standing, self._forfeits)
        self._record.end(self.spec, termination, text, places, self._totals)
        self.result = MatchResult(
            match_id=self.spec.match_id,
            termination=termination,
            text=text,
            seats=tuple(
                seat.result(place, total)
                for seat, place, total in zip(self.seats, places, self._totals, strict=True)
            ),
            deals=self._deals_ended,
            record=self._record.content,
            record_hash=self._record.head,
        )
        for seat in self.seats:
            try:
                self._news.tell(seat)
                seat.player.match_ended(self.result)
            except Exception as error:  # noqa: BLE001 - the others are told all the same
                self._on_fault(error)
        self._on_end(self.result)
