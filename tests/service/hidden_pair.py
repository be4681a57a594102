"""Two matches that differ in what a viewer may not know, played step by step in public alike."""

import random
from collections import Counter

from referee.engine.actions import DRAW_STOCK, Action, Reason, Verb, discard, lay_off, meld, swap
from referee.engine.cards import Card, cards_of, multiset
from referee.engine.legality import violation
from referee.engine.state import Phase, State
from referee.engine.transition import apply
from referee.match.seat_player import Choice
from tests.service.hidden import (
    Feed,
    Kept,
    LeadGame,
    TwinGame,
    Viewer,
    World,
    disturb,
    exchange,
    hidden_last,
    random_spec,
    same_budget,
    twin_spec,
)

BAD_CHOICES = (
    Choice(index=100_000),
    Choice(malformed="a choice has either actions or a legal_action_index"),
    Choice(),
    Choice(plan=[DRAW_STOCK] * 33),
)


class LeakFound(AssertionError):
    """The viewer was told something that depends on what it may not know."""


def _some_meld(chance: random.Random, hand: list[Card]) -> list[Card]:
    """Cards of a hand that are a meld as often as there is one: of one rank, or in sequence."""
    card = chance.choice(hand)
    if chance.random() < 0.5:
        return [other for other in hand if other % 13 == card % 13][:4]
    return [other for other in (card, card + 1, card + 2) if other in hand]


def random_action(chance: random.Random, state: State, seat: int) -> Action:
    """Something to try: cards of the own hand or any, melds that are there or not."""
    hand = cards_of(state.hands[seat]) or [0]
    if state.phase is Phase.DRAW and not state.stock and chance.random() < 0.5:
        return DRAW_STOCK
    cards = [
        chance.choice(hand) if chance.random() < 0.8 else chance.randrange(53)
        for _ in range(chance.randint(1, 4))
    ]
    meld_id = chance.randint(0, len(state.table) + 1)
    verb = chance.choice(list(Verb))
    if verb is Verb.MELD:
        return meld(multiset(_some_meld(chance, hand) if chance.random() < 0.7 else cards))
    if verb is Verb.LAY_OFF:
        return lay_off(meld_id, multiset(hand if len(hand) < 3 else cards[:2]))
    if verb is Verb.SWAP:
        return swap(meld_id, cards[0])
    if verb is Verb.DISCARD:
        return discard(cards[0])
    return Action(verb)


def first_difference(one: Feed, other: Feed) -> str | None:
    """Where two feeds differ."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return f"message {number}: {a[0]} µs {a[1].hex()} or {b[0]} µs {b[1].hex()}"
    return None if len(one) == len(other) else f"{len(one)} or {len(other)} messages"


class Pair:
    """A match and its twin. Every step raises LeakFound if the viewer can tell them apart."""

    def __init__(
        self, chance: random.Random, preset: str, seats: int, viewer: Viewer, seen: Counter[str]
    ) -> None:
        self._chance = chance
        self._viewer = viewer
        self._seen = seen
        self._eager = chance.choice((0.2, 0.9))
        self._differs = False
        spec = random_spec(chance, preset, seats)
        twin = twin_spec(spec, viewer, chance)
        self.lead = World(spec, LeadGame(spec), viewer)
        self._game = TwinGame(twin, self.lead.game, viewer, chance.randbytes(32))
        self.twin = World(twin, self._game, viewer)
        for seat in self.twin.match.seats:
            if seat.number != viewer:
                disturb(seat, chance)
        self._both = (self.lead, self.twin)
        for world in self._both:
            world.begin()
        self.compare()

    @property
    def is_over(self) -> bool:
        """Whether both have ended."""
        return self.lead.match.result is not None

    def compare(self) -> None:
        """Compare what the viewer was sent since the last time."""
        difference = first_difference(self.lead.take(), self.twin.take())
        if difference is not None:
            raise LeakFound(f"seen by {self._viewer}: {difference}")

    def _note(self, what: str) -> None:
        self._seen[what] += 1

    def step(self) -> bool:
        """One step of the seat to act; whether anything hidden differed while it was taken."""
        seat = self.lead.game.to_act
        assert seat is not None, "the match is not over"
        is_own = seat == self._viewer
        chance = self._chance
        if chance.random() < 0.015:
            self._time_passes_until_it_is_up(seat)
        else:
            if chance.random() < 0.01 and self._viewer is not None:
                self._come_back(self._viewer)
            if is_own:
                self._try_in_vain(seat)
            self._act(seat, is_own=is_own)
        self.compare()
        return self._differs

    def _advance(self, milliseconds: float) -> None:
        for world in self._both:
            world.clock.advance(milliseconds)

    # --- hidden cards ---------------------------------------------------------------------------

    def _exchange(self, kept: Kept, *, same_shuffle: bool) -> State:
        state = self.lead.game.state
        twin = self._game.state = exchange(state, self._viewer, self._chance, kept)
        if not same_shuffle:
            twin.shuffler = self._game.other_shuffler
        self._differs = twin.hands != state.hands or twin.stock != state.stock
        return twin

    def _may_end_deal(self, plan: list[Action]) -> bool:
        """Whether all hands may be shown after it."""
        state = self.lead.game.state
        held = state.hands[state.turn].bit_count()
        left = held - sum(action.size for action in plan if action.verb is not Verb.SWAP)
        drawn = sum(action.verb in (Verb.DRAW_STOCK, Verb.DRAW_DISCARD) for action in plan)
        if left + drawn <= 0:
            return True
        if plan[-1].verb is not Verb.DISCARD:
            return False
        return len(state.stock) - drawn <= 0 or state.turns + 1 >= state.turn_cap

    def _twin_plan(self, seat: int, plan: list[Action], *, is_own: bool) -> list[Action]:
        """Exchange what is hidden so that the plan can be played in the twin as well."""
        state, chance = self.lead.game.state, self._chance
        draws = plan[0].verb is Verb.DRAW_STOCK
        if is_own:
            self._exchange(Kept(top=draws, all_hands=self._may_end_deal(plan)), same_shuffle=draws)
            return plan
        if self._may_end_deal(plan):
            twin = self._exchange(Kept(top=draws, all_hands=True), same_shuffle=draws)
            last = plan[-1]
            hides = state.rules.final_discard_hidden and len(plan) == 1
            if hides and last.verb is Verb.DISCARD and state.hands[seat].bit_count() == 1:
                card = hidden_last(twin, chance)
                if card is not None:
                    self._note("hidden discard")
                    number = twin.stock.index(card)
                    twin.stock[number] = last.used.bit_length() - 1
                    twin.hands[seat] = 1 << card
                    return [discard(card)]
            return plan
        used = multiset([card for action in plan for card in cards_of(action.used)])
        twin = self._exchange(Kept(seat, used), same_shuffle=False)
        if draws and len(plan) == 1:
            return plan
        trial = twin.copy() if len(plan) > 1 else twin
        for action in plan:
            if violation(trial, seat, action) is not None:
                self._exchange(Kept(seat, state.hands[seat], top=draws), same_shuffle=draws)
                break
            if len(plan) > 1:
                apply(trial, action)
        return plan

    # --- one step -------------------------------------------------------------------------------

    def _plan(self, seat: int) -> list[Action]:
        """A legal action; sometimes a draw and the discard after it."""
        decision, chance = self.lead.players[seat].decision, self._chance
        assert decision is not None, "the seat to act has a decision"
        legal = decision.legal_actions
        plays = [action for action in legal if action.size > 1]
        some = plays if plays and chance.random() < self._eager else legal
        action = chance.choice(some)
        state = self.lead.game.state
        held = cards_of(state.hands[seat])
        if (
            action == DRAW_STOCK
            and len(held) > 2
            and len(state.stock) > 1
            and chance.random() < 0.1
        ):
            last = discard(chance.choice(held))
            trial = state.copy()
            apply(trial, action)
            if violation(trial, seat, last) is None:
                self._note("plan")
                return [action, last]
        return [action]

    def _act(self, seat: int, *, is_own: bool) -> None:
        chance = self._chance
        begin_us = self.lead.clock.now_us()
        self._advance(chance.choice((0, 0, 0, 1, 30, 60)))
        plan = self._plan(seat)
        self._note(f"{'own' if is_own else 'other'} {plan[0].verb.name}")
        turned = self._twin_plan(seat, plan, is_own=is_own)
        if not is_own:
            self._disturb(seat, begin_us)
        elif chance.random() < 0.3:
            for world in self._both:
                world.clock.forgive(begin_us, (begin_us + world.clock.now_us()) // 2)
        deal = self.lead.game.deal
        self.lead.choose(seat, Choice(plan=plan))
        if not is_own and chance.random() < 0.05:
            # A refusal after what was legal is no news to the others.
            turned = [*turned, DRAW_STOCK, DRAW_STOCK]
        self.twin.choose(seat, Choice(plan=turned))
        if self.lead.game.deal != deal or self.is_over:
            self._note("deal ended")
        self._advance(chance.choice((0, 0, 0, 2, 51)))

    def _try_in_vain(self, seat: int) -> None:
        """The viewer tries the same in both, and is refused for what it knows."""
        chance = self._chance
        draws = self.lead.game.state.phase is Phase.DRAW
        often = 0.7 if self._is_tight(self.lead.game.state, seat) else 0.35
        while chance.random() < often:
            state = self.lead.game.state
            twin = self._exchange(Kept(), same_shuffle=draws)
            tried, reason = self._rare_try(state, seat)
            if violation(twin, seat, tried) is not reason:
                raise LeakFound(f"seen by {seat}: {tried} is refused for what is hidden")
            choice = Choice(plan=[tried]) if reason else chance.choice(BAD_CHOICES)
            self._note(f"reason {reason.value if reason else ''}")
            late = chance.choice((0, 0, 0, 1, -1))
            for world in self._both:
                world.choose(seat, choice, late=late)

    def _is_tight(self, state: State, seat: int) -> bool:
        return state.phase is Phase.PLAY and state.hands[seat].bit_count() < 5

    def _rare_try(self, state: State, seat: int) -> tuple[Action, Reason | None]:
        """Of some tries the one that is refused for what came up least."""
        tries = [random_action(self._chance, state, seat) for _ in range(4)]
        hand = cards_of(state.hands[seat])
        if self._is_tight(state, seat):
            # All cards at once, or all but the one that must not be discarded.
            rest = [card for card in hand if card != state.taken] or hand
            tries += [meld(multiset(hand)), meld(multiset(rest))]
            for target in state.table:
                tries += [
                    lay_off(target.meld_id, multiset(some)) for some in (hand, rest, hand[:1])
                ]
        known = [(tried, violation(state, seat, tried)) for tried in tries]
        return min(known, key=lambda one: self._seen[f"reason {one[1].value if one[1] else ''}"])

    def _disturb(self, seat: int, begin_us: int) -> None:
        """In the twin alone, others are refused, are lost and come back, or are forgiven time."""
        chance, twin = self._chance, self.twin
        viewer = self._viewer
        now_us = twin.clock.now_us()
        if viewer is not None and chance.random() < 0.1:
            for world in self._both:
                world.choose(viewer, Choice(plan=[DRAW_STOCK]), late=-7)
            self._note("out of turn")
        while chance.random() < 0.2:
            tried = random_action(chance, self._game.state, seat)
            is_refused = violation(self._game.state, seat, tried) is not None
            twin.choose(seat, Choice(plan=[tried]) if is_refused else chance.choice(BAD_CHOICES))
            self._note("other refused")
        if chance.random() < 0.05:
            twin.match.connection_lost(seat)
            twin.match.connection_back(seat)
        if now_us > begin_us and chance.random() < 0.5:
            twin.clock.forgive(begin_us, chance.randint(begin_us, now_us))
            self._note("forgiven")

    def _come_back(self, seat: int) -> None:
        """The viewer's bot knows nothing of the match any more."""
        for world in self._both:
            world.match.connection_lost(seat)
        self._advance(self._chance.choice((0, 0, 20)))
        for world in self._both:
            world.match.connection_back(seat)
        self._note("come back")

    def _time_passes_until_it_is_up(self, seat: int) -> None:
        """What is then played for the seat is seen: it keeps its cards, and draws the same one."""
        state = self.lead.game.state
        ends = len(state.stock) < 2 or state.turns + 1 >= state.turn_cap
        hand = state.hands[seat]
        kept = Kept(seat, hand, top=True, all_hands=ends or hand.bit_count() < 2)
        self._exchange(kept, same_shuffle=True)
        same_budget(self.lead.match, self.twin.match, seat)
        budget_us = self.lead.match._budget_us()
        self._advance(budget_us / 1_000 + 20)
        self._note("own time up" if seat == self._viewer else "other time up")


def play(chance: random.Random, preset: str, seats: int, seen: Counter[str]) -> int:
    """A match beside its twin; how many positions were compared. Raises LeakFound."""
    viewer = chance.choice((None, *range(seats)))
    # A count of its own: what is tried must not depend on the matches before.
    own: Counter[str] = Counter({"a spectator" if viewer is None else "a seat": 1})
    pair = Pair(chance, preset, seats, viewer, own)
    compared = 0
    for _ in range(chance.choice((60, 150, 400))):
        if pair.is_over:
            own["match ended"] += 1
            break
        compared += pair.step()
    seen += own
    return compared
