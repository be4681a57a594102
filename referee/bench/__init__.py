"""Measurements that a user can repeat: `referee bench engine` and `referee bench wire`.

May import `referee.service`, `referee.match` and `referee.engine`; nothing imports it but the
command line.
"""
