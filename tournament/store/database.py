"""Opens the database: a private file, durable writes, tables brought up to date, clear errors."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, exc, text

from tournament.errors import StoreError

FILE_NAME = "rummy.sqlite3"
HEAD = "0001"
"""The newest step in migrations/versions; a test holds the two together."""

_BUSY_MS = 10_000


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the database or the file system raises into a StoreError that says what to do."""
    try:
        yield
    except exc.DBAPIError as error:
        raise StoreError(_explanation(path, str(error.orig))) from error
    except (sqlite3.Error, OSError) as error:
        raise StoreError(_explanation(path, str(error))) from error


def _explanation(path: Path, what: str) -> str:
    if "not a database" in what or "malformed" in what:
        return (
            f"{path} is damaged or not a database ({what}):"
            " move it away or restore a copy of it, then run again"
        )
    if "locked" in what or "busy" in what:
        return f"{path} is locked by another process ({what}): wait for it or end it, run again"
    if "readonly" in what or "unable to open" in what or "ermission denied" in what:
        return f"{path} can't be opened or written ({what}): check who owns it and its folder"
    if "full" in what or "No space" in what:
        return f"{path} can't be written ({what}): make room on the disk"
    return f"{path}: {what}"


def open_sqlite(data_dir: Path, *, create: bool) -> tuple[Engine, Path]:
    """Open `data_dir`/rummy.sqlite3, made first if `create`. Raises StoreError.

    The file is readable by its owner only, for it holds the secrets that decks are made from.
    """
    path = data_dir / FILE_NAME
    with explained(path):
        if create:
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives its side files the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        else:
            _check_exists(path)
        engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    try:
        with explained(path):
            _upgrade(engine, path)
    except BaseException:
        engine.dispose()
        raise
    return engine, path


def view_sqlite(data_dir: Path) -> tuple[Engine, Path]:
    """Open `data_dir`/rummy.sqlite3 for reading only; it need not be writable. Raises StoreError.

    Nothing is brought up to date.
    """
    path = data_dir / FILE_NAME
    _check_exists(path)
    engine = create_engine("sqlite://", creator=lambda: _read_only(path), poolclass=NullPool)
    event.listen(engine, "begin", _begin)
    with explained(path), engine.connect() as connection:
        revision = _revision(connection)
    if revision != HEAD:
        raise StoreError(
            f"{path} has tables of step {revision or 'none'}, and only {HEAD} can be shown:"
            " `tournament resume` or `run` brings older ones up to date,"
            " newer ones need the rummy-referee that made them"
        )
    return engine, path


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise StoreError(
            f"{path} does not exist: `tournament run` begins a tournament,"
            " `--data DIR` says where one is kept"
        )


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
    for pragma in (
        f"busy_timeout = {_BUSY_MS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get("begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that holds the write lock from its beginning: it can't fail half-way."""
    with engine.connect().execution_options(begin="IMMEDIATE") as connection, connection.begin():
        yield connection


def _upgrade(engine: Engine, path: Path) -> None:
    with writing(engine) as connection:
        if _revision(connection) == HEAD:
            return
        # Alembic is slow to import and needed once in the life of a database.
        from alembic import command  # noqa: PLC0415
        from alembic.config import Config  # noqa: PLC0415
        from alembic.util import CommandError  # noqa: PLC0415

        config = Config()
        config.set_main_option(
            "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
        )
        attributes: dict[str, Any] = config.attributes
        attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(
                f"{path} was made by another version of rummy-referee ({error}):"
                " use that version, or another --data folder"
            ) from error


def _revision(connection: Connection) -> str | None:
    known = connection.execute(
        text("SELECT name FROM sqlite_master WHERE name = 'alembic_version'")
    ).scalar()
    if known is None:
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)
