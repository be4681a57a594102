"""Between the engine's values and the messages of rummy.proto.

Observations, events and actions are written by hand from ready fragments (see wire.py); a test
reads every one of them back with the generated code. Whatever a seat may not know is removed by
`observation.view` and `observation.observe` before it comes here.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from referee.engine.actions import Action, MalformedAction, Verb, Wild
from referee.engine.cards import JOKER, Card, Cards, cards_of, multiset
from referee.engine.events import (
    DealEnded,
    DealStarted,
    Discarded,
    Drew,
    Event,
    LaidOff,
    Melded,
    Recycled,
    Swapped,
)
from referee.engine.notation import with_wilds
from referee.engine.observation import Observation
from referee.engine.state import DealTermination, Phase, TableMeld
from referee.service.fragments import Fragments
from referee.service.wire import (
    PACKED,
    SMALL_NUMBERS,
    bytes_field,
    number_field,
    numbers_field,
    packed_field,
)
from rummy.referee.v1 import rummy_pb2 as pb

_VERBS: Final = {
    Verb.DRAW_STOCK: pb.ACTION_TYPE_DRAW_STOCK,
    Verb.DRAW_DISCARD: pb.ACTION_TYPE_DRAW_DISCARD,
    Verb.MELD: pb.ACTION_TYPE_MELD,
    Verb.LAY_OFF: pb.ACTION_TYPE_LAY_OFF,
    Verb.SWAP: pb.ACTION_TYPE_SWAP,
    Verb.DISCARD: pb.ACTION_TYPE_DISCARD,
}
_TYPES: Final = {int(number): verb for verb, number in _VERBS.items()}
_PHASES: Final = {
    Phase.DRAW: pb.PHASE_DRAW,
    Phase.PLAY: pb.PHASE_PLAY,
    Phase.OVER: pb.PHASE_OVER,
}
_DEAL_ENDS: Final = {
    DealTermination.WENT_OUT: pb.DEAL_TERMINATION_WENT_OUT,
    DealTermination.EXHAUSTED: pb.DEAL_TERMINATION_EXHAUSTED,
    DealTermination.TURN_CAP: pb.DEAL_TERMINATION_TURN_CAP,
}
_MOST_CARDS: Final = 13
"""More cards than any meld has are no action."""


# --- cards ------------------------------------------------------------------------------------
# The number of a card on the wire is its number in the engine plus one, and below 128: a packed
# list of cards is one byte a card.


_ONE_MORE: Final = bytes((number + 1) % 256 for number in range(256))


def _card_bytes(cards: Iterable[Card]) -> bytes:
    return bytes(cards).translate(_ONE_MORE)


def _card(field: int, card: Card | None) -> bytes:
    return b"" if card is None else SMALL_NUMBERS[field][card + 1]


def _cards_with_meanings(field: int, order: Iterable[Card], wilds: Sequence[Wild]) -> bytes:
    """Fields `field` (cards) and `field + 1` (meanings) of cards given by what they stand for."""
    if not wilds:
        return packed_field(field, _card_bytes(order))
    pairs = with_wilds(order, wilds)
    cards = _card_bytes(card for card, _ in pairs)
    meanings = bytes([0 if meaning is None else meaning + 1 for _, meaning in pairs])
    return packed_field(field, cards) + packed_field(field + 1, meanings)


def hand_field(field: int, hand: Cards) -> bytes:
    """A message Hand, also when it is empty."""
    return bytes_field(field, packed_field(1, _card_bytes(cards_of(hand))))


# --- actions ----------------------------------------------------------------------------------


def action_bytes(action: Action) -> bytes:
    """A message Action."""
    return (
        number_field(1, _VERBS[action.verb])
        + _cards_with_meanings(2, cards_of(action.meaning), action.wilds)
        + number_field(4, action.meld_id)
    )


LEGAL_ACTIONS: Final = Fragments[Action](lambda one: bytes_field(3, action_bytes(one)), 1 << 16)
"""The entries of `Decision.legal_actions`, tags and lengths included.

There are a few thousand actions without wild cards, which the engine shares.
"""


def decode_action(message: pb.Action) -> Action:
    """Read an action. Raises MalformedAction naming the field."""
    verb = _TYPES.get(message.type)
    if verb is None:
        raise MalformedAction(f"action type {message.type}: allowed are 1–{len(_TYPES)}")
    cards = [number - 1 for number in message.cards]
    meanings = [number - 1 for number in message.meanings] or [-1] * len(cards)
    for card in cards:
        if not 0 <= card <= JOKER:
            raise MalformedAction(f"card {card + 1}: allowed are 1–{JOKER + 1}")
    for meaning in meanings:
        if not -1 <= meaning < JOKER:
            raise MalformedAction(f"meaning {meaning + 1}: allowed are 1–{JOKER}, 0 for none")
    if len(meanings) != len(cards):
        raise MalformedAction(f"{len(meanings)} meanings for {len(cards)} cards")
    pairs = list(zip(cards, meanings, strict=True))
    wilds = tuple(sorted((card, meaning) for card, meaning in pairs if meaning >= 0))
    _check_fields(verb, len(cards), message.meld_id, has_meanings=bool(wilds))
    naturals = multiset(card for card, meaning in pairs if meaning < 0)
    return Action(verb, naturals, wilds, message.meld_id)


def _check_fields(verb: Verb, cards: int, meld_id: int, *, has_meanings: bool) -> None:
    name = verb.name
    if verb in (Verb.DRAW_STOCK, Verb.DRAW_DISCARD):
        least, most = 0, 0
    elif verb in (Verb.MELD, Verb.LAY_OFF):
        least, most = 1, _MOST_CARDS
    else:
        least, most = 1, 1
    if not least <= cards <= most:
        wanted = f"{least}" if least == most else f"{least}–{most}"
        raise MalformedAction(f"{name} with {cards} cards: allowed are {wanted}")
    if has_meanings and verb not in (Verb.MELD, Verb.LAY_OFF):
        raise MalformedAction(f"{name} takes no meanings")
    if meld_id and verb not in (Verb.LAY_OFF, Verb.SWAP):
        raise MalformedAction(f"{name} takes no meld_id")


# --- the table and observations ---------------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def _meld_content(meld_id: int, order: tuple[Card, ...], wilds: tuple[Wild, ...]) -> bytes:
    return number_field(1, meld_id) + _cards_with_meanings(2, order, wilds)


def meld_bytes(meld: TableMeld) -> bytes:
    """A message Meld."""
    return _meld_content(meld.meld_id, meld.shape.cards, meld.wilds)


_TABLE: Final = Fragments[TableMeld](lambda one: bytes_field(10, meld_bytes(one)), 1 << 12)
"""The entries of `Observation.table`, tags and lengths included."""


def observation_bytes(seen: Observation) -> bytes:
    """A message Observation."""
    small, packed = SMALL_NUMBERS, PACKED
    hand = _card_bytes(cards_of(seen.hand))
    discards = seen.discards.translate(_ONE_MORE)
    seats = len(seen.hand_counts)
    deal, taken, recycles, turns = seen.deal, seen.taken, seen.recycles, seen.turns
    return b"".join(
        [
            small[1][seen.seat or 0],
            small[2][deal] if deal < 128 else number_field(2, deal),
            small[3][seen.dealer],
            small[4][seen.turn],
            small[5][_PHASES[seen.phase]],
            packed[6][len(hand)],
            hand,
            packed[7][seats],
            bytes(seen.hand_counts),
            small[8][seen.stock_count],
            packed[9][len(discards)],
            discards,
            *_TABLE.of(seen.table),
            packed[11][seats],
            bytes(seen.played),
            b"" if taken is None else small[12][taken + 1],
            small[13][seen.melds_now],
            small[14][recycles] if recycles < 128 else number_field(14, recycles),
            small[15][turns] if turns < 128 else number_field(15, turns),
            _totals(seen.totals),
            packed_field(17, bytes(seen.out)) if seen.out else b"",
        ]
    )


@lru_cache(maxsize=1 << 12)
def _totals(totals: tuple[int, ...]) -> bytes:
    """They stay the same for a whole deal."""
    return numbers_field(16, totals)


# --- events -----------------------------------------------------------------------------------


def _shared_event(event: Drew | Discarded) -> bytes:
    seat, card = number_field(1, event.seat), event.card
    if isinstance(event, Discarded):
        return bytes_field(6, seat + _card(2, card))
    return bytes_field(2, seat + number_field(2, event.from_discard) + _card(3, card))


_SHARED_EVENTS: Final = Fragments[Drew | Discarded](_shared_event, 1 << 12)


def event_bytes(event: Event) -> bytes:
    """A message Event of an event that has been viewed for its recipient."""
    if isinstance(event, (Discarded, Drew)):
        return _SHARED_EVENTS.one(event)
    if isinstance(event, Melded):
        content = number_field(1, event.seat) + bytes_field(2, meld_bytes(event.meld))
        return bytes_field(3, content)
    if isinstance(event, LaidOff):
        cards = _cards_with_meanings(3, cards_of(event.meaning), event.wilds)
        return bytes_field(4, number_field(1, event.seat) + number_field(2, event.meld_id) + cards)
    if isinstance(event, Swapped):
        content = number_field(1, event.seat) + number_field(2, event.meld_id)
        return bytes_field(5, content + _card(3, event.card) + _card(4, event.wild))
    if isinstance(event, Recycled):
        content = number_field(1, event.recycles) + number_field(2, event.stock_count)
        return bytes_field(7, content + number_field(3, event.shuffled) + _card(4, event.upcard))
    if isinstance(event, DealStarted):
        return bytes_field(1, _deal_started(event))
    return bytes_field(8, _deal_ended(event))


def _deal_started(event: DealStarted) -> bytes:
    own = next((hand for hand in event.hands if hand is not None), 0)
    return b"".join(
        [
            number_field(1, event.deal),
            number_field(2, event.dealer),
            packed_field(3, _card_bytes(cards_of(own))),
            packed_field(4, bytes(event.hand_counts)),
            _card(5, event.upcard),
            number_field(6, event.stock_count),
            numbers_field(7, event.totals),
        ]
    )


def _deal_ended(event: DealEnded) -> bytes:
    return b"".join(
        [
            number_field(1, _DEAL_ENDS[event.termination]),
            # Present also for seat 0: the field is optional.
            b"" if event.winner is None else bytes((2 << 3, event.winner)),
            b"" if event.by is None else number_field(3, _VERBS[event.by]),
            number_field(4, event.rummy),
            numbers_field(5, event.points),
            numbers_field(6, event.totals),
            *[hand_field(7, hand) for hand in event.hands],
            packed_field(8, bytes(event.out)),
        ]
    )
