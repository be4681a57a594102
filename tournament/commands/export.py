"""`tournament export`: a tournament as a folder of files."""

from pathlib import Path
from typing import Annotated

import typer

from tournament.commands.options import DEFAULT_DATA, DataOption, IdOption
from tournament.commands.output import people, say
from tournament.commands.views import chosen_tournament
from tournament.report.export import export
from tournament.store.store import Store


def export_command(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="New or empty folder to write into.")
    ],
    tournament: IdOption = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Write a tournament into files: leaderboard, matches, records and their head hashes.

    Only records of encounters that have ended are written: all legs of one have the same deals.

    \b
    Examples:
      tournament export cup
      referee verify cup/records/*.jsonl --heads cup/heads.txt
    """  # noqa: D301 - \b keeps the lines below it as they are
    with Store.view(data) as store, people.status("exporting") as status:
        done = export(
            store,
            chosen_tournament(store, tournament),
            folder,
            lambda number, count: status.update(f"exporting record {number + 1}/{count}"),
        )
    say(
        f"{done.records} records are in {folder / 'records'}, their heads in {folder / 'heads.txt'}"
    )
    if done.encounters:
        say(
            f"{done.encounters} encounters are not whole: records of {done.stored} matches that"
            " were played in them are left out, as the others will have the same deals"
        )
