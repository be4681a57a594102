"""What the commands share: options and how their values are read, where words and data go."""

import re
import sys
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from referee.engine.presets import PRESETS, make_ruleset, merge_overrides, parse_override
from referee.engine.ruleset import RuleSet, RuleSetError

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
# What is piped into a file or another program is not folded to the width of a terminal.
out = Console(highlight=False, width=None if sys.stdout and sys.stdout.isatty() else 200)
err = Console(stderr=True, highlight=False)


class Format(StrEnum):
    """How a view is written."""

    TABLE = "table"
    JSON = "json"


Preset = Annotated[
    str, typer.Option("--rules", metavar="PRESET", help=f"Preset: {', '.join(PRESETS)}.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Override a rule, as field=value or field.SEATS=value; repeatable.",
    ),
]


def _format(given: object) -> Format:
    try:
        return Format(str(given).lower())
    except ValueError:
        raise typer.BadParameter(f"{given!r}: allowed are {', '.join(Format)}") from None


FormatOption = Annotated[
    Format,
    typer.Option("--format", parser=_format, metavar="|".join(Format), help="How to write it."),
]


def whole_option(about: str, least: int, most: int) -> Any:
    """An option that is a whole number."""

    def parse(given: object) -> int:
        text = str(given)  # A default comes as it is.
        if re.fullmatch("-?[0-9]{1,18}", text) and least <= int(text) <= most:
            return int(text)
        raise typer.BadParameter(f"{text!r}: allowed are {least}–{most}")

    return typer.Option(parser=parse, metavar="N", help=about)


def seconds_option(about: str) -> Any:
    """An option that is a time in seconds."""

    def parse(given: object) -> float:
        text = str(given)
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if 0.1 <= seconds <= 3_600:
            return seconds
        raise typer.BadParameter(f"{text!r}: allowed are 0.1–3600")

    return typer.Option(parser=parse, metavar="SECONDS", help=about)


def fail(text: str, code: int = 1) -> NoReturn:
    """Say what is wrong and end: code 1 if the thing is, 2 if the call was."""
    err.print("error:", style="red", end=" ")
    err.print(text, markup=False, soft_wrap=True)
    raise typer.Exit(code)


def rules_of(preset: str, overrides: list[str] | None) -> RuleSet:
    """The rules that the options name; ends with code 2 if they go together badly."""
    try:
        parsed = merge_overrides(parse_override(text) for text in overrides or ())
        return make_ruleset(preset, parsed)
    except RuleSetError as error:
        fail(str(error), 2)


def plain_table() -> Table:
    """A table without lines between its cells."""
    return Table(box=None, pad_edge=False, header_style="bold")
