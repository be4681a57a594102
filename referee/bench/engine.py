"""Random play of whole deals through the same functions that a match uses."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

from referee.bench.openspiel import OpenSpielPlay
from referee.engine.cards import full_deck, multiset
from referee.engine.legality import legal_actions
from referee.engine.melding import best_melding
from referee.engine.observation import observe
from referee.engine.ruleset import RuleSet
from referee.engine.shuffle import SeededShuffler
from referee.engine.state import State
from referee.engine.transition import apply, start_deal

_DEALS_IN_TURN = 16
"""After so many deals OpenSpiel plays as many: what slows the machine slows both."""
_CARDS_TO_MELD = 10


@dataclass(frozen=True, slots=True)
class EngineRates:
    """Rates of one run on one core, by its own processor time: other work does not distort them."""

    actions_per_second: int
    deals_per_second: float
    actions: int
    deals: int
    legal_actions_mean: float
    observe_us: float
    """For the seat on turn, mean over the positions of random deals."""
    best_melding_us: float
    """Mean over random hands of ten cards, all different."""
    openspiel_actions_per_second: int | None
    """The same play of Gin Rummy by OpenSpiel, players' actions only; None: not installed."""
    openspiel_steps_per_second: int | None
    """With the steps of chance, which deal and draw cards one by one there."""
    openspiel_ratio: float | None
    """Our actions per second to theirs."""
    rules: str
    seats: int


def bench_engine(
    rules: RuleSet, seats: int, seconds: float, seed: int, progress: Callable[[float], None]
) -> EngineRates:
    """Play random deals for a while. Each action: list, choose, apply, events.

    In turn with OpenSpiel, if that is installed. Afterwards observe, and meld hands. `progress`
    is told the part done, from 0 to a little over 1.
    """
    rng = random.Random(seed)  # noqa: S311 - repeatable play, no secret
    openspiel = OpenSpielPlay(rng)
    # What is made once, such as tables and code, is no part of a rate.
    _play(rules, seats, rng)
    OpenSpielPlay(rng).play(1)
    actions = deals = listed = 0
    spent = 0.0
    while spent < seconds:
        begin = process_time()
        for _ in range(_DEALS_IN_TURN):
            played, offered = _play(rules, seats, rng)
            actions += played
            listed += offered
        spent += process_time() - begin
        deals += _DEALS_IN_TURN
        openspiel.play(_DEALS_IN_TURN)
        progress(spent / seconds)
    rate = actions / spent
    theirs = openspiel.rates()
    return EngineRates(
        actions_per_second=round(rate),
        deals_per_second=round(deals / spent, 1),
        actions=actions,
        deals=deals,
        legal_actions_mean=round(listed / actions, 2),
        observe_us=round(_observe_us(rules, seats, rng), 2),
        best_melding_us=round(_best_melding_us(rules, seats, min(seconds, 1.0), rng), 1),
        openspiel_actions_per_second=None if theirs is None else round(theirs[0]),
        openspiel_steps_per_second=None if theirs is None else round(theirs[1]),
        openspiel_ratio=None if theirs is None else round(rate / theirs[0], 2),
        rules=rules.preset,
        seats=seats,
    )


def _play(rules: RuleSet, seats: int, rng: random.Random) -> tuple[int, int]:
    """One deal: how many actions were played, and how many were offered in all."""
    state, _ = start_deal(rules, [0] * seats, SeededShuffler(rng.randbytes(32)))
    actions = listed = 0
    chance = rng.random
    while True:
        legal = legal_actions(state)
        if not legal:
            return actions, listed
        apply(state, legal[int(chance() * len(legal))])
        actions += 1
        listed += len(legal)


def _positions(rules: RuleSet, seats: int, rng: random.Random) -> list[State]:
    """Every position of a random deal."""
    state, _ = start_deal(rules, [0] * seats, SeededShuffler(rng.randbytes(32)))
    found = []
    while legal := legal_actions(state):
        found.append(state.copy())
        apply(state, rng.choice(legal))
    return found


def _observe_us(rules: RuleSet, seats: int, rng: random.Random) -> float:
    """Microseconds to observe a position, mean over those of some deals."""
    positions = [state for _ in range(10) for state in _positions(rules, seats, rng)]
    looks = 1 + 20_000 // len(positions)
    begin = process_time()
    for state in positions:
        for _ in range(looks):
            observe(state, state.turn)
    return (process_time() - begin) / (looks * len(positions)) * 1e6


def _best_melding_us(rules: RuleSet, seats: int, seconds: float, rng: random.Random) -> float:
    """Microseconds to meld a hand, mean over different hands from the deck of these rules."""
    deck = full_deck(rules.packs[seats], rules.jokers)
    spent = 0.0
    seen: set[int] = set()
    while spent < seconds:
        hands = {multiset(rng.sample(deck, _CARDS_TO_MELD)) for _ in range(500)} - seen
        seen |= hands
        begin = process_time()
        for hand in hands:
            best_melding(rules, hand)
        spent += process_time() - begin
    return spent / len(seen) * 1e6
