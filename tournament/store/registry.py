"""Keeps the bots that were submitted, and those that run elsewhere: every version of each."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, Row, func, select, update

from tournament.errors import TablesError, UsageError
from tournament.store import schema as t
from tournament.store.plans import insert_version, now, storable
from tournament.store.sqlite import FILE_NAME
from tournament.store.store import Store
from tournament.store.stored import Entry


@dataclass(frozen=True, slots=True)
class Registration:
    """A version of a bot that was handed in. `manifest` is its bot.toml.

    One that runs elsewhere dials in with a token; `token_key` is the token's SHA-256 in hex. One
    that is `withdrawn`, since that time, takes part in nothing new; one that is `paused`, for that
    reason, waits for the ladder to try it again.
    """

    bot: str
    version: str
    author: str
    language: str
    content_hash: str
    manifest: Mapping[str, object]
    is_elsewhere: bool
    is_untrusted: bool
    created: str
    withdrawn: str | None
    paused: str | None
    token_key: str | None


def outside_hash(bot: str, version: str) -> str:
    """Return what stands for the content of a bot that runs elsewhere: nobody here sees its own."""
    parts = ("rummy-referee: a bot that runs elsewhere", bot, version)
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


class Registry:
    """The registrations in a store. Every method raises StoreError as the store does."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def register(
        self,
        entry: Entry,
        *,
        is_elsewhere: bool,
        is_untrusted: bool = False,
        token_key: str | None = None,
    ) -> Registration:
        """Store a version durably, and return it; the same content again returns what is there.

        A mark of being untrusted is added to what is there, and never taken away. Raises UsageError
        if the bot has this version with other content.
        """
        manifest = {"author": entry.author, "language": entry.language, **entry.manifest}
        with self._store.writing() as db:
            insert_version(db, replace(entry, manifest=manifest))
            # Others who register the same bot wait here until the transaction ends. Whoever plays
            # with it, and refers to this row, does not.
            row = select(t.bots).where(t.bots.c.name == entry.bot)
            db.execute(row.with_for_update(key_share=True))
            known = {one.content_hash: one for one in _read(db, entry.bot)}
            same = known.get(entry.content_hash)
            if same is not None:
                if is_untrusted and not same.is_untrusted:
                    _change(db, [same], is_untrusted=True)
                    same = replace(same, is_untrusted=True)
                return same
            check_version(entry, list(known.values()))
            db.execute(
                t.registrations.insert().values(
                    content_hash=entry.content_hash,
                    bot=entry.bot,
                    version=storable(entry.version),
                    number=len(known) + 1,
                    is_elsewhere=is_elsewhere,
                    is_untrusted=is_untrusted,
                    token_key=token_key,
                    created=now(),
                )
            )
            return _of(_read(db, entry.bot), entry.content_hash)

    def all(self, *, with_withdrawn: bool = False) -> list[Registration]:
        """Return all versions of all bots, by bot, then the oldest first."""
        with self._store.reading() as db:
            found = _read(db)
        return [one for one in found if with_withdrawn or one.withdrawn is None]

    def of(self, bot: str) -> list[Registration]:
        """Return all versions of a bot, withdrawn ones too, the oldest first."""
        with self._store.reading() as db:
            return _read(db, bot)

    def newest(self, bot: str) -> Registration | None:
        """Return the latest version of a bot that is not withdrawn."""
        return next((one for one in reversed(self.of(bot)) if one.withdrawn is None), None)

    def withdraw(self, bot: str, version: str | None = None) -> list[Registration]:
        """Withdraw a version of a bot, or all, and return those that were not withdrawn before.

        Raises UsageError if there is none such.
        """
        with self._store.writing() as db:
            chosen = [one for one in _read(db, bot) if version in (None, one.version)]
            if not chosen:
                raise UsageError(_unknown(_read(db), bot, version))
            since = now()
            fresh = [replace(one, withdrawn=since) for one in chosen if one.withdrawn is None]
            _change(db, fresh, withdrawn=since)
        return fresh

    def set_token(self, content_hash: str, token_key: str) -> None:
        """Give a bot that runs elsewhere another token; the one before is worth nothing then."""
        with self._store.writing() as db:
            _change(db, [_of(_read(db), content_hash)], token_key=token_key)

    def pause(self, content_hash: str, why: str | None) -> None:
        """Note why a bot is not seated; None: it is again."""
        with self._store.writing() as db:
            words = None if why is None else storable(why)
            _change(db, [_of(_read(db), content_hash)], paused=words)


def registrations_in(data_dir: Path, url: str | None = None) -> list[Registration]:
    """Return all registrations of a data folder or database, withdrawn ones too.

    There are none where nothing was stored yet, nor in tables that no version with submissions has
    brought up to date. Raises StoreError, and UsageError when the URL can't be read.
    """
    if url is None and not (data_dir / FILE_NAME).exists():
        return []
    try:
        with Store.view(data_dir, url) as store:
            return Registry(store).all(with_withdrawn=True)
    except TablesError:
        return []


def matches_played(store: Store) -> dict[str, int]:
    """Return for each content how many results it has, in all tournaments together."""
    played = t.entries.join(
        t.seat_results,
        (t.entries.c.tournament == t.seat_results.c.tournament)
        & (t.entries.c.bot == t.seat_results.c.bot),
    )
    query = (
        select(t.entries.c.content_hash, func.count().label("matches"))
        .select_from(played)
        .group_by(t.entries.c.content_hash)
    )
    return {row.content_hash: row.matches for row in store.rows(query)}


@contextmanager
def unused(store: Store, content_hash: str) -> Iterator[bool]:
    """Tell whether no tournament and no registration has this content.

    On a file, nobody can begin to use it until the block has ended.
    """
    with store.writing() as db:
        rows = [
            db.execute(select(table).where(table.c.content_hash == content_hash).limit(1)).first()
            for table in (t.entries, t.registrations)
        ]
        yield rows == [None, None]


def check_version(entry: Entry, known: Sequence[Registration]) -> None:
    """Raise UsageError if the bot is `known` to have this version with other content."""
    for one in known:
        if one.version == entry.version and one.content_hash != entry.content_hash:
            versions = ", ".join(other.version for other in known)
            raise UsageError(
                f"{entry.bot} has a version {entry.version!r} already, whose content is another"
                f" ({one.content_hash[:12]}, not {entry.content_hash[:12]}): give this one a"
                f" `version` of its own; taken are {versions}"
            )


def _unknown(known: Sequence[Registration], bot: str, version: str | None) -> str:
    versions = [one.version for one in known if one.bot == bot]
    if versions:
        return f"{bot} has no version {version!r}: submitted are {', '.join(versions)}"
    names = ", ".join(dict.fromkeys(one.bot for one in known)) or "none yet"
    return f"no bot {bot!r} was submitted: submitted are {names}"


def _of(known: Sequence[Registration], content_hash: str) -> Registration:
    found = [one for one in known if one.content_hash == content_hash]
    if not found:
        raise UsageError(f"no bot with the content {content_hash!r} was submitted")
    return found[0]


def _read(db: Connection, bot: str | None = None) -> list[Registration]:
    """Return the registrations of a bot, or of all, by bot, then the oldest first."""
    query = select(
        t.registrations, t.versions.c.manifest, t.bots.c.author, t.bots.c.language
    ).select_from(
        t.registrations.join(
            t.versions, t.registrations.c.content_hash == t.versions.c.content_hash
        ).join(t.bots, t.registrations.c.bot == t.bots.c.name)
    )
    if bot is not None:
        query = query.where(t.registrations.c.bot == storable(bot))
    # Databases order texts by their own languages.
    rows = sorted(db.execute(query).all(), key=lambda row: (row.bot, row.number))
    return [_registration(row) for row in rows]


def _registration(row: Row[tuple[object, ...]]) -> Registration:
    manifest = json.loads(row.manifest)
    return Registration(
        bot=row.bot,
        version=row.version,
        # Of this version; the bot's own row says what its first version had.
        author=manifest.get("author", row.author),
        language=manifest.get("language", row.language),
        content_hash=row.content_hash,
        manifest=manifest,
        is_elsewhere=row.is_elsewhere,
        is_untrusted=row.is_untrusted,
        created=row.created,
        withdrawn=row.withdrawn,
        paused=row.paused,
        token_key=row.token_key,
    )


def _change(db: Connection, chosen: Sequence[Registration], **values: object) -> None:
    hashes = [one.content_hash for one in chosen]
    if hashes:
        db.execute(
            update(t.registrations)
            .where(t.registrations.c.content_hash.in_(hashes))
            .values(**values)
        )
