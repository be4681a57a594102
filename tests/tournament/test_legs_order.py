"""The order of legs: each is taken once, near plan order, few encounters half played."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.scale import repeatable
from tests.tournament.hall import planned
from tournament.runner.legs import LOOKAHEAD, OPEN_MOST, LegQueue, Warm
from tournament.store.stored import PlannedLeg


def drained(
    legs: list[PlannedLeg], workers: int, warm: int, back: frozenset[int] = frozenset()
) -> list[PlannedLeg]:
    """Take all legs, workers in turn, putting those of the steps in `back` back once."""
    queue, taken, step = LegQueue(warm), [], 0
    queue.add(legs)
    warms = [Warm(warm) for _ in range(workers)]
    while queue:
        job = queue.take(warms[step % workers])
        step += 1
        if step in back:
            before = len(queue)
            queue.put_back(job)
            assert len(queue) == before + 1
        else:
            taken.append(job.leg)
    return taken


@repeatable
@given(
    bots=st.integers(2, 9),
    encounters=st.integers(1, 12),
    workers=st.integers(1, 4),
    warm=st.integers(2, 20),
    back=st.frozensets(st.integers(1, 60), max_size=5),
)
def test_every_leg_is_taken_once_and_few_encounters_are_half_taken(
    bots: int, encounters: int, workers: int, warm: int, back: frozenset[int]
) -> None:
    legs = planned("abcdefghi"[:bots], encounters)
    taken = drained(legs, workers, warm, back)
    assert sorted(leg.fixture.position for leg in taken) == [leg.fixture.position for leg in legs]
    half: Counter[str] = Counter()
    for leg in taken:
        half[leg.fixture.encounter_id] += 1
        assert sum(count == 1 for count in half.values()) <= OPEN_MOST + len(back)
    waiting = [leg.fixture.position for leg in legs]
    for leg in taken:
        at = waiting.index(leg.fixture.position)
        assert at < LOOKAHEAD + len(back)
        waiting.pop(at)


@repeatable
@given(bots=st.integers(2, 6), encounters=st.integers(1, 20), workers=st.integers(1, 3))
def test_when_all_processes_can_be_kept_it_is_plan_order(
    bots: int, encounters: int, workers: int
) -> None:
    legs = planned("abcdef"[:bots], encounters)
    assert drained(legs, workers, warm=2 * bots) == legs


def test_what_is_begun_comes_first_after_a_resume() -> None:
    legs = planned("ab", 10)
    begun = legs[5]  # its other leg, at 4, was played before
    queue = LegQueue(8)
    queue.add([*legs[:4], *legs[5:]])
    assert queue.take(Warm(8)).leg == begun


def test_of_many_bots_those_that_run_come_first() -> None:
    legs = planned("abcdefgh", 1)
    queue, warm = LegQueue(4), Warm(4)
    queue.add(legs)
    first = queue.take(warm).fixture
    second = queue.take(warm).fixture
    assert second.leg == first.leg
    assert len({*first.seats} & {*second.seats}) == 1
    assert warm.processes == [
        *[(bot, 0) for bot in first.seats if bot not in second.seats],
        *[(bot, 0) for bot in second.seats],
    ]


def test_what_is_put_back_comes_first() -> None:
    legs = planned("ab", 3)
    queue, warm = LegQueue(8), Warm(8)
    queue.add(legs)
    job = queue.take(warm)
    queue.put_back(job)
    assert queue.take(warm) is job
