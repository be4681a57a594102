"""The fewest points that melds and layoffs can leave in a hand, by trying everything.

Each card of the hand either stays there or leaves it in some meld or layoff that takes it, and all
of them are tried (docs/rules.md 3 and 4). It never imports the engine.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from tests.engine.reference_cards import has_meaning, meaning, own_face
from tests.engine.reference_match import card_points
from tests.engine.reference_melds import Meld, is_meld, layoffs, naturals, new_melds, ordered
from tests.engine.reference_rules import Rules

Table = tuple[Meld, ...]


def least_points(
    hand: Sequence[str], table: Sequence[Meld], rules: Rules, *, on_new_melds: bool = False
) -> int:
    """Return the points of what the best melds and layoffs leave of a hand (docs/rules.md 5).

    Layoffs are tried on the melds of the table; on those that the hand lays itself if asked for.
    """
    melds = list(new_melds(Counter(hand), rules))

    def plays(held: Counter[str], table: Table) -> Iterator[tuple[Counter[str], Table]]:
        """Yield the cards of all melds and layoffs of what is still held, each with the table."""
        for meld in melds:
            used = Counter(map(own_face, meld))
            if used <= held:
                yield used, (*table, meld) if on_new_melds else table
        for place, target in enumerate(table):
            for added in layoffs(held, target, rules):
                grown = ordered((*target, *added), (*target, *added))
                yield Counter(map(own_face, added)), (*table[:place], grown, *table[place + 1 :])

    @cache
    def least(held: Meld, table: Table) -> int:
        if not held:
            return 0
        first, *others = held
        tries = [card_points(first, rules) + least(tuple(others), table)]
        for used, after in plays(Counter(held), table):
            if used[first]:
                left = Counter(held) - used
                tries.append(least(tuple(sorted(left.elements())), tuple(sorted(after))))
        return min(tries)

    return least(tuple(sorted(hand)), tuple(table))


def faults(
    hand: Sequence[str],
    table: Sequence[Meld],
    melds: Sequence[Meld],
    layoffs: Sequence[tuple[Meld, int]],
    deadwood: Sequence[str],
    rules: Rules,
) -> list[str]:
    """Return what is wrong with a melding; a layoff is its cards and the number of a meld, from 1.

    The cards laid and the deadwood must make up the hand, and each card be where it may be.
    """
    found: list[str] = []
    laid = [card for meld in melds for card in meld]
    laid += [card for added, _ in layoffs for card in added]
    if Counter([*map(own_face, laid), *deadwood]) != Counter(hand):
        found.append("the cards laid and those left are not the hand")
    for card in laid:
        wild = own_face(card) in rules.wild_faces() and own_face(card) != meaning(card)
        if has_meaning(card) and not wild:
            found.append(f"{card} may not stand for that")
    for meld in melds:
        if not is_meld(meld, rules):
            found.append(f"{meld} is no meld")
        if any(map(has_meaning, meld)) and naturals(meld) < 2:
            found.append(f"{meld} has too few natural cards")
    grown = [*map(tuple, table)]
    for added, number in layoffs:
        grown[number - 1] = (*grown[number - 1], *added)
        if not is_meld(grown[number - 1], rules):
            found.append(f"{added} does not fit on {number}")
    return found
