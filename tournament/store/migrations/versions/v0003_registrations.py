"""Bots that were submitted or registered, before any tournament has them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "registrations",
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("bot", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("is_elsewhere", sa.Boolean, nullable=False),
        sa.Column("is_untrusted", sa.Boolean, nullable=False),
        sa.Column("token_key", sa.String(64), nullable=True),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("withdrawn", sa.String(32), nullable=True),
        sa.Column("paused", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("content_hash", name="pk_registrations"),
        sa.ForeignKeyConstraint(
            ["content_hash"], ["versions.content_hash"], name="fk_registrations_content_hash"
        ),
        sa.ForeignKeyConstraint(["bot"], ["bots.name"], name="fk_registrations_bot"),
        sa.UniqueConstraint("bot", "version", name="uq_registrations_bot"),
        sa.UniqueConstraint("token_key", name="uq_registrations_token_key"),
    )


def downgrade() -> None:
    """Take it away."""
    op.drop_table("registrations")
