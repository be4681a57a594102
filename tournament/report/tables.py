"""Draws tables for a terminal, which leave out columns where it is narrow, and for plain text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_BETWEEN, _EDGES = 3, 1
"""Characters that each column takes beside its cells, and those at the two ends."""
_WRAPPED_LEAST = 24
"""Characters that a column which wraps keeps."""
_HEIGHT = 100
_LEFT_OUT = "(a wider terminal, or --format csv, shows more columns)"


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column that is drawn; see `Column`."""

    heading: str
    is_number: bool
    spare: int
    wraps: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """Headings and texts that are safe to print."""

    columns: Sequence[SheetColumn]
    rows: Sequence[Sequence[str]]
    title: str = ""


def draw(sheet: Sheet, console: Console | None) -> str:
    """Return the table as lines. Only a terminal makes it narrower; no cell is ever cut."""
    widths = [
        max([cell_len(column.heading), *(cell_len(row[at]) for row in sheet.rows)])
        for at, column in enumerate(sheet.columns)
    ]
    shown = list(range(len(widths)))
    if console is not None and console.is_terminal:
        shown = _fitting(sheet, widths, console.width)
        widths = _wrapped(sheet, widths, shown, console.width)
    has_colours = console is not None and console.is_terminal and not console.is_dumb_terminal
    paper = Console(
        width=_width(widths, shown),
        height=_HEIGHT,  # without one, a dumb terminal would be 80 characters wide
        color_system="standard" if has_colours else None,
        force_terminal=console is not None and console.is_terminal,
        no_color=console is not None and console.no_color,
        legacy_windows=False,
    )
    with paper.capture() as capture:
        if sheet.title:  # in one line, however narrow the table is
            paper.print(
                Text(sheet.title, style="italic"), no_wrap=True, overflow="ignore", crop=False
            )
        paper.print(_head(sheet, widths, shown))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    # A library's table takes a second for a thousand rows; of matches there are many thousands.
    columns = [(at, widths[at], sheet.columns[at].is_number) for at in shown]
    for row in sheet.rows:
        lines += _lines(row, columns, paper)
    if len(shown) < len(sheet.columns):
        lines.append(_LEFT_OUT)
    return "\n".join(lines) + "\n"


def _width(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[at] + _BETWEEN for at in shown) + _EDGES


def _fitting(sheet: Sheet, widths: Sequence[int], most: int) -> list[int]:
    """Return the columns that fit, were those that wrap as narrow as they may be."""
    least = [
        min(width, _WRAPPED_LEAST) if column.wraps else width
        for column, width in zip(sheet.columns, widths, strict=True)
    ]
    shown = list(range(len(widths)))
    # The later of two that can be spared alike goes first.
    for at in sorted(shown, key=lambda at: (-sheet.columns[at].spare, -at)):
        if _width(least, shown) <= most or not sheet.columns[at].spare:
            break
        shown.remove(at)
    return shown


def _wrapped(sheet: Sheet, widths: Sequence[int], shown: Sequence[int], most: int) -> list[int]:
    """Return the widths, with columns that wrap narrowed until the table fits."""
    narrowed = list(widths)
    for at in shown:
        over = _width(narrowed, shown) - most
        if sheet.columns[at].wraps and over > 0:
            narrowed[at] = max(min(_WRAPPED_LEAST, narrowed[at]), narrowed[at] - over)
    return narrowed


def _head(sheet: Sheet, widths: Sequence[int], shown: Sequence[int]) -> Table:
    head = Table(box=box.SIMPLE_HEAD, show_header=any(one.heading for one in sheet.columns))
    for at in shown:
        column = sheet.columns[at]
        head.add_column(
            Text(column.heading),
            justify="right" if column.is_number else "left",
            no_wrap=True,
            width=widths[at],
        )
    return head


def _lines(
    row: Sequence[str], columns: Sequence[tuple[int, int, bool]], paper: Console
) -> list[str]:
    """Return the lines of one row: more than one where a cell is wider than its column."""
    cells = [
        [row[at]]
        if cell_len(row[at]) <= width
        else [line.plain.rstrip() for line in Text(row[at]).wrap(paper, width, overflow="fold")]
        for at, width, _ in columns
    ]
    lines = []
    for texts in zip_longest(*cells, fillvalue=""):
        line = []
        for text, (_, width, is_number) in zip(texts, columns, strict=True):
            space = " " * (width - cell_len(text))
            line.append(space + text if is_number else text + space)
        lines.append(("  " + "   ".join(line)).rstrip())
    return lines
