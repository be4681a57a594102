"""Random play of whole deals through the same functions that a match uses."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

from referee.engine.legality import legal_actions
from referee.engine.observation import observe
from referee.engine.ruleset import RuleSet
from referee.engine.shuffle import SeededShuffler
from referee.engine.transition import apply, start_deal


@dataclass(frozen=True, slots=True)
class EngineRates:
    """Rates of one run on one core, by its own processor time: other work does not distort them."""

    actions_per_second: int
    deals_per_second: float
    actions: int
    deals: int
    legal_actions_mean: float
    observe_us: float
    rules: str
    seats: int


def bench_engine(
    rules: RuleSet, seats: int, seconds: float, seed: int, progress: Callable[[float], None]
) -> EngineRates:
    """Play random deals for a while. Each action: list, choose, apply, events; then observe."""
    rng = random.Random(seed)  # noqa: S311 - repeatable play, no secret
    _play(rules, seats, rng)
    actions = deals = listed = 0
    spent = observing = 0.0
    while spent < seconds:
        begin = process_time()
        played, offered = _play(rules, seats, rng)
        spent += process_time() - begin
        actions += played
        listed += offered
        deals += 1
        if deals % 64 == 0:
            progress(spent / seconds)
    state, _ = start_deal(rules, [0] * seats, SeededShuffler(rng.randbytes(32)))
    looks = 20_000
    begin = process_time()
    for _ in range(looks):
        observe(state, 0)
    observing = process_time() - begin
    return EngineRates(
        actions_per_second=round(actions / spent),
        deals_per_second=round(deals / spent, 1),
        actions=actions,
        deals=deals,
        legal_actions_mean=round(listed / actions, 2),
        observe_us=round(observing / looks * 1e6, 2),
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
