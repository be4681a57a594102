"""Actions and melds as text, one spelling for records, logs, vectors and the command line."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from referee.engine.actions import (
    DRAW_DISCARD,
    DRAW_STOCK,
    Action,
    MalformedAction,
    Verb,
    Wild,
    discard,
    lay_off,
    meld,
    swap,
)
from referee.engine.cards import (
    CARD_TEXTS,
    JOKER,
    Card,
    Cards,
    MalformedCard,
    cards_of,
    multiset,
    parse_card,
)
from referee.engine.melds import MeldTables
from referee.engine.state import TableMeld

_ON: Final = re.compile(r"(?P<cards>.+) on (?P<meld_id>\d{1,18})", re.ASCII)
_ALLOWED: Final = (
    "draw stock, draw discard, meld CARDS, lay CARDS on N, swap CARD on N, discard CARD;"
    " cards as 7H TC XX=6H"
)


def parse_action(text: str) -> Action:
    """Read an action. Raises MalformedAction."""
    if text == "draw stock":
        return DRAW_STOCK
    if text == "draw discard":
        return DRAW_DISCARD
    verb, _, rest = text.partition(" ")
    if verb == "meld":
        return meld(*_parse_cards(text, rest))
    if verb == "discard":
        return discard(_parse_single(text, rest))
    placed = _ON.fullmatch(rest)
    if placed and verb == "lay":
        return lay_off(int(placed["meld_id"]), *_parse_cards(text, placed["cards"]))
    if placed and verb == "swap":
        return swap(int(placed["meld_id"]), _parse_single(text, placed["cards"]))
    raise _malformed(text)


def parse_cards(text: str) -> tuple[list[Card], list[Wild]]:
    """Read cards, some perhaps with meanings (`XX=6H 7H`), into naturals and wilds in order.

    Raises MalformedAction naming the card.
    """
    naturals: list[Card] = []
    wilds: list[Wild] = []
    for word in text.split(" ") if text else []:
        face_text, equals, meaning_text = word.partition("=")
        try:
            face = parse_card(face_text)
            meaning = parse_card(meaning_text) if equals else None
        except MalformedCard:
            text = f"{word!r} is no card: cards are written as 7H, TC, XX or XX=6H"
            raise MalformedAction(text) from None
        if meaning is None:
            naturals.append(face)
        elif meaning == JOKER:
            raise MalformedAction(f"{word!r}: a wild card stands for a card with rank and suit")
        else:
            wilds.append((face, meaning))
    return naturals, wilds


def _parse_cards(text: str, cards: str) -> tuple[Cards, tuple[Wild, ...]]:
    if not cards:
        raise _malformed(text)
    try:
        naturals, wilds = parse_cards(cards)
    except MalformedAction as error:
        raise MalformedAction(f"{text!r}: {error}") from None
    return multiset(naturals), tuple(sorted(wilds))


def _parse_single(text: str, card: str) -> Card:
    try:
        return parse_card(card)
    except MalformedCard:
        raise _malformed(text) from None


def _malformed(text: str) -> MalformedAction:
    return MalformedAction(f"{text!r} is no action: there are {_ALLOWED}")


@lru_cache(maxsize=1 << 16)
def action_text(action: Action, tables: MeldTables) -> str:
    """Write an action; a meld's cards in print order, others upwards."""
    verb = action.verb
    if not action.size:
        return str(verb.value)
    if verb is Verb.MELD:
        shape = tables.shapes.get(action.meaning)
        order = shape.cards if shape else cards_of(action.meaning)
    else:
        order = cards_of(action.meaning)
    text = f"{verb.value} {spelled(order, action.wilds)}"
    return f"{text} on {action.meld_id}" if verb in (Verb.LAY_OFF, Verb.SWAP) else text


def meld_text(meld_on_table: TableMeld) -> str:
    """Write a meld on the table in print order, wild cards with their meanings."""
    return spelled(meld_on_table.shape.cards, meld_on_table.wilds)


def spelled(meanings: Iterable[Card], wilds: Iterable[Wild]) -> str:
    """Write the cards that stand for `meanings`, in that order, wild cards as `XX=6H`."""
    return " ".join(
        [
            CARD_TEXTS[face] if meaning is None else f"{CARD_TEXTS[face]}={CARD_TEXTS[meaning]}"
            for face, meaning in with_wilds(meanings, wilds)
        ]
    )


def with_wilds(meanings: Iterable[Card], wilds: Iterable[Wild]) -> list[tuple[Card, Card | None]]:
    """The cards that stand for `meanings`, in that order: (face, None) or (wild, its meaning).

    Of equal meanings the natural cards come first, then the joker, then deuces.
    """
    left = sorted(wilds, key=lambda pair: (pair[0] != JOKER, pair[0]))
    order = list(meanings)
    if not left:
        return [(card, None) for card in order]
    cards: list[tuple[Card, Card | None]] = []
    for place, stands_for in enumerate(order):
        standing = [pair for pair in left if pair[1] == stands_for]
        if standing and len(standing) > order[place + 1 :].count(stands_for):
            left.remove(standing[0])
            cards.append(standing[0])
        else:
            cards.append((stands_for, None))
    return cards
