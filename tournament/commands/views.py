"""`tournament leaderboard`, `matches` and `bots`: what is stored, for people and scripts."""

from tournament.commands import output
from tournament.commands.options import DEFAULT_DATA, DataOption, FormatOption, IdOption
from tournament.commands.output import say
from tournament.errors import TournamentError
from tournament.report import views
from tournament.report.views import Format
from tournament.store.queries import matches, standing_rows
from tournament.store.store import Store
from tournament.store.stored import Tournament

SEED_NOTE = (
    "All deals come from --seed {seed}: whoever knows it knows every hand."
    " This run can be repeated; it is no contest."
)


def leaderboard(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the standings of a tournament.

    TrueSkill, wins, forfeits and thinking time of every bot; only whole encounters count.
    """
    with Store.view(data) as store:
        show_leaderboard(store, chosen_tournament(store, tournament), format_)


def matches_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show every match of a tournament in plan order."""
    with Store.view(data) as store:
        show_matches(store, chosen_tournament(store, tournament), format_)


def bots_command(
    *,
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the bots of a tournament."""
    with Store.view(data) as store:
        chosen = chosen_tournament(store, tournament)
        output.write(views.bots_view(store.entries(chosen.id), chosen), format_)


def chosen_tournament(store: Store, tournament: str | None) -> Tournament:
    """Return the tournament with this id, or the latest."""
    if tournament is not None:
        return store.tournament(tournament)
    for found in store.tournaments():
        return found
    raise TournamentError(f"{store.path} has no tournament yet: `tournament run` begins one")


def show_leaderboard(store: Store, tournament: Tournament, format_: Format) -> None:
    """Write the standings of a tournament."""
    rows = standing_rows(store, tournament.id)
    output.write(views.leaderboard_view(tournament, rows), format_)
    seed = tournament.config.get("seed")
    if seed is not None and format_ is Format.TABLE:
        say(SEED_NOTE.format(seed=seed))


def show_matches(store: Store, tournament: Tournament, format_: Format) -> None:
    """Write every match of a tournament."""
    output.write(views.matches_view(tournament, matches(store, tournament.id)), format_)
