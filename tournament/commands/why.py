"""`tournament why`: why a bot lost a match, told so that its author may read it."""

import re
from pathlib import Path

from tournament.bots.logs import match_log
from tournament.commands import output
from tournament.commands.of_match import (
    BotArgument,
    MatchArgument,
    check_played,
    find_match,
    find_seat,
)
from tournament.commands.options import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    FormatOption,
    IdOption,
)
from tournament.commands.output import say
from tournament.commands.views import chosen_tournament
from tournament.report.read_back import read_back
from tournament.report.render import Format
from tournament.report.why import Case, why_view
from tournament.runner.run import log_folder
from tournament.store import queries
from tournament.store.store import Store

_LINES_SHOWN = 12
_TAIL_BYTES = 8 * 1024


def why(
    *,
    match: MatchArgument,
    bot: BotArgument = None,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show why a bot lost a match: the decision, what it sent, what was expected, the clock.

    It holds only what that bot could know, so it may be given to its author.

    \b
    Examples:
      tournament why 12 my-bot
      tournament why 4b1d7c02e9a8f3560c77d1ae --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    with Store.view(data, database) as store:
        chosen = chosen_tournament(store, tournament)
        details = find_match(store, chosen, match)
        seat = find_seat(details.match, bot)
        check_played(details.match)
        fixture = details.match.fixture
        content = queries.record(store, chosen.id, fixture.fixture_id)
    header, hindsight = read_back(details.match, content, seat)
    logs = log_folder(data, chosen.id) / "bots"
    name = fixture.seats[seat]
    case = Case(
        tournament=chosen,
        details=details,
        seat=seat,
        header=header,
        hindsight=hindsight,
        own_reason=own_reason(details.match.reasons, name, fixture.seats),
        log_lines=last_lines(match_log(logs, name, details.match.match_id)),
    )
    is_for_people = format_ in (Format.TABLE, Format.MARKDOWN)
    output.write(why_view(case, for_people=is_for_people), format_)
    if case.own_reason and not case.log_lines and (logs / name).is_dir():
        say(f"what {name} wrote outside of matches, as before its first one, is in {logs / name}")


def own_reason(reasons: str, bot: str, names: tuple[str, ...]) -> str:
    """Return what the organiser's words on a match say of this bot: `BOT TEXT; BOT TEXT`."""
    starts = "|".join(re.escape(name) for name in names)
    pieces = re.split(rf"(?:^|; )(?=(?:{starts}) )", reasons)
    own = [piece.removeprefix(f"{bot} ") for piece in pieces if piece.startswith(f"{bot} ")]
    return "; ".join(own)


def last_lines(log: Path) -> list[str]:
    """Return the last lines of a log that are not blank; none if there is no log."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            start = max(0, size - _TAIL_BYTES)
            file.seek(start)
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    if start:
        lines = lines[1:]  # it may have been cut
    return [line.rstrip() for line in lines if line.strip()][-_LINES_SHOWN:]
