"""Positions, and their twins that differ only in what one seat may not know."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from referee.engine.actions import Action, Verb, discard, lay_off, meld, swap
from referee.engine.cards import Card, Cards, cards_of, multiset, remove_all
from referee.engine.events import DealStarted, Discarded, Drew, Event
from referee.engine.game import RummyGame
from referee.engine.legality import legal_actions
from referee.engine.shuffle import SeededShuffler
from referee.engine.state import Phase, State
from referee.engine.transition import apply, start_deal
from referee.match.policy import Policy
from referee.match.runner import Match
from referee.match.seat_player import Choice, Decision
from referee.match.spec import MatchSpec
from referee.service.messages import MatchMessages
from tests.engine.random_rules import random_rules
from tests.match.fakes import FakeClock, ScriptedPlayer, make_spec


@dataclass(frozen=True)
class Position:
    """A state of a running deal and the last events that led there."""

    case: str
    """What to repeat it by."""
    spec: MatchSpec
    state: State
    events: tuple[Event, ...]


def random_positions(
    seed: str, preset: str, seats: int, number: int, *, hidden: bool = False
) -> Iterator[Position]:
    """Positions out of random play under random rules of a preset."""
    chance = random.Random(f"{seed} {preset} {seats}")
    found = 0
    while found < number:
        rules, overrides = random_rules(chance, preset, seats)
        if chance.random() < 0.3:
            overrides = {}
        if hidden:
            overrides = {**overrides, "final_discard_hidden": True}
        spec = make_spec(seats, preset, overrides)
        del rules
        state, opening = start_deal(spec.rules, [0] * seats, SeededShuffler(chance.randbytes(32)))
        events: list[Event] = list(opening)
        eager = chance.choice((0.2, 0.9))
        for step in range(chance.choice((5, 40, 150))):
            legal = legal_actions(state)
            if not legal:
                break
            if chance.random() < 0.15:
                case = f"seed {seed!r}, {preset}, {seats} seats, position {found}, step {step}"
                yield Position(case, spec, state.copy(), tuple(events[-chance.randint(1, 12) :]))
                found += 1
                if found == number:
                    return
            plays = [action for action in legal if action.size > 1]
            some = plays if plays and chance.random() < eager else legal
            events += apply(state, chance.choice(some))


def twin_state(
    state: State, seat: int, chance: random.Random, *, actor_keeps: Cards = 0, top: bool = False
) -> State:
    """Exchange the cards that `seat` cannot see: other hands and the stock.

    The seat on turn keeps the cards `actor_keeps`; with `top` the next card of the stock stays.
    """
    twin = state.copy()
    kept = [0] * state.seats
    if seat != state.turn:
        kept[state.turn] = actor_keeps
    others = [number for number in range(state.seats) if number != seat]
    free = {number: cards_of(remove_all(state.hands[number], kept[number])) for number in others}
    stays = state.stock[-1:] if top else []
    pool = [card for number in others for card in free[number]]
    pool += state.stock[: len(state.stock) - len(stays)]
    chance.shuffle(pool)
    for number in others:
        size = len(free[number])
        twin.hands[number] = multiset([*cards_of(kept[number]), *pool[:size]])
        del pool[:size]
    twin.stock = pool + stays
    return twin


def twin_events(events: Sequence[Event], seat: int, chance: random.Random) -> list[Event]:
    """Exchange what the events hide from `seat`."""

    def other_than(card: Card | None) -> Card:
        return chance.choice([other for other in range(52) if other != card])

    twins: list[Event] = []
    for event in events:
        if isinstance(event, Drew) and not event.from_discard and event.seat != seat:
            twins.append(Drew(event.seat, from_discard=False, card=other_than(event.card)))
        elif isinstance(event, Discarded) and event.hidden and event.seat != seat:
            twins.append(Discarded(event.seat, card=other_than(event.card), hidden=True))
        elif isinstance(event, DealStarted):
            hands = tuple(
                hand
                if owner == seat or hand is None
                else multiset(chance.sample(range(52), hand.bit_count()))
                for owner, hand in enumerate(event.hands)
            )
            twins.append(replace(event, hands=hands))
        else:
            twins.append(event)
    return twins


class GameFrom(RummyGame):
    """A game that begins in the middle of its first deal."""

    def __init__(self, spec: MatchSpec, state: State, events: Sequence[Event]) -> None:
        super().__init__(spec.rules, len(spec.seats), spec.secret)
        self.state = state
        self._opening = list(events)


class WirePlayer(ScriptedPlayer):
    """Keeps what would be written to its bot, as bytes."""

    def __init__(self, messages: MatchMessages, number: int) -> None:
        super().__init__()
        self._messages = messages
        self._number = number
        self.sent: list[bytes] = []

    def match_starting(self) -> None:
        """Write it down."""
        self.sent.append(self._messages.match_starting(self._number))

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Write it down."""
        super().update(first_event_number, events, decision)
        number = self._number
        self.sent.append(self._messages.update(number, first_event_number, events, decision))

    def rejected(self, rejected: object) -> None:
        """Write it down."""
        self.sent.append(self._messages.rejected(rejected))  # type: ignore[arg-type]


def _never(error: Exception) -> None:
    raise error


class WireTable:
    """A match from a position, with everything that would go over the wire."""

    def __init__(self, spec: MatchSpec, state: State, events: Sequence[Event]) -> None:
        messages = MatchMessages(spec, Policy())
        self.clock = FakeClock()
        self.players = [WirePlayer(messages, number) for number in range(len(spec.seats))]
        self.game = GameFrom(spec, state, events)
        self.match = Match(spec, self.game, self.players, self.clock, lambda _: None, _never)
        self.match.start()
        for number in range(len(spec.seats)):
            self.match.ready(number)

    def answer(self, seat: int, *actions: Action) -> None:
        """Answer the last decision of a seat, or none that there is."""
        decisions = self.players[seat].decisions
        decision_id = decisions[-1].decision_id if decisions else 1
        self.match.choose(seat, decision_id, Choice(plan=actions))


def random_action(chance: random.Random, state: State, seat: int) -> Action:
    """Something to try: cards of the own hand or any, melds that are there or not."""
    hand = cards_of(state.hands[seat]) or [0]
    cards = [
        chance.choice(hand) if chance.random() < 0.8 else chance.randrange(53)
        for _ in range(chance.randint(1, 4))
    ]
    meld_id = chance.randint(0, len(state.table) + 1)
    verb = chance.choice(list(Verb))
    if verb is Verb.MELD:
        return meld(multiset(cards))
    if verb is Verb.LAY_OFF:
        return lay_off(meld_id, multiset(cards[:2]))
    if verb is Verb.SWAP:
        return swap(meld_id, cards[0])
    if verb is Verb.DISCARD:
        return discard(cards[0])
    return Action(verb)


def some_action(chance: random.Random, state: State) -> Action:
    """A legal action: each kind that is possible as likely as the others."""
    legal = legal_actions(state)
    kinds = sorted({action.verb for action in legal}, key=lambda verb: verb.name)
    wanted = chance.choice(kinds)
    return chance.choice([action for action in legal if action.verb is wanted])


def ends_deal(state: State, action: Action) -> bool:
    """Whether all hands are shown after it, now or by what hidden cards decide."""
    if not state.stock:
        return True
    after = state.copy()
    apply(after, action)
    return after.phase is Phase.OVER
