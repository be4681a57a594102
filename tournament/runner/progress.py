"""Shows how far a run is: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

LINE_EVERY_S = 5.0


class ProgressView(Protocol):
    """What the runner tells about its work."""

    def begin(self, *, done: int, planned: int, is_most: bool = False) -> None:
        """Begin, with `done` of `planned` matches played before; `is_most` if it may end sooner."""

    def round(self, number: int, rounds: int) -> None:
        """Tell that a round begins, the first being 1."""

    def advance(self) -> None:
        """Count a match that is stored."""

    def note(self, text: str) -> None:
        """Show a line that is worth keeping."""

    def end(self) -> None:
        """Leave the terminal tidy."""


class _Rate:
    """Matches a second since the beginning."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self.played = 0

    def per_second(self) -> float:
        elapsed = self._clock() - self._began
        return self.played / elapsed if elapsed > 0 else 0.0


class _TimeLeft(TimeRemainingColumn):
    """The time left, where the end is known."""

    def render(self, task: Task) -> Text:
        """Return nothing for what may end at any match."""
        return Text() if task.fields["is_most"] else super().render(task)


class BarProgress:
    """A bar with matches done, matches a second and the time left."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]:.1f} matches/s"),
            _TimeLeft(),
            console=console,
        )
        self._rate = _Rate(time.monotonic)
        self._task = self._progress.add_task("matches", total=None, rate=0.0, is_most=False)

    def begin(self, *, done: int, planned: int, is_most: bool = False) -> None:
        """Show the bar."""
        self._rate = _Rate(time.monotonic)
        self._progress.update(self._task, total=planned, completed=done, is_most=is_most)
        if is_most:
            self._progress.update(self._task, description="matches, at most")
        self._progress.start()

    def round(self, number: int, rounds: int) -> None:
        """Name the round before the bar."""
        self._progress.update(self._task, description=f"round {number} of {rounds}, matches")

    def advance(self) -> None:
        """Move the bar by one match."""
        self._rate.played += 1
        self._progress.update(self._task, advance=1, rate=self._rate.per_second())

    def note(self, text: str) -> None:
        """Show a line above the bar."""
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def end(self) -> None:
        """Leave the bar as it is and go below it."""
        self._progress.stop()


class LineProgress:
    """A line every few seconds, for logs."""

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._clock = clock
        self._rate = _Rate(clock)
        self._done = self._planned = 0
        self._is_most = False
        self._last = clock()

    def begin(self, *, done: int, planned: int, is_most: bool = False) -> None:
        """Say how much there is to do."""
        self._done, self._planned, self._is_most = done, planned, is_most
        self._rate = _Rate(self._clock)
        self._last = self._clock()
        most = "at most " * is_most
        self._write(f"{most}{planned - done} matches to play, {done} of {planned} are done")

    def round(self, number: int, rounds: int) -> None:
        """Write which round begins."""
        self._write(f"round {number} of {rounds}")

    def advance(self) -> None:
        """Count a match, and say so if it is time."""
        self._done += 1
        self._rate.played += 1
        now = self._clock()
        if now - self._last >= LINE_EVERY_S or self._done == self._planned:
            self._last = now
            rate = self._rate.per_second()
            of = " of at most " if self._is_most else "/"
            # Nobody knows when what may end at any match will.
            seconds = (self._planned - self._done) / rate if rate else 0.0
            left = "" if self._is_most else f", {seconds:.0f} s left"
            self._write(f"{self._done}{of}{self._planned} matches, {rate:.1f} matches/s{left}")

    def note(self, text: str) -> None:
        """Write the line."""
        self._write(text)

    def end(self) -> None:
        """Nothing is left to tidy."""


def make_progress(console: Console) -> ProgressView:
    """Return the view that suits where the console goes."""
    if console.is_terminal and not console.is_dumb_terminal:
        return BarProgress(console)
    return LineProgress(lambda text: console.print(text, markup=False, soft_wrap=True))
