"""SQLite: a private file in the data folder, durable writes, a lock beside it."""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event

from tournament.errors import ResumeError, StoreError
from tournament.store.database import Database
from tournament.store.schema import metadata, records

FILE_NAME = "rummy.sqlite3"

_BUSY_MS = 10_000
_AGAIN_S = 0.01


class SQLite(Database):
    """The file rummy.sqlite3 of a data folder."""

    def __init__(self, path: Path, *, is_read_only: bool) -> None:
        self.path = path
        self._is_read_only = is_read_only
        super().__init__(str(path))
        self._identity = _identity(path)

    @classmethod
    def open(cls, data_dir: Path, *, create: bool) -> Self:
        """Open the file, made first if `create`. Raises StoreError.

        It is readable by its owner only, for it holds the secrets that decks are made from.
        """
        path = data_dir / FILE_NAME
        if create:
            try:
                data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
                # SQLite gives its side files the same mode.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            except OSError as error:
                raise StoreError(_explanation(path, error)) from error
        else:
            _check_exists(path)
        database = cls(path, is_read_only=False)
        try:
            database.upgrade()
            database.check_pages()
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def view(cls, data_dir: Path) -> Self:
        """Open the file for reading only; it need not be writable. Raises StoreError."""
        path = data_dir / FILE_NAME
        _check_exists(path)
        database = cls(path, is_read_only=True)
        database.check_tables()
        return database

    def check_pages(self) -> None:
        """Raise StoreError if a page is damaged: nothing is to be played on top of that.

        Records are left out. They are most of the file, nothing is computed from them, and each has
        its own check sum.
        """
        tables = sorted(set(metadata.tables) - {records.name})
        with self.explained(), self.reading() as connection:
            for table in tables:
                found = connection.exec_driver_sql(f"PRAGMA quick_check('{table}')").scalar()
                if found != "ok":
                    raise StoreError(_damaged(self.path, str(found)))

    def _make_engine(self) -> Engine:
        if self._is_read_only:
            engine = create_engine(
                "sqlite://",
                creator=lambda: _read_only(self.path),
                poolclass=NullPool,
                hide_parameters=True,
            )
        else:
            engine = create_engine(
                # A path may hold what means something in a URL.
                URL.create("sqlite", database=str(self.path)),
                hide_parameters=True,
            )
            event.listen(engine, "connect", _configure)
        event.listen(engine, "begin", _begin)
        return engine

    def _explanation(self, error: BaseException, *, is_lost: bool) -> str:  # noqa: ARG002
        return _explanation(self.path, error)

    @property
    def is_there(self) -> bool:
        """Whether the file was neither removed nor replaced."""
        return self._identity is not None and _identity(self.path) == self._identity

    @contextmanager
    def writing(self, tournament: str | None = None) -> Iterator[Connection]:  # noqa: ARG002
        """One transaction that holds the write lock from its beginning, in the file as opened."""
        if not self.is_there:
            raise StoreError(
                f"{self.path} was removed or replaced while it was in use:"
                " what was played since then is stored nowhere"
            )
        with (
            self.engine.connect().execution_options(begin="IMMEDIATE") as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction; it sees the moment of its first query."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _upgrading(self) -> Iterator[Connection]:
        with self.writing() as connection:
            yield connection

    @contextmanager
    def lock(self, tournament: str) -> Iterator[None]:
        """Hold a lock on a file of its own, which the system lets go of when the process ends."""
        path = self.path.parent / "locks" / f"{tournament}.lock"
        with self.explained():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _locked(path)
        if lock is None:
            raise ResumeError(
                f"tournament {tournament} is being played by another process: wait for it"
            )
        try:
            yield
        finally:
            with suppress(OSError):  # It does no harm, and its folder may be gone.
                path.unlink()
            os.close(lock)


def _locked(path: Path) -> int | None:
    """Return a descriptor of the file at `path` that is locked; None if another has it."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        except BaseException:
            os.close(lock)
            raise
        # Whoever had it before removed the file, perhaps after it was opened here.
        if _identity(path) == _identity_of(os.fstat(lock)):
            return lock
        os.close(lock)


def _explanation(path: Path, error: BaseException) -> str:
    what = str(error)
    if "not a database" in what or "malformed" in what:
        return _damaged(path, what)
    if "locked" in what or "busy" in what:
        return f"{path} is locked by another process ({what}): wait for it or end it, run again"
    if "readonly" in what or "unable to open" in what or "ermission denied" in what:
        return f"{path} can't be opened or written ({what}): check who owns it and its folder"
    if "full" in what or "No space" in what:
        return f"{path} can't be written ({what}): make room on the disk; what is stored stays"
    if "disk I/O" in what:
        return (
            f"{path} can't be read or written ({what}): check the disk, its room and the limits"
            " on the size of files; what is stored stays"
        )
    return f"{path}: {what}"


def _damaged(path: Path, what: str) -> str:
    return (
        f"{path} is damaged or not a database ({' '.join(what.split())}):"
        " move it away or restore a copy of it, then run again"
    )


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise StoreError(
            f"{path} does not exist: `tournament run` begins a tournament,"
            " `--data DIR` says where one is kept"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells the file from another one that takes its name."""
    try:
        return _identity_of(path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return None


def _identity_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _read_only(path: Path) -> sqlite3.Connection:
    """Connect without writing a thing to the database, in whatever way the folder allows."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        connection = _connect(path, "mode=rw")  # so that the side files go away again
        connection.execute("PRAGMA query_only = ON").close()
        return connection
    connection = _connect(path, "mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master").close()
    except sqlite3.OperationalError as error:
        connection.close()
        log = path.with_name(f"{path.name}-wal")
        no_side_files = "unable to open" in str(error) or "readonly" in str(error)
        if not no_side_files or (log.exists() and log.stat().st_size):
            raise
        # None can be made and none holds anything: the file alone is the database.
        return _connect(path, "mode=ro&immutable=1")
    return connection


def _connect(path: Path, how: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_BUSY_MS / 1000)


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    # The driver's own transactions leave out DDL; `_begin` opens them instead.
    connection.isolation_level = None
    for pragma in (f"busy_timeout = {_BUSY_MS}", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()
    _write_ahead(connection)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have the file written by way of a log, for good; SQLite itself waits for nobody here."""
    until = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_S)
        else:
            return


def _begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get("begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")
