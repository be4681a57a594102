"""How a plan goes on while it is played: as it is, by rounds, or until a test is decided.

The runner plays what it is given; when that is done it asks its course for more.
"""

from collections.abc import Sequence
from typing import Protocol

from referee.match.outcome import MatchResult
from tournament.schedule.fixtures import Fixture
from tournament.store.stored import PlannedLeg


class Course(Protocol):
    """What the runner tells about its legs, and asks."""

    @property
    def is_decided(self) -> bool:
        """Whether no leg has to begin any more."""

    @property
    def replays_at_once(self) -> bool:
        """Whether an aborted leg is played again before others begin, not after all of them."""

    def stored(self, fixture: Fixture, result: MatchResult) -> None:
        """A leg has its result."""

    def given_up(self, fixture: Fixture) -> None:
        """A leg stays without a result."""

    async def more(self) -> Sequence[PlannedLeg]:
        """Return the legs that come after all that were played or given up; none: it is over."""


class WholePlan:
    """A plan that is known from the beginning."""

    is_decided = False
    replays_at_once = False

    def stored(self, fixture: Fixture, result: MatchResult) -> None:
        """Nothing depends on it."""

    def given_up(self, fixture: Fixture) -> None:
        """Nothing depends on it."""

    async def more(self) -> Sequence[PlannedLeg]:
        """Return nothing."""
        return ()
