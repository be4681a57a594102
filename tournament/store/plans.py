"""Writes plans into the tables: bots and their versions, encounters with secrets, fixtures."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Insert, exc

from tournament.schedule.fixtures import Encounter
from tournament.store import schema as t
from tournament.store.stored import Entry


def now() -> str:
    """Return the time as it is stored: UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def storable(words: str) -> str:
    """Return words without what no database keeps: NUL, and halves of characters."""
    return words.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def insert_entries(db: Connection, tournament: str, entries: Sequence[Entry]) -> None:
    """Store which bots take part, and from what content they play."""
    # In one order for all, so that two who store the same bots can't wait for each other.
    for entry in sorted(entries, key=lambda entry: entry.bot):
        insert_version(db, entry)
    db.execute(
        t.entries.insert(),
        [
            {
                "tournament": tournament,
                "bot": entry.bot,
                "content_hash": entry.content_hash,
                "folder": storable(entry.folder),
            }
            for entry in entries
        ],
    )


def insert_version(db: Connection, entry: Entry) -> None:
    """Store a bot and its version, unless they are there already."""
    _insert_once(
        db,
        t.bots.insert().values(
            name=entry.bot,
            author=storable(entry.author),
            language=storable(entry.language),
            created=now(),
        ),
    )
    _insert_once(
        db,
        t.versions.insert().values(
            content_hash=entry.content_hash,
            bot=entry.bot,
            version=storable(entry.version),
            manifest=json.dumps(entry.manifest),
            created=now(),
        ),
    )


def _insert_once(db: Connection, row: Insert) -> None:
    """Insert a row unless its key is there, whoever inserts it at the same time."""
    try:
        with db.begin_nested():
            db.execute(row)
    except exc.IntegrityError:
        return


def insert_encounters(
    db: Connection,
    tournament: str,
    plan: Sequence[Encounter],
    secrets: Mapping[str, bytes],
    salts: Mapping[str, bytes],
) -> None:
    """Store encounters and their fixtures. `secrets` are by encounter id, `salts` by fixture id."""
    if not plan:
        return
    db.execute(
        t.encounters.insert(),
        [
            {
                "tournament": tournament,
                "encounter": encounter.encounter_id,
                "number": encounter.number,
                "legs": len(encounter.legs),
                "secret": secrets[encounter.encounter_id],
                "round": encounter.round,
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
