"""What may be done: `violation` judges one action, `legal_actions` lists all that it lets pass."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from referee.engine.actions import (
    DISCARDS,
    DRAW_DISCARD,
    DRAW_STOCK,
    Action,
    Reason,
    Verb,
    lay_off,
    meld,
    swap,
)
from referee.engine.cards import (
    FACES,
    JOKER_BIT,
    Card,
    Cards,
    add_all,
    add_card,
    by_byte,
    count_of,
    remove_all,
    remove_card,
    things_of,
)
from referee.engine.melds import MeldTables, rank_part, ranks_with_three
from referee.engine.state import Phase, State, TableMeld
from referee.engine.wilds import (
    has_enough_naturals,
    is_bad_wild,
    single_layoffs,
    swaps,
    wild_faces,
    wild_layoffs,
    wild_melds,
)

_SUIT: Final = 0x1FFF
_QUEEN_KING_ACE: Final = 0x1801
_ACES: Final = 0x1 | 0x1 << 13 | 0x1 << 26 | 0x1 << 39
_ACES_TO_JACKS: Final = 0x7FF * _ACES
_BOTH_DRAWS: Final = (DRAW_STOCK, DRAW_DISCARD)
_STOCK_ONLY: Final = (DRAW_STOCK,)
_UPCARD_ONLY: Final = (DRAW_DISCARD,)
_DISCARDS_BY_BYTE: Final = by_byte(DISCARDS)


# --- the draw ---------------------------------------------------------------------------------


def recyclable(state: State) -> Sequence[Card]:
    """Cards that a recycle would turn into the new stock, oldest discard first."""
    return state.discards[:-1] if state.rules.recycle_keeps_upcard else state.discards


def can_recycle(state: State) -> bool:
    """Whether a recycle is left and would give at least one card."""
    allowed = state.rules.recycles_allowed
    return (allowed is None or state.recycles < allowed) and bool(recyclable(state))


def _stock_violation(state: State) -> Reason | None:
    if state.stock:
        return None
    if state.rules.recycle_trigger == "on_stock_draw" and can_recycle(state):
        return None
    return Reason.STOCK_EMPTY


def _upcard_violation(state: State) -> Reason | None:
    if not state.discards:
        return Reason.NO_UPCARD
    upcard = state.discards[-1]
    hand = state.hands[state.turn]
    if hand & FACES == 1 << upcard and not _can_finish(
        state, add_card(hand, upcard), state.table, upcard, gate_open=_gate_is_open(state)
    ):
        return Reason.STRANDS_TURN
    return None


# --- can the turn still be finished? ----------------------------------------------------------


def _can_finish(
    state: State, hand: Cards, table: Sequence[TableMeld], taken: Card | None, *, gate_open: bool
) -> bool:
    """Whether a turn with this (not empty) hand has a legal end.

    Any face but the one taken may be discarded. If nothing else is left, only layoffs and swaps
    can help: copies of one face never make a new meld.
    """
    if taken is None or hand & FACES != 1 << taken:
        return True
    last = hand.bit_count() == 1
    if last and state.rules.same_card_discard == "unless_last":
        return True
    if not gate_open:
        return False
    for place, target in enumerate(table):
        for action in single_layoffs(state.rules, taken, target):
            if last:
                if state.rules.go_out == "any":
                    return True
                continue
            after = _with(table, place, grown_meld(state.tables, target, action))
            rest = remove_card(hand, taken)
            if _can_finish(state, rest, after, taken, gate_open=True):
                return True
        wild = target.wild_for(taken) if state.rules.wild_swap else None
        if wild is not None:
            after = _with(table, place, swapped_meld(target, wild))
            rest = add_card(remove_card(hand, taken), wild[0])
            if _can_finish(state, rest, after, taken, gate_open=True):
                return True
    return False


def _with(table: Sequence[TableMeld], place: int, changed: TableMeld) -> list[TableMeld]:
    return [*table[:place], changed, *table[place + 1 :]]


def _gate_is_open(state: State) -> bool:
    """Whether the seat on turn may lay off and swap. Under the gate, playing began with a meld."""
    return state.rules.layoff_gate == "none" or state.played_now or state.played[state.turn]


def grown_meld(tables: MeldTables, target: TableMeld, action: Action) -> TableMeld:
    """The meld after a layoff that fits."""
    shape = tables.shapes[add_all(target.shape.mask, action.meaning)]
    wilds = tuple(sorted(target.wilds + action.wilds)) if action.wilds else target.wilds
    return TableMeld(target.meld_id, shape, wilds)


def swapped_meld(target: TableMeld, wild: tuple[Card, Card]) -> TableMeld:
    """The meld after a swap that takes this wild card."""
    wilds = list(target.wilds)
    wilds.remove(wild)
    return TableMeld(target.meld_id, target.shape, tuple(wilds))


# --- one action -------------------------------------------------------------------------------


def violation(state: State, seat: int, action: Action) -> Reason | None:
    """Why `seat` may not do this now, or None. Depends only on what the seat may know."""
    if state.phase is Phase.OVER:
        return Reason.DEAL_OVER
    if seat != state.turn:
        return Reason.NOT_YOUR_TURN
    verb = action.verb
    if verb is Verb.DRAW_STOCK or verb is Verb.DRAW_DISCARD:
        if state.phase is not Phase.DRAW:
            return Reason.WRONG_PHASE
        return _stock_violation(state) if verb is Verb.DRAW_STOCK else _upcard_violation(state)
    if state.phase is not Phase.PLAY:
        return Reason.WRONG_PHASE
    hand = state.hands[seat]
    if action.used & hand != action.used:
        return Reason.CARD_NOT_IN_HAND
    if verb is Verb.DISCARD:
        return _discard_violation(state, hand, action)
    if verb is Verb.MELD:
        return _meld_violation(state, hand, action)
    if not 1 <= action.meld_id <= len(state.table):
        return Reason.NO_SUCH_MELD
    if not _gate_is_open(state):
        return Reason.LAYOFF_GATE
    if verb is Verb.LAY_OFF:
        return _layoff_violation(state, hand, action)
    return _swap_violation(state, hand, action)


def _discard_violation(state: State, hand: Cards, action: Action) -> Reason | None:
    if state.taken is None or action.used != 1 << state.taken:
        return None
    if state.rules.same_card_discard == "unless_last" and hand == action.used:
        return None
    return Reason.SAME_CARD


def _meld_violation(state: State, hand: Cards, action: Action) -> Reason | None:
    most = state.rules.max_melds_per_turn
    if most is not None and state.melds_now >= most:
        return Reason.MELD_LIMIT
    if (action.wilds or action.naturals & JOKER_BIT) and (
        is_bad_wild(state.rules, action) or not has_enough_naturals(action)
    ):
        return Reason.BAD_WILD
    shape = state.tables.shapes.get(action.meaning)
    if shape is None:
        return Reason.NOT_A_MELD
    rest = remove_all(hand, action.used)
    if not rest:
        return Reason.MUST_DISCARD if state.rules.go_out == "must_discard" else None
    if _leaves_only_taken(state, rest):
        new = TableMeld(len(state.table) + 1, shape, action.wilds)
        return _stranding(state, rest, [*state.table, new])
    return None


def _layoff_violation(state: State, hand: Cards, action: Action) -> Reason | None:
    if (action.wilds or action.naturals & JOKER_BIT) and is_bad_wild(state.rules, action):
        return Reason.BAD_WILD
    place = action.meld_id - 1
    target = state.table[place]
    if add_all(target.shape.mask, action.meaning) not in state.tables.shapes:
        return Reason.DOES_NOT_FIT
    rest = remove_all(hand, action.used)
    if not rest:
        return Reason.MUST_DISCARD if state.rules.go_out == "must_discard" else None
    if _leaves_only_taken(state, rest):
        after = _with(state.table, place, grown_meld(state.tables, target, action))
        return _stranding(state, rest, after)
    return None


def _swap_violation(state: State, hand: Cards, action: Action) -> Reason | None:
    if not state.rules.wild_swap:
        return Reason.BAD_WILD
    place = action.meld_id - 1
    target = state.table[place]
    card = action.naturals.bit_length() - 1
    wild = target.wild_for(card)
    if wild is None:
        return Reason.DOES_NOT_FIT
    rest = add_card(remove_card(hand, card), wild[0])
    return _stranding(state, rest, _with(state.table, place, swapped_meld(target, wild)))


def _leaves_only_taken(state: State, rest: Cards) -> bool:
    return state.taken is not None and rest & FACES == 1 << state.taken


def _stranding(state: State, rest: Cards, table: Sequence[TableMeld]) -> Reason | None:
    """The last test of a meld, layoff or swap; each of them leaves the gate open."""
    finishes = _can_finish(state, rest, table, state.taken, gate_open=True)
    return None if finishes else Reason.STRANDS_TURN


# --- all actions ------------------------------------------------------------------------------


def legal_actions(state: State) -> Sequence[Action]:
    """All legal actions of the seat on turn, each once, in a fixed order.

    Draws (stock first); or melds (runs by suit, sets by rank), layoffs by meld, swaps by meld, then
    melds and layoffs with wild cards, then discards by card. Empty when the deal is over.
    """
    return _plays(state, None)[0] if state.phase is Phase.PLAY else _draws(state)


def some_legal_actions(state: State, most_wild: int) -> tuple[Sequence[Action], bool]:
    """Legal actions in the order of `legal_actions`, and whether these are all.

    A hand with eight wild cards has tens of thousands of melds and layoffs that use some of them,
    and listing them takes a second. Here at most `most_wild` of them are listed, melds of few cards
    first. All other legal actions are always in the list.
    """
    return _plays(state, most_wild) if state.phase is Phase.PLAY else (_draws(state), True)


def _draws(state: State) -> Sequence[Action]:
    if state.phase is Phase.OVER:
        return ()
    stock = _stock_violation(state) is None
    upcard = _upcard_violation(state) is None
    if stock:
        return _BOTH_DRAWS if upcard else _STOCK_ONLY
    return _UPCARD_ONLY if upcard else ()


def _plays(state: State, most_wild: int | None) -> tuple[list[Action], bool]:
    rules = state.rules
    complete = True
    hand = state.hands[state.turn]
    found: list[Action] = []
    may_meld = rules.max_melds_per_turn is None or state.melds_now < rules.max_melds_per_turn
    may_lay_off = bool(state.table) and _gate_is_open(state)
    if may_meld:
        found += _natural_melds(state.tables, hand)
    if may_lay_off:
        for target in state.table:
            if target.shape.adjacent & hand:
                found += [
                    lay_off(target.meld_id, cards)
                    for cards in target.shape.extensions
                    if cards & hand == cards
                ]
        if rules.wild_swap:
            found += [
                swap(target.meld_id, card)
                for target in state.table
                for card in swaps(state, target)
            ]
    if rules.wilds != "none" and hand & wild_faces(rules):
        melds = wild_melds(state) if may_meld else iter(())
        layoffs = wild_layoffs(state) if may_lay_off else iter(())
        if most_wild is None:
            found += [*melds, *layoffs]
        else:
            some, complete = _up_to(most_wild, melds, layoffs)
            found += some
    if found and (state.taken is not None or rules.go_out == "must_discard"):
        found = _that_finish(state, found)
    found += legal_discards(state)
    return found, complete


def _up_to(
    most: int, melds: Iterator[Action], layoffs: Iterator[Action]
) -> tuple[list[Action], bool]:
    """Both, one after the other, and whether these are all.

    If there are more than `most`, each kind has half of the room and what the other leaves.
    """
    first, second = list(islice(melds, most + 1)), list(islice(layoffs, most + 1))
    if len(first) + len(second) <= most:
        return first + second, True
    first = first[: max(most // 2, most - len(second))]
    return first + second[: most - len(first)], False


def _that_finish(state: State, found: list[Action]) -> list[Action]:
    """The melds, layoffs and swaps after which the turn has a legal end.

    Only what leaves nothing but copies of the taken face, or nothing, can be illegal.
    """
    hand, taken = state.hands[state.turn], state.taken
    safe = hand.bit_count() - (0 if taken is None else count_of(hand, taken))
    return [
        action
        for action in found
        if (action.size < safe and action.verb is not Verb.SWAP)
        or violation(state, state.turn, action) is None
    ]


def legal_discards(state: State) -> list[Action]:
    """The discards among the legal actions of a seat that has drawn, by card."""
    hand, taken = state.hands[state.turn], state.taken
    discards = things_of(_DISCARDS_BY_BYTE, hand & FACES)
    if taken is None or _discard_violation(state, hand, DISCARDS[taken]) is None:
        return discards
    return [action for action in discards if action is not DISCARDS[taken]]


_RUN_MELDS: dict[tuple[MeldTables, int, int], tuple[Action, ...]] = {}


def _natural_melds(tables: MeldTables, hand: Cards) -> list[Action]:
    """Melds without wild cards."""
    found: list[Action] = []
    # Most hands hold no three in a row, and no ace above a queen and a king.
    if hand & hand >> 1 & hand >> 2 & _ACES_TO_JACKS or hand & hand >> 11 & hand >> 12 & _ACES:
        for suit in (0, 1, 2, 3):
            found += _run_melds(tables, suit, hand >> 13 * suit & _SUIT)
    for rank in ranks_with_three(hand):
        found += [meld(shape.mask) for shape in tables.sets_in(rank, rank_part(hand, rank))]
    return found


def _run_melds(tables: MeldTables, suit: int, bits: int) -> tuple[Action, ...]:
    if not bits & bits >> 1 & bits >> 2 and bits & _QUEEN_KING_ACE != _QUEEN_KING_ACE:
        return ()
    known = _RUN_MELDS.get((tables, suit, bits))
    if known is None:
        known = tuple(meld(shape.mask) for shape in tables.runs_in(suit, bits))
        _RUN_MELDS[tables, suit, bits] = known
    return known
