"""Finds bots: folders by path, those that were submitted and the sample bots by name."""

import importlib.util
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from tournament.bots.folder import MANIFEST, BotFolder, read_bot_folder
from tournament.errors import UsageError

DEFAULT_BOTS = ("random", "greedy", "counting")


def typed(folder: Path) -> str:
    """Return a folder as a shell takes it for one: no option begins with `./`."""
    text = str(folder)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def opponents(bot: str) -> str:
    """Return two sample bots for a bot to begin with, none of its own name, as words."""
    return " ".join([one for one in ("greedy", "counting", "random") if one != bot][:2])


class Submitted(Protocol):
    """The bots that were submitted."""

    @property
    def names(self) -> Sequence[str]:
        """Those that may be asked for."""

    def find(self, text: str) -> BotFolder | None:
        """Return the bot that NAME, its newest version, or NAME@VERSION means; None if none does.

        Raises UsageError when it can't take part.
        """

    def marked(self, bot: BotFolder) -> BotFolder:
        """Return a bot, marked untrusted if its content is, however it was named."""


class NoneSubmitted:
    """Where nobody has submitted a bot."""

    names: Sequence[str] = ()

    def find(self, _text: str) -> BotFolder | None:
        """Return None."""
        return None

    def marked(self, bot: BotFolder) -> BotFolder:
        """Return it as it is."""
        return bot


def sample_bot_folders() -> dict[str, Path]:
    """Return the folders of the installed sample bots, by name."""
    spec = importlib.util.find_spec("sample_bots")
    locations = (spec and spec.submodule_search_locations) or ()
    return {
        manifest.parent.name: manifest.parent
        for location in locations
        for manifest in sorted(Path(location).glob(f"*/{MANIFEST}"))
    }


def find_bots(
    texts: Sequence[str],
    source: str = "",
    *,
    submitted: Submitted | None = None,
    leave_out: Callable[[str], None] | None = None,
) -> list[BotFolder]:
    """Return the bots that the texts mean, in order.

    A text is a bot's folder, a folder of such folders, the name of a bot that was `submitted`, or
    that of a sample bot, whichever there is first; without texts it is the default sample bots.
    Content that was submitted as untrusted is so from its author's folder too.
    Raises UsageError; it names `source`, where the texts stand.

    With `leave_out`, what is no bot and what lacks a program that it needs is left out, and that is
    told: so that all that lies in a folder can be named at once.
    """
    others = submitted if texts and submitted is not None else NoneSubmitted()
    try:
        found = [(text, one) for text in texts or DEFAULT_BOTS for one in _meant(text, others)]
        bots: list[tuple[str, BotFolder]] = []
        if leave_out is not None:
            strangers = [str(one) for _, one in found if _is_stranger(one)]
            found = [(text, one) for text, one in found if not _is_stranger(one)]
            if strangers:
                leave_out(f"left out, having no {MANIFEST}: {', '.join(strangers)}")
        for text, one in found:
            bot = others.marked(read_bot_folder(one)) if isinstance(one, Path) else one
            problem = lacking(bot)
            if problem is None:
                # It may be one of several in a folder.
                is_folder = isinstance(one, Path) and Path(text).is_dir()
                bots.append((str(bot.path) if is_folder else text, bot))
                continue
            if leave_out is None:
                raise UsageError(f"{bot.name} can't be built or run here: {problem}")
            leave_out(f"{bot.name} is left out: {problem}")
        _check_names(bots)
    except UsageError as error:
        if not source:
            raise
        raise UsageError(f"{source}: bots: {error}") from error
    return [bot for _, bot in bots]


def lacking(bot: BotFolder) -> str | None:
    """Return in words which programs that the bot needs are not here, if any."""
    missing = [program for program in bot.needs if shutil.which(program) is None]
    return f"it needs {', '.join(missing)}, not found on the PATH" if missing else None


def _has_manifest(folder: Path) -> bool:
    """Whether there is a bot.toml, or it can't be seen: then reading it will say why."""
    try:
        (folder / MANIFEST).stat()
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def _is_stranger(one: Path | BotFolder) -> bool:
    return isinstance(one, Path) and not (one.is_dir() and _has_manifest(one))


def _check_names(bots: Sequence[tuple[str, BotFolder]]) -> None:
    """See that no two have one name; each comes with what named it."""
    seen: dict[str, tuple[str, BotFolder]] = {}
    for text, bot in bots:
        if bot.name not in seen:
            seen[bot.name] = text, bot
            continue
        other_text, other = seen[bot.name]
        if other.content_hash == bot.content_hash:
            raise UsageError(
                f"{other_text} and {text} are the same bot, {bot.name!r}: name it once"
            )
        raise UsageError(
            f"{other_text} and {text} are both named {bot.name!r}: the bots of a tournament must"
            " have different names. For two versions of one bot to meet, give a copy of one of"
            f" them another `name` in its {MANIFEST}"
        )


def _meant(text: str, submitted: Submitted) -> list[Path] | list[BotFolder]:
    path = Path(text)
    samples = sample_bot_folders()
    if path.is_file() and text not in samples:
        return [path]  # no bot, as will be said
    if text and path.is_dir():
        if _has_manifest(path):
            return [path]
        inner = sorted(manifest.parent for manifest in path.glob(f"*/{MANIFEST}"))
        if path.name in samples and not inner:
            # A tournament file's bots come with the path of its folder.
            raise UsageError(
                f"the folder {path.resolve()} has no {MANIFEST} and hides the sample bot"
                f" {path.name!r}:"
                " rename it, or run in another folder"
            )
        return inner or [path]  # its own error says what is missing
    bot = submitted.find(text)
    if bot is not None:
        return [bot]
    if text in samples:
        return [samples[text]]
    known = ", ".join(samples) or "none are installed"
    if not submitted.names:
        raise UsageError(
            f"{text!r} is neither a folder nor a sample bot: the sample bots are {known}"
        )
    raise UsageError(
        f"{text!r} is neither a folder nor a submitted bot nor a sample bot: submitted are"
        f" {', '.join(submitted.names)}; the sample bots are {known}"
    )
