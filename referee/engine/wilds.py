"""Wild cards: every way in which cards of a hand, some of them wild, make given meanings."""

from collections.abc import Iterator, Sequence
from typing import Final

from referee.engine.actions import Action, Wild, lay_off, meld
from referee.engine.cards import (
    DEUCES,
    JOKER,
    JOKER_BIT,
    Card,
    Cards,
    add_card,
    cards_of,
    count_of,
    faces_of,
    remove_card,
)
from referee.engine.ruleset import RuleSet
from referee.engine.state import State, TableMeld

_DEUCE_BITS: Final = sum(1 << card for card in DEUCES)
NATURALS_IN_A_NEW_MELD: Final = 2
_NATURAL: Final = -1


def wild_faces(rules: RuleSet) -> Cards:
    """Faces that may stand for others."""
    return (JOKER_BIT if rules.has_wild_jokers else 0) | (
        _DEUCE_BITS if rules.has_wild_deuces else 0
    )


def is_bad_wild(rules: RuleSet, action: Action) -> bool:
    """Whether a meld or layoff names a meaning wrongly, or leaves a joker without one."""
    if action.naturals & JOKER_BIT:
        return True
    wild = wild_faces(rules)
    return any(not wild >> face & 1 or face == meaning for face, meaning in action.wilds)


def has_enough_naturals(action: Action) -> bool:
    """Whether a new meld holds enough natural cards beside its wild ones."""
    return not action.wilds or action.naturals.bit_count() >= NATURALS_IN_A_NEW_MELD


def wild_melds(state: State) -> Iterator[Action]:
    """New melds with at least one wild card out of the hand on turn, smaller ones first."""
    hand = state.hands[state.turn]
    wild = wild_faces(state.rules)
    wild_count = sum(count_of(hand, face) for face in faces_of(hand & wild))
    for shape in state.tables.by_size:
        most_wild = min(wild_count, len(shape.cards) - NATURALS_IN_A_NEW_MELD)
        if len(shape.cards) - (shape.mask & hand).bit_count() > most_wild:
            continue
        for naturals, wilds in _fillings(hand, wild, shape.cards, most_wild):
            if wilds:
                yield meld(naturals, wilds)


def wild_layoffs(state: State) -> Iterator[Action]:
    """Layoffs with at least one wild card on the melds of the table, each by each."""
    hand = state.hands[state.turn]
    wild = wild_faces(state.rules)
    wild_count = sum(count_of(hand, face) for face in faces_of(hand & wild))
    for target in state.table:
        for extension in target.shape.extensions:
            if (extension & ~hand).bit_count() > wild_count:
                continue
            for naturals, wilds in _fillings(hand, wild, cards_of(extension), wild_count):
                if wilds:
                    yield lay_off(target.meld_id, naturals, wilds)


def single_layoffs(rules: RuleSet, card: Card, target: TableMeld) -> Iterator[Action]:
    """Layoffs of one card on one meld: natural first, then by meaning, rank before suit."""
    adjacent = target.shape.adjacent
    if adjacent >> card & 1:
        yield lay_off(target.meld_id, 1 << card)
    if wild_faces(rules) >> card & 1:
        for meaning in sorted(faces_of(adjacent), key=lambda face: (face % 13, face)):
            if meaning != card:
                yield lay_off(target.meld_id, 0, ((card, meaning),))


def _fillings(
    hand: Cards, wild: Cards, meanings: Sequence[Card], most_wild: int
) -> Iterator[tuple[Cards, tuple[Wild, ...]]]:
    """All ways to make the meanings out of the hand, as (naturals, sorted wilds), each once.

    Equal meanings stand side by side and are filled in ascending order (the natural card, then
    wild ones by face): that is what makes each way come once.
    """

    def fill(
        place: int, rest: Cards, naturals: Cards, wilds: tuple[Wild, ...], least: Card
    ) -> Iterator[tuple[Cards, tuple[Wild, ...]]]:
        if place == len(meanings):
            yield naturals, tuple(sorted(wilds))
            return
        meaning = meanings[place]
        repeated = place + 1 < len(meanings) and meanings[place + 1] == meaning
        if least < 0 and rest >> meaning & 1:
            taken = remove_card(rest, meaning)
            yield from fill(place + 1, taken, add_card(naturals, meaning), wilds, _NATURAL)
        if len(wilds) == most_wild:
            return
        for face in faces_of(rest & wild):
            if face >= least and face != meaning:
                taken = remove_card(rest, face)
                following = face if repeated else _NATURAL
                yield from fill(place + 1, taken, naturals, (*wilds, (face, meaning)), following)

    return fill(0, hand, 0, (), _NATURAL)


def swaps(state: State, target: TableMeld) -> Iterator[Card]:
    """Cards of the hand on turn that may take the place of a wild card in a meld."""
    hand = state.hands[state.turn]
    for meaning in sorted({meaning for face, meaning in target.wilds}):
        if meaning != JOKER and hand >> meaning & 1:
            yield meaning
