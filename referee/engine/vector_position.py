"""Reading the position of a conformance vector, and refusing one that cannot be."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from referee.engine.actions import MalformedAction
from referee.engine.cards import CARD_TEXTS, JOKER, Card, cards_of, multiset
from referee.engine.melds import meld_tables
from referee.engine.notation import parse_cards
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.engine.shuffle import SeededShuffler
from referee.engine.state import Out, Phase, State, TableMeld
from referee.engine.transition import begin_turn, start_deal
from referee.engine.wilds import wild_faces


class VectorError(ValueError):
    """The vector is wrong in itself, or what came is not what it expects."""


class ScriptedShuffler:
    """Recycles as the vector lists them; where no list is left the oldest discard comes first."""

    def __init__(self, orders: Sequence[Sequence[Card]]) -> None:
        self._orders = [list(order) for order in orders]

    def deal(self, deck: Sequence[Card]) -> list[Card]:
        """Positions are never dealt."""
        raise AssertionError(f"a position is not dealt, but {len(deck)} cards were to be")

    def recycle(self, number: int, cards: Sequence[Card]) -> list[Card]:
        """Raise VectorError unless the next list is exactly the recycled cards."""
        if not self._orders:
            return list(cards)
        order = self._orders.pop(0)
        if Counter(order) != Counter(cards):
            raise VectorError(
                f"reshuffles: the list for recycle {number} is not the recycled cards"
            )
        return order


_POSITION_KEYS = (
    "deal", "out", "turn", "phase", "hands", "stock", "discard", "table", "played", "taken",
    "recycles", "turns", "totals",
)  # fmt: skip


def load_position(rules: RuleSet, vector: Mapping[str, Any]) -> State:
    """The state a vector begins with. Raises VectorError."""
    seats = _number(vector, "seats", 2, 6, None)
    try:
        rules.check_seats(seats)
    except RuleSetError as error:
        raise VectorError(str(error)) from None
    dealer = _number(vector, "dealer", 0, seats - 1, 0)
    if ("from" in vector) == ("position" in vector):
        raise VectorError("a vector has either a position or from")
    if "from" in vector:
        if "reshuffles" in vector:
            raise VectorError("reshuffles is not given with from")
        shuffler = SeededShuffler(_seed(vector["from"]))
        return start_deal(rules, [0] * seats, shuffler, dealer=dealer)[0]
    position = vector["position"]
    if not isinstance(position, Mapping):
        raise VectorError("position must be an object")
    keys_within(position, _POSITION_KEYS, "position")
    state = _state(rules, seats, dealer, position, vector.get("reshuffles", []))
    _check_cards(state)
    if state.phase is Phase.DRAW:
        begin_turn(state, [])
    return state


def _seed(spec: object) -> bytes:
    text = spec.get("seed") if isinstance(spec, Mapping) else None
    try:
        seed = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        seed = b""
    if len(seed) != 32:
        raise VectorError('from must be {"seed": 64 hex digits}')
    return seed


def _state(
    rules: RuleSet, seats: int, dealer: int, position: Mapping[str, Any], reshuffles: object
) -> State:
    hands = [multiset(_cards(text, "hands")) for text in _list(position, "hands", seats, None)]
    out = _out(position.get("out", []), seats)
    stock = _cards(position.get("stock", ""), "stock")
    if not isinstance(reshuffles, list):
        raise VectorError("reshuffles must be a list of card lists")
    orders = [_cards(order, "reshuffles") for order in reshuffles]
    played = _list(position, "played", seats, False)
    if not all(isinstance(entry, bool) for entry in played):
        raise VectorError(f"played is {played!r}: allowed are true and false")
    state = State(
        rules=rules,
        deal=_number(position, "deal", 1, 200, 1),
        dealer=dealer,
        totals=tuple(_whole(total, "totals") for total in _list(position, "totals", seats, 0)),
        out=out,
        shuffler=ScriptedShuffler(orders),
        hands=hands,
        stock=stock[::-1],
        discards=bytearray(_cards(position.get("discard", ""), "discard")),
        table=[],
        turn=0,
        played=list(played),
        recycles=_number(position, "recycles", 0, 1_000_000, 0),
        turns=_number(position, "turns", 0, 1_000_000, 0),
    )
    state.table = _table(rules, position.get("table", []))
    if len(state.seats_in()) < 2:
        raise VectorError("out leaves fewer than two seats")
    state.turn = _number(position, "turn", 0, seats - 1, state.next_seat(dealer))
    _set_phase(state, position)
    for seat, hand in enumerate(hands):
        if state.is_in(seat) != bool(hand):
            raise VectorError(
                f"seat {seat}: each seat still in holds cards, an eliminated one none"
            )
    if not state.is_in(state.turn):
        raise VectorError(f"turn is {state.turn}, but that seat is out")
    return state


def _set_phase(state: State, position: Mapping[str, Any]) -> None:
    phase = position.get("phase", "draw")
    if phase not in ("draw", "play"):
        raise VectorError(f"phase is {phase!r}: allowed are draw, play")
    state.phase = Phase(phase)
    taken = position.get("taken")
    if taken is None:
        return
    cards = _cards(taken, "taken")
    if state.phase is not Phase.PLAY or len(cards) != 1:
        raise VectorError(f"taken is {taken!r}: one card, in phase play only")
    state.taken = cards[0]
    if not state.hands[state.turn] >> cards[0] & 1:
        raise VectorError(f"taken is {taken!r}, but the seat on turn does not hold it")


def _out(spec: object, seats: int) -> Out:
    if not isinstance(spec, list):
        raise VectorError("out must be a list")
    groups = tuple(tuple(group) if isinstance(group, list) else (group,) for group in spec)
    flat = [seat for group in groups for seat in group]
    for seat in flat:
        if type(seat) is not int or not 0 <= seat < seats or flat.count(seat) > 1:
            raise VectorError(f"out names {seat!r}: allowed are seats 0–{seats - 1}, each once")
    return groups


def _table(rules: RuleSet, spec: object) -> list[TableMeld]:
    tables = meld_tables(ace_high=rules.ace == "high_or_low", any_suits=rules.set_suits == "any")
    wild = wild_faces(rules)
    if not isinstance(spec, list):
        raise VectorError("table must be a list of melds")
    melds = []
    for number, text in enumerate(spec, 1):
        naturals, wilds = _parsed(text, "table")
        bad = [face for face, meaning in wilds if not wild >> face & 1 or face == meaning]
        stands_for = multiset([*naturals, *(meaning for _, meaning in wilds)])
        shape = tables.shapes.get(stands_for)
        if shape is None or bad or JOKER in naturals:
            raise VectorError(f"table: meld {number}, {text!r}, is not valid under these rules")
        melds.append(TableMeld(number, shape, tuple(sorted(wilds))))
    return melds


def _check_cards(state: State) -> None:
    """Nothing may be named more often than the packs hold it."""
    named: Counter[Card] = Counter(state.stock)
    named.update(state.discards)
    for hand in state.hands:
        named.update(cards_of(hand))
    for meld in state.table:
        own = Counter(cards_of(meld.shape.mask))
        own.subtract(meaning for _, meaning in meld.wilds)
        own.update(face for face, _ in meld.wilds)
        named.update(+own)
    packs = state.rules.packs[len(state.seats_in())]
    for card, count in named.items():
        if count > (state.rules.jokers if card == JOKER else packs):
            from_text = "jokers" if card == JOKER else "packs"
            raise VectorError(
                f"{CARD_TEXTS[card]} is named {count} times: more than the {from_text} hold"
            )


def _parsed(text: object, where: str) -> tuple[list[Card], list[tuple[Card, Card]]]:
    if not isinstance(text, str):
        raise VectorError(f"{where}: {text!r} is not a text of cards")
    try:
        return parse_cards(text)
    except MalformedAction as error:
        raise VectorError(f"{where}: {error}") from None


def _cards(text: object, where: str) -> list[Card]:
    naturals, wilds = _parsed(text, where)
    if wilds:
        raise VectorError(f"{where}: {text!r} names a meaning; only melds on the table have them")
    return naturals


def _list(position: Mapping[str, Any], key: str, seats: int, default: object) -> list[Any]:
    value = position.get(key, None if default is None else [default] * seats)
    if not isinstance(value, list) or len(value) != seats:
        raise VectorError(f"{key} must be a list with an entry for each of {seats} seats")
    return value


def _whole(value: object, key: str) -> int:
    if type(value) is not int or value < 0:
        raise VectorError(f"{key} is {value!r}: allowed are whole numbers from 0")
    return value


def _number(place: Mapping[str, Any], key: str, least: int, most: int, default: int | None) -> int:
    value = place.get(key, default)
    if type(value) is not int or not least <= value <= most:
        raise VectorError(f"{key} is {value!r}: allowed are {least}–{most}")
    return value


def keys_within(place: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Raise VectorError for a key that nothing would read."""
    known = tuple(allowed)
    for key in place:
        if key not in known:
            raise VectorError(f"{where}: unknown key {key!r}; there are {', '.join(known)}")
