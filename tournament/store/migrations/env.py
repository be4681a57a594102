"""What alembic runs: the steps, on the connection that the store hands over."""

from alembic import context

from tournament.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,  # for its naming of constraints
    render_as_batch=True,  # SQLite changes a table by making it anew
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
