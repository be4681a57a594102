"""No leak: what a viewer is sent is the same, byte for byte, whatever it may not know.

test_secrets_planted.py checks that leaks are found, test_secrets_written.py what is put in words.
"""

import random
from collections import Counter
from dataclasses import replace

import pytest

from referee.engine.actions import Reason, Verb
from referee.match.policy import Policy
from referee.service.messages import MatchMessages
from tests.engine.random_rules import TABLES
from tests.match.fakes import make_spec
from tests.scale import ALL_CASES, SCALE, cases, repeating
from tests.service.hidden_pair import play

PER_TABLE = 5_000
_SEEN: dict[tuple[str, int], Counter[str]] = {}


@pytest.mark.parametrize(("preset", "seats"), TABLES)
def test_nothing_leaks(preset: str, seats: int) -> None:
    compared = 0
    seen = _SEEN[preset, seats] = Counter()
    for case in cases(10**6):
        seed = f"secrets/{preset}/{seats}/{case}"
        with repeating(__file__, f"test_nothing_leaks[{preset}-{seats}]", seed, case):
            compared += play(random.Random(seed), preset, seats, seen)
        if compared >= PER_TABLE * SCALE:
            break
    if ALL_CASES:
        assert compared >= PER_TABLE


def test_everything_is_compared() -> None:
    """All tables together: so many positions, and each kind of thing that can happen in them."""
    assert PER_TABLE * len(TABLES) >= 100_000
    if not ALL_CASES or len(_SEEN) < len(TABLES):
        return  # Only some of the tables were run.
    seen = sum(_SEEN.values(), Counter())
    moves = {f"{who} {verb.name}" for who in ("own", "other") for verb in Verb}
    # Three are no answers to a decision, and three are rare: tests/engine/test_hidden_cards.py
    # starts where those come up.
    others = {Reason.MALFORMED, Reason.DEAL_OVER, Reason.NOT_YOUR_TURN}
    others |= {Reason.STOCK_EMPTY, Reason.MUST_DISCARD, Reason.STRANDS_TURN}
    refusals = set(Reason) - others
    wanted = moves | {f"reason {reason.value}" for reason in refusals}
    wanted |= {"hidden discard", "come back", "own time up", "other time up", "other refused"}
    wanted |= {"out of turn", "forgiven", "plan", "deal ended", "match ended", "a spectator"}
    assert {name for name in wanted if not seen[name]} == set()


def test_match_starting_tells_nothing_of_the_other_seats() -> None:
    spec = make_spec(4)
    for seat in range(4):
        others = tuple(
            one if number == seat else replace(one, randomness=bytes([number + 1]) * 32)
            for number, one in enumerate(spec.seats)
        )
        first = MatchMessages(spec, Policy()).match_starting(seat)
        assert first == MatchMessages(replace(spec, seats=others), Policy()).match_starting(seat)
        assert spec.secret not in first
        assert spec.salt not in first
        assert spec.seats[seat].randomness in first
