"""A match under any rules, played by hypothesis: engine and reference move together.

After every step the invariants of docs/rules.md 8 are checked, by their numbers.
"""

import random
from collections import Counter
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from referee.engine.actions import IllegalAction, MalformedAction, Verb
from referee.engine.cards import JOKER, cards_of, full_deck
from referee.engine.game import RummyGame
from referee.engine.legality import legal_actions, violation
from referee.engine.melds import Shape
from referee.engine.notation import action_text, parse_action
from referee.engine.observation import observe
from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet
from referee.engine.state import Phase, State
from referee.engine.transition import apply, forced_action
from referee.engine.wilds import wild_faces
from tests.engine.hidden_cards import with_hidden_cards_swapped
from tests.engine.random_positions import near_misses, random_position
from tests.engine.rule_strategies import tables
from tests.engine.twins import STYLES, TwinMatch, Twins, choose, engine_state, twins_of_vector

SEEDS = st.integers(0, 2**32 - 1)
MOST_WILDS = 3
"""With more of them in the hand on turn the reference is too slow to list all actions."""
seen: Counter[str] = Counter()
"""What came up: steps, reasons, ends of deals, ends of matches."""


def _all_cards(state: State) -> Counter[int]:
    named = Counter([*state.stock, *state.discards])
    for hand in state.hands:
        named.update(cards_of(hand))
    for laid in state.table:
        named.update(cards_of(laid.shape.mask))
        named.subtract(to for _, to in laid.wilds)
        named.update(face for face, _ in laid.wilds)
    return named


class RefereeMachine(RuleBasedStateMachine):
    """Steps of a match, legal ones, refused ones and others that must change nothing."""

    match: TwinMatch | None = None
    twins: Twins
    rule_set: RuleSet
    cards: Counter[int]
    record: list[str]
    """What was played since the start of the match, with a mark for each further deal."""
    shapes: dict[int, tuple[Shape, int]]
    """Melds on the table as they were, by number."""

    @initialize(table=tables(), seed=SEEDS, whole=st.booleans())
    def start(self, table: tuple[str, dict[str, Any], int], seed: int, whole: bool) -> None:
        """A match from its first deal, or a deal near its end."""
        preset, overrides, self.seats = table
        self.rule_set = make_ruleset(preset, overrides)
        assert self.rule_set.to_dict() == {"preset": preset, **overrides}
        self.secret = sha256(seed.to_bytes(4, "big")).digest()
        self.record = []
        if whole:
            self.match = TwinMatch(self.rule_set, overrides, self.seats, "", self.secret)
            self.twins = self.match.twins
        else:
            self.twins = self._position(random.Random(seed))
        self._begin()

    def _position(self, chance: random.Random) -> Twins:
        """One in which something can be done, if some tries find it."""
        overrides = self.rule_set.to_dict()
        del overrides["preset"]
        for _ in range(10):
            vector = random_position(chance, self.rule_set, overrides, self.seats)
            twins = twins_of_vector(self.rule_set, vector, "")
            if legal_actions(twins.state):
                break
        return twins

    def _begin(self) -> None:
        state = self.twins.state
        self.shapes = {laid.meld_id: (laid.shape, len(laid.wilds)) for laid in state.table}
        self.cards = _all_cards(state)
        if self.match is not None:
            still_in = len(state.seats_in())
            self.cards = Counter(full_deck(self.rule_set.packs[still_in], self.rule_set.jokers))

    @property
    def state(self) -> State:
        """The engine's state."""
        return self.twins.state

    def _few_wilds(self) -> bool:
        hand = cards_of(self.state.hands[self.state.turn])
        return sum(1 for card in hand if wild_faces(self.rule_set) >> card & 1) <= MOST_WILDS

    def _legal(self) -> list[str]:
        tables = self.state.tables
        return sorted(action_text(action, tables) for action in legal_actions(self.state))

    def _forced(self) -> str | None:
        return action_text(forced_action(self.state), self.state.tables) if self._legal() else None

    def _do(self, text: str) -> None:
        self.record.append(text)
        self.twins.do(text)
        seen["steps"] += 1
        hand = sorted(self.twins.reference.hands[self.state.turn].elements())
        if text.startswith("meld") and hand:
            self._compare_reasons([(self.state.turn, f"meld {' '.join(hand[:3])}")])

    def _compare_reasons(self, tries: list[tuple[int, str]]) -> None:
        self.twins.compare_reasons(tries)
        for seat, text in tries:
            seen[self.twins.reference.violation(seat, text) or "legal"] += 1

    def can_act(self) -> bool:
        """Whether there is something to do; positions made up at random may be dead ends."""
        return bool(self._legal())

    @precondition(can_act)
    @rule(seed=SEEDS, style=st.sampled_from(STYLES), number=st.integers(1, 6))
    def play(self, seed: int, style: str, number: int) -> None:
        """Some actions as a seat of a style chooses them."""
        chance = random.Random(seed)
        for _ in range(number):
            legal = self._legal()
            if not legal:
                break
            self._do(choose(chance, style, legal, self._forced()))
            self.twins.compare_states()
            self._check_cards()

    @precondition(can_act)
    @rule(number=st.integers(0, 10**6))
    def play_any(self, number: int) -> None:
        """One action out of the list."""
        legal = self._legal()
        self._do(legal[number % len(legal)])

    @precondition(can_act)
    @rule(number=st.sampled_from([1, 10, 150]))
    def let_the_referee_play(self, number: int) -> None:
        """Forced actions, as for a seat whose time is up."""
        for _ in range(number):
            forced = self._forced()
            if forced is None:
                break
            self._do(forced)
            self.twins.compare_states()

    @precondition(can_act)
    @rule(seed=SEEDS)
    def try_what_is_refused(self, seed: int) -> None:
        """The same reasons in both, and nothing changes (number 6)."""
        chance = random.Random(seed)
        if self.state.phase is Phase.DRAW and chance.random() < 0.8:
            self._do(chance.choice(self._legal()))
        state, before = self.state, engine_state(self.state)
        tries = near_misses(chance, self.twins, self._legal())
        tries += [(seat, "draw stock") for seat in range(state.seats)]
        self._compare_reasons(tries)
        legal = set(legal_actions(state))
        for seat, text in tries:
            try:
                action = parse_action(text)
            except MalformedAction:
                continue
            if seat == state.turn:
                assert (violation(state, seat, action) is None) == (action in legal), text
            if violation(state, state.turn, action) is not None:
                with pytest.raises(IllegalAction):
                    apply(state, action)
        assert engine_state(state) == before

    @rule(seed=SEEDS)
    def look_elsewhere(self, seed: int) -> None:
        """What is refused, and why, at other positions under the same rules."""
        chance = random.Random(seed)
        for _ in range(4):
            twins = self._position(chance)
            legal = sorted(action_text(a, twins.state.tables) for a in legal_actions(twins.state))
            tries = near_misses(chance, twins, legal)
            twins.compare_reasons(tries)
            for seat, text in tries:
                seen[twins.reference.violation(seat, text) or "legal"] += 1

    @precondition(can_act)
    @rule(seed=SEEDS)
    def move_hidden_cards(self, seed: int) -> None:
        """Whoever cannot see the difference is answered alike (number 9)."""
        chance, state = random.Random(seed), self.state
        actions = legal_actions(state)
        tries = near_misses(chance, self.twins, self._legal())
        for seat in (None, *range(state.seats)):
            twin = with_hidden_cards_swapped(chance, state, [] if seat is None else [seat])
            assert observe(twin, seat) == observe(state, seat)
            if seat is None:
                continue
            for _, text in tries:
                try:
                    action = parse_action(text)
                except MalformedAction:
                    continue
                assert violation(twin, seat, action) is violation(state, seat, action), text
            if seat == state.turn:
                assert list(legal_actions(twin)) == list(actions)
                if actions:
                    assert forced_action(twin) == forced_action(state)

    @precondition(can_act)
    @rule(seed=SEEDS, number=st.integers(1, 10))
    def play_on_in_a_copy(self, seed: int, number: int) -> None:
        """What happens to a copy does not happen to the state."""
        chance, before = random.Random(seed), engine_state(self.state)
        copy = self.state.copy()
        assert copy == self.state
        # A shuffle listed by a position would be used up; the copy shares it.
        while number and (legal := legal_actions(copy)):
            apply(copy, chance.choice(legal))
            number -= 1
        assert engine_state(self.state) == before

    @precondition(lambda self: self.twins.over)
    @rule(seed=SEEDS)
    def try_after_the_end(self, seed: int) -> None:
        """No seat can do anything any more."""
        tries = near_misses(random.Random(seed), self.twins, [])
        tries += [(seat, "draw stock") for seat in range(self.state.seats)]
        self._compare_reasons(tries)

    def can_deal(self) -> bool:
        """Whether another deal follows."""
        return self.match is not None and self.twins.over and not self.match.over

    @precondition(can_deal)
    @rule()
    def deal_again(self) -> None:
        """The next deal of the match."""
        assert self.match is not None
        self.match.next_deal()
        self.twins = self.match.twins
        self.record.append("")
        self._begin()

    @precondition(lambda self: self.twins.over and not self.can_deal())
    @rule(seed=SEEDS)
    def go_elsewhere(self, seed: int) -> None:
        """After the end of everything: another position under the same rules."""
        self._replay()
        self.match = None
        self.twins = self._position(random.Random(seed))
        self._begin()

    @invariant()
    def both_agree(self) -> None:
        """State, result, legal list and forced action (numbers 5 and 6)."""
        self.twins.compare_states()
        if self._few_wilds():
            self.twins.compare()
        legal = legal_actions(self.state)
        assert len(set(legal)) == len(legal)
        if self.match is not None:
            assert bool(legal) == (self.state.phase is not Phase.OVER)
        if legal:
            assert forced_action(self.state) in legal
            assert forced_action(self.state).verb is not Verb.MELD

    def _check_cards(self) -> None:
        """Numbers 1, 2 and 4."""
        state = self.state
        assert +_all_cards(state) == self.cards
        if state.phase is Phase.DRAW:
            still_in = state.seats_in()
            assert all(state.hands[seat] for seat in still_in)
            if self.match is not None:
                dealt = len(still_in) * self.rule_set.hand_size[len(still_in)]
                assert len(state.stock) + len(state.discards) == self.cards.total() - dealt

    @invariant()
    def nothing_is_lost(self) -> None:
        """Numbers 1, 2, 3, 4 and 7."""
        self._check_cards()
        state = self.state
        for laid in state.table:
            shape, wilds = self.shapes.get(laid.meld_id, (laid.shape, len(laid.wilds)))
            assert state.tables.shapes[laid.shape.mask] is laid.shape
            assert shape.mask & laid.shape.mask == shape.mask
            assert JOKER not in laid.shape.cards
            if shape is laid.shape and laid.meld_id in self.shapes:
                assert len(laid.wilds) <= wilds
            self.shapes[laid.meld_id] = (laid.shape, len(laid.wilds))
        assert len(state.table) == len(self.shapes)
        limit = self.rule_set.recycles_allowed
        assert limit is None or state.recycles <= limit

    def teardown(self) -> None:
        """At the end of all steps."""
        self._replay()

    def _replay(self) -> None:
        """The record gives the same states again (number 8)."""
        if self.match is None:
            return
        first = self.match.game
        again = RummyGame(
            self.rule_set, first.state.seats, self.secret, self.secret[0] % first.state.seats
        )
        for text in self.record:
            if text:
                again.apply(parse_action(text))
            else:
                again.next_deal()
                seen["next deals"] += 1
        assert engine_state(again.state) == engine_state(first.state)
        assert again.deal_score() == first.deal_score()
        assert again.standing() == first.standing()
        seen["matches over"] += first.standing().over
        seen["deals over"] += first.to_act is None
