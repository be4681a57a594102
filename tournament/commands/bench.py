"""`tournament bench`: how fast tournaments are played on this machine."""

import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Annotated

import typer

from tournament.bench.measure import Figures, Growth, PlayedRow, bench_tournament
from tournament.bots.find import DEFAULT_BOTS
from tournament.commands.options import FormatOption
from tournament.commands.output import people, say, write
from tournament.errors import UsageError
from tournament.report.render import Column, Format, Part, View

MATCHES, MATCHES_MOST, WORKERS_MOST = 120, 10_000, 64
_HEADINGS = {
    "workers": "Workers",
    "matches": "Matches",
    "seconds": "Seconds",
    "matches_per_s": "Matches/s",
    "decisions_per_s": "Decisions/s",
    "echo_per_s": "Raw echo/s",
    "part_of_echo": "Part of it",
    "referee_per_s": "Referee alone/s",
    "ten_times_matches": "Ten times",
    "ten_times_seconds": "Seconds of it",
    "start_seconds": "Start",
    "ratio": "Ratio",
}


def bench(
    *,
    matches: Annotated[
        str,
        typer.Option(
            "--matches",
            metavar="N",
            help=f"Matches of a tournament, 1–{MATCHES_MOST}; 12 at the least are played.",
        ),
    ] = str(MATCHES),
    workers: Annotated[
        str | None,
        typer.Option(
            "--workers",
            metavar="N,N,…",
            help="Numbers of matches at a time, separated by commas; default: 1 and one for"
            " each core.",
        ),
    ] = None,
    tenfold: Annotated[
        bool, typer.Option(help="Play ten times the matches too, with the last of the workers.")
    ] = True,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Play tournaments of the sample bots and measure them against a raw gRPC echo.

    Seconds are those that a user waits, from the start of `tournament run` to its leaderboard. The
    echo has as many decisions in flight and does nothing but answer. A ratio of 1 means that ten
    times the matches took ten times the time, but for the start of all processes.

    \b
    Examples:
      tournament bench
      tournament bench --matches 600 --workers 1,2,4 --no-tenfold --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    count = _whole(matches, "--matches", MATCHES_MOST)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    texts = f"1,{cores}" if workers is None else workers
    numbers = [_whole(text, "--workers", WORKERS_MOST) for text in texts.split(",")]
    with people.status("measuring") as status:
        tell = status.update if people.is_terminal else say
        figures = bench_tournament(count, list(dict.fromkeys(numbers)), tell, tenfold=tenfold)
    write(bench_view(figures), format_)


def _whole(text: str, option: str, most: int) -> int:
    if text.strip().isdecimal() and 1 <= int(text) <= most:
        return int(text)
    raise UsageError(f"{option} has {text!r}: allowed are whole numbers 1–{most}")


def bench_view(figures: Figures) -> View:
    """Return the figures as a view: a row for each number of workers, and how time grows."""
    parts = [Part("rows", _columns(PlayedRow), [asdict(row) for row in figures.rows])]
    if figures.growth is not None:
        heading = "Ten times the matches"
        parts.append(Part("growth", _columns(Growth), [asdict(figures.growth)], heading=heading))
    return View(about={"bots": list(DEFAULT_BOTS)}, parts=parts)


def _columns(kind: type[PlayedRow] | type[Growth]) -> Sequence[Column]:
    return [Column(item.name, _HEADINGS[item.name], _shown, True) for item in fields(kind)]


def _shown(value: object) -> str:
    return "–" if value is None else str(value)
