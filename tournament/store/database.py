"""What the store needs of a database, whichever it is: transactions, a lock, errors in words."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Connection, Engine, exc

from tournament.errors import StoreError, TablesError
from tournament.store.upgrade import HEAD, revision, upgrade


class Database(ABC):
    """A database that is open. `name` is what texts call it: it never holds a password."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.engine = self._make_engine()

    @abstractmethod
    def _make_engine(self) -> Engine:
        """Return how to connect."""

    @abstractmethod
    def _explanation(self, error: BaseException, *, is_lost: bool) -> str:
        """Return what went wrong and what to do; `is_lost` when the connection broke."""

    @abstractmethod
    def lock(self, tournament: str) -> AbstractContextManager[None]:
        """Keep any other process from playing the tournament meanwhile. Raises ResumeError."""

    @abstractmethod
    def writing(self, tournament: str | None = None) -> AbstractContextManager[Connection]:
        """One transaction; what it changed is durable when the block has ended."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """One transaction whose queries all see the same moment."""

    @property
    @abstractmethod
    def is_there(self) -> bool:
        """Whether what was opened can still be found under its name."""

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the database or the file system raises into a StoreError in words."""
        try:
            yield
        except exc.DBAPIError as error:
            cause = error.orig or error
            text = self._explanation(cause, is_lost=error.connection_invalidated)
            raise StoreError(text) from error
        except (exc.SQLAlchemyError, OSError, self.engine.dialect.loaded_dbapi.Error) as error:
            raise StoreError(self._explanation(error, is_lost=False)) from error

    def upgrade(self) -> None:
        """Make the tables, or bring them up to date. Raises StoreError."""
        with self.explained(), self._upgrading() as connection:
            upgrade(connection, self.name)

    @abstractmethod
    def _upgrading(self) -> AbstractContextManager[Connection]:
        """One transaction that keeps every other process from changing the tables."""

    def check_tables(self) -> None:
        """Raise TablesError unless the tables are those that this version reads."""
        with self.explained(), self.reading() as connection:
            found = revision(connection)
        if found is None:
            raise TablesError(f"{self.name} holds no tournaments: `tournament run` begins one")
        if found != HEAD:
            raise TablesError(
                f"{self.name} has tables of step {found}, and only {HEAD} can be shown:"
                " `tournament resume` or `run` brings older ones up to date,"
                " newer ones need the rummy-referee that made them"
            )

    def close(self) -> None:
        """Let go of it."""
        self.engine.dispose()
