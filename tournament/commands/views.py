"""`tournament leaderboard`, `crosstable`, `matches` and more: what is stored, for all readers."""

from typing import Annotated

import typer

from tournament.commands import output, watch
from tournament.commands.options import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    FormatOption,
    IdOption,
)
from tournament.commands.output import say
from tournament.errors import ResumeError, TournamentError, UsageError
from tournament.report.crosstable import crosstable_view
from tournament.report.leaderboard import leaderboard_view, versions_view
from tournament.report.match import match_view
from tournament.report.matches import matches_view
from tournament.report.render import Format
from tournament.report.results import load
from tournament.report.statistics import statistics_view
from tournament.runner.run import is_ladder, stored_config
from tournament.statistics.crosstable import crosstable
from tournament.statistics.versions import version_standings
from tournament.store import queries
from tournament.store.store import Store
from tournament.store.stored import Tournament

SEED_NOTE = (
    "All deals come from --seed {seed}: whoever knows it knows every hand."
    " This run can be repeated; it is no contest."
)


def leaderboard(
    *,
    seconds: Annotated[
        str | None,
        typer.Argument(
            metavar="[SECONDS]", help="With --watch: how long between two looks, 1–3600."
        ),
    ] = None,
    is_watched: Annotated[
        bool, typer.Option("--watch", help="Show it anew as results come in, on a terminal.")
    ] = False,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the standings of a tournament.

    TrueSkill with error bars, wins, forfeits and thinking time; only whole encounters count.

    \b
    Examples:
      tournament leaderboard --format json
      tournament leaderboard --watch 5
    """  # noqa: D301 - \b keeps the lines below it as they are
    if seconds is not None and not is_watched:
        raise UsageError(f"{seconds!r}: seconds are for --watch; --tournament takes an id")
    with Store.view(data, database) as store:
        chosen = chosen_tournament(store, tournament)
        if is_watched:
            watch.watch(store, chosen.id, watch.interval_s(seconds), format_)
            chosen = store.tournament(chosen.id)
        show_leaderboard(store, chosen, format_)


def crosstable_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show how every bot fared against every other.

    Mean scores with 95 % intervals; only whole encounters count. JSON and CSV have a row for each
    pair of bots, from the view of the first.
    """
    with Store.view(data, database) as store:
        results = load(store, chosen_tournament(store, tournament).id)
        cells = crosstable(results.bots, results.legs)
        output.write(crosstable_view(results.tournament, results.ranked, cells), format_)


def matches_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show every match of a tournament in plan order."""
    with Store.view(data, database) as store:
        show_matches(store, chosen_tournament(store, tournament), format_)


def show(
    *,
    match: Annotated[
        str,
        typer.Argument(
            metavar="MATCH", help="Its number in `matches`, its id, or that of its fixture."
        ),
    ],
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show one match: seats, places, times, why it ended, the other legs of its encounter.

    \b
    Examples:
      tournament show 12
      tournament show 4b1d7c02e9a8f3560c77d1ae --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    with Store.view(data, database) as store:
        chosen = chosen_tournament(store, tournament)
        details = queries.match_details(store, chosen.id, match)
        fixture = details.match.fixture.fixture_id
        record = queries.record(store, chosen.id, fixture) if details.match.record_hash else b""
        output.write(match_view(chosen, details, record), format_)


def versions(
    *,
    bot: Annotated[
        str | None, typer.Argument(metavar="[BOT]", help="Only the versions of this bot.")
    ] = None,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Rate every version of the bots, over all tournaments that were played alike.

    These are the tournaments of the same rules, seats and clock as the chosen one.
    """
    with Store.view(data, database) as store:
        chosen = chosen_tournament(store, tournament)
        played = queries.played_tournaments(store, _played_alike(store, chosen))
        rows = version_standings(played, bot=bot)
        if bot is not None and not rows:
            names = {one.bot for each in played for one in each.entrants.values()}
            raise TournamentError(
                f"there is no bot {bot!r} in tournaments of the rules and the clock of"
                f" {chosen.id}: there are {', '.join(sorted(names))}"
            )
        output.write(versions_view(chosen, rows, [one.id for one in played]), format_)


def statistics(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show figures: pairs of legs, points, seats, mirroring, thinking time, forfeits, ends."""
    with Store.view(data, database) as store:
        results = load(store, chosen_tournament(store, tournament).id)
        output.write(statistics_view(results), format_)


def _played_alike(store: Store, chosen: Tournament) -> list[str]:
    """Return the ids of the tournaments that were played under the same rules, clock and seats."""
    wanted = stored_config(chosen).rules_hash
    alike = [one.id for one in store.tournaments() if _rules_hash(one) == wanted]
    if chosen.id not in alike:
        raise TournamentError(
            f"tournament {chosen.id} was played under rules or defaults that this version of"
            " rummy-referee reads differently: no other tournament can be told to be alike"
        )
    return alike


def _rules_hash(tournament: Tournament) -> str | None:
    """Return what tells rules, clock and seats; None if this version would play them otherwise."""
    try:
        config = stored_config(tournament)
    except ResumeError:
        return None
    # A ladder has no plan that its hash could tell.
    played = config.rules_hash if is_ladder(tournament) else config.hash
    return config.rules_hash if played == tournament.config_hash else None


def chosen_tournament(store: Store, tournament: str | None) -> Tournament:
    """Return the tournament with this id, or the latest."""
    if tournament is not None:
        return store.tournament(tournament)
    for found in store.tournaments():
        return found
    raise TournamentError(f"{store.name} has no tournament yet: `tournament run` begins one")


def show_leaderboard(store: Store, tournament: Tournament, format_: Format) -> None:
    """Write the standings of a tournament."""
    results = load(store, tournament.id)
    output.write(leaderboard_view(results.tournament, results.standings), format_)
    seed = tournament.config.get("seed")
    if seed is not None and format_ is Format.TABLE:
        say(SEED_NOTE.format(seed=seed))


def show_matches(store: Store, tournament: Tournament, format_: Format) -> None:
    """Write every match of a tournament."""
    rows = queries.matches(store, tournament.id)
    output.write(matches_view(store.tournament(tournament.id), rows), format_)
