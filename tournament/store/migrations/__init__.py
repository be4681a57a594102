"""Steps that make and change the database; run in code by the store, never by hand."""
