"""`tournament new-bot`: a folder with a bot that works, to begin from."""

import getpass
from pathlib import Path
from typing import Annotated

import typer

from tournament import __version__
from tournament.bots.find import opponents, typed
from tournament.bots.starters.write import LANGUAGES, write_starter
from tournament.commands.output import say


def new_bot(
    *,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Its name: a–z, 0–9, _ and -, at most 64; first no -."),
    ],
    language: Annotated[
        str, typer.Option("--language", metavar="|".join(LANGUAGES), help="What it is written in.")
    ] = LANGUAGES[0],
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="Folder to make; default: NAME, here."),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option("--author", metavar="A", help="Who wrote it; default: who you are here."),
    ] = None,
) -> None:
    """Write a new bot: a folder with a bot.toml, a bot that plays, and what to do next.

    It passes `tournament check` as it is. A folder that is there already is left alone. For other
    languages there are sample bots to copy.

    \b
    Examples:
      tournament new-bot my-bot
      tournament new-bot my-bot --folder bots/mine --author "Ada L."
    """  # noqa: D301 - \b keeps the lines below it as they are
    place = Path(name) if folder is None else folder
    write_starter(
        place,
        name=name,
        author=_who() if author is None else author,
        language=language,
        version=__version__,
    )
    quoted = typed(place)
    say(
        f"{place} is a bot that plays; {place / 'bot.py'} is where to make it better. Next:\n"
        f"  tournament check {quoted}\n"
        f"  tournament run --bots {quoted} {opponents(name)}\n"
        f"  tournament submit {quoted}"
    )


def _who() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return "unknown"
