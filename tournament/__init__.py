"""The tournament runner: plans matches between bots, has them refereed, rates the bots.

schedule, seeds, rating and standings are pure: no grpc, no store, no clock, no operating system.
Only worker.py imports `referee.service`; `sample_bots` are found, never imported.
"""

from referee import __version__

__all__ = ["__version__"]
