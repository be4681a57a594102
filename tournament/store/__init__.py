"""The database: plans with their secrets, results exactly once, records.

The only place that speaks SQL. It imports schedule and statistics for their types.
"""
