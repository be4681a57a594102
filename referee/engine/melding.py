"""The best melding of a hand: the melds and layoffs that leave the fewest points in it.

A melding is made of plays: new melds, and at most one layoff on each meld of the table. No more is
needed: layoffs one after another are also one layoff of all their cards, and what could be laid
off on a new meld could as well be part of it. The tables of melds say which plays a hand has; of
the plays that share no card the best are found by one recursion with a memo.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, combinations
from operator import or_
from typing import NamedTuple

from referee.engine.actions import Action, Wild, lay_off, meld
from referee.engine.cards import (
    JOKER,
    Card,
    Cards,
    add_all,
    add_card,
    cards_of,
    count_of,
    multiset,
    remove_all,
)
from referee.engine.melds import meld_tables
from referee.engine.ruleset import RuleSet
from referee.engine.scoring import card_points, hand_points
from referee.engine.state import TableMeld
from referee.engine.wilds import NATURALS_IN_A_NEW_MELD, wild_faces

_POINT, _CARD, _LAYOFF, _MELD = 1 << 24, 1 << 16, (1 << 8) + 1, 1 << 8
"""What a point or card that leaves the hand gains, and what an action costs."""


@dataclass(frozen=True, slots=True)
class Melding:
    """What to lay out of a hand, and what that leaves. The actions can be applied in any order."""

    melds: tuple[Action, ...]
    """New melds."""
    layoffs: tuple[Action, ...]
    """At most one on each meld of the table, in the order of the table."""
    deadwood: Cards
    """The cards that stay in the hand."""
    points: int
    """What they cost."""


class _Play(NamedTuple):
    """One meld or layoff: what it takes from other plays, and what it is worth."""

    naturals: Cards
    """Cards that must stand for themselves."""
    wilds: int
    """How many wild cards it takes, those among the naturals included."""
    gain: int
    """Points that leave the hand; after them cards, and the fewest actions."""
    meaning: Cards
    meld_id: int
    """0 for a new meld."""


def best_melding(rules: RuleSet, hand: Cards, table: Sequence[TableMeld] = ()) -> Melding:
    """The melds, and the layoffs on a table, that leave the fewest points in the hand.

    Among equals the one that leaves the fewest cards, then the one with the fewest actions, then
    with the fewest layoffs. The order of the tables settles what is still equal, so that a hand
    has one answer.

    Only cards count, not the course of a turn: `max_melds_per_turn`, `layoff_gate`, `go_out` and
    the same-card rule are left to the caller, and no wild card is swapped. Raises ValueError for a
    negative number.
    """
    if hand < 0:
        raise ValueError(f"the hand is {hand}: a multiset of cards is not negative")
    wilds = _wilds_of(rules, hand)
    groups = _melds(rules, hand, wilds)
    if table:
        groups = _layoffs(rules, hand, wilds, table) + groups
    melds: list[Action] = []
    layoffs: list[Action] = []
    deadwood = hand
    if groups:
        for action in _actions(_best_plays(groups, hand, len(wilds)), wilds):
            (layoffs if action.meld_id else melds).append(action)
            deadwood = remove_all(deadwood, action.used)
    return Melding(tuple(melds), tuple(layoffs), deadwood, hand_points(rules, deadwood))


def min_deadwood(rules: RuleSet, hand: Cards, table: Sequence[TableMeld] = ()) -> int:
    """The points that the best melding leaves in the hand."""
    return best_melding(rules, hand, table).points


def _wilds_of(rules: RuleSet, hand: Cards) -> list[Card]:
    """The wild cards of a hand, upwards."""
    faces = wild_faces(rules) & hand
    return [card for card in cards_of(hand) if faces >> card & 1] if faces else []


# --- the plays of a hand --------------------------------------------------------------------------


def _melds(rules: RuleSet, hand: Cards, wilds: Sequence[Card]) -> list[list[_Play]]:
    """All new melds, in groups of which each gives at most one play.

    Those with the same lowest natural card are a group, which is there once for each copy.
    """
    tables = meld_tables(ace_high=rules.ace == "high_or_low", any_suits=rules.set_suits == "any")
    meanings = tables.shapes if wilds else [shape.mask for shape in tables.all_in(hand)]
    groups: dict[Card, list[_Play]] = {}
    for play in _plays(rules, hand, wilds, meanings, 0):
        lowest = (play.naturals & -play.naturals).bit_length() - 1
        groups.setdefault(lowest, []).append(play)
    return [groups[card] for card in sorted(groups) for _ in range(count_of(hand, card))]


def _layoffs(
    rules: RuleSet, hand: Cards, wilds: Sequence[Card], table: Sequence[TableMeld]
) -> list[list[_Play]]:
    """All layoffs, in a group for each meld of the table that takes some."""
    groups = [
        list(_plays(rules, hand, wilds, target.shape.extensions, target.meld_id))
        for target in table
        if wilds or target.shape.adjacent & hand
    ]
    return [group for group in groups if group]


def _plays(
    rules: RuleSet, hand: Cards, wilds: Sequence[Card], meanings: Iterable[Cards], meld_id: int
) -> Iterator[_Play]:
    """The plays that have one of these meanings; of those that take the same, the first."""
    wild_hand = multiset(wilds)
    own_hand = remove_all(hand, wild_hand) if wilds else hand
    least = 0 if meld_id else NATURALS_IN_A_NEW_MELD
    seen = set()
    for meaning in meanings:
        size, own = meaning.bit_count(), meaning & own_hand
        if size - own.bit_count() > len(wilds):
            continue
        for naturals, wild_count in _fillings(size, own, meaning & wild_hand, len(wilds), least):
            if (naturals, wild_count) not in seen:
                seen.add((naturals, wild_count))
                points = hand_points(rules, naturals)
                points += (size - naturals.bit_count()) * card_points(rules, JOKER)
                cost = _LAYOFF if meld_id else _MELD
                gain = points * _POINT + size * _CARD - cost
                yield _Play(naturals, wild_count, gain, meaning, meld_id)


def _fillings(
    size: int, own: Cards, deuces: Cards, most_wild: int, least: int
) -> Iterator[tuple[Cards, int]]:
    """Choices of naturals for a meaning of some size, each with the number of wild cards it takes.

    Any cards of `own`, and natural deuces only where `least` naturals could not be had without.
    """
    if not most_wild:
        yield own, 0
        return
    own_cards, deuce_cards = cards_of(own), cards_of(deuces)
    for count in range(len(own_cards), max(0, size - most_wild) - 1, -1):
        missing = 0 if count == size else max(0, least - count)
        for cards in combinations(own_cards, count):
            for more in combinations(deuce_cards, missing):
                yield multiset(cards + more), size - count


# --- the best of them -----------------------------------------------------------------------------


def _best_plays(groups: Sequence[Sequence[_Play]], hand: Cards, wilds: int) -> Sequence[_Play]:
    """The plays of greatest gain, at most one of each group, that the cards suffice for."""
    asked = [reduce(or_, [play.naturals for play in group]) for group in groups]
    # What is asked for from a place on: without the other cards, more positions are the same.
    wanted = [*accumulate(reversed(asked), add_all)][::-1]
    known: dict[tuple[int, Cards, int], tuple[int, tuple[_Play, ...]]] = {}

    def best(place: int, rest: Cards, wilds: int) -> tuple[int, tuple[_Play, ...]]:
        """The best of the groups from `place` on with these cards and so many wild ones."""
        if place == len(groups):
            return 0, ()
        rest &= wanted[place]
        key = place, rest, wilds
        if key not in known:
            gain, plays = best(place + 1, rest, wilds)
            for play in groups[place]:
                naturals, taken, more, _, _ = play
                if naturals & rest == naturals and taken <= wilds:
                    after, others = best(place + 1, remove_all(rest, naturals), wilds - taken)
                    if after + more > gain:
                        gain, plays = after + more, (play, *others)
            known[key] = gain, plays
        return known[key]

    return best(0, hand, wilds)[1]


def _actions(plays: Sequence[_Play], wilds: Sequence[Card]) -> list[Action]:
    """The plays as actions."""
    spare = list(wilds)
    for play in plays:
        for card in cards_of(play.naturals) if spare else ():
            if card in spare:
                spare.remove(card)
    return [_action(play, spare) for play in plays]


def _action(play: _Play, spare: list[Card]) -> Action:
    """The play as an action; takes the wild cards that it needs off the spare ones."""
    naturals = play.naturals
    places = []
    for card in cards_of(remove_all(play.meaning, naturals)):
        if card in spare:  # A deuce cannot be declared to be itself.
            spare.remove(card)
            naturals = add_card(naturals, card)
        else:
            places.append(card)
    pairs: tuple[Wild, ...] = tuple(sorted(zip(spare, places, strict=False)))
    del spare[: len(places)]
    if play.meld_id:
        return lay_off(play.meld_id, naturals, pairs)
    return meld(naturals, pairs)
