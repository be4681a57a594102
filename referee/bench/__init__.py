"""Measurements that a user can repeat: `referee bench engine`, `wire` and `stalls`.

May import `referee.service`, `referee.match` and `referee.engine`; nothing imports it but the
command line.
"""
