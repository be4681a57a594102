"""Two matches side by side that differ in all that one viewer may not know, at every step.

The twin has other decks, other randomness, other clocks and strikes of the other seats from the
start, and before each step the cards that the viewer cannot see are exchanged anew. What is done
in public is the same at the same moments, so the viewer must be told the same at the same moments.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from referee.engine.actions import Action
from referee.engine.cards import Card, Cards, cards_of, multiset, remove_all
from referee.engine.events import DealStarted, Event
from referee.engine.game import RummyGame
from referee.engine.observation import view
from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.engine.shuffle import SeededShuffler
from referee.engine.state import Out, Phase, State
from referee.match.outcome import MatchResult
from referee.match.policy import Policy
from referee.match.runner import Match
from referee.match.seat import Seat
from referee.match.seat_player import Choice, Decision, Rejected
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.codec import event_bytes, observation_bytes
from referee.service.messages import MatchMessages
from referee.service.spectators import EventLog
from tests.engine.random_rules import random_rules
from tests.match.fakes import FakeClock

Viewer = int | None
"""A seat, or None for a spectator."""
POLICY: Final = Policy(
    illegal_strikes_tolerated=10**6,
    time_strikes_tolerated=10**6,
    most_forgiven_us_per_decision=10**12,
    most_forgiven_us_per_match=10**12,
)
"""What the twin's other seats do more than the first one's must not end the match."""
CONTROL: Final = TimeControl(per_decision_ms=1_000, bank_ms=3_000, match_cap_ms=86_400_000)


class CommittedSpec(MatchSpec):
    """The decks are hidden behind a commitment that is held fixed."""

    __slots__ = ()

    @property
    def commitment(self) -> bytes:
        """The same whatever the secret is."""
        return bytes(range(32))


# --- cards --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What stays as it is when hidden cards are exchanged."""

    seat: int = 0
    """Whose cards below stay."""
    cards: Cards = 0
    top: bool = False
    """The next card of the stock stays."""
    all_hands: bool = False


def exchange(state: State, viewer: Viewer, chance: random.Random, kept: Kept) -> State:
    """A state that looks the same to the viewer, with the other hands and the stock dealt anew."""
    twin = state.copy()
    stays = state.stock[-1:] if kept.top else []
    pool = state.stock[: len(state.stock) - len(stays)]
    hands: list[tuple[int, Cards, int]] = []
    if not kept.all_hands:
        for seat, hand in enumerate(state.hands):
            if seat != viewer and hand:
                held = kept.cards if seat == kept.seat else 0
                free = cards_of(remove_all(hand, held) if held else hand)
                hands.append((seat, held, len(free)))
                pool += free
    chance.shuffle(pool)
    for seat, held, size in hands:
        dealt = pool[:size]
        del pool[:size]
        twin.hands[seat] = multiset([*cards_of(held), *dealt] if held else dealt)
    twin.stock = pool + stays
    return twin


class LeadGame(RummyGame):
    """Keeps every deal as it was dealt, and what has happened."""

    def __init__(self, spec: MatchSpec) -> None:
        self.dealt: dict[int, tuple[State, list[Event]]] = {}
        self.happened: list[Event] = []
        super().__init__(spec.rules, len(spec.seats), spec.secret, spec.first_dealer)

    def _deal(
        self, deal: int, dealer: int, totals: Sequence[int], out: Out
    ) -> tuple[State, list[Event]]:
        state, events = self._make_deal(deal, dealer, totals, out)
        self.happened += events
        return state, events

    def _make_deal(
        self, deal: int, dealer: int, totals: Sequence[int], out: Out
    ) -> tuple[State, list[Event]]:
        state, events = super()._deal(deal, dealer, totals, out)
        self.dealt[deal] = state.copy(), events
        return state, events

    def apply(self, action: Action) -> list[Event]:
        """Play it and take note."""
        events = super().apply(action)
        self.happened += events
        return events


class TwinGame(LeadGame):
    """Deals as the other game did, but for what the viewer cannot see."""

    def __init__(self, spec: MatchSpec, leader: LeadGame, viewer: Viewer, seed: bytes) -> None:
        self._leader = leader
        self._viewer = viewer
        self._chance = random.Random(seed)
        self.other_shuffler = SeededShuffler(seed)
        super().__init__(spec)

    def _make_deal(
        self, deal: int, dealer: int, totals: Sequence[int], out: Out
    ) -> tuple[State, list[Event]]:
        state, (started, *others) = self._leader.dealt[deal]
        assert (state.dealer, state.totals, state.out) == (dealer, tuple(totals), out)
        assert isinstance(started, DealStarted)
        # A deal that ended at once has shown all hands.
        kept = Kept(all_hands=state.phase is Phase.OVER)
        twin = exchange(state, self._viewer, self._chance, kept)
        return twin, [replace(started, hands=tuple(twin.hands)), *others]


# --- the match around them ----------------------------------------------------------------------


class TwinClock(FakeClock):
    """Time that has passed can turn out to have been a stall: no timer was late for it."""

    def forgive(self, since_us: int, until_us: int) -> None:
        """The referee stood still in this span."""
        self._stalls = [(since_us, until_us)]


Feed = list[tuple[int, bytes]]
"""What a viewer was sent, and when."""


class Seated:
    """A seat player that keeps its last decision, and for the viewer all that goes to its bot."""

    def __init__(self, world: "World", number: int) -> None:
        self._world = world
        self._number = number
        self._is_watched = number == world.viewer
        self.decision: Decision | None = None

    def _send(self, message: bytes) -> None:
        self._world.feed.append((self._world.clock.now_us(), message))

    def match_starting(self) -> None:
        """Write it down."""
        if self._is_watched:
            self._send(self._world.messages.match_starting(self._number))

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Write it down."""
        if decision is not None:
            self.decision = decision
        if self._is_watched:
            number = self._number
            self._send(self._world.messages.update(number, first_event_number, events, decision))

    def rejected(self, rejected: Rejected) -> None:
        """Write it down."""
        if self._is_watched:
            self._send(self._world.messages.rejected(rejected))

    def match_ended(self, result: MatchResult) -> None:
        """Write it down, without what is told of the others' clocks after the end."""
        if self._is_watched:
            seats = tuple(
                one if number == self._number else replace(one, charged_us=0)
                for number, one in enumerate(result.seats)
            )
            told = replace(result, seats=seats, record_hash=b"")
            self._send(self._world.messages.match_ended(told))


class Spectator:
    """Whatever a spectator is sent of a match, in any way that there is. Add further ways here."""

    def __init__(self, match: Match, game: LeadGame) -> None:
        self._game = game
        self._log = EventLog()
        self._log.follow(match)
        self._told = 0

    def take(self) -> Iterator[bytes]:
        """What is new: as the engine allows it to be seen, and as it is written to a watcher."""
        for event in self._game.happened:
            yield event_bytes(view(event, None))
        yield observation_bytes(self._game.observe(None))
        while self._told < self._log.last:
            message, self._told = self._log.update(self._told, whole=False)
            yield message


def _raise(error: Exception) -> None:
    raise error


class World:
    """One of the two matches."""

    def __init__(self, spec: MatchSpec, game: LeadGame, viewer: Viewer) -> None:
        self.viewer = viewer
        self.clock = TwinClock()
        self.feed: Feed = []
        self.spec = spec
        self.messages = MatchMessages(spec, POLICY)
        self.game = game
        self.players = [Seated(self, number) for number in range(len(spec.seats))]
        self.match = Match(
            spec, game, self.players, self.clock, lambda _: None, _raise, policy=POLICY
        )
        self._spectator = Spectator(self.match, game)
        self.match.start()

    def begin(self) -> None:
        """Every seat is ready."""
        for number in range(len(self.players)):
            self.match.ready(number)

    def choose(self, seat: int, choice: Choice, *, late: int = 0) -> None:
        """Answer the last decision of a seat, or one `late` before it, or one that never was."""
        decision = self.players[seat].decision
        decision_id = decision.decision_id if decision else 1
        self.match.choose(seat, decision_id - late, choice)

    def take(self) -> Feed:
        """What the viewer was sent since the last time."""
        if self.viewer is None:
            now = self.clock.now_us()
            self.feed += [(now, told) for told in self._spectator.take()]
        self.game.happened.clear()
        found, self.feed = self.feed, []
        return found


_TIGHT: Final = {
    "hand_size": {str(seats): 3 for seats in range(2, 7)},
    "go_out": "must_discard",
    "same_card_discard": "forbidden",
    "recycle": "flip",
    "recycle_trigger": "on_stock_draw",
    "recycle_keeps_upcard": True,
}
"""Few cards, and little that may be done with the last of them."""


def _random_rules(chance: random.Random, preset: str, seats: int) -> RuleSet:
    """Of a preset: as it is, with any options, or so that turns get stuck easily."""
    kind = chance.random()
    if kind < 0.25:
        return make_ruleset(preset)
    rules, overrides = random_rules(chance, preset, seats)
    if kind < 0.85:
        return rules
    try:
        return make_ruleset(preset, {**overrides, **_TIGHT})
    except RuleSetError:
        return rules


def random_spec(chance: random.Random, preset: str, seats: int) -> MatchSpec:
    """A match under random rules of a preset."""
    return CommittedSpec(
        match_id="m-1",
        rules=_random_rules(chance, preset, seats),
        seats=tuple(SeatSpec(f"bot{seat}", "1", chance.randbytes(32)) for seat in range(seats)),
        secret=chance.randbytes(32),
        salt=chance.randbytes(32),
        first_dealer=chance.randrange(seats),
        time_control=CONTROL,
    )


def twin_spec(spec: MatchSpec, viewer: Viewer, chance: random.Random) -> MatchSpec:
    """The match as it may also be, for all that the viewer knows before it."""
    seats = tuple(
        one if number == viewer else replace(one, randomness=chance.randbytes(32))
        for number, one in enumerate(spec.seats)
    )
    return replace(spec, seats=seats, secret=chance.randbytes(32), salt=chance.randbytes(32))


def disturb(seat: Seat, chance: random.Random) -> None:
    """Give a seat another past: refusals, strikes, and time that was charged or forgiven."""
    seat.decision_id = chance.randrange(500)
    seat.illegal_strikes = chance.randrange(50)
    seat.time_strikes = chance.randrange(50)
    clock = seat.clock
    clock.bank_left_us = chance.randrange(1_000_000, 3_000_000)
    clock.reconnect_left_us = chance.randrange(1_000_000, 30_000_000)
    clock.charged_us = chance.randrange(50_000_000)
    clock.last_charged_us = chance.randrange(1_000_000)
    clock.last_forgiven_us = chance.randrange(1_000_000)


def same_budget(lead: Match, twin: Match, number: int) -> None:
    """Let a seat's time be up at the same moment in both: that moment is public."""
    one, other = lead.seats[number], twin.seats[number]
    other.was_away = one.was_away
    for name in ("decision_left_us", "bank_left_us", "reconnect_left_us"):
        setattr(other.clock, name, getattr(one.clock, name))
    twin._deadline.budget_changed()


def hidden_last(state: State, chance: random.Random) -> Card | None:
    """A card of the stock that can take the place of a last discard that lies face down."""
    free = [card for card in state.stock if card != state.taken]
    return chance.choice(free) if free else None
