"""`referee bench`: how fast engine and wire are on this machine."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from referee.commands.options import (
    Format,
    FormatOption,
    Preset,
    Set,
    err,
    fail,
    out,
    plain_table,
    rules_of,
    seconds_option,
    whole_option,
)
from referee.engine.ruleset import RuleSetError


def _report(rows: list[dict[str, object]], output: Format, whole: Callable[[], object]) -> None:
    if output is Format.JSON:
        typer.echo(json.dumps(whole()))
        return
    table = plain_table()
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*map(str, row.values()))
    out.print(table)


def engine(
    preset: Preset = "basic",
    overrides: Set = None,
    seats: Annotated[int, whole_option("Seats at the table, 2–6.", 2, 6)] = 2,
    seconds: Annotated[float, seconds_option("How long to play.")] = 5.0,
    seed: Annotated[int, whole_option("Seed of the random play.", 0, 2**63)] = 1,
    output: FormatOption = Format.TABLE,
) -> None:
    """Random play of whole deals on one core: list, choose, apply, events.

    In turn with OpenSpiel's Gin Rummy where that is installed, which doubles the time.

    \b
    Example:
      referee bench engine --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.bench.engine import bench_engine

    table = rules_of(preset, overrides)
    try:
        table.check_seats(seats)
    except RuleSetError as error:
        fail(str(error), 2)
    with err.status("playing") as status:
        rates = bench_engine(
            table, seats, seconds, seed, lambda part: status.update(f"playing {min(part, 1):.0%}")
        )
    if rates.openspiel_ratio is None:
        err.print(
            "OpenSpiel is not installed: pip install '.[oracle]' compares with it", markup=False
        )
    row = asdict(rates)
    lines: list[dict[str, object]] = [
        {"figure": name, "value": "–" if value is None else value} for name, value in row.items()
    ]
    _report(lines, output, lambda: row)


def stalls(
    matches: Annotated[int, whole_option("Matches with a result.", 1, 1_000_000)] = 20_000,
    at_once: Annotated[int, whole_option("Matches at once.", 1, 1_000)] = 128,
    seed: Annotated[int, whole_option("Seed of the stalls.", 0, 2**63)] = 1,
    output: FormatOption = Format.TABLE,
) -> None:
    """Stall the referee on purpose, and count what it judges wrongly for lack of time.

    Exit code 1 if a bot was called late that was not, or one was not that should have been.

    \b
    Example:
      referee bench stalls --matches 1000 --at-once 32
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.bench.stalls import bench_stalls

    with err.status("playing") as status:
        report = bench_stalls(matches, at_once, status.update, seed=seed)
    row = asdict(report)
    lines: list[dict[str, object]] = [
        {"figure": name, "value": value} for name, value in row.items() if name != "evidence"
    ]
    _report(lines, output, lambda: row)
    if not report.is_clean:
        fail("time was judged wrongly: --format json has the evidence")


def wire(
    matches: Annotated[
        str, typer.Option(metavar="N,N,…", help="Matches at once, separated by commas.")
    ] = "1,8,32",
    seconds: Annotated[float, seconds_option("Measured time of one round.")] = 3.0,
    idle: Annotated[
        int, whole_option("Idle sessions, whose memory is measured; 0: none.", 0, 1_500)
    ] = 1_000,
    output: FormatOption = Format.TABLE,
) -> None:
    """Decisions per second against a raw gRPC echo, in turn, with the same clients.

    Then the memory that idle sessions take.

    \b
    Example:
      referee bench wire --matches 1,8,32,128 --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    from referee.bench.wire import bench_idle, bench_wire
    from referee.service.logs import configure_logs

    counts = [int(text) if text.strip().isdigit() else 0 for text in matches.split(",")]
    if not all(1 <= count <= 1_000 for count in counts):
        fail(f"--matches is {matches!r}: allowed are numbers 1–1000 with commas between", 2)
    configure_logs(quiet=True)
    with err.status("measuring") as status:
        rows = [asdict(row) for row in bench_wire(counts, seconds, status.update)]
        status.update(f"{idle} idle sessions")
        try:
            kib = bench_idle(idle) if idle else None
        except ValueError as error:
            fail(str(error))
    _report(rows, output, lambda: {"rows": rows, "idle_sessions": idle, "idle_session_kib": kib})
    if kib is not None and output is Format.TABLE:
        err.print(f"{kib} KiB for each of {idle} idle sessions")
