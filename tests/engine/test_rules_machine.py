"""Whole matches under any valid rules, played by hypothesis; each part has a seed of its own."""

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from referee.engine.actions import Reason
from tests.engine.referee_machine import RefereeMachine, seen
from tests.scale import ALL_CASES, cases, repeating

FILE = __file__
_SETTINGS = settings(
    max_examples=16,
    stateful_step_count=30,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
    # Making a failure small takes minutes: that is done when it is repeated.
    phases=[Phase.generate, *(() if ALL_CASES else (Phase.shrink,))],
)


def test_any_match_under_any_rules() -> None:
    """Every reason comes up in it, further deals do, and matches that end."""
    seen.clear()
    for case in cases(8):
        part = type(f"Part{case}", (RefereeMachine,), {})
        with repeating(FILE, "test_any_match_under_any_rules", str(case), case):
            run_state_machine_as_test(seed(case)(part), settings=_SETTINGS)
    if ALL_CASES:
        wanted = {reason.value for reason in Reason} | {"next deals", "legal"}
        assert {name for name in wanted if not seen[name]} == set(), seen
