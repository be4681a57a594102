"""Writes views as table, json, csv or markdown; the names of columns are the same in all."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tournament.statistics.standings import Standing
from tournament.store.stored import Entry, MatchRow, Tournament

_WIDE = 1_000
"""Characters; no table needs as many."""
_WRAPPED_LEAST = 24
"""Characters that a column which wraps keeps."""


class Format(StrEnum):
    """How a view is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in data, its heading for people, and how its values read for them.

    On a narrow terminal the columns with the highest `spare` are left out first; those with 0 stay.
    One that `wraps` takes what the others leave; `in_table` False is for the other formats alone.
    """

    name: str
    heading: str
    show: Callable[[object], str] = str
    is_number: bool = False
    spare: int = 0
    wraps: bool = False
    in_table: bool = True


@dataclass(frozen=True, slots=True)
class View:
    """Rows to be written. `about` goes into json beside them, under `tournament`."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    about: object
    title: str = ""


def _rounded(digits: int) -> Callable[[object], str]:
    def show(value: object) -> str:
        return "–" if value is None else f"{value:.{digits}f}"

    return show


def _faults(value: object) -> str:
    assert isinstance(value, Mapping)
    return ", ".join(f"{kind} {count}" for kind, count in value.items()) or "–"


def _list(value: object) -> str:
    assert isinstance(value, list | tuple)
    return " – ".join(str(item) for item in value)


def _or_dash(value: object) -> str:
    return "–" if value in (None, "") else str(value)


LEADERBOARD = (
    Column("rank", "#", is_number=True),
    Column("bot", "Bot"),
    Column("version", "Version", spare=5),
    Column("rating", "Rating", _rounded(2), is_number=True),
    Column("mu", "μ", _rounded(2), is_number=True, spare=1),
    Column("sigma", "σ", _rounded(2), is_number=True, spare=2),
    Column("matches", "Matches", is_number=True),
    Column("wins", "W", is_number=True),
    Column("draws", "D", is_number=True),
    Column("losses", "L", is_number=True),
    Column("mean_place", "Place", _rounded(2), is_number=True, spare=6),
    Column("points_per_match", "Points", _rounded(1), is_number=True, spare=4),
    Column("forfeits", "Forfeits", _faults, spare=3),
    Column("mean_ms", "Mean ms", _rounded(2), is_number=True, spare=8),
    Column("worst_ms", "Worst ms", _rounded(1), is_number=True, spare=7),
)

MATCHES = (
    Column("position", "#", is_number=True),
    Column("fixture", "Fixture", in_table=False),
    Column("encounter", "Encounter", in_table=False),
    Column("leg", "Leg", is_number=True, spare=4),
    Column("seats", "Seats", _list),
    Column("places", "Places", _list),
    Column("totals", "Points", _list, spare=2),
    Column("deals", "Deals", _or_dash, is_number=True, spare=3),
    Column("termination", "End", _or_dash, spare=1),
    Column("text", "Why", _or_dash, wraps=True),
    Column("record_hash", "Record", lambda value: str(value)[:12] or "–", spare=5),
)

BOTS = (
    Column("bot", "Bot"),
    Column("version", "Version"),
    Column("author", "Author", spare=2),
    Column("language", "Language", spare=1),
    Column("content_hash", "Content", lambda value: str(value)[:12], spare=3),
    Column("folder", "Folder", spare=4),
)


def leaderboard_view(tournament: Tournament, rows: Sequence[Standing]) -> View:
    """Return the leaderboard of a tournament."""
    return View(
        name="standings",
        columns=LEADERBOARD,
        rows=[asdict(row) for row in rows],
        about=about(tournament),
        title=f"Tournament {tournament.id}: {tournament.matches} of {tournament.planned} matches",
    )


def matches_view(tournament: Tournament, rows: Sequence[MatchRow]) -> View:
    """Return the matches of a tournament, those to come included."""
    return View(
        name="matches",
        columns=MATCHES,
        rows=[_match(row) for row in rows],
        about=about(tournament),
        title=f"Tournament {tournament.id}: {tournament.matches} of {tournament.planned} matches",
    )


def bots_view(entries: Sequence[Entry], tournament: Tournament | None) -> View:
    """Return the bots of a tournament, or of none."""
    return View(
        name="bots",
        columns=BOTS,
        rows=[{column.name: getattr(entry, column.name) for column in BOTS} for entry in entries],
        about=None if tournament is None else about(tournament),
    )


def about(tournament: Tournament) -> dict[str, object]:
    """Return what json says about a tournament."""
    config = tournament.config
    return {
        "id": tournament.id,
        "created": tournament.created,
        "status": tournament.status,
        "matches": tournament.matches,
        "planned": tournament.planned,
        **{key: config.get(key) for key in ("format", "seats", "encounters", "rules", "seed")},
    }


def _match(row: MatchRow) -> dict[str, object]:
    return {
        "position": row.fixture.position,
        "fixture": row.fixture.fixture_id,
        "encounter": row.fixture.encounter_id,
        "leg": row.fixture.leg,
        "seats": list(row.fixture.seats),
        "places": [seat.place for seat in row.seats],
        "totals": [seat.total for seat in row.seats],
        "deals": row.deals,
        "termination": row.termination,
        "text": row.text,
        "record_hash": row.record_hash,
    }


def render(view: View, format_: Format, *, console: Console | None = None) -> str:
    """Return the view as text that ends in a newline.

    A table takes its width and colours from `console`; without one it is plain and uncut.
    """
    match format_:
        case Format.JSON:
            body = {"tournament": view.about, view.name: view.rows}
            return json.dumps(body, indent=2, ensure_ascii=False) + "\n"
        case Format.CSV:
            return _csv(view)
        case Format.MARKDOWN:
            return _markdown(view)
        case Format.TABLE:
            return _table(view, console)


def _csv(view: View) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in view.columns)
    for row in view.rows:
        writer.writerow(_cell(row[column.name]) for column in view.columns)
    return out.getvalue()


def _cell(value: object) -> object:
    """Lists and maps stand in csv as json, so that nothing is lost."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _markdown(view: View) -> str:
    lines = [
        "| " + " | ".join(column.heading for column in view.columns) + " |",
        "|" + "|".join("---:" if column.is_number else "---" for column in view.columns) + "|",
    ]
    lines += [
        "| "
        + " | ".join(
            column.show(row[column.name]).replace("|", "\\|").replace("\n", " ")
            for column in view.columns
        )
        + " |"
        for row in view.rows
    ]
    return "\n".join(lines) + "\n"


def _table(view: View, console: Console | None) -> str:
    on_terminal = console is not None and console.is_terminal
    # Wider than any terminal: the table decides on its width, so that no cell is cut.
    paper = Console(
        width=_WIDE,
        height=_WIDE,  # without one, a dumb terminal would be 80 characters wide
        color_system="standard" if console is not None and _has_colours(console) else None,
        force_terminal=on_terminal,
        no_color=console is not None and console.no_color,
    )
    shown = columns = [column for column in view.columns if column.in_table]
    table = _drawn(view, columns)
    if console is not None and on_terminal:
        while not _fits(paper, _drawn(view, columns, narrow=True), console.width):
            least = max(columns, key=lambda column: column.spare)
            if not least.spare:
                break
            columns = [column for column in columns if column is not least]
        table = _drawn(view, columns)
        if any(column.wraps for column in columns) and not _fits(paper, table, console.width):
            table.width = console.width
    with paper.capture() as capture:
        paper.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if len(columns) < len(shown):
        lines.append("(a wider terminal, or --format csv, shows more columns)")
    return "\n".join(lines) + "\n"


def _has_colours(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal


def _fits(paper: Console, table: Table, width: int) -> bool:
    return paper.measure(table).maximum <= width


def _drawn(view: View, columns: Sequence[Column], *, narrow: bool = False) -> Table:
    table = Table(
        title=Text(view.title) if view.title else None, title_justify="left", box=box.SIMPLE_HEAD
    )
    for column in columns:
        table.add_column(
            column.heading,
            justify="right" if column.is_number else "left",
            no_wrap=not column.wraps,
            max_width=_WRAPPED_LEAST if narrow and column.wraps else None,
        )
    for row in view.rows:
        table.add_row(*(Text(column.show(row[column.name])) for column in columns))
    return table
