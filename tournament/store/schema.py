"""The tables. They are made and changed by `migrations/` only; this is how the code names them.

Ids of encounters and fixtures say what they are, so two tournaments of the same bots and rules
share them: every key begins with the tournament.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# Named constraints can be changed by later migrations, on every database.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

bots = Table(
    "bots",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("author", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("created", String(32), nullable=False),
)

versions = Table(
    "versions",
    metadata,
    Column("content_hash", String(64), primary_key=True),
    Column("bot", String(64), ForeignKey("bots.name"), nullable=False),
    Column("version", String(64), nullable=False),
    Column("manifest", Text, nullable=False),  # bot.toml as JSON
    Column("created", String(32), nullable=False),
)

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("config", Text, nullable=False),  # JSON
    Column("config_hash", String(64), nullable=False),
    Column("created", String(32), nullable=False),
    Column("status", String(16), nullable=False),  # unfinished, finished
    Column("counted", Integer, nullable=True),  # encounters that count, in plan order; null: all
)

registrations = Table(
    "registrations",
    metadata,
    Column("content_hash", String(64), ForeignKey("versions.content_hash"), primary_key=True),
    Column("bot", String(64), ForeignKey("bots.name"), nullable=False),
    Column("version", String(64), nullable=False),
    Column("number", Integer, nullable=False),  # 1, 2, … as the versions of the bot came in
    Column("is_elsewhere", Boolean, nullable=False),  # its author runs it and it dials in
    Column("is_untrusted", Boolean, nullable=False),  # to be played behind walls only
    Column("token_key", String(64), nullable=True, unique=True),  # hash of its token
    Column("created", String(32), nullable=False),
    Column("withdrawn", String(32), nullable=True),  # since when
    Column("paused", Text, nullable=True),  # why the ladder does not seat it
    UniqueConstraint("bot", "version"),
)

entries = Table(
    "entries",
    metadata,
    Column("tournament", String(32), ForeignKey("tournaments.id"), primary_key=True),
    Column("bot", String(64), primary_key=True),
    Column("content_hash", String(64), ForeignKey("versions.content_hash"), nullable=False),
    Column("folder", Text, nullable=False),  # where it came from
)

encounters = Table(
    "encounters",
    metadata,
    Column("tournament", String(32), ForeignKey("tournaments.id"), primary_key=True),
    Column("encounter", String(16), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("legs", Integer, nullable=False),
    Column("secret", LargeBinary(32), nullable=False),  # makes every deck; to be kept private
    Column("round", Integer, nullable=False, server_default="0"),
)

fixtures = Table(
    "fixtures",
    metadata,
    Column("tournament", String(32), primary_key=True),
    Column("fixture", String(16), primary_key=True),
    Column("encounter", String(16), nullable=False),
    Column("position", Integer, nullable=False),
    Column("leg", Integer, nullable=False),
    Column("seats", Text, nullable=False),  # names of bots by seat, JSON
    Column("first_dealer", Integer, nullable=False),
    Column("salt", LargeBinary(32), nullable=False),
    Column("aborts", Integer, nullable=False),  # attempts without a result
    Column("abort_text", Text, nullable=False),  # why the last of them had none
    ForeignKeyConstraint(
        ["tournament", "encounter"], ["encounters.tournament", "encounters.encounter"]
    ),
    UniqueConstraint("tournament", "position"),
    Index("ix_fixtures_encounter", "tournament", "encounter"),
)

results = Table(
    "results",
    metadata,
    Column("tournament", String(32), primary_key=True),
    Column("fixture", String(16), primary_key=True),  # one result a fixture, whatever happens
    Column("match_id", String(64), nullable=False),
    Column("termination", String(16), nullable=False),
    Column("has_result", Boolean, nullable=False),
    Column("text", Text, nullable=False),  # for everybody
    Column("deals", Integer, nullable=False),
    Column("record_hash", String(64), nullable=False),
    Column("created", String(32), nullable=False),
    Column("reasons", Text, nullable=False, server_default=""),  # for the organiser alone
    Column("sequence", Integer, nullable=False, server_default="0"),  # 1, 2, … as they came in
    ForeignKeyConstraint(["tournament", "fixture"], ["fixtures.tournament", "fixtures.fixture"]),
    Index("ix_results_sequence", "tournament", "sequence", unique=True),
)

seat_results = Table(
    "seat_results",
    metadata,
    Column("tournament", String(32), primary_key=True),
    Column("fixture", String(16), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("bot", String(64), nullable=False),
    Column("place", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("forfeit", String(16), nullable=True),
    Column("decisions", Integer, nullable=False),
    Column("charged_us", BigInteger, nullable=False),
    Column("forgiven_us", BigInteger, nullable=False),
    Column("longest_us", BigInteger, nullable=False),
    Column("illegal_strikes", Integer, nullable=False),
    Column("time_strikes", Integer, nullable=False),
    ForeignKeyConstraint(["tournament", "fixture"], ["results.tournament", "results.fixture"]),
)

records = Table(
    "records",
    metadata,
    Column("tournament", String(32), primary_key=True),
    Column("fixture", String(16), primary_key=True),
    Column("record_hash", String(64), nullable=False),  # head of the record's hash chain
    Column("data", LargeBinary, nullable=False),  # its lines, zlib-compressed
    ForeignKeyConstraint(["tournament", "fixture"], ["results.tournament", "results.fixture"]),
)
