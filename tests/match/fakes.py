"""Stand-ins for what surrounds a match: a clock moved by hand, players that only take notes."""

import heapq
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from referee.engine.actions import Action
from referee.engine.cards import Card
from referee.engine.events import Event
from referee.engine.game import RummyGame
from referee.engine.presets import make_ruleset
from referee.match.outcome import MatchResult
from referee.match.policy import Policy
from referee.match.runner import Match
from referee.match.seat_player import Choice, Decision, Rejected
from referee.match.spec import MatchSpec, SeatSpec, TimeControl


class FakeTimer:
    """A call that is due on a `FakeClock`."""

    def __init__(self, when_us: int, callback: Callable[[], None]) -> None:
        self.when_us = when_us
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        """Forget it."""
        self.is_cancelled = True


class FakeClock:
    """Time passes only by `advance`, `stall` and `oversleep`."""

    def __init__(self, now_us: int = 1_000_000) -> None:
        self._now_us = now_us
        self._stalls: list[tuple[int, int]] = []
        self._timers: list[tuple[int, int, FakeTimer]] = []
        self._numbers = itertools.count()

    def now_us(self) -> int:
        """Microseconds, as set."""
        return self._now_us

    def stalled_us(self, since_us: int, until_us: int) -> int:
        """Overlap with the stalls so far."""
        overlaps = (min(end, until_us) - max(begin, since_us) for begin, end in self._stalls)
        return sum(overlap for overlap in overlaps if overlap > 0)

    def call_at(self, when_us: int, callback: Callable[[], None]) -> FakeTimer:
        """Call back once time has come there, never at once."""
        timer = FakeTimer(when_us, callback)
        heapq.heappush(self._timers, (when_us, next(self._numbers), timer))
        return timer

    def advance(self, milliseconds: float) -> None:
        """Let time pass; each timer is called at its moment."""
        target_us = self._now_us + round(milliseconds * 1_000)
        while self._timers and self._timers[0][0] <= target_us:
            when_us, _, timer = heapq.heappop(self._timers)
            self._now_us = max(self._now_us, when_us)
            if not timer.is_cancelled:
                timer.callback()
        self._now_us = target_us

    def stall(self, milliseconds: float) -> None:
        """Stand still, and know it; timers that fell due wait for the next `advance`."""
        begin_us = self._now_us
        self._now_us += round(milliseconds * 1_000)
        self._stalls.append((begin_us, self._now_us))

    def oversleep(self, milliseconds: float) -> None:
        """Stand still without noticing; timers that fell due wait for the next `advance`."""
        self._now_us += round(milliseconds * 1_000)

    @property
    def pending(self) -> int:
        """Timers that are still to be called."""
        return sum(not timer.is_cancelled for _, _, timer in self._timers)


class ScriptedPlayer:
    """A seat player that collects what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []
        """Everything in order: "starting", updates, rejections, results."""
        self.updates: list[tuple[int, list[Event], Decision | None]] = []
        self.rejections: list[Rejected] = []
        self.results: list[MatchResult] = []
        self.starts = 0

    def match_starting(self) -> None:
        """Take note."""
        self.starts += 1
        self.told.append("starting")

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Take note."""
        told = (first_event_number, list(events), decision)
        self.updates.append(told)
        self.told.append(told)

    def rejected(self, rejected: Rejected) -> None:
        """Take note."""
        self.rejections.append(rejected)
        self.told.append(rejected)

    def match_ended(self, result: MatchResult) -> None:
        """Take note."""
        self.results.append(result)
        self.told.append(result)

    @property
    def decision(self) -> Decision:
        """The last decision."""
        return next(one for _, _, one in reversed(self.updates) if one is not None)

    @property
    def decisions(self) -> list[Decision]:
        """All decisions."""
        return [one for _, _, one in self.updates if one is not None]

    @property
    def events(self) -> dict[int, Event]:
        """All events by number. Fails when a number comes back with another event."""
        found: dict[int, Event] = {}
        for first, events, _ in self.updates:
            for number, event in enumerate(events, first):
                assert found.setdefault(number, event) is event, f"event {number} changed"
        return found


def secret_of(seed: int) -> bytes:
    """A secret of 32 bytes for a test."""
    return sha256(f"test {seed}".encode()).digest()


def make_spec(
    seats: int = 2,
    preset: str = "basic",
    overrides: Mapping[str, object] | None = None,
    *,
    seed: int = 1,
    control: TimeControl | None = None,
    match_id: str = "m-1",
    first_dealer: int = 0,
) -> MatchSpec:
    """A match of bots `bot0`, `bot1`, …."""
    return MatchSpec(
        match_id=match_id,
        rules=make_ruleset(preset, overrides),
        seats=tuple(
            SeatSpec(f"bot{seat}", f"1.{seat}", secret_of(1_000 + seat)) for seat in range(seats)
        ),
        secret=secret_of(seed),
        salt=secret_of(-seed),
        first_dealer=first_dealer,
        time_control=control or TimeControl(),
    )


class Table:
    """A match with everything around it. The first seat to act is `first`."""

    def __init__(self, spec: MatchSpec | None = None, *, policy: Policy | None = None) -> None:
        self.spec = spec or make_spec()
        self.clock = FakeClock()
        self.results: list[MatchResult] = []
        self.faults: list[Exception] = []
        """Failures of the match itself."""
        self.may_fault = False
        """Whether the test wants them; otherwise they are raised."""
        seats = len(self.spec.seats)
        self.players = [ScriptedPlayer() for _ in range(seats)]
        spec = self.spec
        self.game = RummyGame(spec.rules, seats, spec.secret, spec.first_dealer, spec.suits)
        self.match = Match(
            self.spec,
            self.game,
            self.players,
            self.clock,
            self.results.append,
            self._fault,
            policy or Policy(),
        )

    def _fault(self, error: Exception) -> None:
        self.faults.append(error)
        if not self.may_fault:
            raise error

    @property
    def turn(self) -> int:
        """The seat that is to act."""
        seat = self.game.to_act
        assert seat is not None, "the deal is over"
        return seat

    @property
    def player(self) -> ScriptedPlayer:
        """The player of the seat that is to act."""
        return self.players[self.turn]

    @property
    def result(self) -> MatchResult:
        """The result, told exactly once to everybody."""
        assert len(self.results) == 1, f"{len(self.results)} results"
        assert all(player.results == self.results for player in self.players)
        assert self.clock.pending == 0, "timers are left"
        return self.results[0]

    @property
    def places(self) -> tuple[int, ...]:
        """Places of the result, by seat."""
        return tuple(seat.place for seat in self.result.seats)

    @property
    def forfeits(self) -> tuple[str | None, ...]:
        """Forfeits of the result, by seat."""
        return tuple(seat.forfeit and seat.forfeit.value for seat in self.result.seats)

    @property
    def is_over(self) -> bool:
        """Whether there is a result."""
        return bool(self.results)

    def begin(self) -> "Table":
        """Start; every seat is ready at once."""
        self.match.start()
        for seat in range(len(self.players)):
            self.match.ready(seat)
        return self

    def choose(self, choice: Choice, *, seat: int | None = None) -> None:
        """Answer the pending decision of a seat: by default the one that is to act."""
        number = self.turn if seat is None else seat
        self.match.choose(number, self.players[number].decision.decision_id, choice)

    def plan(self, *actions: Action) -> None:
        """Answer with a plan."""
        self.choose(Choice(plan=actions))

    def illegal(self) -> None:
        """Answer with an index that does not exist: a strike."""
        self.choose(Choice(index=10_000))

    def play(self) -> None:
        """Answer with what would be forced."""
        self.plan(self.game.forced_action())

    def play_turn(self) -> None:
        """Answer until the turn is over."""
        seat = self.turn
        while not self.is_over and self.game.to_act == seat:
            self.play()

    def play_until_turn_of(self, seat: int) -> None:
        """Let the others play; a match that ends before is a fault of the test."""
        while self.turn != seat:
            self.play_turn()

    def own_card(self) -> Card:
        """A card of the seat to act."""
        return (
            self.game.state.hands[self.turn] & -self.game.state.hands[self.turn]
        ).bit_length() - 1


def lines_of(record: bytes) -> list[dict[str, Any]]:
    """The lines of a record."""
    return [json.loads(line) for line in record.splitlines()]
