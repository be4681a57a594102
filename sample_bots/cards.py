"""What the sample strategies know about cards: points, melds, what fits, how a turn may end.

Cards are the numbers of the wire (`CARD_AC` = 1 … `CARD_KS` = 52, joker 53). Only natural cards are
dealt with here: wild cards are whatever the referee's list of legal actions makes of them.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from rummy.referee.v1.rummy_pb2 import (
    ACE_HIGH_OR_LOW,
    ACTION_TYPE_DISCARD,
    ACTION_TYPE_LAY_OFF,
    ACTION_TYPE_MELD,
    CARD_XX,
    GO_OUT_MUST_DISCARD,
    LAYOFF_GATE_OWN_MELD_FIRST,
    SAME_CARD_DISCARD_FORBIDDEN,
    SET_SUITS_ANY,
    WILDS_DEUCES,
    WILDS_JOKERS_AND_DEUCES,
    WILDS_NONE,
    WILDS_UNSPECIFIED,
    Action,
    Card,
    Observation,
    RuleSet,
)

ACE = 1
KING = 13


def rank(card: int) -> int:
    """Return the rank, 1 (ace) to 13 (king)."""
    return (card - 1) % 13 + 1


def suit(card: int) -> int:
    """Return the suit, 0 to 3 in the order C D H S."""
    return (card - 1) // 13


def has_wilds(rules: RuleSet) -> bool:
    """Tell whether some cards may stand for others."""
    return rules.wilds not in (WILDS_UNSPECIFIED, WILDS_NONE)


def is_wild(card: int, rules: RuleSet) -> bool:
    """Tell whether the card may stand for another."""
    deuces = rules.wilds in (WILDS_DEUCES, WILDS_JOKERS_AND_DEUCES)
    return card == CARD_XX or (deuces and rank(card) == 2)


def points(card: int, rules: RuleSet) -> int:
    """Return what the card costs when it is left in hand."""
    if is_wild(card, rules):
        return 15
    return (rules.ace_points or 1) if rank(card) == ACE else min(rank(card), 10)


def is_set(meld: Sequence[int]) -> bool:
    """Tell a set from a run."""
    return rank(meld[0]) == rank(meld[1])


def fits(card: int, meld: Sequence[int], rules: RuleSet) -> bool:
    """Tell whether the natural card may be laid off on the meld (a set, or a run upwards)."""
    if is_set(meld):
        return (
            rank(card) == rank(meld[0])
            and len(meld) < 4
            and (card not in meld or rules.set_suits == SET_SUITS_ANY)
        )
    if suit(card) != suit(meld[0]):
        return False
    low = rank(meld[0])
    high = low + len(meld) - 1
    if rank(card) in (low - 1, high + 1):
        return True
    is_ace_on_king = rank(card) == ACE and high == KING and low != ACE
    return is_ace_on_king and rules.ace == ACE_HIGH_OR_LOW


def extended(meld: Sequence[int], card: int) -> tuple[int, ...]:
    """Return the meld with a card that fits, a run still upwards."""
    if not is_set(meld) and rank(card) == rank(meld[0]) - 1:
        return (card, *meld)
    return (*meld, card)


def melds_within(hand: Iterable[int], rules: RuleSet) -> list[tuple[int, ...]]:
    """Return every set and run of natural cards that the hand holds, each once, runs upwards."""
    by_rank: dict[int, list[int]] = {}
    by_suit: dict[int, dict[int, int]] = {}
    for card in sorted(hand):
        if card == CARD_XX:
            continue
        by_rank.setdefault(rank(card), []).append(card)
        places = by_suit.setdefault(suit(card), {})
        places[rank(card)] = card
        if rank(card) == ACE and rules.ace == ACE_HIGH_OR_LOW:
            places[KING + 1] = card
    melds: list[tuple[int, ...]] = []
    for cards in by_rank.values():
        usable = cards if rules.set_suits == SET_SUITS_ANY else sorted(set(cards))
        for size in (3, 4):
            melds.extend(dict.fromkeys(combinations(usable, size)))
    for places in by_suit.values():
        for low in places:
            run = [places[low]]
            # No run holds the ace at both ends: from the ace it stops at the king.
            while low + len(run) in places and len(run) < KING:
                run.append(places[low + len(run)])
                if len(run) >= 3:
                    melds.append(tuple(run))
    return melds


class Turn:
    """The rest of a turn, played ahead in the mind: what is in hand, on the table, and planned.

    Every step is checked by a rule that is stricter than the referee's (see `leaves_an_end`), so a
    plan made here is legal under every set of rules without wild cards in hand or on the table.
    """

    def __init__(self, seen: Observation, rules: RuleSet) -> None:
        self.rules = rules
        self.hand: list[int] = sorted(seen.hand)
        self.table: dict[int, tuple[int, ...]] = {
            meld.meld_id: tuple(meld.cards) for meld in seen.table
        }
        self.taken = int(seen.taken)
        self.melds_this_turn = seen.melds_this_turn
        # A seat can have played without melding only where layoffs are not gated.
        self.is_open = (
            rules.layoff_gate != LAYOFF_GATE_OWN_MELD_FIRST
            or seen.melds_this_turn > 0
            or seen.played[seen.seat]
        )
        self.actions: list[Action] = []

    @property
    def may_meld(self) -> bool:
        """Whether the rules allow a further meld in this turn."""
        limit = self.rules.max_melds_per_turn
        return not self.rules.HasField("max_melds_per_turn") or self.melds_this_turn < limit

    def may_discard(self, card: int, hand: Sequence[int]) -> bool:
        """Tell whether the card of that hand may end the turn (same-card rule)."""
        if card != self.taken:
            return True
        return self.rules.same_card_discard != SAME_CARD_DISCARD_FORBIDDEN and len(hand) == 1

    def leaves_an_end(self, used: Iterable[int]) -> bool:
        """Tell whether the turn can end at once after these cards leave the hand."""
        rest = without(self.hand, used)
        if not rest:
            return self.rules.go_out != GO_OUT_MUST_DISCARD
        return any(self.may_discard(card, rest) for card in rest)

    def meld(self, cards: Sequence[int]) -> None:
        """Plan a new meld."""
        self.actions.append(Action(type=ACTION_TYPE_MELD, cards=as_cards(cards)))
        self.hand = without(self.hand, cards)
        self.table[max(self.table, default=0) + 1] = tuple(cards)
        self.melds_this_turn += 1
        self.is_open = True

    def lay_off(self, card: int, meld_id: int) -> None:
        """Plan a layoff."""
        self.actions.append(
            Action(type=ACTION_TYPE_LAY_OFF, cards=as_cards([card]), meld_id=meld_id)
        )
        self.hand = without(self.hand, [card])
        self.table[meld_id] = extended(self.table[meld_id], card)

    def discard(self, card: int) -> None:
        """Plan the end of the turn."""
        self.actions.append(Action(type=ACTION_TYPE_DISCARD, cards=as_cards([card])))
        self.hand = without(self.hand, [card])


def without(hand: Iterable[int], used: Iterable[int]) -> list[int]:
    """Return the hand less one copy of each used card."""
    rest = list(hand)
    for card in used:
        rest.remove(card)
    return rest


def as_cards(cards: Iterable[int]) -> list[Card.ValueType]:
    """Return the numbers as the type that messages take."""
    return [Card.ValueType(card) for card in cards]
