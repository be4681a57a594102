"""A tournament that was killed in all kinds of moments ends like one that never was."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from tests.crashes.chains import CHAINS, LEAST, RANDOM, play_chain, play_random
from tests.scale import cases

_RANDOM_KILLS = 4
chain = cache(play_chain)


@contextmanager
def _repeated_by(options: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"repeat with: python -m tests.crashes.soak {options}")
        raise


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_kills_changes_nothing(name: str) -> None:
    with _repeated_by(f"--chain {name!r}"):
        assert chain(name).differences == ()


@pytest.mark.parametrize("seed", list(cases(2)))
def test_kills_at_random_moments_change_nothing(seed: int) -> None:
    with _repeated_by(f"--seed {seed} --kills {_RANDOM_KILLS}"):
        outcome = play_random(seed, _RANDOM_KILLS)
        assert outcome.differences == ()
        assert outcome.phases[RANDOM] >= 1


def test_every_phase_is_hit_often_enough() -> None:
    phases: Counter[str] = Counter()
    for name in CHAINS:
        phases += chain(name).phases
    assert {phase: count for phase, count in LEAST.items() if phases[phase] < count} == {}
    assert phases.total() >= 30
