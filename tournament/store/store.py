"""Keeps tournaments: plans with their secrets, results exactly once, records.

What `save_result` has returned for is on the disk: a worker begins its next leg only after that.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Row, func, select, update
from sqlalchemy.sql.expression import Select

from referee.match.outcome import MatchResult
from tournament.errors import StoreError
from tournament.schedule.fixtures import Encounter
from tournament.store import schema as t
from tournament.store.database import Database
from tournament.store.plans import insert_encounters, insert_entries, now, storable
from tournament.store.postgres import PostgreSQL
from tournament.store.sqlite import SQLite
from tournament.store.stored import UNFINISHED, Entry, PlannedLeg, Tournament, fixture_of

_NAMED_MOST = 5
"""Tournaments that are named when somebody asks for one that is not there."""


class Store:
    """An open database. Every method raises StoreError when it can't do its work."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, data_dir: Path, url: str | None = None, *, create: bool = True) -> Self:
        """Open the file in `data_dir`, or the PostgreSQL database of `url` instead.

        Tables are made or brought up to date. Without `create` the file must be there. Raises
        StoreError, and UsageError when the URL can't be read.
        """
        return cls(SQLite.open(data_dir, create=create) if url is None else PostgreSQL.open(url))

    @classmethod
    def view(cls, data_dir: Path, url: str | None = None) -> Self:
        """Open the same for reading only; nothing is brought up to date."""
        return cls(SQLite.view(data_dir) if url is None else PostgreSQL.view(url))

    def close(self) -> None:
        """Let go of it."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """What texts call it: the path of the file, or the URL without its password."""
        return self._database.name

    @property
    def is_there(self) -> bool:
        """Whether it can still be found: the file was neither removed nor replaced."""
        return self._database.is_there

    @contextmanager
    def lock(self, tournament: str) -> Iterator[None]:
        """Keep any other process, on any host, from playing the tournament. Raises ResumeError.

        A process that dies lets go of it.
        """
        with self._database.lock(tournament):
            yield

    # Plans

    def create_tournament(
        self,
        tournament: str,
        *,
        config: Mapping[str, object],
        config_hash: str,
        entries: Sequence[Entry],
        plan: Sequence[Encounter],
        secrets: Mapping[str, bytes],
        salts: Mapping[str, bytes],
    ) -> None:
        """Store a plan, or the first round of one, secrets included, in one transaction.

        `secrets` are by encounter id, `salts` by fixture id.
        """
        with self.writing(tournament) as db:
            db.execute(
                t.tournaments.insert().values(
                    id=tournament,
                    config=json.dumps(config),
                    config_hash=config_hash,
                    created=now(),
                    status=UNFINISHED,
                )
            )
            insert_entries(db, tournament, entries)
            insert_encounters(db, tournament, plan, secrets, salts)

    def add_encounters(
        self,
        tournament: str,
        plan: Sequence[Encounter],
        secrets: Mapping[str, bytes],
        salts: Mapping[str, bytes],
    ) -> None:
        """Store a later round in one transaction. Encounters that are stored already stay."""
        with self.writing(tournament) as db:
            self._lock_row(db, tournament)
            query = select(t.encounters.c.encounter).where(t.encounters.c.tournament == tournament)
            known = set(db.execute(query).scalars())
            new = [encounter for encounter in plan if encounter.encounter_id not in known]
            insert_encounters(db, tournament, new, secrets, salts)

    def _lock_row(self, db: Connection, tournament: str) -> None:
        """Have other writers of this tournament wait until the transaction ends."""
        row = select(t.tournaments.c.id).where(t.tournaments.c.id == tournament)
        if db.execute(row.with_for_update()).first() is None:
            raise StoreError(f"{self.name} has no tournament {tournament!r}")

    def tournament(self, tournament: str) -> Tournament:
        """Return one tournament by its id."""
        found = self.rows(_tournaments().where(t.tournaments.c.id == storable(tournament)))
        if not found:
            latest = self.tournaments()[:_NAMED_MOST]
            known = ", ".join(row.id for row in latest) or "none yet"
            raise StoreError(
                f"{self.name} has no tournament {tournament!r}: the latest are {known}"
            )
        return _tournament_of(found[0])

    def tournaments(self) -> list[Tournament]:
        """Return all tournaments, the latest first."""
        latest_first = t.tournaments.c.created.desc(), t.tournaments.c.id.desc()
        return [_tournament_of(row) for row in self.rows(_tournaments().order_by(*latest_first))]

    def entries(self, tournament: str) -> list[Entry]:
        """Return the bots of a tournament, by name."""
        query = (
            select(t.entries, t.versions.c.version, t.versions.c.manifest, t.bots)
            .select_from(t.entries.join(t.versions).join(t.bots))
            .where(t.entries.c.tournament == tournament)
        )
        entries = [
            Entry(
                bot=row.bot,
                version=row.version,
                author=row.author,
                language=row.language,
                content_hash=row.content_hash,
                folder=row.folder,
                manifest=json.loads(row.manifest),
            )
            for row in self.rows(query)
        ]
        # Databases order texts by their own languages.
        return sorted(entries, key=lambda entry: entry.bot)

    def pending(self, tournament: str) -> list[PlannedLeg]:
        """Return the plan minus what is stored, in plan order."""
        query = (
            select(t.fixtures, t.encounters.c.secret)
            .select_from(t.fixtures.join(t.encounters).outerjoin(t.results))
            .where(t.fixtures.c.tournament == tournament, t.results.c.fixture.is_(None))
            .order_by(t.fixtures.c.position)
        )
        return [
            PlannedLeg(
                fixture=fixture_of(row),
                secret=bytes(row.secret),
                salt=bytes(row.salt),
                aborts=row.aborts,
            )
            for row in self.rows(query)
        ]

    def set_status(self, tournament: str, status: str, *, counted: int | None = None) -> None:
        """Mark a tournament unfinished or finished.

        `counted` is how many encounters of the plan, from its beginning, count: None for all.
        """
        with self.writing(tournament) as db:
            db.execute(
                update(t.tournaments)
                .where(t.tournaments.c.id == tournament)
                .values(status=status, counted=counted)
            )

    # Results

    def save_result(
        self, tournament: str, fixture: str, result: MatchResult, *, reasons: str = ""
    ) -> bool:
        """Store a result with its record; return False if the fixture has one already.

        A second result of a fixture changes nothing, so whoever does not know whether it was stored
        may store it again. `reasons` are words for the organiser alone.
        """
        key = {"tournament": tournament, "fixture": fixture}
        head = result.record_hash.hex()
        record = zlib.compress(result.record)
        with self.writing(tournament) as db:
            self._lock_row(db, tournament)
            planned = db.execute(_planned_and_stored(tournament, fixture)).first()
            if planned is None:
                raise StoreError(f"{self.name} has no fixture {fixture!r} in {tournament!r}")
            if planned.stored is not None:
                return False
            db.execute(
                t.results.insert().values(
                    **key,
                    match_id=result.match_id,
                    termination=result.termination.value,
                    has_result=result.has_result,
                    text=storable(result.text),
                    reasons=storable(reasons),
                    deals=result.deals,
                    record_hash=head,
                    created=now(),
                    # No other writer can get it: they wait for the row of the tournament.
                    sequence=(planned.latest or 0) + 1,
                )
            )
            db.execute(
                t.seat_results.insert(),
                [
                    {
                        **key,
                        **asdict(seat),
                        "seat": number,
                        "bot": bot,
                        "forfeit": None if seat.forfeit is None else seat.forfeit.value,
                    }
                    for number, (bot, seat) in enumerate(
                        zip(json.loads(planned.seats), result.seats, strict=True)
                    )
                ],
            )
            db.execute(t.records.insert().values(**key, record_hash=head, data=record))
        return True

    def note_abort(self, tournament: str, fixture: str, text: str) -> None:
        """Count an attempt of a leg that ended without a result."""
        with self.writing(tournament) as db:
            db.execute(
                update(t.fixtures)
                .where(t.fixtures.c.tournament == tournament, t.fixtures.c.fixture == fixture)
                .values(aborts=t.fixtures.c.aborts + 1, abort_text=storable(text))
            )

    @contextmanager
    def writing(self, tournament: str | None = None) -> Iterator[Connection]:
        """Change the tables of schema.py in one transaction; name the tournament if it is one's."""
        with self._database.explained(), self._database.writing(tournament) as db:
            yield db

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Let several queries on the tables of schema.py see the same moment."""
        with self._database.explained(), self._database.reading() as db:
            yield db

    def rows(self, query: Select[tuple[object, ...]]) -> Sequence[Row[tuple[object, ...]]]:
        """Return all rows of one query."""
        with self.reading() as db:
            return db.execute(query).all()


def _tournaments() -> Select[tuple[object, ...]]:
    planned = (
        select(func.count()).where(t.fixtures.c.tournament == t.tournaments.c.id).scalar_subquery()
    )
    matches = (
        select(func.count()).where(t.results.c.tournament == t.tournaments.c.id).scalar_subquery()
    )
    return select(t.tournaments, planned.label("planned"), matches.label("matches"))


def _tournament_of(row: Row[tuple[object, ...]]) -> Tournament:
    return Tournament(
        id=row.id,
        config=json.loads(row.config),
        config_hash=row.config_hash,
        created=row.created,
        status=row.status,
        counted=row.counted,
        matches=row.matches,
        planned=row.planned,
    )


def _planned_and_stored(tournament: str, fixture: str) -> Select[tuple[object, ...]]:
    """Ask for a fixture's seats, whether it has a result, and the tournament's latest number."""
    latest = (
        select(func.max(t.results.c.sequence))
        .where(t.results.c.tournament == tournament)
        .correlate(None)
        .scalar_subquery()
    )
    return (
        select(t.fixtures.c.seats, t.results.c.fixture.label("stored"), latest.label("latest"))
        .select_from(t.fixtures.outerjoin(t.results))
        .where(t.fixtures.c.tournament == tournament, t.fixtures.c.fixture == fixture)
    )
