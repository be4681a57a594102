"""A check as lines for people: one or more for each finding, and a last one for all."""

import textwrap
from collections.abc import Iterator

from rich.text import Text

from tournament.check.report import Finding, Report, Status
from tournament.report.cells import printable

_STYLES = {
    Status.PASSED: "green",
    Status.WARNING: "yellow",
    Status.FAILED: "bold red",
    Status.NOT_CLAIMED: "cyan",
    Status.NOT_SEEN: "cyan",
    Status.NOT_RUN: "magenta",
}
_STATUS, _TITLE, _LABEL = max(map(len, Status)), 27, 10
_INDENT = 4
_LEAST = 24
"""Characters that are left for words, however narrow the terminal is."""


def finding_text(finding: Finding, width: int | None) -> Text:
    """Return a finding, in lines of at most `width` characters; None is any number."""
    verdict = finding.verdict
    head = Text(f"{finding.number:>2}  ")
    head.append(f"{verdict.status.value:<{_STATUS}}", style=_STYLES[verdict.status])
    head.append(f"  {finding.title:<{_TITLE}}  ")
    lines = _folded(f"{verdict.text} ({finding.seconds:.1f} s)", " " * head.cell_len, width)
    lines[0] = lines[0].lstrip()
    if verdict.status in (Status.WARNING, Status.FAILED):
        for label, text in (
            ("sent", verdict.sent),
            ("expected", verdict.expected),
            ("see", verdict.where.value if verdict.where is not None else ""),
        ):
            if text:
                block = _folded(text, " " * (_INDENT + _LABEL), width)
                block[0] = f"{' ' * _INDENT}{f'{label}:':<{_LABEL}}{block[0].lstrip()}"
                lines += block
    return head.append("\n".join(lines))


def _folded(text: str, before: str, width: int | None) -> list[str]:
    """Return a text in lines that begin with `before`; there is one at the least."""
    shown = printable(text)
    most = len(shown) or 1 if width is None else max(_LEAST, width - len(before))
    return [before + line for line in textwrap.wrap(shown, most) or [""]]


def last_lines(report: Report, *, verbose: bool) -> Iterator[str]:
    """Yield what stands below the findings: the bot's output if it helps, and what came of it."""
    if report.output and (verbose or not report.may_compete):
        yield "the end of what the bot printed:"
        yield from (f"  | {line}" for line in report.output)
    name = printable(f"{report.bot} {report.version}").strip() or "the bot"
    counts = ", ".join(f"{count} {status.value}" for status, count in report.counts.items())
    where = f"in the sandbox {report.sandbox!r}" if report.sandbox else "running elsewhere"
    may = "may compete" if report.may_compete else "may not compete"
    yield f"{name} {may}: {counts}; {where}, {report.seconds:.1f} s"
