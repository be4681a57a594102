"""Everything that is explained to users in words, without a traceback.

The exit code tells whether somebody asked for something wrong (2) or the work failed (1).
"""


class TournamentError(Exception):
    """A failure that its text explains: the thing, its value, what is allowed or what to do."""

    exit_code = 1


class UsageError(TournamentError):
    """The command was called wrongly."""

    exit_code = 2


class ConfigError(UsageError):
    """A tournament file holds a wrong key or value."""


class BotFolderError(UsageError):
    """A bot's folder or its bot.toml is wrong."""


class FreezeError(TournamentError):
    """A bot can't be copied or built."""


class OutputError(TournamentError):
    """What was asked for can't be written to stdout."""


class StoreError(TournamentError):
    """The database can't be opened, read or written."""


class TablesError(StoreError):
    """The database has no tables yet, or those of another version."""


class LaunchError(TournamentError):
    """A bot's process can't be started."""


class ResumeError(TournamentError):
    """A tournament can't go on as it was begun."""


class WorkerError(TournamentError):
    """A worker process can't do its work at all."""
