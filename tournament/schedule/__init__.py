"""Who meets whom, on which deals. Pure.

It imports nothing of the project but itself. It knows no results' meaning, no store, no processes.
"""
