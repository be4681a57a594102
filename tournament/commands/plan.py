"""`tournament plan`: check everything that `run` would play, and show it without playing."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import tomli_w
import typer

from tournament.bots.find import DEFAULT_BOTS
from tournament.bots.folder import BotFolder
from tournament.commands.asked import read_asked
from tournament.commands.options import (
    DEFAULT_DATA,
    BotsOption,
    DatabaseOption,
    DataOption,
    EncountersOption,
    RoundsOption,
    RulesOption,
    SeatsOption,
    SeedOption,
    SetOption,
    SubmittedOption,
    TablesOption,
    WorkersOption,
    reader_of,
)
from tournament.commands.submitted import SubmittedBots
from tournament.config import Config, Overrides, full_table
from tournament.schedule.balance import Balance, Spread, balance
from tournament.schedule.fixtures import SEATS_LEAST, Encounter, Entrant
from tournament.schedule.limits import count_of, plural
from tournament.schedule.plan import PlanSize, plan_size


class PlanFormat(StrEnum):
    """How a plan is written: a tournament file with its counts as comments, without, or data."""

    TABLE = "table"
    JSON = "json"
    TOML = "toml"


def plan(
    *,
    arguments: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE.toml", help="What to plan; options are put over it."),
    ] = None,
    bots: BotsOption = None,
    all_submitted: SubmittedOption = False,
    rules: RulesOption = None,
    changes: SetOption = None,
    seats: SeatsOption = None,
    encounters: EncountersOption = None,
    tables: TablesOption = None,
    rounds: RoundsOption = None,
    workers: WorkersOption = None,
    seed: SeedOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: Annotated[
        PlanFormat,
        typer.Option(
            "--format",
            metavar="|".join(PlanFormat),
            parser=reader_of(PlanFormat),
            help="How to write the plan.",
        ),
    ] = PlanFormat.TABLE,
) -> None:
    """Check what `run` would play, and print it with all defaults; nothing is played or stored.

    It takes what `run` takes, but for how bots are built and kept apart. What it prints is a
    tournament file that plans the same; how much there is to play, and for tables of 3–6 how
    balanced it is, stands below in comments.

    \b
    Examples:
      tournament plan cup.toml
      tournament plan cup.toml --seats 4 --tables 60
      tournament plan --rules standard --format toml > full.toml
    """  # noqa: D301 - \b keeps the lines below it as they are
    options = Overrides(
        seats=seats,
        encounters=encounters,
        tables=tables,
        rounds=rounds,
        workers=workers,
        seed=seed,
        preset=rules,
    )
    asked = read_asked(
        arguments,
        bots,
        changes,
        options,
        submitted=SubmittedBots(data, database),
        all_submitted=all_submitted,
    )
    config = asked.config
    config.untrusted_among([bot.name for bot in asked.bots])
    if asked.names_bots:  # what was left out is no part of the plan
        config = replace(config, bots=asked.texts)
    sys.stdout.write(_written(config, asked.bots, format_))


def _written(config: Config, bots: Sequence[BotFolder], format_: PlanFormat) -> str:
    planned = config.first_plan([Entrant(bot.name, bot.content_hash) for bot in bots])
    size = plan_size(
        len(bots),
        format=config.format,
        seats=config.seats,
        encounters=config.encounters,
        challengers=len(config.challengers),
        tables=config.tables,
        rounds=config.rounds,
    )
    names = [bot.name for bot in bots]
    table = full_table(replace(config, bots=tuple(map(_absolute, config.bots or DEFAULT_BOTS))))
    even = _balance(config, planned, names)
    if format_ is PlanFormat.JSON:
        body = {
            "config": table,
            "plan": {
                "bots": names,
                **asdict(size),
                "balance": None if even is None else asdict(even),
            },
        }
        return json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    text = tomli_w.dumps(table)
    if format_ is PlanFormat.TABLE:
        text += "\n" + "".join(f"# {line}\n" for line in _counts(names, size, even))
    return text


def _absolute(text: str) -> str:
    """Return a folder's path in full, as a file is read relative to where it lies."""
    path = Path(text)
    return str(path.resolve()) if path.exists() else text


def _balance(config: Config, planned: Sequence[Encounter], bots: Sequence[str]) -> Balance | None:
    """Return how balanced the plan is where that is a question."""
    return None if config.seats == SEATS_LEAST else balance(planned, bots)


def _counts(bots: Sequence[str], size: PlanSize, even: Balance | None) -> list[str]:
    rounds = f" in {size.rounds} rounds" if size.rounds > 1 else ""
    lines = [
        f"{count_of(len(bots), 'bot')}: {', '.join(bots)}",
        f"{count_of(size.encounters, 'encounter')}, {count_of(size.matches, 'match')}{rounds}",
    ]
    if even is not None:
        lines += [
            f"a bot takes part in {_shown(even.appearances, 'encounter')}",
            f"two bots meet in {_shown(even.meetings, 'encounter')}",
            f"a bot sits in each seat in {_shown(even.seats, 'match')}",
            f"the seats of a bot differ by {count_of(even.seat_difference, 'match')}",
            f"a bot sits right after another in {_shown(even.follows, 'encounter')}",
        ]
    return lines


def _shown(spread: Spread, what: str) -> str:
    if spread.least == spread.most:
        return count_of(spread.least, what)
    return f"{spread.least}–{spread.most} (mean {spread.mean:.2f}) {plural(what)}"
