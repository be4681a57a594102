"""What a seat or a spectator may know: the one allow-list, built field by field."""

from dataclasses import dataclass

from referee.engine.cards import Card, Cards
from referee.engine.events import (
    DealStarted,
    Discarded,
    Drew,
    Event,
    discarded_hidden,
    drew_stock,
)
from referee.engine.state import Phase, State, TableMeld


@dataclass(slots=True)  # Freezing 17 fields would double the time that one takes to make.
class Observation:
    """All that a seat may know of a deal; a spectator's has `seat` None and an empty `hand`."""

    seat: int | None
    deal: int
    dealer: int
    turn: int
    phase: Phase
    hand: Cards
    hand_counts: tuple[int, ...]
    stock_count: int
    discards: bytes
    """Cards, oldest first; a hidden last discard is left out."""
    table: tuple[TableMeld, ...]
    played: tuple[bool, ...]
    """Has melded, laid off or swapped in this deal, this turn included, by seat."""
    taken: Card | None
    """Face taken from the discard pile in this turn: everybody saw it."""
    melds_now: int
    recycles: int
    turns: int
    totals: tuple[int, ...]
    """Points before this deal, by seat."""
    out: tuple[int, ...]
    """Eliminated seats, upwards."""


def observe(state: State, seat: int | None) -> Observation:
    """What `seat` may know now; None: a spectator, who sees public facts only."""
    discards = state.discards[:-1] if state.hidden_discard else state.discards
    played = state.played
    if state.played_now:
        played = played.copy()
        played[state.turn] = True
    return Observation(
        seat,
        state.deal,
        state.dealer,
        state.turn,
        state.phase,
        0 if seat is None else state.hands[seat],
        tuple([hand.bit_count() for hand in state.hands]),
        len(state.stock),
        bytes(discards),
        tuple(state.table),
        tuple(played),
        state.taken,
        state.melds_now,
        state.recycles,
        state.turns,
        state.totals,
        tuple(sorted(seat for group in state.out for seat in group)) if state.out else (),
    )


def view(event: Event, seat: int | None) -> Event:
    """The event as `seat` (None: a spectator) may know it; one without secrets is itself."""
    if isinstance(event, Drew):
        if event.from_discard or event.seat == seat:
            return event
        return drew_stock(event.seat, None)
    if isinstance(event, Discarded):
        if not event.hidden or event.seat == seat:
            return event
        return discarded_hidden(event.seat, None)
    if isinstance(event, DealStarted):
        return DealStarted(
            deal=event.deal,
            dealer=event.dealer,
            hands=tuple(hand if owner == seat else None for owner, hand in enumerate(event.hands)),
            hand_counts=event.hand_counts,
            upcard=event.upcard,
            stock_count=event.stock_count,
            totals=event.totals,
        )
    return event


def has_secret(event: Event) -> bool:
    """Whether some recipients see less of the event than others."""
    if isinstance(event, Drew):
        return not event.from_discard
    if isinstance(event, Discarded):
        return event.hidden
    return isinstance(event, DealStarted)
