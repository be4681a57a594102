"""Runs a check for a command: shows each finding when it is made, and then what came of it."""

import json
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from tournament.bots.folder import BotFolder
from tournament.bots.sandbox.wrapped import Sandbox
from tournament.check.report import Finding, Report
from tournament.check.text import finding_text, last_lines
from tournament.commands.output import people, say, writing
from tournament.report.cells import escaped
from tournament.runner.interrupts import Interrupted, run_until_signal
from tournament.worker.sockets import socket_folder


class CheckFormat(StrEnum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"


Tell = Callable[[Finding], None]
Doing = Callable[[str], None]
Checking = Callable[[Path, Tell, Doing], Coroutine[None, None, Report]]
"""Checks, given a scratch folder and whom to tell of each finding, and of what it is at."""


def run_check(bot: BotFolder, copy: Path, sandbox: Sandbox) -> Report:
    """Check the frozen `copy` of a bot; all of it is shown on stderr.

    Raises KeyboardInterrupt when a signal ended it, and OSError when this machine lacks something.
    """
    return show_check(checking(bot, copy, sandbox), people, verbose=False)


def checking(bot: BotFolder, copy: Path, sandbox: Sandbox) -> Checking:
    """Return the check of a frozen copy."""
    from tournament.check.check import check_bot  # noqa: PLC0415 - it brings in the referee

    def check(scratch: Path, tell: Tell, doing: Doing) -> Coroutine[None, None, Report]:
        return check_bot(
            bot, sandbox=sandbox, copy=copy, scratch=scratch, progress=tell, doing=doing
        )

    return check


def show_check(check: Checking, console: Console, *, verbose: bool) -> Report:
    """Run a check, and write each finding to the console when it is made, then the rest.

    On a terminal a last line says meanwhile what the check is at.
    """
    from tournament.check.quiet import quiet  # noqa: PLC0415 - it brings in the referee

    quiet()

    def tell(finding: Finding) -> None:
        width = console.width if console.is_terminal else None
        with writing():
            console.print(finding_text(finding, width), soft_wrap=True, highlight=False)

    reports: list[Report] = []

    async def collect() -> None:
        reports.append(await check(scratch, tell, doing))

    with socket_folder() as scratch, last_line(console) as doing:
        try:
            run_until_signal(collect(), lambda: say("stopping: ending the bot …"))
        except Interrupted:
            raise KeyboardInterrupt from None
    [report] = reports
    with writing():
        for line in last_lines(report, verbose=verbose):
            console.print(line, markup=False, soft_wrap=True, highlight=False)
    return report


@contextmanager
def last_line(console: Console) -> Iterator[Doing]:
    """Show on a terminal the words that are told last, in a line that is gone at the end."""
    if not console.is_terminal:
        yield lambda _: None
        return
    one_line = Column(no_wrap=True, overflow="ellipsis")
    columns = (
        SpinnerColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False, table_column=one_line),
    )
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=text)


def as_json(report: Report) -> str:
    """Return the report as JSON that no terminal obeys."""
    return escaped(json.dumps(report.to_dict(), indent=2, ensure_ascii=False)) + "\n"
