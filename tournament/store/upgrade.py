"""Makes the tables and brings them up to date, by the steps in migrations/."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from tournament.errors import StoreError

HEAD = "0003"
"""The newest step in migrations/versions; a test holds the two together."""

_VERSION_TABLE = "alembic_version"


def upgrade(connection: Connection, name: str) -> None:
    """Take the steps that are missing, in the transaction that is open. Raises StoreError."""
    if revision(connection) == HEAD:
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
            f"{name} was made by another version of rummy-referee ({error}):"
            " use that version, or another database"
        ) from error


def revision(connection: Connection) -> str | None:
    """Return the step that the tables are at, None when there are none."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608
    return None if found is None else str(found)
