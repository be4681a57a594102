"""Many matches leave nothing, and their processes hold no more late than early."""

from tests.crashes.leaks import watch_matches

_MATCHES = 160
"""For figures of 1,000 and more: `python -m tests.crashes.soak --matches 1000`."""


def test_many_matches_leave_nothing_and_nothing_grows() -> None:
    growth = watch_matches(_MATCHES)
    assert growth.faults() == []
    assert growth.matches >= _MATCHES
