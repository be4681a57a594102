"""The crosstable: how every bot fared against every other."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from tournament.report.about import about, title
from tournament.report.cells import NOTHING, rounded
from tournament.report.render import Column, Part, Row, View
from tournament.statistics.crosstable import Cell
from tournament.store.stored import Tournament

NOTE = (
    "Mean score of the row's bot against the column's, in per cent, ± the 95 % interval:"
    " a better place counts 100, the same place 50"
)
_PAIRS = (
    Column("bot", "Bot"),
    Column("opponent", "Opponent"),
    Column("encounters", "Encounters"),
    Column("matches", "Matches"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("score", "Score"),
    Column("low", "Low"),
    Column("high", "High"),
    Column("points", "Points"),
)


def crosstable_view(tournament: Tournament, ranked: Sequence[str], cells: Sequence[Cell]) -> View:
    """Return the crosstable; `ranked` are the bots, best first."""
    by_pair = {(cell.bot, cell.opponent): cell for cell in cells}
    pairs = [
        by_pair[bot, opponent]
        for bot in ranked
        for opponent in ranked
        if (bot, opponent) in by_pair
    ]
    matrix = Part("crosstable", _columns(len(ranked)), _rows(ranked, by_pair), notes=[NOTE])
    return View(
        about=about(tournament),
        parts=[Part("pairs", _PAIRS, [asdict(cell) for cell in pairs], for_people=matrix)],
        title=title(tournament),
    )


def cell_text(cell: Cell) -> str:
    """Return how a cell reads: `62.5 ±4.1`, without ± where nothing can be said about it."""
    if cell.score is None:
        return NOTHING
    show = rounded(1)
    text = show(100 * cell.score)
    half = half_width(cell)
    return text if half is None else f"{text} ±{show(100 * half)}"


def half_width(cell: Cell) -> float | None:
    """Return the wider side of the interval of a cell's score."""
    if cell.score is None or cell.low is None or cell.high is None:
        return None
    return max(cell.high - cell.score, cell.score - cell.low)


def _columns(count: int) -> list[Column]:
    """Opponents stand by their rank; those of the lowest are left out first."""
    return [
        Column("number", "#", is_number=True),
        Column("bot", "Bot", is_names=True),
        *(
            Column(f"against_{number}", str(number), is_number=True, spare=number - 1)
            for number in range(1, count + 1)
        ),
    ]


def _rows(ranked: Sequence[str], by_pair: Mapping[tuple[str, str], Cell]) -> list[Row]:
    return [
        {
            "number": number,
            "bot": bot,
            **{
                f"against_{column}": cell_text(by_pair[bot, opponent])
                if (bot, opponent) in by_pair
                else ""
                for column, opponent in enumerate(ranked, start=1)
            },
        }
        for number, bot in enumerate(ranked, start=1)
    ]
