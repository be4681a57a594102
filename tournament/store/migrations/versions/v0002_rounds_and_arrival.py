"""Rounds; the order of arrival; reasons for the organiser alone; encounters that count."""

import itertools

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# By the time of their arrival, and those of one millisecond in plan order.
_AS_THEY_CAME = """
    SELECT results.tournament, results.fixture
    FROM results JOIN fixtures
    ON fixtures.tournament = results.tournament AND fixtures.fixture = results.fixture
    ORDER BY results.tournament, results.created, fixtures.position
"""
_NUMBER = """
    UPDATE results SET sequence = :sequence
    WHERE tournament = :tournament AND fixture = :fixture
"""


def upgrade() -> None:
    """Add the columns, number the results that are there, and index what is searched for."""
    op.add_column("tournaments", sa.Column("counted", sa.Integer, nullable=True))
    op.add_column("encounters", sa.Column("round", sa.Integer, nullable=False, server_default="0"))
    op.add_column("results", sa.Column("reasons", sa.Text, nullable=False, server_default=""))
    op.add_column("results", sa.Column("sequence", sa.Integer, nullable=False, server_default="0"))
    _number_results(op.get_bind())
    op.create_index("ix_results_sequence", "results", ["tournament", "sequence"], unique=True)
    op.create_index("ix_fixtures_encounter", "fixtures", ["tournament", "encounter"])


def _number_results(db: sa.Connection) -> None:
    rows = db.execute(sa.text(_AS_THEY_CAME)).all()
    numbered = [
        {"tournament": tournament, "fixture": row.fixture, "sequence": sequence}
        for tournament, group in itertools.groupby(rows, key=lambda row: row.tournament)
        for sequence, row in enumerate(group, start=1)
    ]
    if numbered:
        db.execute(sa.text(_NUMBER), numbered)


def downgrade() -> None:
    """Take them away."""
    op.drop_index("ix_fixtures_encounter", "fixtures")
    op.drop_index("ix_results_sequence", "results")
    with op.batch_alter_table("results") as table:
        table.drop_column("sequence")
        table.drop_column("reasons")
    with op.batch_alter_table("encounters") as table:
        table.drop_column("round")
    with op.batch_alter_table("tournaments") as table:
        table.drop_column("counted")
