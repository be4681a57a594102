"""Checks bots for the tests, and sees that nothing is left of them."""

import os
from pathlib import Path

from tournament.bots.folder import read_bot_folder
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.ownership import make_readable
from tournament.check.check import check_bot
from tournament.check.report import Finding, Report, Settings, Status
from tournament.worker.sockets import socket_folder

QUICK = Settings(bank_ms=200, startup_ms=8_000, reconnect_ms=8_000, stop_s=2.0, answer_s=5.0)
"""Little where a faulty bot makes the check wait, enough for a healthy one on a busy machine."""


def children() -> set[int]:
    """Processes that this one has started and that are there yet, also if they have ended."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(stat.parent.name))
    return found


async def checked(folder: Path, settings: Settings = QUICK, sandbox: str = "auto") -> Report:
    """The report on a folder's bot. No process and no file of the check is left."""
    bot = read_bot_folder(folder)
    make_readable(folder)
    before = children()
    progress: list[Finding] = []
    with socket_folder() as scratch:
        report = await check_bot(
            bot,
            sandbox=choose(sandbox),
            copy=folder,
            scratch=scratch,
            progress=progress.append,
            settings=settings,
        )
        homes = list(scratch.glob("home-*"))
    assert children() <= before
    assert homes == []
    assert not scratch.exists()
    assert progress == list(report.findings)
    assert [one.number for one in progress] == list(range(1, len(progress) + 1))
    return report


def by_status(report: Report, status: Status) -> set[str]:
    """The keys of the steps that went so."""
    return {one.step for one in report.findings if one.verdict.status is status}


def finding(report: Report, step: str) -> Finding:
    """What a step found."""
    return next(one for one in report.findings if one.step == step)


def shown(report: Report) -> str:
    """All findings, for the text of a failure."""
    return "\n".join(f"{one.step}: {one.verdict}" for one in report.findings)
