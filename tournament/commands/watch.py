"""`tournament leaderboard --watch`: the standings as results come in, on a terminal.

It reads in short transactions of its own, so whoever plays the tournament never waits for it.
"""

import math
import textwrap
import time
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tournament.errors import UsageError
from tournament.report.leaderboard import leaderboard_view
from tournament.report.render import Format, render
from tournament.report.results import Results, load
from tournament.store.store import Store

DEFAULT_S, LEAST_S, MOST_S = 2.0, 1.0, 3600.0
_REST = 2
"""It rests at least so many times as long as a look took, and leaves the cores to the bots."""
QUIET_S = 10.0
"""So long without a new result, and it is said that perhaps nobody plays."""
_HINT = "Ctrl-C ends watching and nothing else."


class Time(Protocol):
    """The clock, and a way to wait; tests have their own."""

    def monotonic(self) -> float:
        """Return seconds that only ever grow."""

    def sleep(self, seconds: float, /) -> None:
        """Wait."""


def interval_s(text: str | None) -> float:
    """Return the seconds between two looks. Raises UsageError."""
    if text is None:
        return DEFAULT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not LEAST_S <= seconds <= MOST_S:
        raise UsageError(f"--watch is {text!r}: allowed are {LEAST_S:g}–{MOST_S:g} seconds")
    return seconds


def watch(
    store: Store,
    tournament: str,
    every_s: float,
    format_: Format,
    *,
    console: Console | None = None,
    clock: Time = time,
) -> None:
    """Show the leaderboard until the tournament is finished. Raises UsageError, StoreError.

    The last picture goes away then, for the final table to stand in its place; after a Ctrl-C it
    stays. Ratings start from those of the look before.
    """
    console = console or Console()
    if format_ is not Format.TABLE:
        raise UsageError(f"--watch draws a table: --format {format_} can't be watched")
    if not console.is_terminal or console.is_dumb_terminal:
        raise UsageError(
            "--watch draws on a terminal, and this is none that it could draw on:"
            " leave it out, and call `tournament leaderboard` as often as is needed"
        )
    with Live(Text("reading …"), console=console, auto_refresh=False) as live:
        results: Results | None = None
        heard = clock.monotonic()
        while True:
            began = clock.monotonic()
            before, results = results, _look(store, tournament, results)
            if before is not None and results is not before:
                heard = began
            live.update(picture(results, console, quiet_s=began - heard), refresh=True)
            if results.is_final:
                live.transient = True
                return
            took = clock.monotonic() - began
            clock.sleep(max(every_s, _REST * took))


def _look(store: Store, tournament: str, before: Results | None) -> Results:
    """Read what is stored now; nothing is computed again if nothing is new."""
    if before is None:
        return load(store, tournament)
    if store.tournament(tournament) == before.tournament:
        return before
    return load(store, tournament, start=before.fit)


def picture(results: Results, console: Console, *, quiet_s: float = 0.0) -> Text:
    """Return the table, cut to the height of the terminal; nothing new came for `quiet_s`."""
    view = leaderboard_view(results.tournament, results.standings)
    hints = [] if results.is_final else [_HINT]
    if hints and quiet_s >= QUIET_S:
        # A match may take minutes, so that nothing comes does not say that nobody plays.
        hints.insert(
            0,
            f"Waiting: nothing new for {quiet_s:.0f} s. If nobody plays it now,"
            f" `tournament resume {results.tournament.id}` goes on.",
        )
    lines = [
        *render(view, Format.TABLE, console=console).splitlines(),
        *(line for hint in hints for line in textwrap.wrap(hint, console.width)),
    ]
    # The cursor needs a line of its own below.
    most = max(console.height - 1, 1)
    if len(lines) > most:
        left_out = len(lines) - most + 1
        last = f"… {left_out} more lines; a higher terminal shows more"
        lines = [*lines[: most - 1], last[: console.width]]
    return Text("\n").join(Text.from_ansi(line) for line in lines)
