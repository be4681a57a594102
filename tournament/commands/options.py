"""The options that commands share, and how their values are read."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from referee.engine.presets import merge_overrides, parse_override
from referee.engine.ruleset import RuleSetError
from tournament.bots.sandbox.choose import AUTO, CHOICES
from tournament.errors import UsageError
from tournament.report.render import Format

DEFAULT_DATA = Path("rummy-data")
DATABASE_VARIABLE = "RUMMY_DATABASE"
"""Where the URL is better kept if it holds a password: others can read a command line."""
SANDBOX_VARIABLE = "RUMMY_SANDBOX"
DEFAULT_SANDBOX = AUTO
_Kind = TypeVar("_Kind", bound=StrEnum)
_SANDBOXES = "|".join(CHOICES)


def _number(allowed: str) -> Callable[[str], int]:
    """Return a reader of whole numbers; `allowed` is for its words, the range is checked later."""

    def read(text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r}: allowed is a whole number {allowed}") from None

    return read


def _data(text: str | Path) -> Path:
    if not str(text):
        raise typer.BadParameter("'': allowed is the path of a folder")
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    return folder


def reader_of(kind: type[_Kind]) -> Callable[[str], _Kind]:
    """Return a reader of the values of an enumeration, in letters of any size."""

    def read(text: str) -> _Kind:
        try:
            return kind(text.lower())
        except ValueError:
            raise typer.BadParameter(f"{text!r}: allowed is {'|'.join(kind)}") from None

    return read


def _sandbox(text: str) -> str:
    if text.lower() not in CHOICES:
        raise typer.BadParameter(f"{text!r}: allowed is {_SANDBOXES}")
    return text.lower()


DataOption = Annotated[
    Path,
    typer.Option("--data", metavar="DIR", parser=_data, help="Folder of database, bots and logs."),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        envvar=DATABASE_VARIABLE,
        help="postgresql://USER@HOST/NAME; default: a file in --data. Bots and logs stay there.",
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        metavar="|".join(Format),
        parser=reader_of(Format),
        help="How to write the view.",
    ),
]
IdOption = Annotated[
    str | None,
    typer.Option(
        "--tournament",
        metavar="ID",
        help="Which one; default: the latest, whether `run` or `play` began it.",
    ),
]
RulesOption = Annotated[
    str | None, typer.Option("--rules", metavar="PRESET", help="Preset of rules.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Change a rule; may be repeated."),
]
BotsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--bots",
        metavar="FOLDER...",
        help="Folders of bots, or names of sample bots; more may follow.",
    ),
]
SubmittedOption = Annotated[
    bool,
    typer.Option("--submitted", help="Take all submitted bots too, the newest version of each."),
]
SeatsOption = Annotated[
    int | None,
    typer.Option("--seats", metavar="N", parser=_number("2–6"), help="Seats at each table, 2–6."),
]
EncountersOption = Annotated[
    int | None,
    typer.Option(
        "--encounters",
        metavar="N",
        parser=_number("1 or more"),
        help="Encounters for each set of bots; one has as many matches as it has seats.",
    ),
]
TablesOption = Annotated[
    int | None,
    typer.Option(
        "--tables",
        metavar="N",
        parser=_number("1 or more"),
        help="For 3–6 seats: so many encounters in all, instead of --encounters of each set.",
    ),
]
RoundsOption = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        metavar="N",
        parser=_number("1 or more"),
        help="Rounds of a swiss tournament.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        parser=_number("0–1000"),
        help="Matches at a time; 0, the default, is one for each core.",
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        parser=_number("0 or more"),
        help="Derive all deals from this number, so that the run can be repeated.",
    ),
]
SandboxOption = Annotated[
    str,
    typer.Option(
        "--sandbox",
        metavar=_SANDBOXES,
        parser=_sandbox,
        envvar=SANDBOX_VARIABLE,
        help="What holds bots back; auto is the best that works here.",
    ),
]
BuildNetworkOption = Annotated[
    bool | None,
    typer.Option(
        "--build-network/--no-build-network",
        help="Whether builds reach the network; default: those of all but untrusted bots.",
    ),
]
BuildCachesOption = Annotated[
    bool | None,
    typer.Option(
        "--build-caches/--no-build-caches",
        help="Whether builds write to your compilers' caches; default: sample bots alone.",
    ),
]


def file_and_bots(
    arguments: Sequence[Path], bots: Sequence[str] | None
) -> tuple[Path | None, list[str]]:
    """Tell the tournament file from further bots: `--bots A B C` gives B and C as arguments."""
    files = [path for path in arguments if path.suffix == ".toml"]
    others = [str(path) for path in arguments if path.suffix != ".toml"]
    if len(files) > 1:
        raise UsageError(
            f"{files[0]} and {files[1]}: only one tournament file can be run at a time"
        )
    if others and not bots:
        raise UsageError(
            f"{others[0]!r} is no tournament file: its name must end in .toml;"
            " folders of bots follow --bots"
        )
    return (files[0] if files else None), [*(bots or []), *others]


def rules_of(changes: Sequence[str]) -> dict[str, object]:
    """Return what the values of `--set` change. Raises UsageError."""
    try:
        return merge_overrides(parse_override(change) for change in changes)
    except RuleSetError as error:
        raise UsageError(f"--set: {error}") from error
