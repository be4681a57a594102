"""The command `referee`: serve, rules, vectors, bench."""

import asyncio
import io
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from enum import StrEnum
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from referee.engine.presets import PRESETS, make_ruleset, merge_overrides, parse_override
from referee.engine.rule_fields import FIELDS
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.engine.vector_files import VectorFileError, read_vectors
from referee.engine.vectors import run_vector, vector_name

_FIELD_WIDTH = 30
_PRESET_WIDTH = 23
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
bench_app = typer.Typer(
    help="Measure engine and wire on this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
app.add_typer(bench_app, name="bench")
# What is piped into a file or another program is not folded to the width of a terminal.
_out = Console(highlight=False, width=None if sys.stdout and sys.stdout.isatty() else 200)
_err = Console(stderr=True, highlight=False)


class Format(StrEnum):
    """How a view is written."""

    TABLE = "table"
    JSON = "json"


Preset = Annotated[str, typer.Option("--rules", help=f"Preset: {', '.join(PRESETS)}.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override a rule, as field=value or field.SEATS=value; repeatable."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="table or json.")]


def _whole(about: str, least: int, most: int) -> Any:
    """An option that is a whole number."""

    def parse(given: object) -> int:
        text = str(given)  # A default comes as it is.
        if re.fullmatch("-?[0-9]{1,18}", text) and least <= int(text) <= most:
            return int(text)
        raise typer.BadParameter(f"{text!r}: allowed are {least}–{most}")

    return typer.Option(parser=parse, metavar="N", help=about)


def _seconds(about: str) -> Any:
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


def _fail(text: str, code: int = 1) -> NoReturn:
    _err.print("error:", style="red", end=" ")
    _err.print(text, markup=False, soft_wrap=True)
    raise typer.Exit(code)


def _rules(preset: str, overrides: list[str] | None) -> RuleSet:
    try:
        parsed = merge_overrides(parse_override(text) for text in overrides or ())
        return make_ruleset(preset, parsed)
    except RuleSetError as error:
        _fail(str(error), 2)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"referee {installed_version('rummy-referee')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Referee bots that play Rummy over gRPC.

    \b
    Examples:
      referee serve --play greedy          a house bot for whoever connects
      referee rules standard               what a preset says
      referee vectors tests/vectors        check an engine
      referee bench wire --format json     how fast it is here
    """  # noqa: D301 - \b keeps the lines below it as they are


# --- rules ------------------------------------------------------------------------------------


@app.command()
def rules(
    preset: Annotated[str, typer.Argument(help="A preset; without one all are compared.")] = "",
    overrides: Set = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show the presets side by side, or what comes of one preset and overrides.

    \b
    Examples:
      referee rules
      referee rules standard --set ace=high_or_low
      referee rules basic --set hand_size.2=7 --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    if overrides and not preset:
        _fail("--set needs a preset: referee rules PRESET --set field=value", 2)
    columns = [_rules(preset, overrides)] if preset else list(PRESETS.values())
    if output is Format.JSON:
        values = [one.to_dict() for one in columns]
        typer.echo(json.dumps(values[0] if preset else values, indent=2))
        return
    # Too narrow for all presets side by side, they come a few at a time.
    at_once = max(1, (_out.width - _FIELD_WIDTH) // _PRESET_WIDTH)
    for start in range(0, len(columns), at_once):
        _out.print(_values(columns[start : start + at_once]))
        _out.print()
    meanings = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("field", "what it says", "allowed"):
        meanings.add_column(title, overflow="fold")
    for name, spec in FIELDS.items():
        meanings.add_row(name, spec.about, spec.allowed)
    _out.print(meanings)


def _values(columns: Sequence[RuleSet]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("field", no_wrap=True, min_width=_FIELD_WIDTH - 2)
    for one in columns:
        table.add_column(one.preset, no_wrap=True)
    for name in FIELDS:
        table.add_row(name, *(_cell(one, name) for one in columns))
    return table


def _cell(one: RuleSet, name: str) -> str:
    value = one.to_dict()[name]
    if isinstance(value, dict):
        return " ".join(f"{seats}:{entry}" for seats, entry in value.items())
    if value is None:
        return FIELDS[name].none_word or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- vectors ----------------------------------------------------------------------------------


@app.command()
def vectors(
    paths: Annotated[list[Path], typer.Argument(help="Files (.json, .jsonl) or folders of them.")],
) -> None:
    """Run conformance vectors: a line for each, exit 1 if any failed, 2 if none was found.

    \b
    Example:
      referee vectors tests/vectors
    """  # noqa: D301 - \b keeps the lines below it as they are
    passed = failed = 0
    missing = [path for path in paths if not path.exists()]
    if missing:
        _fail(f"{missing[0]} does not exist", 2)
    for where, vector in read_vectors(paths):
        failure = str(vector) if isinstance(vector, VectorFileError) else run_vector(vector)
        name = vector_name(vector) or where
        if failure is None:
            passed += 1
            typer.echo(f"ok {name}")
        else:
            failed += 1
            typer.echo(f"FAIL {name}: {failure}")
    if not passed + failed:
        _fail(f"no vector was found in {', '.join(map(str, paths))}", 2)
    typer.echo(f"{passed} passed, {failed} failed")
    if failed:
        raise typer.Exit(1)


# --- serve ------------------------------------------------------------------------------------


@app.command()
def serve(
    listen: Annotated[
        list[str], typer.Option(help="HOST:PORT or unix:PATH; repeatable. Port 0: any free one.")
    ] = ["127.0.0.1:50051"],  # noqa: B006 - typer copies it
    play: Annotated[
        str, typer.Option(help="House bot that plays everybody who connects, such as greedy.")
    ] = "",
    preset: Preset = "basic",
    overrides: Set = None,
    seats: Annotated[int, _whole("Seats at a table, 2–6.", 2, 6)] = 2,
    matches: Annotated[
        int, _whole("Matches for each bot that connects; 0: until it leaves.", 0, 1_000_000)
    ] = 1,
    insecure: Annotated[
        bool, typer.Option(help="Allow plain TCP on other addresses than loopback.")
    ] = False,
    verbose: Annotated[bool, typer.Option(help="Log every detail.")] = False,
) -> None:
    """Let bots connect and play: against a house bot (--play), or against each other.

    Any token is let in. Stop with Ctrl-C: running matches get ten seconds to end, a second Ctrl-C
    stops at once.

    \b
    Examples:
      referee serve --play greedy
      referee serve --listen unix:/tmp/referee.sock --rules standard --seats 4
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.service.serve import (
        ServeError,
        check_addresses,
        check_house,
        serve_until_stopped,
    )

    table = _rules(preset, overrides)
    try:
        table.check_seats(seats)
        check_addresses(listen, insecure=insecure)
        check_house(play)
    except (RuleSetError, ServeError) as error:
        _fail(str(error), 2)
    try:
        asyncio.run(
            serve_until_stopped(
                listen, table, seats=seats, house=play, matches=matches, verbose=verbose
            )
        )
    except ServeError as error:
        _fail(str(error))


# --- bench ------------------------------------------------------------------------------------


def _report(rows: list[dict[str, object]], output: Format, whole: Callable[[], object]) -> None:
    if output is Format.JSON:
        typer.echo(json.dumps(whole()))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*map(str, row.values()))
    _out.print(table)


@bench_app.command("engine")
def bench_engine_command(
    preset: Preset = "basic",
    overrides: Set = None,
    seats: Annotated[int, _whole("Seats at the table, 2–6.", 2, 6)] = 2,
    seconds: Annotated[float, _seconds("How long to play.")] = 5.0,
    seed: Annotated[int, _whole("Seed of the random play.", 0, 2**63)] = 1,
    output: FormatOption = Format.TABLE,
) -> None:
    """Random play of whole deals on one core: list, choose, apply, events.

    \b
    Example:
      referee bench engine --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.bench.engine import bench_engine

    table = _rules(preset, overrides)
    try:
        table.check_seats(seats)
    except RuleSetError as error:
        _fail(str(error), 2)
    with _err.status("playing") as status:
        rates = bench_engine(
            table, seats, seconds, seed, lambda part: status.update(f"playing {min(part, 1):.0%}")
        )
    row = asdict(rates)
    _report([row], output, lambda: row)


@bench_app.command("wire")
def bench_wire_command(
    matches: Annotated[str, typer.Option(help="Matches at once, separated by commas.")] = "1,8,32",
    seconds: Annotated[float, _seconds("Measured time of one round.")] = 3.0,
    output: FormatOption = Format.TABLE,
) -> None:
    """Decisions per second against a raw gRPC echo, in turn, with the same clients.

    \b
    Example:
      referee bench wire --matches 1,8,32,128 --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.bench.wire import bench_wire
    from referee.service.logs import configure_logs

    counts = [int(text) if text.strip().isdigit() else 0 for text in matches.split(",")]
    if not all(1 <= count <= 1_000 for count in counts):
        _fail(f"--matches is {matches!r}: allowed are numbers 1–1000 with commas between", 2)
    configure_logs(quiet=True)
    with _err.status("measuring") as status:
        rows = [asdict(row) for row in bench_wire(counts, seconds, status.update)]
    _report(rows, output, lambda: {"rows": rows})


def main() -> None:
    """Run the program. What it explains goes to standard error, with exit code 1 or 2."""
    # What the library would log we say ourselves; it reads this when it is first imported.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    if sys.stdout is None:
        sys.exit("error: standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that has no sign for a suit or a dash gets a question mark.
        sys.stdout.reconfigure(errors="replace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does.
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _err.print(f"error: {error}", markup=False, soft_wrap=True)
        # What is still buffered cannot be written either.
        os._exit(1)


if __name__ == "__main__":
    main()
