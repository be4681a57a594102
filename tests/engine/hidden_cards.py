"""States that differ only in cards that somebody cannot see."""

import random
from collections.abc import Collection

from referee.engine.cards import cards_of, multiset
from referee.engine.state import State


def with_hidden_cards_swapped(chance: random.Random, state: State, knows: Collection[int]) -> State:
    """The state with the hands of all seats but `knows` and the stock dealt anew among them.

    A last discard that lies face down is dealt anew with them.
    """
    twin = state.copy()
    others = [seat for seat in range(state.seats) if seat not in knows]
    pool = [*state.stock, *(card for seat in others for card in cards_of(state.hands[seat]))]
    if state.hidden_discard:
        pool.append(twin.discards.pop())
    chance.shuffle(pool)
    if state.hidden_discard:
        twin.discards.append(pool.pop())
    for seat in others:
        count = state.hands[seat].bit_count()
        twin.hands[seat] = multiset(pool[:count])
        pool = pool[count:]
    twin.stock = pool
    return twin
