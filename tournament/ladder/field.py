"""Who is on the ladder and what is under way: plain bookkeeping, told what happens and when.

Times are seconds of any clock that never goes back. Nothing here waits, plays or stores.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tournament.ladder.names import parts_of
from tournament.schedule.fixtures import Encounter, Entrant, Fixture, make_encounter
from tournament.schedule.matchmaking import Candidate, Chance, Skills, choose

_LESS, _MORE = 0.75, 1 / 16
"""By what the matches at a time are multiplied on an overloaded machine; what part is added on
another."""
MOST_PER_BOT = 4
"""Matches of a bot at a time."""
_LEAST = 0.25
"""The part of the matches at a time that is always allowed."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How matches are made. `rules` is the hash of rules and clock.

    A later leg of an encounter waits until each of its bots has begun `legs_apart` other matches
    since the leg before, or `legs_wait_s` have passed; then its bots get no other encounter before.
    Encounters are made when half of those who are there are free, or `enough_free`, or one has been
    free for `pool_wait_s`: who meets whom should not hang on who ends at the same time.
    `failures_most` failures in a row pause.
    """

    seats: int
    rules: str
    most_matches: int = 16
    most_per_bot: int = MOST_PER_BOT
    legs_apart: int = 2
    legs_wait_s: float = 30.0
    enough_free: int = 8
    pool_wait_s: float = 2.0
    failures_most: int = 3


@dataclass(slots=True, eq=False)
class Place:
    """A version of a bot: what it was given and what it does."""

    entrant: str
    content_hash: str
    token_key: str
    author: str
    language: str
    paused: str = ""
    """Why it is not seated; empty: it is."""
    tests_failed: int = 0
    """Tests that it has failed while paused, since the ladder was started."""
    next_test_ms: int = 0
    """When it is tried next, in milliseconds since 1970; 0: it is not paused, or is due."""
    withdrawn: bool = False
    games: int = 0
    """Encounters that it was given."""
    matches: int = 0
    """Matches that ended with it."""
    failures: int = 0
    """Matches in a row, up to now, that it failed in."""
    waited: int = 0
    """Encounters that began while it was free, since it was last given one."""
    busy: int = 0
    """Matches that it is in, or about to be."""
    begun: int = 0
    """Matches begun since the ladder was started."""
    idle_since_s: float = 0.0
    """When it last came or ended a match."""

    @property
    def bot(self) -> str:
        """Name without the version."""
        return parts_of(self.entrant)[0]

    @property
    def version(self) -> str:
        """Version."""
        return parts_of(self.entrant)[1]


@dataclass(slots=True, eq=False)
class OpenEncounter:
    """An encounter of which not every leg has ended."""

    encounter: Encounter
    to_come: list[Fixture]
    """Legs that have not begun."""
    running: int = 0
    since_s: float = 0.0
    """When its last leg ended."""
    begun: Mapping[str, int] = field(default_factory=dict)
    """Matches that each of its bots had begun by then."""


class Field:
    """All entrants, by name, and all open encounters, by id.

    `room` says how many matches at once an entrant can play now: 0 if it is not connected.
    """

    def __init__(self, rules: Rules, room: Callable[[str], int], skills: Skills) -> None:
        self.rules = rules
        self.skills = skills
        self.places: dict[str, Place] = {}
        self.open: dict[str, OpenEncounter] = {}
        self.running = 0
        """Legs that are being played, or about to be."""
        self.encounters = 0
        """Encounters that ever began."""
        self.whole = 0
        """Encounters whose every leg has a result."""
        self.matches = 0
        """Matches that ever ended with a result or without a seat that was ready."""
        self._most_now = float(rules.most_matches)
        self._room = room
        self._meetings: Counter[tuple[str, str]] = Counter()
        self._sets: Counter[tuple[str, ...]] = Counter()
        self._present: dict[str, Place] = {}
        self._next_position = 0

    # --- what was before ------------------------------------------------------------------------

    def begin_from(
        self, encounters: Iterable[Sequence[str]], whole: int, next_position: int
    ) -> None:
        """Take over what a stored ladder had when it was stopped."""
        for table in encounters:
            self._count_table(table)
        self.whole, self._next_position = whole, next_position

    def past_seat(self, entrant: str, *, failed: bool) -> None:
        """Count a seat of a stored result, in the order in which they came in."""
        place = self.places.get(entrant)
        if place is not None:
            self._count_seat(place, failed=failed)

    def readmit(self, place: Place) -> None:
        """Seat it again, as if it had never failed."""
        place.paused, place.failures, place.tests_failed = "", 0, 0

    def _count_table(self, table: Sequence[str]) -> None:
        self.encounters += 1
        ordered = sorted(table)
        self._sets[tuple(ordered)] += 1
        for at, one in enumerate(ordered):
            for other in ordered[at + 1 :]:
                self._meetings[one, other] += 1
            place = self.places.get(one)
            if place is not None:
                place.games += 1

    def _count_seat(self, place: Place, *, failed: bool) -> None:
        place.matches += 1
        place.failures = place.failures + 1 if failed else 0

    def met(self, one: str, other: str) -> int:
        """Return how many encounters two entrants were given together."""
        return self._meetings[(one, other) if one < other else (other, one)]

    # --- who is there ---------------------------------------------------------------------------

    def enter(self, place: Place) -> None:
        """Add an entrant."""
        self.places[place.entrant] = place

    def arrived(self, entrant: str, now_s: float) -> None:
        """An entrant has connected; that it leaves is seen by its room."""
        place = self.places[entrant]
        if entrant not in self._present:
            self._present[entrant] = place
            place.waited, place.idle_since_s = 0, now_s

    def present(self) -> list[Place]:
        """Return the entrants that are connected."""
        gone = [entrant for entrant in self._present if not self._room(entrant)]
        for entrant in gone:
            del self._present[entrant]
        return list(self._present.values())

    def _is_free(self, place: Place) -> bool:
        return (
            not place.paused
            and not place.withdrawn
            and place.busy < min(self._room(place.entrant), self.rules.most_per_bot)
        )

    # --- what is to be played -------------------------------------------------------------------

    @property
    def most_now(self) -> int:
        """Matches at a time, at most, as the machine is now."""
        return int(self._most_now)

    def adapt(self, *, is_overloaded: bool) -> None:
        """Take fewer matches at a time, or more.

        A quarter of what is allowed always stays: bots that think long must not hold up all others.
        """
        most = self.rules.most_matches
        if is_overloaded:
            least = max(1.0, _LEAST * most)
            self._most_now = max(least, self._most_now * _LESS)
        else:
            self._most_now = min(self._most_now + _MORE * most, most)

    def next_leg(self, now_s: float) -> Fixture | None:
        """Take the later leg that has waited longest, if one may begin."""
        if self.running >= self.most_now:
            return None
        for opened in self.open.values():
            if opened.to_come and not opened.running and self._may_go_on(opened, now_s):
                # Whoever waited longest goes first the next time.
                leg = opened.to_come.pop(0)
                self._begin(opened, leg)
                return leg
        return None

    def _may_go_on(self, opened: OpenEncounter, now_s: float) -> bool:
        places = [self.places[bot] for bot in opened.encounter.bots]
        if not all(self._is_free(place) for place in places):
            return False
        apart = self.rules.legs_apart
        return self._is_due(opened, now_s) or all(
            place.begun - opened.begun.get(place.entrant, 0) >= apart for place in places
        )

    def _is_due(self, opened: OpenEncounter, now_s: float) -> bool:
        return now_s - opened.since_s >= self.rules.legs_wait_s

    def _held(self, now_s: float) -> set[str]:
        """Return who is kept for a later leg that has waited long enough."""
        held: set[str] = set()
        for opened in self.open.values():
            if opened.to_come and not opened.running and self._is_due(opened, now_s):
                places = [self.places[bot] for bot in opened.encounter.bots]
                if all(self._room(place.entrant) and not place.paused for place in places):
                    held.update(opened.encounter.bots)
        return held

    def next_encounters(
        self, chance: Chance, now_s: float, *, only_newcomers: bool = False
    ) -> list[Encounter]:
        """Make encounters for the places that are free, and take their first legs.

        With `only_newcomers` some are made only if a bot waits that was never given one.
        """
        most = self.most_now - self.running
        held = self._held(now_s)
        present = self.present()
        free = [p for p in present if self._is_free(p) and p.entrant not in held]
        if most <= 0 or not self._is_pool(free, len(present), now_s):
            return []
        if only_newcomers and all(place.games for place in free):
            return []
        tables = choose(
            [Candidate(p.entrant, p.bot, p.games, p.waited) for p in free],
            self.skills,
            self.met,
            seats=self.rules.seats,
            most=most,
            first=self.encounters,
            chance=chance,
            only_newcomers=only_newcomers,
        )
        made = [self._new_encounter(table) for table in tables]
        seated = {entrant for table in tables for entrant in table}
        for place in free:
            place.waited = 0 if place.entrant in seated else place.waited + len(tables)
        return made

    def _is_pool(self, free: Sequence[Place], present: int, now_s: float) -> bool:
        """Whether enough are free to choose from, or somebody has waited for that long enough."""
        if len(free) < self.rules.seats:
            return False
        if len(free) >= min(present / 2, self.rules.enough_free):
            return True
        longest = now_s - min(place.idle_since_s for place in free)
        return longest >= self.rules.pool_wait_s

    def _new_encounter(self, table: Sequence[str]) -> Encounter:
        encounter = make_encounter(
            [Entrant(entrant, self.places[entrant].content_hash) for entrant in table],
            self._sets[tuple(sorted(table))],
            self.rules.rules,
            first_position=self._next_position,
        )
        self._next_position += len(encounter.legs)
        self._count_table(table)
        opened = OpenEncounter(encounter, list(encounter.legs[1:]))
        self.open[encounter.encounter_id] = opened
        self._begin(opened, encounter.legs[0])
        return encounter

    def _begin(self, opened: OpenEncounter, leg: Fixture) -> None:
        opened.running += 1
        self.running += 1
        for entrant in leg.seats:
            place = self.places[entrant]
            place.busy += 1
            place.begun += 1

    # --- what came of it ------------------------------------------------------------------------

    def ended(
        self, leg: Fixture, failed: Sequence[bool], now_s: float, *, counts: bool
    ) -> list[Place]:
        """A leg has ended with a result; return those that are to be paused for it.

        `failed` says by seat who forfeited. A leg that does not count, as nobody was ever ready,
        closes its encounter.
        """
        opened = self._leave(leg, now_s)
        self.matches += 1
        opened.since_s = now_s
        opened.begun = {bot: self.places[bot].begun for bot in leg.seats}
        # To the end of the line.
        del self.open[leg.encounter_id]
        if counts and opened.to_come:
            self.open[leg.encounter_id] = opened
        self.whole += counts and not opened.to_come
        to_pause = []
        for entrant, is_failed in zip(leg.seats, failed, strict=True):
            place = self.places[entrant]
            self._count_seat(place, failed=is_failed)
            if place.failures >= self.rules.failures_most and not place.paused:
                to_pause.append(place)
        return to_pause

    def aborted(self, leg: Fixture, now_s: float) -> None:
        """A leg has ended without a result: its encounter is closed."""
        self._leave(leg, now_s)
        del self.open[leg.encounter_id]

    def put_back(self, leg: Fixture, now_s: float) -> None:
        """A leg that was taken has not begun: it is to come again."""
        opened = self._leave(leg, now_s)
        opened.to_come.insert(0, leg)
        for entrant in leg.seats:
            self.places[entrant].begun -= 1

    def closed_by_withdrawal(self) -> list[str]:
        """Close encounters that wait for an entrant that was withdrawn; their ids."""
        ids = [
            encounter
            for encounter, opened in self.open.items()
            if not opened.running
            and any(self.places[bot].withdrawn for bot in opened.encounter.bots)
        ]
        for encounter in ids:
            del self.open[encounter]
        return ids

    def _leave(self, leg: Fixture, now_s: float) -> OpenEncounter:
        opened = self.open[leg.encounter_id]
        self.running -= 1
        opened.running -= 1
        for entrant in leg.seats:
            place = self.places[entrant]
            place.busy -= 1
            place.idle_since_s = now_s
        return opened
