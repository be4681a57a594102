"""Bots as folders and as processes: read, frozen, built, started, ended without a trace.

It knows nothing of tournaments, results or the referee.
"""
