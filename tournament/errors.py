"""Everything that is explained to users in words, without a traceback."""


class TournamentError(Exception):
    """A failure that its text explains: the thing, its value, what is allowed or what to do."""

    exit_code = 1


class UsageError(TournamentError):
    """The command was called wrongly."""

    exit_code = 2


class ConfigError(TournamentError):
    """A tournament file holds a wrong key or value."""


class BotFolderError(TournamentError):
    """A bot's folder or its bot.toml is wrong."""


class StoreError(TournamentError):
    """The database can't be opened, read or written."""


class LaunchError(TournamentError):
    """A bot's process can't be started."""


class ResumeError(TournamentError):
    """A tournament can't go on as it was begun."""


class WorkerError(TournamentError):
    """A worker process can't do its work at all."""
