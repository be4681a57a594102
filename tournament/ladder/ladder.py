"""Plays a ladder: seats whoever is connected, stores each result, and computes what it means.

Nothing that takes long runs on the event loop: it is the referee's, and its stalls cost matches.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import structlog

from referee.match.outcome import MatchResult, Termination
from referee.service.bots import Bot
from referee.service.server import Referee, StoppingError
from tournament.config import Config
from tournament.errors import StoreError
from tournament.ladder.chance import match_of, new_secret, quick_chance, salts_for
from tournament.ladder.checks import Checks, Pauses
from tournament.ladder.desk import Desk
from tournament.ladder.entrants import Entrants
from tournament.ladder.field import Field, Place, Rules
from tournament.ladder.own_log import Uncounted, uncounted
from tournament.ladder.standing import Standings
from tournament.schedule.fixtures import Encounter, Fixture
from tournament.store.ladder import (
    add_encounter,
    close_encounters,
    next_position,
    past_encounters,
    past_seats,
    whole_encounters,
)
from tournament.store.store import Store

_LOOK_S = 0.5
"""How often places are filled when nothing has told to."""
_OVERLOAD_US = 200_000
"""More forgiven time than this says that a match was aborted because the machine is overloaded."""
_STILL = 0.2
"""A machine that stands still for more than this part of the time is overloaded."""
_ADAPT_S = 5.0
"""How often it is looked how much of the time the machine stood still."""
_SYNC_S = 10.0
"""How often registrations are looked for that others have stored."""
CUT = "the ladder was stopped before the encounter was whole"
_log = structlog.get_logger()


class Rated(Protocol):
    """Who computes the standings."""

    @property
    def latest(self) -> Standings:
        """The standings as last computed."""

    def results_came(self) -> None:
        """There is something new to compute from."""


@dataclass(frozen=True, slots=True)
class _Decks:
    """What the matches of an open encounter are made from: its secret, and salts by fixture."""

    secret: bytes = field(repr=False)
    salts: dict[str, bytes] = field(repr=False)


class Ladder:
    """One ladder at one referee. All methods are called on the referee's loop."""

    def __init__(
        self,
        referee: Referee,
        store: Store,
        desk: Desk,
        ladder: str,
        config: Config,
        rules: Rules,
        ratings: Rated,
        pauses: Pauses = Pauses(),  # noqa: B008 - frozen
    ) -> None:
        self.id = ladder
        self.config = config
        self.field = Field(rules, self._room, ratings.latest.skills)
        self.entrants = Entrants(referee, store, desk, ladder, self.field)
        self.running: set[str] = set()
        """Ids of the matches that are being played."""
        self.uncounted = Uncounted()
        self._referee = referee
        self._store = store
        self._desk = desk
        self._ratings = ratings
        self._checks = Checks(referee, config, pauses, self._bots_get, self._tried, self._passed)
        self._bots: dict[str, Bot] = {}
        self._decks: dict[str, _Decks] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._chance = quick_chance()
        self._lost_by_load = False
        """Whether a match was aborted because the machine is overloaded, since it was adapted."""
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # --- beginning and ending -------------------------------------------------------------------

    async def open(self) -> None:
        """Take up what is stored, and seat whoever comes from now on. Raises StoreError."""
        await self._desk.write(close_encounters, self._store, self.id, CUT)
        await self.entrants.load()
        encounters = await self._desk.read(past_encounters, self._store, self.id)
        whole = await self._desk.read(whole_encounters, self._store, self.id)
        position = await self._desk.read(next_position, self._store, self.id)
        self.field.begin_from(encounters, whole, position)
        seats = await self._desk.read(past_seats, self._store, self.id)
        self.field.matches = len(seats) // self.config.seats
        for seat in seats:
            self.field.past_seat(seat.entrant, failed=seat.failed)
        for place in self.field.places.values():
            if place.paused:
                self._checks.begin(place)
            elif place.failures >= self.field.rules.failures_most:
                # It was let in again after these.
                place.failures = 0
        self._referee.on_arrival(self._arrived)
        self._ratings.results_came()

    async def run(self) -> None:
        """Keep the tables busy until cancelled. Raises StoreError when results can't be kept."""
        looking = [
            asyncio.create_task(self._look_for_registrations()),
            asyncio.create_task(self._adapt()),
        ]
        try:
            while not self._failure.done():
                self._wake.clear()
                self._fill()
                try:
                    async with asyncio.timeout(_LOOK_S):
                        await self._wake.wait()
                except TimeoutError:
                    continue
            self._failure.result()
        finally:
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)

    async def close(self) -> None:
        """Wait for results to be stored, once the referee has ended its matches. Raises nothing."""
        await self._checks.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._desk.write(close_encounters, self._store, self.id, CUT)
        except StoreError as error:
            _log.error("encounters could not be closed", why=str(error))
        if self._failure.done():
            self._failure.exception()

    async def _look_for_registrations(self) -> None:
        while True:
            await asyncio.sleep(_SYNC_S)
            try:
                await self.entrants.load()
            except StoreError as error:
                self._fail(error)

    async def _adapt(self) -> None:
        """Have fewer matches run while the machine stands still too often, and say so."""
        while True:
            stalled_us, begin_s = self._referee.clock.total_stalled_us, self._now_s()
            await asyncio.sleep(_ADAPT_S)
            lost_us = self._referee.clock.total_stalled_us - stalled_us
            still = lost_us / 1e6 / (self._now_s() - begin_s)
            before = self.field.most_now
            self.field.adapt(is_overloaded=still > _STILL or self._lost_by_load)
            self._lost_by_load = False
            if self.field.most_now != before:
                self._wake.set()
                words = "fewer" if self.field.most_now < before else "more"
                _log.warning(
                    f"{words} matches at a time", most=self.field.most_now, still=round(still, 3)
                )

    def _fail(self, error: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)
        self._wake.set()

    # --- who is there ---------------------------------------------------------------------------

    def _arrived(self, bot: Bot) -> None:
        place = self.entrants.of_key(bot.identity.key)
        if place is not None:
            self._bots[place.entrant] = bot
            self.field.arrived(place.entrant, self._now_s())
            self._wake.set()

    def _room(self, entrant: str) -> int:
        bot = self._bots.get(entrant)
        session = bot.session if bot is not None else None
        return 0 if session is None else session.max_concurrent_matches

    def _bots_get(self, entrant: str) -> Bot | None:
        return self._bots.get(entrant)

    def is_connected(self, entrant: str) -> bool:
        """Whether a version has an open session."""
        return self._room(entrant) > 0

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()

    # --- matches --------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Begin what can begin: for newcomers, then later legs, then other encounters."""
        if self._referee.is_draining:
            return
        now_s = self._now_s()
        for closed in self.field.closed_by_withdrawal():
            self._decks.pop(closed, None)
            self._begin(self._close(closed, "one of its bots was withdrawn"))
        self.field.skills = self._ratings.latest.skills
        for encounter in self.field.next_encounters(self._chance, now_s, only_newcomers=True):
            self._begin(self._play_first(encounter))
        while (leg := self.field.next_leg(now_s)) is not None:
            self._begin(self._play(leg))
        for encounter in self.field.next_encounters(self._chance, now_s):
            self._begin(self._play_first(encounter))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """End the ladder by a failure of the store or of this program: results would be lost."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - it is raised where the ladder runs
            self._fail(error)

    async def _play_first(self, encounter: Encounter) -> None:
        """Store an encounter, then play its first leg."""
        decks = _Decks(new_secret(), salts_for(encounter))
        self._decks[encounter.encounter_id] = decks
        await self._desk.write(
            add_encounter, self._store, self.id, encounter, decks.secret, decks.salts
        )
        await self._play(encounter.legs[0])

    async def _play(self, leg: Fixture) -> None:
        decks = self._decks[leg.encounter_id]
        bots = [self._bots[entrant] for entrant in leg.seats]
        if not all(bot.is_connected for bot in bots):
            # Whoever left before it began has done nothing wrong.
            self.field.put_back(leg, self._now_s())
            return
        spec = match_of(self.config, leg, decks.secret, decks.salts[leg.fixture_id])
        self.running.add(spec.match_id)
        try:
            keep = partial(self._keep, leg)
            result = await self._referee.play_bots(spec, bots, keep=keep)
        except StoppingError:
            self.field.put_back(leg, self._now_s())
            return
        finally:
            self.running.discard(spec.match_id)
        if result.termination is Termination.ABORTED:
            self.field.aborted(leg, self._now_s())
            lost_us = max(seat.forgiven_us for seat in result.seats)
            self._lost_by_load |= lost_us > _OVERLOAD_US
            self._decks.pop(leg.encounter_id, None)
            for number, entrant in enumerate(leg.seats):
                await self._note(entrant, result, number)
        else:
            await self._count(leg, result)
        self._wake.set()

    async def _keep(self, leg: Fixture, result: MatchResult) -> None:
        """Store a result; only then its bots hear of it, and may play again."""
        if result.termination is Termination.ABORTED:
            await self._close(leg.encounter_id, result.text)
        else:
            await self._desk.write(self._store.save_result, self.id, leg.fixture_id, result)

    async def _count(self, leg: Fixture, result: MatchResult) -> None:
        """Take note of a result that is stored."""
        failed = [seat.forfeit is not None or not result.has_result for seat in result.seats]
        to_pause = self.field.ended(leg, failed, self._now_s(), counts=result.has_result)
        if leg.encounter_id not in self.field.open:
            self._decks.pop(leg.encounter_id, None)
        if not result.has_result:
            await self._close(leg.encounter_id, "an earlier leg has no result")
        self._ratings.results_came()
        for place in to_pause:
            await self._pause(place, result.text)

    async def _close(self, encounter: str, why: str) -> None:
        await self._desk.write(close_encounters, self._store, self.id, why, encounter)

    async def _note(
        self, entrant: str, result: MatchResult, seat: int, *, is_test: bool = False
    ) -> None:
        """Keep what its author may read of a match that counts for nothing."""
        note = await self._desk.read(uncounted, result, seat, is_test=is_test)
        self.uncounted.add(entrant, note)

    # --- who fails ------------------------------------------------------------------------------

    async def _pause(self, place: Place, text: str) -> None:
        why = f"it failed in {place.failures} matches in a row, the last one: {text}"
        # At once, for the others of this encounter are seated while it is stored.
        place.paused = why
        _log.warning("bot paused", bot=place.entrant, why=why)
        await self.entrants.pause(place, why)
        self._checks.begin(place)

    async def _tried(self, place: Place, result: MatchResult) -> None:
        await self._note(place.entrant, result, 0, is_test=True)

    async def _passed(self, place: Place) -> None:
        await self.entrants.pause(place, None)
        self.field.readmit(place)
        _log.info("bot seated again", bot=place.entrant)
        self._wake.set()
