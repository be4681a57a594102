"""Writes views as table, json, csv or markdown; json and csv have the same names of columns.

Whatever bots or their authors wrote stays text: no format is broken by it, nor is a terminal.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console

from tournament.report.cells import data, escaped, markdown, printable
from tournament.report.layout import Sheet, SheetColumn
from tournament.report.tables import draw, fold

Row = Mapping[str, object]


class Format(StrEnum):
    """How a view is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in data, its heading for people, and how its values read for them.

    On a narrow terminal the columns with the highest `spare` are left out first; those with 0 stay.
    One that `wraps` takes what the others leave. Names, and lists of them, are cut in the middle
    where nothing can be spared any more. `show_row` reads several values as one text.
    """

    name: str
    heading: str
    show: Callable[[object], str] = str
    is_number: bool = False
    spare: int = 0
    wraps: bool = False
    is_names: bool = False
    for_people: bool = True
    """In tables and markdown."""
    in_data: bool = True
    """In json and csv."""
    show_row: Callable[[Row], str] | None = None

    def text(self, row: Row) -> str:
        """Return how the column reads in this row."""
        return self.show_row(row) if self.show_row else self.show(row[self.name])


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one kind. Their `name` is the key in json and, where parts are several, in csv.

    With `is_single` it is one row: an object in json, and for people a line for each column.
    `for_people` stands in its place in tables and markdown. `remark` follows both, without which
    they would be misread; `notes` follow tables only.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    heading: str = ""
    is_single: bool = False
    for_people: "Part | None" = None
    notes: Sequence[str] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What is to be written. `about` goes into json before the parts, under `tournament`."""

    about: object
    parts: Sequence[Part]
    title: str = ""


def render(view: View, format_: Format, *, console: Console | None = None) -> str:
    """Return the view as text that ends in a newline.

    A table takes its width and colours from `console`; without one it is plain and uncut.
    """
    match format_:
        case Format.JSON:
            return _json(view)
        case Format.CSV:
            text = _csv(view)
            # A file gets every character as it is; a terminal would obey some of them.
            return printable(text, keep="\n") if console and console.is_terminal else text
        case Format.MARKDOWN:
            return _markdown(view)
        case Format.TABLE:
            return _table(view, console)


def _json(view: View) -> str:
    body = {"tournament": view.about}
    for part in view.parts:
        columns = [column for column in part.columns if column.in_data]
        rows = [{column.name: row[column.name] for column in columns} for row in part.rows]
        body[part.name] = rows[0] if part.is_single else rows
    return escaped(json.dumps(data(body), indent=2, ensure_ascii=False)) + "\n"


def _csv(view: View) -> str:
    """Several parts stand under one another; a first column says which, and others stay empty."""
    names = {column.name: "" for part in view.parts for column in part.columns if column.in_data}
    lead = ["part"] if len(view.parts) > 1 else []
    lines = _Lines()
    # A text with \r is quoted only if that ends lines; so they are ended like this, and cut after.
    writer = csv.DictWriter(lines, [*lead, *names], lineterminator="\r\n")
    writer.writeheader()
    for part in view.parts:
        columns = [column.name for column in part.columns if column.in_data]
        for row in part.rows:
            cells = {name: _cell(row[name]) for name in columns}
            writer.writerow({**dict.fromkeys(lead, part.name), **cells})
    return "".join(lines)


class _Lines(list[str]):
    """Takes lines from a csv writer, which gives one at a time."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


def _cell(value: object) -> object:
    """Lists, maps and truth stand in csv as json has them, so that nothing is lost."""
    plain = data(value)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, dict | list | bool) else plain


def for_people(part: Part) -> Part:
    """Return the part as it is drawn: what stands in its place, a single row turned upright."""
    if part.for_people is not None:
        return part.for_people
    if not part.is_single:
        return part
    columns = [column for column in part.columns if column.for_people]
    return Part(
        name=part.name,
        columns=(Column("heading", ""), Column("value", "", wraps=True)),
        rows=[
            {"heading": column.heading, "value": column.text(row)}
            for column in columns
            for row in part.rows
        ],
        heading=part.heading,
        notes=part.notes,
        remark=part.remark,
    )


def _markdown(view: View) -> str:
    blocks = []
    for part in map(for_people, view.parts):
        columns = [column for column in part.columns if column.for_people]
        lines = [f"### {markdown(part.heading)}\n"] if len(view.parts) > 1 else []
        lines += [
            _bars(markdown(column.heading) for column in columns),
            "|" + "|".join("---:" if column.is_number else "---" for column in columns) + "|",
        ]
        lines += [_bars(markdown(column.text(row)) for column in columns) for row in part.rows]
        lines += ["", markdown(part.remark)] if part.remark else []
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _bars(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(view: View, console: Console | None) -> str:
    blocks = []
    for number, part in enumerate(map(for_people, view.parts)):
        columns = [column for column in part.columns if column.for_people]
        sheet = Sheet(
            columns=[
                SheetColumn(
                    printable(column.heading),
                    column.is_number,
                    column.spare,
                    column.wraps,
                    column.is_names,
                )
                for column in columns
            ],
            rows=[[printable(column.text(row)) for column in columns] for row in part.rows],
            title=" · ".join(
                printable(text) for text in (view.title * (number == 0), part.heading) if text
            ),
        )
        width = console.width if console is not None and console.is_terminal else None
        notes = [line for note in (part.remark, *part.notes) for line in fold(note, width)]
        blocks.append(draw(sheet, console) + "".join(f"{line}\n" for line in notes))
    return "\n".join(blocks)
