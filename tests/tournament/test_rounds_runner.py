"""The runner plays one round after the other, and few encounters are half played meanwhile."""

from collections import Counter
from collections.abc import Sequence

import pytest

from referee.match.outcome import MatchResult, Termination
from tests.tournament.fakes import match_result
from tests.tournament.hall import FakeStore, planned, play, wins
from tournament.runner.legs import OPEN_MOST
from tournament.runner.runner import Runner
from tournament.schedule.fixtures import Fixture
from tournament.store.stored import PlannedLeg
from tournament.worker.messages import PlayLeg


class ThreeRounds:
    """Adds two rounds of legs after the first, one after the other."""

    replays_at_once = False
    is_decided = False

    def __init__(self, rounds: list[list[PlannedLeg]], store: FakeStore) -> None:
        self.rounds = rounds
        self.store = store
        self.stored_before: list[int] = []
        self.lost: list[Fixture] = []

    def stored(self, fixture: Fixture, result: MatchResult) -> None:
        """The store has it already."""
        assert self.store.results[fixture.fixture_id] is result

    def given_up(self, fixture: Fixture) -> None:
        """Note it."""
        self.lost.append(fixture)

    async def more(self) -> Sequence[PlannedLeg]:
        """Return the next round, noting how much was stored when it began."""
        self.stored_before.append(len(self.store.results))
        return self.rounds.pop(0) if self.rounds else ()


async def test_a_round_begins_when_the_one_before_is_played_or_given_up() -> None:
    def react(leg: PlayLeg, attempt: int) -> MatchResult:
        never = "c" in leg.seats and leg.leg == 0
        if never or ("b" in leg.seats and attempt == 1):
            return match_result([0, 0], termination=Termination.ABORTED, text="stalled")
        return match_result([1, 2])

    rounds = [planned("ab", 2), planned("cd", 1), planned("ef", 2)]
    hall, _, run = await play(react, rounds[0], workers=3)
    runner: Runner = run.__self__  # type: ignore[attr-defined]
    course = ThreeRounds(rounds[1:], hall.store)
    runner._course = course
    unplayed = await run()
    assert [item.leg for item in unplayed] == [rounds[1][0]]
    assert [fixture.leg for fixture in course.lost] == [0]
    assert course.stored_before == [4, 5, 9]
    assert hall.started == hall.stopped


async def test_workers_wait_for_the_next_round_and_are_not_started_anew() -> None:
    rounds = [planned("ab", 4), planned("cd", 4)]
    hall, _, run = await play(wins, rounds[0], workers=2)
    runner: Runner = run.__self__  # type: ignore[attr-defined]
    runner._course = ThreeRounds(rounds[1:], hall.store)
    await run()
    assert (hall.started, hall.stopped, len(hall.store.results)) == (2, 2, 16)


@pytest.mark.parametrize(("bots", "encounters", "warm"), [("abc", 40, 8), ("abcdefgh", 6, 8)])
@pytest.mark.parametrize("workers", [1, 2, 3])
async def test_few_encounters_are_half_played_at_any_time(
    bots: str, encounters: int, warm: int, workers: int
) -> None:
    legs = planned(bots, encounters)
    hall, _, run = await play(wins, legs, workers=workers, warm=warm)
    await run()
    of_encounter = {leg.fixture.fixture_id: leg.fixture.encounter_id for leg in legs}
    played: Counter[str] = Counter()
    most = 0
    for fixture in hall.store.results:
        played[of_encounter[fixture]] += 1
        most = max(most, sum(count == 1 for count in played.values()))
    assert most <= OPEN_MOST + workers
    if len(bots) * 2 <= warm:  # all processes can be kept: one encounter after the other
        assert most <= workers
