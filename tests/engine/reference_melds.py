"""Melds of the brute-force reference: what is one, and all that a hand can lay (docs/rules.md 3).

Everything is tried out: the list of melds is every card combination that the two predicates let
pass, and a hand fills a meld in every way that its cards allow. It never imports the engine.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement

from tests.engine.reference_cards import JOKER, RANKS, SUITS, has_meaning, meaning, own_face
from tests.engine.reference_rules import Rules

Meld = tuple[str, ...]


def is_set(faces: Sequence[str], set_suits: str) -> bool:
    """Tell whether the faces (meanings) are a set (docs/rules.md 3)."""
    if len(faces) not in (3, 4) or len({face[0] for face in faces}) != 1:
        return False
    return set_suits == "any" or len({face[1] for face in faces}) == len(faces)


def is_run(faces: Sequence[str], ace: str) -> bool:
    """Tell whether the faces (meanings) are a run (docs/rules.md 3)."""
    if not 3 <= len(faces) <= 13 or len({face[1] for face in faces}) != 1:
        return False
    low = sorted(RANKS.index(face[0]) + 1 for face in faces)
    high = sorted(14 if place == 1 else place for place in low)
    orders = [low] if ace == "low" else [low, high]
    return any(order == list(range(order[0], order[0] + len(order))) for order in orders)


def is_meld(cards: Sequence[str], rules: Rules) -> bool:
    """Tell whether cards, by their meanings, are a valid meld (docs/rules.md 3)."""
    faces = [meaning(card) for card in cards]
    return is_set(faces, rules.set_suits) or is_run(faces, rules.ace)


@cache
def all_melds(ace: str, set_suits: str) -> tuple[Meld, ...]:
    """Return every meld as a tuple of meanings; a face may repeat if suits are free.

    Found by trying every choice of ranks of a suit and every choice of suits of a rank
    (docs/rules.md 3 and 10).
    """
    found: list[Meld] = []
    for rank in RANKS:
        for size in range(1, 6):
            for suits in combinations_with_replacement(SUITS, size):
                faces = tuple(rank + suit for suit in suits)
                if is_set(faces, set_suits):
                    found.append(faces)
    for suit in SUITS:
        for size in range(1, 14):
            for ranks in combinations(RANKS, size):
                faces = tuple(rank + suit for rank in ranks)
                if is_run(faces, ace):
                    found.append(faces)
    return tuple(found)


@cache
def _needs(ace: str, set_suits: str) -> tuple[tuple[Meld, tuple[tuple[str, int], ...]], ...]:
    """Pair every meld with how often it needs each face."""
    melds = all_melds(ace, set_suits)
    return tuple((meld, tuple(Counter(meld).items())) for meld in melds)


@lru_cache(maxsize=100_000)
def additions(faces: Meld, ace: str, set_suits: str) -> tuple[Meld, ...]:
    """Return all faces that, added to a meld of these, give a meld (docs/rules.md 4, Play)."""
    before = Counter(faces)
    found: list[Meld] = []
    for meld in all_melds(ace, set_suits):
        after = Counter(meld)
        if len(meld) > len(faces) and before <= after:
            found.append(tuple((after - before).elements()))
    return tuple(found)


def ordered(cards: Sequence[str], whole: Sequence[str]) -> Meld:
    """Put cards into the printed order, as part of the meld `whole` (docs/vectors.md, Actions).

    Sets by suit, runs upwards, a run of 13 from the ace; with equal meanings the natural card
    stands first, then the joker, then deuces by suit.
    """
    ranks = {meaning(card)[0] for card in whole}
    ace_high = "A" in ranks and "K" in ranks and len(whole) < 13

    def place(card: str) -> tuple[int, int, bool, bool, str]:
        face = meaning(card)
        rank = 14 if ace_high and face[0] == "A" else RANKS.index(face[0]) + 1
        wild, own = has_meaning(card), own_face(card)
        return rank, SUITS.index(face[1]), wild, own != JOKER, own

    return tuple(sorted(cards, key=place))


def naturals(cards: Sequence[str]) -> int:
    """Count the natural cards; a deuce without a meaning is natural (docs/rules.md 3)."""
    return sum(1 for card in cards if not has_meaning(card) and card != JOKER)


def fillings(wanted: Sequence[str], hand: Counter[str], wilds: frozenset[str]) -> set[Meld]:
    """Return every choice of cards of the hand that stands for just `wanted` (docs/rules.md 3)."""
    if not wanted:
        return {()}
    first, rest = wanted[0], wanted[1:]
    found: set[Meld] = set()
    for face in wilds | {first}:
        if hand[face] > 0:
            card = face if face == first else f"{face}={first}"
            hand[face] -= 1
            found.update(tuple(sorted((card, *more))) for more in fillings(rest, hand, wilds))
            hand[face] += 1
    return found


def new_melds(hand: Counter[str], rules: Rules) -> Iterator[Meld]:
    """Yield every meld that the hand can lay, each choice of meanings once (docs/rules.md 3, 4)."""
    if hand.total() < 3:
        return
    wilds = frozenset(face for face in rules.wild_faces() if hand[face] > 0)
    spare = sum(hand[face] for face in wilds)
    for faces, need in _needs(rules.ace, rules.set_suits):
        if not wilds:
            if all(hand[face] >= number for face, number in need):
                yield ordered(faces, faces)
        elif sum(max(0, number - hand[face]) for face, number in need) <= spare:
            for cards in fillings(faces, Counter(hand), wilds):
                if naturals(cards) >= 2 or not any(has_meaning(card) for card in cards):
                    yield ordered(cards, cards)


def layoffs(hand: Counter[str], meld: Meld, rules: Rules) -> Iterator[Meld]:
    """Yield all cards of the hand that may be laid off together on a meld (docs/rules.md 4)."""
    wilds = frozenset(face for face in rules.wild_faces() if hand[face] > 0)
    spare = sum(hand[face] for face in wilds)
    faces = tuple(sorted(meaning(card) for card in meld))
    for added in additions(faces, rules.ace, rules.set_suits):
        if sum(1 for face in added if hand[face] == 0) <= spare:
            for cards in fillings(added, Counter(hand), wilds):
                yield ordered(cards, (*meld, *cards))


def swapped(meld: Meld, face: str) -> tuple[Meld, str] | None:
    """Put the named card in a wild's place: the new meld and the wild (docs/rules.md 3), or None.

    Of two wilds with that meaning the joker goes first, then deuces C D H S.
    """
    choices = [card for card in meld if has_meaning(card) and meaning(card) == face]
    if not choices:
        return None
    gone = min(choices, key=lambda card: (own_face(card) != JOKER, own_face(card)))
    left = list(meld)
    left.remove(gone)
    return ordered((*left, face), (*left, face)), own_face(gone)
