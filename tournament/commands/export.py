"""`tournament export`: a tournament as a folder of files."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tournament import __version__
from tournament.commands.options import DEFAULT_DATA, DatabaseOption, DataOption, IdOption
from tournament.commands.output import people, say
from tournament.commands.views import chosen_tournament
from tournament.config import full_table
from tournament.errors import ResumeError
from tournament.report.about import count_of
from tournament.report.export import Options, export
from tournament.runner.run import stored_config
from tournament.store.store import Store
from tournament.store.stored import Tournament


def export_command(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="New or empty folder to write into.")
    ],
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
) -> None:
    """Write a tournament into files that anybody can read and check, with a page: index.html.

    All that is public: leaderboard, crosstable, statistics, bots, configuration, matches, records
    and their head hashes. Results and records are those of encounters that have ended: all legs
    of one have the same deals.

    \b
    Examples:
      tournament export cup
      referee verify cup --heads cup/heads.txt
    """  # noqa: D301 - \b keeps the lines below it as they are
    with Store.view(data, database) as store, people.status("exporting") as status:
        chosen = chosen_tournament(store, tournament)
        names = [entry.bot for entry in store.entries(chosen.id)]
        done = export(
            store,
            chosen,
            folder,
            Options(configuration(chosen, names), __version__),
            lambda number, count: status.update(f"exporting record {number + 1}/{count}"),
        )
    say(f"{folder / 'index.html'} is the page to begin with")
    say(
        f"{folder / 'records'} has {count_of(done.records, 'record')},"
        f" {folder / 'heads.txt'} their heads"
    )
    if done.encounters:
        say(
            f"not whole yet: {count_of(done.encounters, 'encounter')}. Left out of what was played"
            f" in them: {count_of(done.stored, 'record')}, as the other matches will have the same"
            " deals"
        )


def configuration(tournament: Tournament, names: Sequence[str]) -> dict[str, object]:
    """Return what a tournament was played with: all defaults, no secrets, no paths.

    A seed is there only if somebody chose one. Bots are named; their folders are nobody's business.
    """
    try:
        config = stored_config(tournament)
    except ResumeError:
        # Another version began it; what that one had as defaults is not known here.
        hidden = ("file", "file_table")
        table = {key: value for key, value in tournament.config.items() if key not in hidden}
        return {**table, "bots": list(names)}
    return full_table(replace(config, bots=tuple(names)))
