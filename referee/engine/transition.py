"""How a deal moves: the start, one action, and what happens at a turn start without any choice."""

from collections.abc import Sequence

from referee.engine.actions import Action, IllegalAction, Verb
from referee.engine.cards import (
    FACES,
    JOKER,
    LAYER,
    Card,
    add_card,
    count_of,
    full_deck,
    multiset,
    remove_all,
    remove_card,
)
from referee.engine.events import (
    DealEnded,
    DealStarted,
    Event,
    LaidOff,
    Melded,
    Recycled,
    Swapped,
    discarded,
    discarded_hidden,
    drew_discard,
    drew_stock,
)
from referee.engine.legality import (
    can_recycle,
    grown_meld,
    legal_actions,
    legal_discards,
    recyclable,
    swapped_meld,
    violation,
)
from referee.engine.ruleset import RuleSet
from referee.engine.scoring import card_points, score, standing
from referee.engine.shuffle import Shuffler
from referee.engine.state import DealTermination, Out, Phase, State, TableMeld
from referee.engine.wilds import single_layoffs


def start_deal(
    rules: RuleSet,
    totals: Sequence[int],
    shuffler: Shuffler,
    *,
    deal: int = 1,
    dealer: int = 0,
    out: Out = (),
) -> tuple[State, list[Event]]:
    """Shuffle, deal one card at a time from the dealer's left, turn the first upcard.

    `totals` has an entry for each seat of the match. Returns the state at the first decision (or,
    with very small decks, at the end) and what happened. Raises RuleSetError for a wrong number of
    seats, ValueError for no such dealer.
    """
    seats = len(totals)
    rules.check_seats(seats)
    if not 0 <= dealer < seats:
        raise ValueError(f"dealer is {dealer}: allowed are seats 0–{seats - 1}")
    state = State(
        rules=rules,
        deal=deal,
        dealer=dealer,
        totals=tuple(totals),
        out=out,
        shuffler=shuffler,
        hands=[0] * seats,
        stock=[],
        discards=bytearray(),
        table=[],
        turn=dealer,
        played=[False] * seats,
    )
    still_in = state.seats_in()
    deck = shuffler.deal(full_deck(rules.packs[len(still_in)], rules.jokers))
    hand_size = rules.hand_size[len(still_in)]
    seat = dealer
    order = []
    for _ in still_in:
        seat = state.next_seat(seat)
        order.append(seat)
    for place, seat in enumerate(order):
        state.hands[seat] = multiset(deck[place : hand_size * len(order) : len(order)])
    rest = deck[hand_size * len(order) :]
    state.discards = bytearray(rest[:1])
    state.stock = rest[:0:-1]
    state.turn = order[0]
    started = DealStarted(
        deal=deal,
        dealer=dealer,
        hands=tuple(state.hands),
        hand_counts=tuple(hand.bit_count() for hand in state.hands),
        upcard=rest[0],
        stock_count=len(state.stock),
        totals=state.totals,
    )
    events: list[Event] = [started]
    begin_turn(state, events)
    return state, events


def begin_turn(state: State, events: list[Event]) -> None:
    """The turn start: the cap, then exhaustion, then a recycle. No seat has a choice in it."""
    rules = state.rules
    if state.turns >= state.turn_cap:
        _end(state, DealTermination.TURN_CAP, events)
        return
    if state.stock:
        return
    allowed = rules.recycles_allowed
    if allowed is not None and state.recycles >= allowed:
        _end(state, DealTermination.EXHAUSTED, events)
        return
    if rules.recycle_trigger == "turn_start" and can_recycle(state):
        _recycle(state, events)
    if not legal_actions(state):
        _end(state, DealTermination.EXHAUSTED, events)


def _recycle(state: State, events: list[Event]) -> None:
    """Turn the discard pile into the stock; the caller has checked that this is allowed."""
    cards = list(recyclable(state))
    kept = state.discards[len(cards) :]
    state.recycles += 1
    is_shuffled = state.rules.recycle == "shuffle"
    order = state.shuffler.recycle(state.recycles, cards) if is_shuffled else cards
    state.stock = order[::-1]
    state.discards = kept
    events.append(
        Recycled(state.recycles, len(cards), shuffled=is_shuffled, upcard=kept[0] if kept else None)
    )


def apply(state: State, action: Action) -> list[Event]:
    """Play one action of the seat on turn, and the turn starts that follow from it.

    Changes the state and returns what happened, in order. Raises IllegalAction, with the state
    unchanged, if the action is not legal.
    """
    seat = state.turn
    reason = violation(state, seat, action)
    if reason is not None:
        raise IllegalAction(action, reason)
    verb = action.verb
    events: list[Event] = []
    if verb is Verb.DISCARD:
        _discard(state, seat, action, events)
        return events
    if state.phase is Phase.DRAW:
        _draw(state, seat, action, events)
        return events
    if verb is Verb.MELD:
        meld = TableMeld(len(state.table) + 1, state.tables.shapes[action.meaning], action.wilds)
        state.table.append(meld)
        state.melds_now += 1
        events.append(Melded(seat, meld))
        state.hands[seat] = remove_all(state.hands[seat], action.used)
    else:
        target = state.table[action.meld_id - 1]
        if verb is Verb.LAY_OFF:
            state.table[action.meld_id - 1] = grown_meld(state.tables, target, action)
            events.append(LaidOff(seat, action.meld_id, action.meaning, action.wilds))
            state.hands[seat] = remove_all(state.hands[seat], action.used)
        else:
            _swap(state, seat, action, target, events)
    state.played_now = True
    if not state.hands[seat]:
        _go_out(state, seat, verb, events)
    return events


def _draw(state: State, seat: int, action: Action, events: list[Event]) -> None:
    from_discard = action.verb is Verb.DRAW_DISCARD
    if from_discard:
        card = state.taken = state.discards.pop()
    else:
        if not state.stock:
            _recycle(state, events)
        card = state.stock.pop()
    hand = state.hands[seat]
    bit = 1 << card
    state.hands[seat] = add_card(hand, card) if hand & bit else hand | bit
    state.phase = Phase.PLAY
    events.append(drew_discard(seat, card) if from_discard else drew_stock(seat, card))


def _swap(state: State, seat: int, action: Action, target: TableMeld, events: list[Event]) -> None:
    card: Card = action.naturals.bit_length() - 1
    wild = target.wild_for(card)
    assert wild is not None, "a legal swap has a wild card to take"
    state.table[action.meld_id - 1] = swapped_meld(target, wild)
    state.hands[seat] = add_card(remove_card(state.hands[seat], card), wild[0])
    events.append(Swapped(seat, action.meld_id, card, wild[0]))


def _discard(state: State, seat: int, action: Action, events: list[Event]) -> None:
    card = action.used.bit_length() - 1
    hand = state.hands[seat]
    hand = state.hands[seat] = remove_card(hand, card) if hand >> LAYER else hand ^ action.used
    state.discards.append(card)
    if not hand:
        state.hidden_discard = state.rules.final_discard_hidden
        is_hidden = state.hidden_discard
        events.append(discarded_hidden(seat, card) if is_hidden else discarded(seat, card))
        _go_out(state, seat, Verb.DISCARD, events)
        return
    events.append(discarded(seat, card))
    if state.played_now:
        state.played[seat] = True
        state.played_now = False
        state.melds_now = 0
    state.turns += 1
    state.taken = None
    state.turn = state.next_seat(seat) if state.out else (seat + 1) % state.seats
    state.phase = Phase.DRAW
    begin_turn(state, events)


def _go_out(state: State, seat: int, by: Verb, events: list[Event]) -> None:
    state.turns += 1
    state.taken = None
    state.winner, state.by = seat, by
    _end(state, DealTermination.WENT_OUT, events)


def _end(state: State, termination: DealTermination, events: list[Event]) -> None:
    state.phase = Phase.OVER
    state.ended = termination
    result = score(state)
    out = tuple(sorted(seat for group in standing(state).out for seat in group))
    events.append(
        DealEnded(
            termination=termination,
            winner=result.winner,
            by=result.by,
            rummy=result.rummy,
            points=result.points,
            totals=result.totals,
            hands=tuple(state.hands),
            out=out,
        )
    )


def forced_action(state: State) -> Action:
    """What the referee plays for a seat that must act and cannot (docs/rules.md).

    The stock if legal, else the upcard; then the dearest card that may be discarded; if none may,
    the single-card layoff on the lowest meld, else the first swap. Raises ValueError after the end.
    """
    if state.phase is Phase.OVER:
        raise ValueError("the deal is over: there is nothing to play")
    if state.phase is Phase.DRAW:
        return legal_actions(state)[0]
    discards = legal_discards(state)
    if discards:
        return max(discards, key=lambda action: _discard_rank(state, action))
    legal = legal_actions(state)
    hand = state.hands[state.turn]
    card = (hand & FACES).bit_length() - 1
    assert count_of(hand, card) == hand.bit_count(), "only copies of one face can be undiscardable"
    for target in state.table:
        for action in single_layoffs(state.rules, card, target):
            if action in legal:
                return action
    return next(action for action in legal if action.verb is Verb.SWAP)


def _discard_rank(state: State, action: Action) -> tuple[int, int, int, int]:
    """Most points; ties: joker, then K … A, then C before D before H before S."""
    card = action.used.bit_length() - 1
    if card == JOKER:
        return card_points(state.rules, card), 1, 0, 0
    return card_points(state.rules, card), 0, card % 13, -(card // 13)
