"""Bots whose processes fail: who is withdrawn, what the organiser is told, what is kept."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from referee.match.outcome import Forfeit
from tournament.worker.messages import BotFailure, Failure, Result

CRASHES_MOST = 3
"""Matches in a row that its process failed in, after which a bot is not started any more."""


class Failures:
    """Counts the matches in a row that bots failed in; `in_a_row` are those stored before."""

    def __init__(self, in_a_row: Mapping[str, int], tell: Callable[[str], None]) -> None:
        self._in_a_row = Counter(in_a_row)
        self._tell = tell
        self._told: set[tuple[str, Failure]] = set()

    def withdrawn(self, bots: Sequence[str]) -> tuple[str, ...]:
        """Return those of the bots that are not started any more."""
        return tuple(bot for bot in bots if self._in_a_row[bot] >= CRASHES_MOST)

    def count(self, bots: Sequence[str], outcome: Result) -> None:
        """Count a leg that these bots played, and tell what is new about their failures."""
        failures = {item.bot: item for item in outcome.failures}
        for item in failures.values():
            self._tell_first_of_its_kind(item)
        for bot, seat in zip(bots, outcome.result.seats, strict=True):
            if seat.forfeit not in (Forfeit.CRASH, Forfeit.STARTUP) and bot not in failures:
                self._in_a_row[bot] = 0
                continue
            self._in_a_row[bot] += 1
            if self._in_a_row[bot] == CRASHES_MOST:
                last = failures.get(bot)
                self._tell(
                    f"{bot} failed {CRASHES_MOST} times in a row: it forfeits the rest without"
                    " being started" + (f"; the last time it {_where(last)}" if last else "")
                )

    def _tell_first_of_its_kind(self, item: BotFailure) -> None:
        # That a bot was withdrawn has been told.
        if item.failure is Failure.WITHDRAWN or (item.bot, item.failure) in self._told:
            return
        self._told.add((item.bot, item.failure))
        output = f"its output ends with: {item.tail}" if item.tail else "it wrote no output"
        self._tell(f"{item.bot} (leg {item.leg}) {_where(item, output)}")


def reasons(outcome: Result) -> str:
    """Return why bots forfeited by their processes, for the organiser alone."""
    return "; ".join(f"{item.bot} {item.text}" for item in outcome.failures)


def _where(item: BotFailure, *more: str) -> str:
    """Return what went wrong, and more and its log if it ever ran."""
    if not item.log:
        return item.text
    log, here = Path(item.log), Path.cwd()
    shown = log.relative_to(here) if log.is_relative_to(here) else log
    return "; ".join((item.text, *more, f"log: {shown}"))
