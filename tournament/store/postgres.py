"""PostgreSQL by URL: one database for several hosts, with a lock that only one of them gets.

While a tournament is locked, all that is written of it goes through the connection that holds the
lock: whoever lost the lock, and may have been followed by another, can't write any more.
"""

import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any, Self

from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url, text
from sqlalchemy.engine import URL

from tournament.errors import ResumeError, StoreError, UsageError
from tournament.store.database import Database

ALLOWED = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
INSTALL = "pip install 'rummy-referee[postgres]'"

_CONNECT_S = 10
_MASKED_LEAST = 6
"""Characters of a password that is looked for in texts."""
_NAME_MOST = 63
"""Bytes of a session's name that PostgreSQL keeps."""

# Durable whatever the server's default is; nobody waits for ever for a lock; a host that is gone
# lets go of its locks within two minutes.
_SESSION = (
    "SET synchronous_commit = on; SET lock_timeout = '10s'; SET tcp_keepalives_idle = 60;"
    " SET tcp_keepalives_interval = 15; SET tcp_keepalives_count = 4"
)
_READ_ONLY = "; SET default_transaction_read_only = on"

_LOCK = text("SELECT pg_try_advisory_lock(:key)")
_UNLOCK = text("SELECT pg_advisory_unlock(:key)")
_LOCK_TABLES = text("SELECT pg_advisory_xact_lock(:key)")
_HOLDER = text(
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND datname = current_database()"
    " AND classid::bigint << 32 | objid::bigint = :key"
)

# By the first letters of SQLSTATE; the longest that fits counts.
_EXPLANATIONS = {
    "25006": "can be read only ({what}): it was opened for reading, or the server is a standby",
    "42501": "refuses this user ({what}): let them own the database, or grant them its tables",
    "42P07": "holds tables of something else ({what}): give rummy-referee a database of its own",
    "53100": "can't be written ({what}): make room on the server's disk; what is stored stays",
    "53": "has nothing left for this ({what}): what is stored stays; run again later",
    "55P03": "is locked by another process ({what}): wait for it or end it, run again",
    "40": "was changed by another process at the same time ({what}): run again",
    "57014": "was told to stop what it did ({what}): what is stored stays; run again",
    "58": "can't read or write its files ({what}): see the server's log; what is stored stays",
    "XX": "is damaged ({what}): see the server's log, restore a copy if need be",
}
_LOST = (
    "the connection to {name} was lost ({what}): what is stored stays;"
    " when the server answers again, `tournament resume` goes on"
)
_UNREACHED = "{name} can't be opened ({what}): {hint}"


class PostgreSQL(Database):
    """A database on a PostgreSQL server."""

    def __init__(self, url: str, *, is_read_only: bool) -> None:
        self._url = read_url(url)
        self._is_read_only = is_read_only
        self._held: dict[str, _Held] = {}
        super().__init__(printable(self._url))

    @classmethod
    def open(cls, url: str) -> Self:
        """Connect, and bring the tables up to date. Raises StoreError, UsageError."""
        database = cls(url, is_read_only=False)
        try:
            database.upgrade()
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def view(cls, url: str) -> Self:
        """Connect for reading only. Raises StoreError, UsageError."""
        database = cls(url, is_read_only=True)
        try:
            database.check_tables()
        except BaseException:
            database.close()
            raise
        return database

    def _make_engine(self) -> Engine:
        given: dict[str, Any] = {
            "connect_timeout": _CONNECT_S,
            "application_name": _session_name(),
            # Notice within a minute that the server's host is gone.
            "keepalives_idle": 20,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": 60_000,
        }
        try:
            engine = create_engine(
                self._url.set(drivername="postgresql+psycopg"),
                connect_args={
                    key: value for key, value in given.items() if key not in self._url.query
                },
                pool_pre_ping=True,
                hide_parameters=True,
            )
        except ImportError as error:
            raise StoreError(
                f"{printable(self._url)} needs the driver psycopg ({error}): {INSTALL}"
            ) from None
        event.listen(engine, "connect", self._configure)
        return engine

    def _configure(self, connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(_SESSION + (_READ_ONLY if self._is_read_only else ""))
        connection.commit()

    def _explanation(self, error: BaseException, *, is_lost: bool) -> str:
        # The details of a server's message may quote a row, and so a secret.
        primary = getattr(getattr(error, "diag", None), "message_primary", None)
        what = _one_line(primary or str(error), self._url.password)
        state = getattr(error, "sqlstate", None) or ""
        if is_lost or state.startswith(("08", "57P")):
            return _LOST.format(name=self.name, what=what)
        if not state and isinstance(error, self.engine.dialect.loaded_dbapi.OperationalError):
            what = what.removeprefix("connection failed: ").removeprefix("connection is bad: ")
            return _UNREACHED.format(name=self.name, what=what, hint=_hint(what, self._url))
        for length in (5, 2):
            if state[:length] in _EXPLANATIONS:
                return f"{self.name} {_EXPLANATIONS[state[:length]].format(what=what)}"
        return f"{self.name}: {what}"

    @property
    def is_there(self) -> bool:
        """A server keeps what it was given, whether it can be reached now or not."""
        return True

    @contextmanager
    def writing(self, tournament: str | None = None) -> Iterator[Connection]:
        """One transaction, through the lock's connection if the tournament is locked here."""
        held = self._held.get(tournament or "")
        if held is None:
            with self.engine.begin() as connection:
                yield connection
            return
        with held.mutex:
            if held.connection.invalidated:
                raise StoreError(
                    f"the connection to {self.name} that kept others from playing {tournament} was"
                    " lost: what is stored stays; `tournament resume` goes on, if nobody else does"
                )
            with held.connection.begin():
                yield held.connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction; it sees the moment of its first query."""
        with (
            self.engine.connect().execution_options(
                isolation_level="REPEATABLE READ"
            ) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _upgrading(self) -> Iterator[Connection]:
        with self.engine.begin() as connection:
            connection.execute(_LOCK_TABLES, {"key": _key("tables")})
            yield connection

    @contextmanager
    def lock(self, tournament: str) -> Iterator[None]:
        """Hold an advisory lock, which the server lets go of when the connection ends."""
        key = {"key": _key(f"tournament {tournament}")}
        with self.explained():
            # Its own for good: no pool may give it to anybody else.
            connection = self.engine.connect()
            connection.detach()
        try:
            with self.explained(), connection.begin():
                is_locked = connection.execute(_LOCK, key).scalar()
                holder = None if is_locked else connection.execute(_HOLDER, key).scalar()
            if not is_locked:
                who = f" ({holder})" if holder else ""
                raise ResumeError(
                    f"tournament {tournament} is being played by another process{who}: wait for it"
                )
            self._held[tournament] = _Held(connection)
            try:
                yield
            finally:
                del self._held[tournament]
                # Ending the connection would do, but only some moments later.
                with suppress(exc.SQLAlchemyError):
                    if not connection.invalidated:
                        with connection.begin():
                            connection.execute(_UNLOCK, key)
        finally:
            connection.close()


class _Held:
    """The connection that holds a tournament's lock; one thread at a time writes through it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.mutex = RLock()


def read_url(given: str) -> URL:
    """Read the URL of a database. Raises UsageError, which does not repeat a password."""
    if given.partition("?")[0].count("@") > 1:
        # What stands after the first would be taken for the host, and shown.
        raise UsageError(
            "the database's URL has more than one @: in a password write @ as %40, : as %3A, / as"
            f" %2F; allowed is {ALLOWED}"
        )
    try:
        url = make_url(given)
    except (exc.ArgumentError, ValueError):
        raise UsageError(f"the database's URL can't be read: allowed is {ALLOWED}") from None
    if url.drivername not in ("postgresql", "postgres"):
        raise UsageError(
            f"the database's URL begins with {url.drivername!r}: allowed is {ALLOWED};"
            " without a URL it is a file in the data folder"
        )
    if not url.database:
        raise UsageError(f"{printable(url)} names no database: allowed is {ALLOWED}")
    return url


def printable(url: URL) -> str:
    """Return a URL without what is secret in it: it still tells where the database is."""
    where = {key: value for key, value in url.query.items() if key in ("host", "port")}
    bare = url.set(drivername="postgresql", query=where)._replace(password=None)
    return bare.render_as_string(hide_password=False)


def _hint(what: str, url: URL) -> str:
    if "password" in what:
        return "the password stands in the URL, in ~/.pgpass or in PGPASSWORD"
    if "database" in what and "does not exist" in what:
        return f"make it first, for example with `createdb {url.database}`"
    if "role" in what:
        return f"check the name of the user, {url.username or 'yours when the URL has none'}"
    return "check that the server runs there and lets you in, then run again"


def _one_line(what: str, password: str | None) -> str:
    line = " ".join(what.split())
    # A short one is part of ordinary words, and the driver repeats none.
    return line.replace(password, "***") if password and len(password) >= _MASKED_LEAST else line


def _key(what: str) -> int:
    """Return the number of a lock: 64 bits, so that nothing else meets it by chance."""
    digest = hashlib.sha256(f"rummy-referee {what}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _session_name() -> str:
    name = f"rummy-referee, process {os.getpid()} on {socket.gethostname()}"
    return name.encode("ascii", "replace")[:_NAME_MOST].decode()
