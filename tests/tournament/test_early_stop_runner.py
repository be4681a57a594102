"""The runner begins no leg once a test is decided."""

from collections.abc import Sequence

import pytest

from referee.match.outcome import MatchResult, Termination
from tests.tournament.fakes import match_result
from tests.tournament.hall import planned, play, wins
from tournament.schedule.fixtures import Fixture
from tournament.store.stored import PlannedLeg
from tournament.worker.messages import PlayLeg


class Enough:
    """Is decided after some results."""

    replays_at_once = True

    def __init__(self, most: int) -> None:
        self.left = most

    @property
    def is_decided(self) -> bool:
        """Whether enough has been stored or given up."""
        return self.left <= 0

    def stored(self, _fixture: Fixture, _result: MatchResult) -> None:
        """Count it."""
        self.left -= 1

    def given_up(self, _fixture: Fixture) -> None:
        """Count it."""
        self.left -= 1

    async def more(self) -> Sequence[PlannedLeg]:
        """Return nothing."""
        return ()


@pytest.mark.parametrize("workers", [1, 2, 5])
async def test_no_leg_begins_once_it_is_decided(workers: int) -> None:
    hall, _, run = await play(wins, planned("ab", 20), workers=workers, course=Enough(7))
    assert await run() == []
    # Those that were under way are stored too.
    assert 7 <= len(hall.orders) == len(hall.store.results) < 7 + workers
    assert hall.started == hall.stopped


async def test_nothing_begins_when_it_was_decided_before() -> None:
    hall, _, run = await play(wins, planned("ab", 20), course=Enough(0))
    assert await run() == []
    assert (hall.orders, hall.started) == ([], 0)


async def test_a_test_plays_aborted_legs_again_before_others_begin() -> None:
    def react(leg: PlayLeg, attempt: int) -> MatchResult:
        if attempt == 1 and leg.fixture_id == legs[2].fixture.fixture_id:
            return match_result([0, 0], termination=Termination.ABORTED, text="stalled")
        return match_result([1, 2])

    legs = planned("ab", 20)
    hall, _, run = await play(react, legs, workers=2, course=Enough(40))
    assert await run() == []
    replayed = [n for n, order in enumerate(hall.orders) if order.fresh]
    assert len(replayed) == 1
    assert replayed[0] <= 5
    assert len(hall.store.results) == 40
