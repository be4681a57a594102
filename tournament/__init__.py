"""The tournament runner: plans matches between bots, has them refereed, rates the bots.

schedule, rating and statistics are pure: no grpc, no store, no clock, no operating system. Only
`worker.__main__` imports `referee.service`; `sample_bots` are found, never imported.
"""

from referee import __version__

__all__ = ["__version__"]
