"""The leaderboard, and the ratings of bots' versions: rows of standings."""

from collections.abc import Sequence
from dataclasses import asdict

from tournament.report.about import about, count_of, title, with_points
from tournament.report.cells import counts, interval, percent, rounded, short_hash
from tournament.report.render import Column, Part, Row, View
from tournament.statistics.standings import Standing
from tournament.statistics.versions import VersionStanding
from tournament.store.stored import Tournament

UNSETTLED, UNKNOWN = "≈", "?"
NOTES = {
    UNSETTLED: f"{UNSETTLED} the order of this row and the next is not significant: the 95 %"
    " interval of their gap holds 0",
    UNKNOWN: f"{UNKNOWN} too few whole encounters to tell whether this row is ahead of the next",
}


def mark(row: Standing, *, is_last: bool) -> str:
    """Return the sign at a row whose order with the next one is not settled."""
    if is_last or row.is_significant:
        return ""
    return UNKNOWN if row.is_significant is None else UNSETTLED


def _gap(row: Row) -> str:
    """Show the gap to the next row with its interval."""
    text = rounded(2)(row["gap"])
    limits = interval(row["gap_low"], row["gap_high"], 2)
    return f"{text} ({limits})" if limits else text


_RANK = Column("rank", "#", is_number=True)
_BOT = Column("bot", "Bot", is_names=True)
_FIGURES = (
    Column("mark", UNSETTLED, in_data=False),
    Column("rating", "Rating", rounded(2), is_number=True),
    Column("mu", "μ", rounded(2), is_number=True, spare=3),
    Column("sigma", "σ", rounded(2), is_number=True, spare=6),
    Column("error", "±", rounded(2), is_number=True, spare=2),
    Column("matches", "Matches", is_number=True),
    Column("wins", "W", is_number=True),
    Column("draws", "D", is_number=True),
    Column("losses", "L", is_number=True),
    Column("mean_place", "Place", rounded(2), is_number=True, spare=9),
    Column("points_per_match", "Points", rounded(1), is_number=True, spare=7),
    Column("forfeits", "Forfeits", counts, spare=4),
    Column("mean_ms", "Mean ms", rounded(2), is_number=True, spare=11),
    Column("worst_ms", "Worst ms", rounded(1), is_number=True, spare=10),
    Column("gap", "Gap to next", is_number=True, spare=5, show_row=_gap),
    Column("gap_low", "", for_people=False),
    Column("gap_high", "", for_people=False),
    Column("superiority", "Better", percent, is_number=True, spare=1),
    Column("is_significant", "", for_people=False),
)
LEADERBOARD = (_RANK, _BOT, Column("version", "Version", spare=8), *_FIGURES)
VERSIONS = (
    _RANK,
    _BOT,
    Column("version", "Version", is_names=True),
    Column("content_hash", "Content", short_hash, spare=8),
    *_FIGURES,
)


def leaderboard_view(tournament: Tournament, rows: Sequence[Standing]) -> View:
    """Return the leaderboard of a tournament."""
    return View(
        about=about(tournament),
        parts=with_points(
            [Part("standings", LEADERBOARD, _marked(rows), notes=notes(rows))], tournament
        ),
        title=title(tournament),
    )


def versions_view(
    tournament: Tournament, rows: Sequence[VersionStanding], ids: Sequence[str]
) -> View:
    """Return the ratings of versions over the tournaments with these ids."""
    standings = [row.standing for row in rows]
    marked = [
        {**row, "content_hash": version.content_hash}
        for row, version in zip(_marked(standings), rows, strict=True)
    ]
    number = count_of(len(ids), "tournament")
    return View(
        about={**about(tournament), "tournaments": list(ids)},
        parts=with_points([Part("versions", VERSIONS, marked, notes=notes(standings))], tournament),
        title=f"Versions in {number} under the rules and the clock of {tournament.id}",
    )


def _marked(rows: Sequence[Standing]) -> list[Row]:
    last = len(rows) - 1
    return [
        {**asdict(row), "mark": mark(row, is_last=number == last)}
        for number, row in enumerate(rows)
    ]


def notes(rows: Sequence[Standing]) -> list[str]:
    """Return what the signs in these rows mean."""
    marks = {row["mark"] for row in _marked(rows)}
    return [text for sign, text in NOTES.items() if sign in marks]
