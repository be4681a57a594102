"""What stored results say: standings and figures, as plain rows. Pure.

It imports rating and schedule. It neither reads the store nor writes for people.
"""
