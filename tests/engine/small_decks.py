"""Every state that can be reached from a small position, in the engine and in the reference.

A position names a dozen cards and begins a few turns before the turn cap, so the graph of states
is finite and small. At each state both must agree on everything that can be asked of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import combinations, product
from typing import Any

from referee.engine.actions import DISCARDS, DRAW_STOCK, Action
from referee.engine.cards import Card
from referee.engine.legality import legal_actions, violation
from referee.engine.notation import action_text, parse_action
from referee.engine.presets import make_ruleset
from referee.engine.state import Phase, State
from referee.engine.transition import apply, forced_action
from tests.engine.reference import Game
from tests.engine.reference_turn import Spot
from tests.engine.twins import Twins, twins_of_vector

LEAST_CAP = 20
"""The lowest turn cap for each seat; positions count their turns back from it."""

Answers = tuple[list[str], str | None, list[tuple[str, Action, str | None]]]
"""What the reference says: legal actions, the forced one, and why others are refused."""


class Turned:
    """A shuffle that both sides can make: the pile upside down, then cut by the recycle number."""

    def deal(self, deck: Sequence[Card]) -> list[Card]:
        """Positions are never dealt."""
        raise AssertionError(f"a position is not dealt, but {len(deck)} cards were to be")

    def recycle(self, number: int, cards: Sequence[Card]) -> list[Card]:
        """The new order."""
        cut = number % len(cards)
        return [*cards[::-1][cut:], *cards[::-1][:cut]]


def _turned(cards: list[str], number: int) -> list[str]:
    cut = number % len(cards)
    return [*cards[::-1][cut:], *cards[::-1][:cut]]


def _fork(twins: Twins) -> Twins:
    """Both at the same state, independent of the original."""
    game = copy(twins.reference)
    game.hands = [Counter(hand) for hand in game.hands]
    game.stock, game.discard = game.stock[:], game.discard[:]
    game.table, game.played, game.totals = game.table[:], game.played[:], game.totals[:]
    fork = Twins(twins.state.copy(), game, twins.case, twins.start)
    fork.done = twins.done[:]
    return fork


def _engine_key(state: State) -> tuple[object, ...]:
    return (
        *(tuple(state.hands), tuple(state.stock), tuple(state.discards), state.turn, state.turns),
        tuple((laid.shape.mask, laid.wilds) for laid in state.table),
        *(state.phase, state.taken, tuple(state.played), state.played_now, state.melds_now),
        *(state.recycles, state.ended, state.winner, state.by),
    )


def _reference_key(game: Game) -> tuple[object, ...]:
    taken = None if game.phase == "over" else game.taken  # docs/vectors.md leaves it open then.
    return (
        *(tuple(tuple(sorted(hand.elements())) for hand in game.hands), tuple(game.stock)),
        *(tuple(game.discard), game.turn, game.turns, tuple(game.table), game.phase, taken),
        *(tuple(game.played), game.played_now, game.melds_made, game.recycles, game.deal_result),
    )


_PARSED: dict[str, Action] = {}


def _parsed(text: str) -> Action:
    action = _PARSED.get(text)
    if action is None:
        action = _PARSED[text] = parse_action(text)
    return action


class Walk:
    """The graph of states from one position; a difference at any state is an AssertionError."""

    def __init__(self, vector: Mapping[str, Any], meanings: Sequence[str], case: str) -> None:
        overrides = {**vector["rules"]["set"], "turn_cap_per_seat": LEAST_CAP}
        rules = {"preset": vector["rules"]["preset"], "set": overrides}
        start = {**vector, "rules": rules}
        self.meanings = meanings
        """What wild cards are tried out to stand for."""
        self.counts: Counter[str] = Counter()
        """States, actions that lead on, refused actions, and ends of the deal by their kind."""
        self.reasons: set[str | None] = set()
        self._seen: dict[tuple[object, ...], tuple[object, ...]] = {}
        self._answers: dict[Spot, Answers] = {}
        twins = twins_of_vector(make_ruleset(rules["preset"], overrides), start, case)
        twins.state.shuffler = Turned()
        twins.reference.shuffler = _turned
        waiting: list[Twins] = []
        self._reach(twins, waiting)
        while waiting:
            self._visit(waiting.pop(), waiting)

    def _reach(self, twins: Twins, waiting: list[Twins]) -> None:
        key, reference = _engine_key(twins.state), _reference_key(twins.reference)
        known = self._seen.setdefault(key, reference)
        if known is reference:
            waiting.append(twins)
        elif known != reference:
            twins.check("a state that was reached before", known, reference)

    def _visit(self, twins: Twins, waiting: list[Twins]) -> None:
        state, game = twins.state, twins.reference
        twins.compare_states()
        self.counts["states"] += 1
        if game.deal_result is not None:
            self.counts[game.deal_result.ended] += 1
        texts, wanted, tries = self._answers_at(game)
        legal = legal_actions(state)
        twins.check("legal actions", set(legal), {_parsed(text) for text in texts})
        twins.check("each once", len(legal), len(texts))
        forced = action_text(forced_action(state), state.tables) if legal else None
        twins.check("forced action", forced, wanted)
        for text, action, refusal in tries:
            reason = violation(state, state.turn, action)
            if (reason and reason.value) != refusal:
                twins.check(f"{text!r}", reason and reason.value, refusal)
        self._refused_whatever_it_is(twins)
        self.counts["refused"] += sum(1 for *_, refusal in tries if refusal is not None)
        self.counts["actions"] += len(texts)
        for text in texts:
            fork = _fork(twins)
            fork.done.append(text)
            game = fork.reference
            game.do(game.turn, text)
            apply(fork.state, _parsed(text))
            self._reach(fork, waiting)

    def _refused_whatever_it_is(self, twins: Twins) -> None:
        """Seats that are not on turn are refused, at the end everybody is."""
        state = twins.state
        wanted = "deal_over" if state.phase is Phase.OVER else "not_your_turn"
        for seat in range(state.seats):
            if seat != state.turn or state.phase is Phase.OVER:
                for action in (DRAW_STOCK, DISCARDS[0]):
                    reason = violation(state, seat, action)
                    twins.check(f"seat {seat} {action}", reason and reason.value, wanted)

    def _answers_at(self, game: Game) -> Answers:
        """The reference's answers; after the draw the cards in sight decide, so they are kept."""
        spot = game._spot() if game.phase == "play" else None
        known = self._answers.get(spot) if spot is not None else None
        if known is None:
            tries = [
                (text, _parsed(text), game.violation(game.turn, text)) for text in self._tries(game)
            ]
            self.reasons |= {refusal for *_, refusal in tries}
            known = sorted(game.legal_actions()), game.forced(), tries
            if spot is not None:
                self._answers[spot] = known
        return known

    def _tries(self, game: Game) -> Iterator[str]:
        """All plays of cards of the hand with the meanings, and plays of cards of others."""
        hand = sorted(game.hands[game.turn].elements())
        foreign = next(face for face in ("KS", "QS") if face not in hand)
        yield from ("draw stock", "draw discard")
        if game.phase != "play":
            yield from (f"discard {foreign}", f"meld {foreign}", f"swap {foreign} on 1")
            return
        places = range(len(game.table) + 2)
        for face in sorted({*hand, foreign, "XX"}):
            yield f"discard {face}"
            yield from (f"swap {face} on {place}" for place in places)
        wild = game.rules.wild_faces()
        for size in range(1, len(hand) + 1):
            for cards in sorted(set(combinations(hand, size))):
                named = [
                    [card, *(f"{card}={to}" for to in self.meanings)] if card in wild else [card]
                    for card in cards
                ]
                for some in product(*named):
                    yield f"meld {' '.join(some)}"
                    yield from (f"lay {' '.join(some)} on {place}" for place in places)
        yield f"meld {foreign} {foreign}=8C"
        yield f"lay {hand[0]}={foreign} on 1"
