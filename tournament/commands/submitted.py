"""The bots that were submitted, as `run`, `plan` and others take them: by name, or all of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from tournament.bots.find import sample_bot_folders
from tournament.bots.folder import BotFolder
from tournament.bots.frozen import frozen_folder, is_intact
from tournament.bots.submission import submitted_bot
from tournament.commands.output import say
from tournament.errors import UsageError
from tournament.store.registry import Registration, registrations_in


class SubmittedBots:
    """Those of a data folder and its database, which are read when they are first asked for."""

    def __init__(self, data: Path, database: str | None = None) -> None:
        self._data = data
        self._database = database

    @cached_property
    def _known(self) -> list[Registration]:
        return registrations_in(self._data, self._database)

    @property
    def names(self) -> list[str]:
        """Names of the bots of which a version may be played here."""
        return list(dict.fromkeys(one.bot for one in self._known if _is_played_here(one)))

    def find(self, text: str) -> BotFolder | None:
        """Return the bot that NAME, its newest version, or NAME@VERSION means; None if none does.

        A sample bot is not hidden by one of its name that cannot be played here. Raises UsageError
        if it was withdrawn, runs elsewhere, or its copy is not what it was.
        """
        name, at, version = text.partition("@")
        versions = [one for one in self._known if one.bot == name]
        if not versions:
            return None
        if at:
            versions = [one for one in versions if one.version == version] or _no(text, versions)
        latest = versions[-1]
        playable = [one for one in versions if _is_played_here(one)]
        if playable:
            return self._bot(playable[-1])
        if not at and name in sample_bot_folders():
            return None
        if latest.withdrawn is not None:
            raise UsageError(
                f"{latest.bot} {latest.version} was withdrawn on {_day(latest.withdrawn)}:"
                " what it played stays; submit a new version of it, or name its folder"
            )
        raise UsageError(
            f"{latest.bot} {latest.version} runs elsewhere: only `tournament ladder` seats it"
        )

    def marked(self, bot: BotFolder) -> BotFolder:
        """Return a bot, marked untrusted if its content was submitted so, wherever it lies."""
        marks = (one.content_hash for one in self._known if one.is_untrusted)
        return replace(bot, is_untrusted=True) if bot.content_hash in marks else bot

    def all(self) -> list[str]:
        """Return NAME@VERSION of the newest version of each bot that may be played here.

        Raises UsageError if there is none; those that run elsewhere are left out, which is said.
        """
        here = {one.bot: name_of(one) for one in self._known if _is_played_here(one)}
        there = [one.bot for one in self._known if one.withdrawn is None and one.bot not in here]
        if there:
            say(f"left out, running elsewhere: {', '.join(dict.fromkeys(there))}")
        if not here:
            raise UsageError(
                "--submitted: no bot was submitted, or all were withdrawn or run elsewhere:"
                " `tournament submit FOLDER` submits one, `tournament bots` lists them"
            )
        return list(here.values())

    def text_of(self, bot: BotFolder) -> str | None:
        """Return NAME@VERSION of a bot that `find` gave; None for one that comes from a folder."""
        is_submitted = bot.path == frozen_folder(self._data, bot.content_hash)
        return f"{bot.name}@{bot.version}" if is_submitted else None

    def _bot(self, one: Registration) -> BotFolder:
        copy = frozen_folder(self._data, one.content_hash)
        if not is_intact(copy):
            raise UsageError(
                f"the copy of {one.bot} {one.version} that was submitted"
                f" {'was changed' if copy.is_dir() else 'is not there'}: {copy};"
                " `tournament submit` of the same folder makes it again"
            )
        return submitted_bot(copy, one.manifest, one.content_hash, is_untrusted=one.is_untrusted)


def name_of(one: Registration) -> str:
    """Return NAME@VERSION, by which this very version is asked for."""
    return f"{one.bot}@{one.version}"


def _is_played_here(one: Registration) -> bool:
    return one.withdrawn is None and not one.is_elsewhere


def _no(text: str, versions: Sequence[Registration]) -> list[Registration]:
    known = ", ".join(one.version for one in versions)
    bot = versions[0].bot
    raise UsageError(
        f"{text!r}: {bot} has no version {text.partition('@')[2]!r}: submitted are {known}"
    )


def _day(when: str) -> str:
    return when.partition("T")[0]
