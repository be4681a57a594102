"""Draws tables for a terminal, none wider than it is, and for plain text, where nothing is cut."""

import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tournament.report.cells import BETWEEN_NAMES
from tournament.report.layout import Layout, Sheet, SheetColumn, lay_out, shortened

_NAME_LEAST = 9
"""Characters that each of several names in a cell keeps before they go on in a further line."""
_HEIGHT = 100


def draw(sheet: Sheet, console: Console | None) -> str:
    """Return the table as lines. A terminal gets none that are wider than it is."""
    most = console.width if console is not None and console.is_terminal else None
    layout = lay_out(sheet, most)
    has_colours = most is not None and console is not None and not console.is_dumb_terminal
    paper = Console(
        width=max(layout.width, most or 0) + 1,  # for the edge at the right, which is cut off
        height=_HEIGHT,  # without one, a dumb terminal would be 80 characters wide
        color_system="standard" if has_colours else None,
        force_terminal=most is not None,
        no_color=console is not None and console.no_color,
        legacy_windows=False,
    )
    with paper.capture() as capture:
        for line in fold(sheet.title, most):  # however narrow the table is
            paper.print(Text(line, style="italic"), no_wrap=True, overflow="ignore", crop=False)
        paper.print(_head(sheet, layout))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    # A library's table takes a second for a thousand rows; of matches there are many thousands.
    columns = [(at, layout.widths[at], sheet.columns[at]) for at in layout.shown]
    for row in sheet.rows:
        lines += _lines(row, columns, paper)
    missing = [
        *["more columns"] * (len(layout.shown) < len(sheet.columns)),
        *["whole names"] * layout.is_cut,
    ]
    if missing:
        text = f"(a wider terminal, or --format csv, shows {' and '.join(missing)})"
        lines += fold(text, most)
    return "\n".join(lines) + "\n"


def fold(text: str, most: int | None) -> list[str]:
    """Return words for people as lines of at most so many characters; None is any number."""
    if most is None:
        return [text] if text else []
    return textwrap.wrap(text, most)


def _head(sheet: Sheet, layout: Layout) -> Table:
    head = Table(box=box.SIMPLE_HEAD, show_header=any(one.heading for one in sheet.columns))
    for at in layout.shown:
        column = sheet.columns[at]
        head.add_column(
            Text(column.heading),
            justify="right" if column.is_number else "left",
            no_wrap=True,
            width=layout.widths[at],
        )
    return head


def _lines(
    row: Sequence[str], columns: Sequence[tuple[int, int, SheetColumn]], paper: Console
) -> list[str]:
    """Return the lines of one row: more than one where a cell is wider than its column."""
    cells = [
        [row[at]] if cell_len(row[at]) <= width else _cell(row[at], width, column, paper)
        for at, width, column in columns
    ]
    lines = []
    for texts in zip_longest(*cells, fillvalue=""):
        line = []
        for text, (_, width, column) in zip(texts, columns, strict=True):
            space = " " * (width - cell_len(text))
            line.append(space + text if column.is_number else text + space)
        lines.append(("  " + "   ".join(line)).rstrip())
    return lines


def _cell(text: str, width: int, column: SheetColumn, paper: Console) -> list[str]:
    """Return the lines of a text that is wider than its column."""
    if column.wraps:
        return _wrapped(text, width, paper)
    names = text.split(BETWEEN_NAMES)
    if not column.is_names or len(names) == 1:
        return [shortened(text, width)]
    in_one_line = (width - cell_len(BETWEEN_NAMES) * (len(names) - 1)) // len(names)
    if in_one_line >= _NAME_LEAST:
        return [BETWEEN_NAMES.join(_shares(names, width))]
    beside = width - cell_len(BETWEEN_NAMES.rstrip())
    cut = BETWEEN_NAMES.join(shortened(name, max(beside, 1)) for name in names)
    return _wrapped(cut, width, paper)


def _shares(names: Sequence[str], width: int) -> list[str]:
    """Return the names cut so that they stand in one line; short ones leave room for others."""
    room = width - cell_len(BETWEEN_NAMES) * (len(names) - 1)
    shares = [0] * len(names)
    for left, at in enumerate(sorted(range(len(names)), key=lambda at: cell_len(names[at]))):
        shares[at] = min(cell_len(names[at]), room // (len(names) - left))
        room -= shares[at]
    return [shortened(name, share) for name, share in zip(names, shares, strict=True)]


def _wrapped(text: str, width: int, paper: Console) -> list[str]:
    return [line.plain.rstrip() for line in Text(text).wrap(paper, width, overflow="fold")]
