"""The course of a test between two bots: no leg begins once the encounters so far decide it.

The verdict is a function of results in plan order. Legs that were under way when it fell are stored
and do not count.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from referee.match.outcome import MatchResult
from tournament.config import Config
from tournament.runner.legs import ABORTS_MOST
from tournament.schedule.fixtures import Fixture
from tournament.statistics.pairs import plan_prefix
from tournament.statistics.sprt import Outcome, Sprt, Verdict
from tournament.statistics.standings import LegResult, SeatRow
from tournament.store.queries import first_seats, leg_results, legs_per_encounter
from tournament.store.store import Store
from tournament.store.stored import PlannedLeg


@dataclass(frozen=True, slots=True)
class Trial:
    """A test as far as it is stored. `scores` are the bot's, of the encounters that count.

    They are whole encounters in plan order, up to the verdict or the first that is not whole yet.
    `unplayed` counts those among them that were passed over, having no result.
    """

    bot: str
    opponent: str
    verdict: Verdict
    scores: Sequence[float]
    planned: int
    unplayed: int

    @property
    def is_decided(self) -> bool:
        """Whether one of the hypotheses was accepted."""
        return self.verdict.outcome is not Outcome.UNDECIDED


class EarlyStop:
    """Watches a test. `bot` is the one whose scores count, `plan` its encounters in order."""

    replays_at_once = True

    def __init__(
        self, sprt: Sprt, bot: str, plan: Mapping[str, int], legs: Sequence[LegResult]
    ) -> None:
        """Begin with the `legs` that are stored. `plan` tells how many legs an encounter has."""
        self._running = sprt.running()
        self._bot = bot
        self._plan = plan
        self._coming = iter(plan)
        self._next = next(self._coming, None)
        self._legs: dict[str, list[LegResult]] = {}
        self._given_up: set[str] = set()
        self.looked_at = 0
        """Encounters from the beginning of the plan that the verdict rests on so far."""
        for leg in legs:
            self._legs.setdefault(leg.encounter_id, []).append(leg)
        self._advance()

    @property
    def is_decided(self) -> bool:
        """Whether the encounters in plan order have decided it."""
        return self._running.verdict.outcome is not Outcome.UNDECIDED

    def stored(self, fixture: Fixture, result: MatchResult) -> None:
        """Count the encounters that are whole by now."""
        self._legs.setdefault(fixture.encounter_id, []).append(_leg_result(fixture, result))
        self._advance()

    def given_up(self, fixture: Fixture) -> None:
        """Pass over the encounter: it proves nothing."""
        self._given_up.add(fixture.encounter_id)
        self._advance()

    async def more(self) -> Sequence[PlannedLeg]:
        """Return nothing: all that may be played is planned from the beginning."""
        return ()

    def _advance(self) -> None:
        while self._next is not None and not self.is_decided:
            encounter, legs = self._next, self._legs.get(self._next, [])
            planned = self._plan[encounter]
            is_over = encounter in self._given_up or not all(leg.has_result for leg in legs)
            if len(legs) < planned and not is_over:
                return
            for score in plan_prefix(
                [(encounter, planned)], legs, self._bot, unplayed=self._given_up
            ):
                self._running.add(score)
            self._next = next(self._coming, None)
            self.looked_at += 1


def _leg_result(fixture: Fixture, result: MatchResult) -> LegResult:
    return LegResult(
        encounter_id=fixture.encounter_id,
        position=fixture.position,
        has_result=result.has_result,
        seats=tuple(
            SeatRow(
                bot=bot,
                place=seat.place,
                total=seat.total,
                forfeit=seat.forfeit,
                decisions=seat.decisions,
                charged_us=seat.charged_us,
                longest_us=seat.longest_us,
            )
            for bot, seat in zip(fixture.seats, result.seats, strict=True)
        ),
    )


def sprt_of(config: Config) -> Sprt:
    """Return the test that a stored configuration of `tournament test` asks for."""
    assert config.sprt is not None
    return Sprt(**config.sprt)


def early_stop(store: Store, tournament: str, sprt: Sprt) -> EarlyStop:
    """Return the course of a stored test."""
    bot, _ = _bots(store, tournament)
    plan = legs_per_encounter(store, tournament)
    return EarlyStop(sprt, bot, plan, leg_results(store, tournament))


def read_trial(store: Store, tournament: str, sprt: Sprt) -> Trial:
    """Return how a stored test stands."""
    pending = store.pending(tournament)
    return judge(
        sprt,
        _bots(store, tournament),
        legs_per_encounter(store, tournament),
        leg_results(store, tournament),
        {leg.fixture.encounter_id for leg in pending if leg.aborts >= ABORTS_MOST},
    )


def _bots(store: Store, tournament: str) -> tuple[str, str]:
    """Return the bot that is tested, which the plan begins with, and its opponent."""
    bot, opponent = first_seats(store, tournament)
    return bot, opponent


def judge(
    sprt: Sprt,
    bots: tuple[str, str],
    plan: Mapping[str, int],
    legs: Sequence[LegResult],
    given_up: Collection[str] = (),
) -> Trial:
    """Return what the results say about the first of `bots`, without encounters `given_up`.

    `plan` has every encounter's number of legs, in plan order.
    """
    scores = plan_prefix(list(plan.items()), legs, bots[0], unplayed=given_up)
    verdict = sprt.judge(scores)
    if verdict.at is not None:
        scores = scores[: verdict.at]
    passed_over = {leg.encounter_id for leg in legs if not leg.has_result}.union(given_up)
    counted = unplayed = 0
    for encounter in plan:
        if counted == len(scores) and verdict.at is not None:
            break
        unplayed += encounter in passed_over
        counted += encounter not in passed_over
    return Trial(
        bot=bots[0],
        opponent=bots[1],
        verdict=verdict,
        scores=scores,
        planned=len(plan),
        unplayed=unplayed,
    )
