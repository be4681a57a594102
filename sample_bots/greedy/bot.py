"""Takes what melds, lays everything at once, throws the dearest loose card.

README.md has the strategy as a list of steps: bots in other languages follow it to the letter and
must choose the same actions.
"""

from collections.abc import Iterable, Sequence

from rummy.referee.v1.play_pb2 import Decision, MatchStarting
from rummy.referee.v1.rummy_pb2 import (
    ACE_HIGH_OR_LOW,
    ACTION_TYPE_DISCARD,
    ACTION_TYPE_DRAW_DISCARD,
    ACTION_TYPE_DRAW_STOCK,
    ACTION_TYPE_LAY_OFF,
    ACTION_TYPE_MELD,
    PHASE_DRAW,
    SET_SUITS_ANY,
    Action,
    RuleSet,
)
from sample_bots.cards import (
    ACE,
    KING,
    Turn,
    fits,
    has_wilds,
    is_wild,
    melds_within,
    points,
    rank,
    suit,
    without,
)
from sample_bots.client import Strategy, run


class GreedyBot(Strategy):
    """Needs no memory: each decision says all that it looks at."""

    def __init__(self, starting: MatchStarting) -> None:
        self._rules = starting.rules

    def choose(self, decision: Decision) -> Sequence[Action] | int:
        """Draw, or plan the rest of the turn; with wild cards, take one legal action at a time."""
        if decision.observation.phase == PHASE_DRAW:
            return self._draw(decision)
        if has_wilds(self._rules):
            return self._one_action(decision)
        return self._plan(decision)

    def _draw(self, decision: Decision) -> int:
        types = [action.type for action in decision.legal_actions]
        if ACTION_TYPE_DRAW_DISCARD not in types:
            return types.index(ACTION_TYPE_DRAW_STOCK)
        if ACTION_TYPE_DRAW_STOCK not in types or self._wants_upcard(decision):
            return types.index(ACTION_TYPE_DRAW_DISCARD)
        return types.index(ACTION_TYPE_DRAW_STOCK)

    def _wants_upcard(self, decision: Decision) -> bool:
        seen = decision.observation
        upcard = seen.discard_pile[-1]
        if is_wild(upcard, self._rules):
            return True
        if any(upcard in meld for meld in melds_within([*seen.hand, upcard], self._rules)):
            return True
        return Turn(seen, self._rules).is_open and any(
            # Melds with wild cards are passed over: what fits them is not worth the code.
            not meld.meanings and fits(upcard, meld.cards, self._rules)
            for meld in seen.table
        )

    def _plan(self, decision: Decision) -> Sequence[Action]:
        turn = Turn(decision.observation, self._rules)
        while turn.may_meld:
            melds = [
                meld for meld in melds_within(turn.hand, self._rules) if turn.leaves_an_end(meld)
            ]
            if not melds:
                break
            turn.meld(min(melds, key=self._meld_order))
        while turn.is_open:
            layoff = next(
                (
                    (card, meld_id)
                    for meld_id, meld in sorted(turn.table.items())
                    for card in turn.hand
                    if fits(card, meld, self._rules) and turn.leaves_an_end([card])
                ),
                None,
            )
            if layoff is None:
                break
            turn.lay_off(*layoff)
        if turn.hand:
            allowed = [card for card in turn.hand if turn.may_discard(card, turn.hand)]
            turn.discard(dearest_loose(turn.hand, allowed, self._rules))
        return turn.actions

    def _meld_order(self, meld: Sequence[int]) -> tuple[int, int, list[int]]:
        worth = sum(points(card, self._rules) for card in meld)
        return (-worth, -len(meld), sorted(meld))

    def _one_action(self, decision: Decision) -> int:
        """Return the index of the action that empties the hand of most points, melds first."""
        actions = decision.legal_actions
        for wanted in (ACTION_TYPE_MELD, ACTION_TYPE_LAY_OFF):
            indices = [index for index, action in enumerate(actions) if action.type == wanted]
            if indices:
                return min(
                    indices,
                    key=lambda index: (
                        -sum(points(card, self._rules) for card in actions[index].cards),
                        -len(actions[index].cards),
                        index,
                    ),
                )
        discards = {
            int(action.cards[0]): index
            for index, action in enumerate(actions)
            if action.type == ACTION_TYPE_DISCARD
        }
        if not discards:
            return 0
        return discards[dearest_loose(decision.observation.hand, discards, self._rules)]


def dearest_loose(hand: Iterable[int], allowed: Iterable[int], rules: RuleSet) -> int:
    """Return the allowed card to throw: natural before wild, loose before connected, then dearest.

    Equal points go to the higher card number.
    """
    cards = list(hand)
    return max(
        allowed,
        key=lambda card: (
            not is_wild(card, rules),
            not is_connected(card, without(cards, [card]), rules),
            points(card, rules),
            card,
        ),
    )


def is_connected(card: int, others: Iterable[int], rules: RuleSet) -> bool:
    """Tell whether the card is a step from a meld: a pair, or the same suit within two ranks."""
    for other in others:
        if is_wild(other, rules):
            continue
        if rank(other) == rank(card):
            if other != card or rules.set_suits == SET_SUITS_ANY:
                return True
        elif suit(other) == suit(card):
            low, high = sorted((rank(card), rank(other)))
            if high - low <= 2:
                return True
            if rules.ace == ACE_HIGH_OR_LOW and low == ACE and high >= KING - 1:
                return True
    return False


if __name__ == "__main__":
    run("greedy", "1.0.0", GreedyBot)
