"""`tournament logs`: what a bot wrote while it played a match."""

import os
import sys
from pathlib import Path

from tournament.bots.logs import match_log
from tournament.commands.of_match import BotArgument, MatchArgument, find_match, find_seat
from tournament.commands.options import DEFAULT_DATA, DatabaseOption, DataOption, IdOption
from tournament.commands.output import say, writing
from tournament.commands.views import chosen_tournament
from tournament.errors import TournamentError
from tournament.report.cells import printable
from tournament.runner.run import log_folder
from tournament.store.store import Store

_MOST_BYTES = 1024 * 1024
"""Of a log that somebody made longer than the launcher does, the last part is shown."""


def logs(
    *,
    match: MatchArgument,
    bot: BotArgument = None,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
) -> None:
    """Print what a bot wrote to standard error and output during a match.

    On a terminal characters that would act on it are shown, not obeyed; into a file or a pipe all
    comes as it was written. What it wrote before its first match and between matches is in the
    folder of its processes' logs.

    \b
    Examples:
      tournament logs 12 my-bot
      tournament logs 12 my-bot > my-bot.log
    """  # noqa: D301 - \b keeps the lines below it as they are
    with Store.view(data, database) as store:
        chosen = chosen_tournament(store, tournament)
        row = find_match(store, chosen, match).match
        name = row.fixture.seats[find_seat(row, bot)]
    folder = log_folder(data, chosen.id) / "bots"
    content = _content(match_log(folder, name, row.match_id)) if row.match_id else b""
    if content:
        _write(content)
        return
    where = folder / name
    number = row.fixture.position
    if not row.match_id:
        say(f"match {number} has not been played to its end: there is no output of {name} yet")
    elif where.is_dir():
        say(
            f"{name} wrote nothing in match {number}, or it is no longer kept; what it wrote at"
            f" other times is in {where}"
        )
    else:
        say(f"{name} has no logs here: there is no folder {where}")


def _content(log: Path) -> bytes:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_BYTES))
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise TournamentError(f"{log} can't be read: {error.strerror}") from error


def _write(content: bytes) -> None:
    with writing():
        if sys.stdout.isatty():
            text = content.decode(errors="replace").replace("\r\n", "\n")
            text = printable(text, keep="\n\t")
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
        sys.stdout.flush()
