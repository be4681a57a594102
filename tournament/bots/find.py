"""Finds bots: folders by path, and the sample bots by name."""

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from tournament.bots.folder import MANIFEST, BotFolder, read_bot_folder
from tournament.errors import UsageError

DEFAULT_BOTS = ("random", "greedy", "counting")


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
    texts: Sequence[str], source: str = "", *, leave_out: Callable[[str], None] | None = None
) -> list[BotFolder]:
    """Return the bots that the texts mean, in order.

    A text is a bot's folder, a folder of such folders, or the name of a sample bot; without texts
    it is the default sample bots. Raises UsageError; it names `source`, where the texts stand.

    With `leave_out`, what is no bot and what lacks a program that it needs is left out, and that is
    told: so that all that lies in a folder can be named at once.
    """
    try:
        folders = [folder for text in texts or DEFAULT_BOTS for folder in _folders(text)]
        bots: list[BotFolder] = []
        if leave_out is not None:
            strangers = [folder for folder in folders if not (folder / MANIFEST).is_file()]
            folders = [folder for folder in folders if folder not in strangers]
            if strangers:
                leave_out(f"left out, having no {MANIFEST}: {', '.join(map(str, strangers))}")
        for folder in folders:
            bot = read_bot_folder(folder)
            missing = [program for program in bot.needs if shutil.which(program) is None]
            if not missing:
                bots.append(bot)
                continue
            lacks = f"it needs {', '.join(missing)}, not found on the PATH"
            if leave_out is None:
                raise UsageError(f"{bot.name} can't be built or run here: {lacks}")
            leave_out(f"{bot.name} is left out: {lacks}")
        _check_names(bots)
    except UsageError as error:
        if not source:
            raise
        raise UsageError(f"{source}: bots: {error}") from error
    return bots


def _check_names(bots: Sequence[BotFolder]) -> None:
    seen: dict[str, BotFolder] = {}
    for bot in bots:
        other = seen.setdefault(bot.name, bot)
        if other is not bot:
            raise UsageError(
                f"{other.path} and {bot.path} are both named {bot.name!r}:"
                " the bots of a tournament must have different names"
            )


def _folders(text: str) -> list[Path]:
    path = Path(text)
    samples = sample_bot_folders()
    if path.is_file() and text not in samples:
        return [path]  # no bot, as will be said
    if text and path.is_dir():
        if (path / MANIFEST).exists():
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
    if text in samples:
        return [samples[text]]
    known = ", ".join(samples) or "none are installed"
    raise UsageError(f"{text!r} is neither a folder nor a sample bot: the sample bots are {known}")
