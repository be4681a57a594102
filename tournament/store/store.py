"""Keeps tournaments: plans with their secrets, results exactly once, records.

What `save_result` has returned for is on the disk: a worker begins its next leg only after that.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, Row, exc, func, select, update
from sqlalchemy.sql.expression import Select

from referee.match.outcome import MatchResult
from tournament.errors import StoreError
from tournament.schedule.fixtures import Encounter
from tournament.store import schema as t
from tournament.store.database import explained, open_sqlite, view_sqlite, writing
from tournament.store.stored import UNFINISHED, Entry, PlannedLeg, Tournament, fixture_of


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store:
    """The database of one data folder. Every method raises StoreError when it can't do its work."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self._engine = engine
        self.path = path
        self._identity = _identity(path)

    @classmethod
    def open(cls, data_dir: Path, *, create: bool = True) -> Self:
        """Open the database in `data_dir`; without `create` it must be there."""
        return cls(*open_sqlite(data_dir, create=create))

    @classmethod
    def view(cls, data_dir: Path) -> Self:
        """Open the database in `data_dir` for reading only."""
        return cls(*view_sqlite(data_dir))

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

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
        """Store a whole plan, secrets included, in one transaction.

        `secrets` are by encounter id, `salts` by fixture id.
        """
        with self._writing() as db:
            now = _now()
            for entry in entries:
                _save_version(db, entry, now)
            db.execute(
                t.tournaments.insert().values(
                    id=tournament,
                    config=json.dumps(config),
                    config_hash=config_hash,
                    created=now,
                    status=UNFINISHED,
                )
            )
            db.execute(
                t.entries.insert(),
                [
                    {
                        "tournament": tournament,
                        "bot": entry.bot,
                        "content_hash": entry.content_hash,
                        "folder": entry.folder,
                    }
                    for entry in entries
                ],
            )
            db.execute(
                t.encounters.insert(),
                [
                    {
                        "tournament": tournament,
                        "encounter": encounter.encounter_id,
                        "number": encounter.number,
                        "legs": len(encounter.legs),
                        "secret": secrets[encounter.encounter_id],
                    }
                    for encounter in plan
                ],
            )
            db.execute(
                t.fixtures.insert(),
                [
                    {
                        "tournament": tournament,
                        "fixture": leg.fixture_id,
                        "encounter": leg.encounter_id,
                        "position": leg.position,
                        "leg": leg.leg,
                        "seats": json.dumps(leg.seats),
                        "first_dealer": leg.first_dealer,
                        "salt": salts[leg.fixture_id],
                        "aborts": 0,
                        "abort_text": "",
                    }
                    for encounter in plan
                    for leg in encounter.legs
                ],
            )

    def tournament(self, tournament: str) -> Tournament:
        """Return one tournament by its id."""
        found = [row for row in self.tournaments() if row.id == tournament]
        if not found:
            known = ", ".join(row.id for row in self.tournaments()[:5]) or "none yet"
            raise StoreError(
                f"{self.path} has no tournament {tournament!r}: the latest are {known}"
            )
        return found[0]

    def tournaments(self) -> list[Tournament]:
        """Return all tournaments, the latest first."""
        planned = (
            select(func.count())
            .where(t.fixtures.c.tournament == t.tournaments.c.id)
            .scalar_subquery()
        )
        matches = (
            select(func.count())
            .where(t.results.c.tournament == t.tournaments.c.id)
            .scalar_subquery()
        )
        query = select(t.tournaments, planned.label("planned"), matches.label("matches")).order_by(
            t.tournaments.c.created.desc(), t.tournaments.c.id.desc()
        )
        return [
            Tournament(
                id=row.id,
                config=json.loads(row.config),
                config_hash=row.config_hash,
                created=row.created,
                status=row.status,
                matches=row.matches,
                planned=row.planned,
            )
            for row in self.rows(query)
        ]

    def entries(self, tournament: str) -> list[Entry]:
        """Return the bots of a tournament, by name."""
        query = (
            select(t.entries, t.versions.c.version, t.versions.c.manifest, t.bots)
            .select_from(t.entries.join(t.versions).join(t.bots))
            .where(t.entries.c.tournament == tournament)
            .order_by(t.entries.c.bot)
        )
        return [
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

    def set_status(self, tournament: str, status: str) -> None:
        """Mark a tournament unfinished or finished."""
        with self._writing() as db:
            db.execute(
                update(t.tournaments).where(t.tournaments.c.id == tournament).values(status=status)
            )

    # Results

    def save_result(self, tournament: str, fixture: str, result: MatchResult) -> bool:
        """Store a result with its record; return False if the fixture has one already.

        A second result of a fixture changes nothing.
        """
        key = {"tournament": tournament, "fixture": fixture}
        head = result.record_hash.hex()
        try:
            with self._writing() as db:
                db.execute(
                    t.results.insert().values(
                        **key,
                        match_id=result.match_id,
                        termination=result.termination.value,
                        has_result=result.has_result,
                        text=result.text,
                        deals=result.deals,
                        record_hash=head,
                        created=_now(),
                    )
                )
                seats = _planned_seats(db, tournament, fixture)
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
                        for number, (bot, seat) in enumerate(zip(seats, result.seats, strict=True))
                    ],
                )
                db.execute(
                    t.records.insert().values(
                        **key, record_hash=head, data=zlib.compress(result.record)
                    )
                )
        except StoreError as error:
            if isinstance(error.__cause__, exc.IntegrityError) and self._is_stored(**key):
                return False
            raise
        return True

    def note_abort(self, tournament: str, fixture: str, text: str) -> None:
        """Count an attempt of a leg that ended without a result."""
        with self._writing() as db:
            db.execute(
                update(t.fixtures)
                .where(t.fixtures.c.tournament == tournament, t.fixtures.c.fixture == fixture)
                .values(aborts=t.fixtures.c.aborts + 1, abort_text=text)
            )

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction, in the file that was opened and is still there."""
        with explained(self.path):
            if _identity(self.path) != self._identity:
                raise StoreError(
                    f"{self.path} was removed or replaced while it was in use:"
                    " what was played since then is stored nowhere"
                )
            with writing(self._engine) as db:
                yield db

    def _is_stored(self, tournament: str, fixture: str) -> bool:
        query = select(t.results.c.fixture).where(
            t.results.c.tournament == tournament, t.results.c.fixture == fixture
        )
        return bool(self.rows(query))

    def rows(self, query: Select[tuple[object, ...]]) -> Sequence[Row[tuple[object, ...]]]:
        """Return all rows of a query on the tables of schema.py."""
        with explained(self.path), self._engine.connect() as db:
            return db.execute(query).all()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells the file from another one that takes its name."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _planned_seats(db: Connection, tournament: str, fixture: str) -> tuple[str, ...]:
    query = select(t.fixtures.c.seats).where(
        t.fixtures.c.tournament == tournament, t.fixtures.c.fixture == fixture
    )
    return tuple(json.loads(db.execute(query).scalar_one()))


def _save_version(db: Connection, entry: Entry, now: str) -> None:
    if not db.execute(select(t.bots).where(t.bots.c.name == entry.bot)).first():
        db.execute(
            t.bots.insert().values(
                name=entry.bot, author=entry.author, language=entry.language, created=now
            )
        )
    known = select(t.versions).where(t.versions.c.content_hash == entry.content_hash)
    if not db.execute(known).first():
        db.execute(
            t.versions.insert().values(
                content_hash=entry.content_hash,
                bot=entry.bot,
                version=entry.version,
                manifest=json.dumps(entry.manifest),
                created=now,
            )
        )
