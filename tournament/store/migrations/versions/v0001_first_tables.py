"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "bots",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
    )
    op.create_table(
        "versions",
        sa.Column("content_hash", sa.String(64), primary_key=True),
        sa.Column("bot", sa.String(64), sa.ForeignKey("bots.name"), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("manifest", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
    )
    op.create_table(
        "tournaments",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("config_hash", sa.String(64), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("tournament", sa.String(32), sa.ForeignKey("tournaments.id"), primary_key=True),
        sa.Column("bot", sa.String(64), primary_key=True),
        sa.Column(
            "content_hash", sa.String(64), sa.ForeignKey("versions.content_hash"), nullable=False
        ),
        sa.Column("folder", sa.Text, nullable=False),
    )
    op.create_table(
        "encounters",
        sa.Column("tournament", sa.String(32), sa.ForeignKey("tournaments.id"), primary_key=True),
        sa.Column("encounter", sa.String(16), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("legs", sa.Integer, nullable=False),
        sa.Column("secret", sa.LargeBinary(32), nullable=False),
    )
    op.create_table(
        "fixtures",
        sa.Column("tournament", sa.String(32), primary_key=True),
        sa.Column("fixture", sa.String(16), primary_key=True),
        sa.Column("encounter", sa.String(16), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("leg", sa.Integer, nullable=False),
        sa.Column("seats", sa.Text, nullable=False),
        sa.Column("first_dealer", sa.Integer, nullable=False),
        sa.Column("salt", sa.LargeBinary(32), nullable=False),
        sa.Column("aborts", sa.Integer, nullable=False),
        sa.Column("abort_text", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament", "encounter"], ["encounters.tournament", "encounters.encounter"]
        ),
        sa.UniqueConstraint("tournament", "position"),
    )
    op.create_table(
        "results",
        sa.Column("tournament", sa.String(32), primary_key=True),
        sa.Column("fixture", sa.String(16), primary_key=True),
        sa.Column("match_id", sa.String(64), nullable=False),
        sa.Column("termination", sa.String(16), nullable=False),
        sa.Column("has_result", sa.Boolean, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("deals", sa.Integer, nullable=False),
        sa.Column("record_hash", sa.String(64), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament", "fixture"], ["fixtures.tournament", "fixtures.fixture"]
        ),
    )
    op.create_table(
        "seat_results",
        sa.Column("tournament", sa.String(32), primary_key=True),
        sa.Column("fixture", sa.String(16), primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True),
        sa.Column("bot", sa.String(64), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("forfeit", sa.String(16), nullable=True),
        sa.Column("decisions", sa.Integer, nullable=False),
        sa.Column("charged_us", sa.BigInteger, nullable=False),
        sa.Column("forgiven_us", sa.BigInteger, nullable=False),
        sa.Column("longest_us", sa.BigInteger, nullable=False),
        sa.Column("illegal_strikes", sa.Integer, nullable=False),
        sa.Column("time_strikes", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament", "fixture"], ["results.tournament", "results.fixture"]
        ),
    )
    op.create_table(
        "records",
        sa.Column("tournament", sa.String(32), primary_key=True),
        sa.Column("fixture", sa.String(16), primary_key=True),
        sa.Column("record_hash", sa.String(64), nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament", "fixture"], ["results.tournament", "results.fixture"]
        ),
    )


def downgrade() -> None:
    """Drop them."""
    for table in (
        "records",
        "seat_results",
        "results",
        "fixtures",
        "encounters",
        "entries",
        "tournaments",
        "versions",
        "bots",
    ):
        op.drop_table(table)
