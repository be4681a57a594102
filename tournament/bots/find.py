"""Finds bots: folders by path, and the sample bots by name."""

import importlib.util
from collections.abc import Sequence
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


def find_bots(texts: Sequence[str], source: str = "") -> list[BotFolder]:
    """Return the bots that the texts mean, in order.

    A text is a bot's folder, a folder of such folders, or the name of a sample bot; without texts
    it is the default sample bots. Raises UsageError; it names `source`, where the texts stand.
    """
    try:
        folders = [folder for text in texts or DEFAULT_BOTS for folder in _folders(text)]
        bots = [read_bot_folder(folder) for folder in folders]
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
