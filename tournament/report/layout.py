"""How wide the columns of a table are, and which of them a narrow terminal shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

BETWEEN = 3
"""Characters that each column takes beside its cells."""
_WRAPPED_LEAST = 24
"""Characters that a column which wraps keeps while others can be spared or cut instead."""
_WORDS_LEAST, _NAMES_LEAST = 12, 9
"""What it keeps then, and a column of names, unless nothing else helps."""


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column that is drawn; see `Column`."""

    heading: str
    is_number: bool
    spare: int
    wraps: bool
    is_names: bool = False

    @property
    def bends(self) -> bool:
        """Whether it can become narrower than its texts."""
        return self.wraps or self.is_names


@dataclass(frozen=True, slots=True)
class Sheet:
    """Headings and texts that are safe to print."""

    columns: Sequence[SheetColumn]
    rows: Sequence[Sequence[str]]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that are `shown`, by number, and the characters that each of all may take."""

    shown: Sequence[int]
    widths: Sequence[int]
    is_cut: bool = False
    """Whether names are cut."""

    @property
    def width(self) -> int:
        """Characters of a line."""
        return sum(self.widths[at] + BETWEEN for at in self.shown)


def lay_out(sheet: Sheet, most: int | None) -> Layout:
    """Return how the sheet fits into `most` characters; None is as many as it takes.

    First the columns go that can be spared, those with the highest `spare` before others. Then
    names are cut, then further columns go from the right. What wraps or holds names always stays.
    """
    widths = [
        max([cell_len(column.heading), *(cell_len(row[at]) for row in sheet.rows)])
        for at, column in enumerate(sheet.columns)
    ]
    shown = list(range(len(widths)))
    if most is None:
        return Layout(shown, widths)
    wrapped = _least(sheet, widths, words=_WRAPPED_LEAST)
    # The later of two that can be spared alike goes first.
    spared = [at for at in shown if sheet.columns[at].spare]
    _leave_out(shown, sorted(spared, key=lambda at: (-sheet.columns[at].spare, -at)), wrapped, most)
    cut = _least(sheet, widths, words=_WRAPPED_LEAST, names=_NAMES_LEAST)
    least = _least(sheet, widths, words=_WORDS_LEAST, names=_NAMES_LEAST)
    stiff = [at for at in reversed(shown) if not sheet.columns[at].bends]
    _leave_out(shown, stiff, least, most)
    narrowed = list(widths)
    # What wraps loses nothing, so it gives way before names do; in the end all that is left does.
    for floor in (wrapped, cut, least, [1] * len(widths)):
        _narrow(narrowed, shown, floor, Layout(shown, narrowed).width - most)
    is_cut = any(narrowed[at] < widths[at] and not sheet.columns[at].wraps for at in shown)
    return Layout(shown, narrowed, is_cut)


def _least(
    sheet: Sheet, widths: Sequence[int], *, words: int, names: int | None = None
) -> list[int]:
    """Return the widths of columns that wrap at `words` characters, and cut names at `names`."""
    return [
        min(width, words)
        if column.wraps
        else min(width, names)
        if column.is_names and names is not None
        else width
        for column, width in zip(sheet.columns, widths, strict=True)
    ]


def _leave_out(
    shown: list[int], candidates: Sequence[int], widths: Sequence[int], most: int
) -> None:
    """Take candidates out of `shown`, the first ones first, until the rest fits; one stays."""
    for at in candidates:
        if len(shown) == 1 or Layout(shown, widths).width <= most:
            return
        shown.remove(at)


def _narrow(widths: list[int], columns: Sequence[int], floor: Sequence[int], over: int) -> None:
    """Take `over` characters from the columns, always from the widest; none goes below its floor.

    A column of long names does not make others narrower that take little room.
    """
    for _ in range(over):
        wider = [at for at in columns if widths[at] > floor[at]]
        if not wider:
            return
        widths[max(wider, key=lambda at: widths[at])] -= 1


def shortened(text: str, width: int) -> str:
    """Return the text in so many characters, with … in its middle if it takes more.

    Both ends stay: names mostly differ at one of them.
    """
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    room = width - 1
    head, tail = _fitting(text, room - room // 2), _fitting(text[::-1], room // 2)[::-1]
    return f"{head}…{tail}"


def _fitting(text: str, width: int) -> str:
    """Return as much of the beginning as takes no more than `width` characters of a terminal."""
    taken = 0
    for at, one in enumerate(text):
        taken += cell_len(one)
        if taken > width:
            return text[:at]
    return text
