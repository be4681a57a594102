"""The course of a tournament by rounds: the next one is planned from the results of those before.

A round is planned from what is stored and added in one transaction, so that it comes into being
exactly once, whatever is killed in between.
"""

import asyncio
from collections.abc import Callable, Sequence

from referee.match.outcome import MatchResult
from tournament.config import Config
from tournament.runner.chance import salts_for, secrets_for
from tournament.schedule.fixtures import Entrant, Fixture
from tournament.schedule.swiss import Score, next_round
from tournament.store.queries import encounter_scores
from tournament.store.store import Store
from tournament.store.stored import EncounterScore, PlannedLeg

_HALF = 0.5


class Rounds:
    """Plans round after round. `tell` hears the number of each, from 1."""

    is_decided = False
    replays_at_once = False

    def __init__(
        self, store: Store, tournament: str, config: Config, tell: Callable[[int], None]
    ) -> None:
        self._store = store
        self._tournament = tournament
        self._config = config
        self._tell = tell

    def stored(self, fixture: Fixture, result: MatchResult) -> None:
        """Wait for the end of the round."""

    def given_up(self, fixture: Fixture) -> None:
        """Wait for the end of the round."""

    async def more(self) -> Sequence[PlannedLeg]:
        """Plan the next round and return its legs; nothing after the last one."""
        planned = encounter_scores(self._store, self._tournament)
        number = 1 + max(encounter.round for encounter in planned)
        if number == self._config.rounds:
            return ()
        # Not in the event loop: it must hear a Ctrl-C, however large the field.
        plan = await asyncio.to_thread(
            next_round,
            [Entrant(e.bot, e.content_hash) for e in self._store.entries(self._tournament)],
            [score_of(encounter) for encounter in planned],
            round=number,
            encounters=self._config.encounters,
            rules=self._config.rules_hash,
            first_position=sum(encounter.legs for encounter in planned),
        )
        secrets = secrets_for(self._config.seed, plan)
        salts = salts_for(self._config.seed, plan, secrets)
        self._store.add_encounters(self._tournament, plan, secrets, salts)
        self._tell(number + 1)
        new = {leg.fixture_id for encounter in plan for leg in encounter.legs}
        pending = self._store.pending(self._tournament)
        return [leg for leg in pending if leg.fixture.fixture_id in new]


def score_of(encounter: EncounterScore) -> Score:
    """Return what an encounter is worth: 1 to who won more of its legs, ½ each unplayed."""
    shares = encounter.scores or {}
    return Score(
        encounter_id=encounter.encounter_id,
        round=encounter.round,
        points={bot: _points(shares.get(bot, _HALF)) for bot in encounter.bots},
    )


def _points(share: float) -> float:
    if share == _HALF:
        return _HALF
    return 1.0 if share > _HALF else 0.0
