"""A tournament as one HTML page that needs no server, no network and no script.

Templates escape whatever they are given; here it is only put into order, cut to a size that a
browser bears, and measured for drawing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from tournament.report import crosstable, leaderboard
from tournament.report.about import (
    FEWER_ARE_BETTER,
    count_of,
    fewer_are_better,
    is_decided_early,
    open_encounters,
)
from tournament.report.cells import counts, interval, percent, printable, rounded
from tournament.report.render import for_people
from tournament.report.results import Results
from tournament.report.scale import Scale
from tournament.report.statistics import statistics_view
from tournament.statistics.crosstable import Cell
from tournament.statistics.standings import Standing
from tournament.store.stored import MatchRow, Tournament

MATCHES_MOST, FORFEITS_MOST, MATRIX_MOST = 2_000, 200, 40
"""Rows that the page has; the files beside it have all."""
_PARTS = ("points", "seats", "times", "mirroring", "terminations")
_FAINT, _STRONG = 0.06, 0.55
"""How strong the colour of a cell is at 50 % and at 0 or 100 %."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the page is made from. `matches` have results of whole encounters only."""

    results: Results
    cells: Sequence[Cell]
    matches: Sequence[MatchRow]
    recorded: Collection[str]
    """Fixtures whose record lies beside the page."""
    configuration: str
    files: Sequence[str]
    version: str


def html(page: Page) -> str:
    """Return the page."""
    results = page.results
    rows = results.standings
    played = [row for row in page.matches if row.termination]
    is_penalty = fewer_are_better(results.tournament)
    return (
        _templates()
        .get_template("index.html")
        .render(
            tournament=results.tournament,
            headline=_headline(results),
            facts=_facts(results),
            warnings=_warnings(results),
            entries=results.entries,
            notes=leaderboard.notes(rows),
            matrix=_matrix(results.ranked, page.cells),
            forfeits=_forfeits(played),
            parts=[
                for_people(part) for part in statistics_view(results).parts if part.name in _PARTS
            ],
            matches=_matches(played, page.recorded),
            configuration=page.configuration,
            files=page.files,
            version=page.version,
            points="Penalty points" if is_penalty else "Points",
            remark=FEWER_ARE_BETTER if is_penalty else "",
            **_board(rows),
        )
    )


def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    templates.filters["lines"] = lambda text: escape(printable(text, keep="\n"))
    return templates


def _visible(value: object) -> object:
    """Spell out what is no character to see; what is escaped already has been looked through."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _headline(results: Results) -> dict[str, str]:
    """Name who won only if that is settled."""
    rows = results.standings
    if not results.is_final or not rows or not rows[0].matches:
        count = count_of(len(rows), "bot")
        # Whoever reads the page later can't know whether anybody plays then.
        return {"name": count, "text": "took part" if results.is_final else "not finished yet"}
    text = f"comes first of {len(rows)}"
    if leaderboard.mark(rows[0], is_last=len(rows) == 1):
        text += ", not by enough to be sure"
    return {"name": rows[0].bot, "text": text}


def _facts(results: Results) -> list[dict[str, str]]:
    tournament, config = results.tournament, results.tournament.config
    rules = config.get("rules")
    preset = rules.get("preset", "basic") if isinstance(rules, Mapping) else "basic"
    encounters = len(results.planned)
    forfeited = sum(any(seat.forfeit for seat in leg.seats) for leg in results.legs)
    facts = {
        "Format": str(config.get("format", "")).replace("_", " "),
        "Rules": str(preset),
        "Seats": str(config.get("seats", 2)),
        "Bots": str(len(results.entries)),
        "Matches": _match_count(tournament),
        "Whole encounters": f"{encounters - open_encounters(results):,} of {encounters:,}",
        "Matches with a forfeit": f"{forfeited:,}",
    }
    return [{"label": label, "value": value} for label, value in facts.items()]


def _match_count(tournament: Tournament) -> str:
    if is_decided_early(tournament):
        counted = count_of(tournament.counted or 0, "encounter")
        return f"{tournament.matches:,}, decided after {counted}"
    return f"{tournament.matches:,} of {tournament.planned:,}"


def _warnings(results: Results) -> list[str]:
    texts = []
    unplayed = open_encounters(results)
    share = f"{unplayed:,} of {len(results.planned):,} encounters"
    if not results.is_final:
        texts.append(
            f"Provisional: the tournament is not finished. Not whole yet: {share};"
            " they do not count, and their matches are not shown."
        )
    elif unplayed:
        texts.append(f"Without a result: {share}; they do not count.")
    if results.tournament.config.get("seed") is not None:
        texts.append(
            "All deals come from a number that was chosen beforehand, so that the run can be"
            " repeated: whoever knows it knows every hand. This is no contest."
        )
    return texts


def _board(rows: Sequence[Standing]) -> dict[str, object]:
    """Return the lines of the leaderboard with their bars, and the ticks of the scale."""
    scale = Scale.over(
        [row.mu - (row.error or 0) for row in rows] + [row.mu + (row.error or 0) for row in rows]
    )
    return {
        "ticks": [{"at": scale.percent(tick), "label": f"{tick:g}"} for tick in scale.ticks],
        "standings": [
            _line(row, scale, is_last=number == len(rows)) for number, row in enumerate(rows, 1)
        ],
    }


def _line(row: Standing, scale: Scale, *, is_last: bool) -> dict[str, object]:
    two, mark = rounded(2), leaderboard.mark(row, is_last=is_last)
    label = f"μ {two(row.mu)}"
    if row.error is not None:
        label += f", 95 % interval {two(row.mu - row.error)} to {two(row.mu + row.error)}"
    return {
        "row": row,
        "rating": two(row.rating),
        "label": label,
        "middle": scale.percent(row.mu),
        "low": None if row.error is None else scale.percent(row.mu - row.error),
        "high": None if row.error is None else scale.percent(row.mu + row.error),
        "mu": two(row.mu) if row.error is None else f"{two(row.mu)} ±{two(row.error)}",
        "sigma": two(row.sigma),
        "mark": mark,
        "why": leaderboard.NOTES.get(mark, ""),
        "gap": "" if is_last else two(row.gap),
        "limits": interval(row.gap_low, row.gap_high, 2),
        "superiority": "" if is_last else percent(row.superiority),
        "points": rounded(1)(row.points_per_match),
        "forfeits": counts(row.forfeits),
        "mean_ms": two(row.mean_ms),
        "worst_ms": rounded(1)(row.worst_ms),
    }


def _matrix(ranked: Sequence[str], cells: Sequence[Cell]) -> dict[str, object]:
    by_pair = {(cell.bot, cell.opponent): cell for cell in cells}
    shown = ranked[:MATRIX_MOST]
    return {
        "names": shown,
        "rows": [
            {
                "bot": bot,
                "cells": [
                    _cell(by_pair[bot, other]) if (bot, other) in by_pair else None
                    for other in shown
                ],
            }
            for bot in shown
        ],
        "note": crosstable.NOTE,
        "left_out": len(ranked) - len(shown),
    }


def _cell(cell: Cell) -> dict[str, str]:
    if cell.score is None:
        return {"kind": "", "strength": "", "score": "–", "half": ""}
    half = crosstable.half_width(cell)
    away = abs(2 * cell.score - 1)
    return {
        "kind": "win" if cell.score > 1 / 2 else "loss" if cell.score < 1 / 2 else "",
        "strength": f"{_FAINT + (_STRONG - _FAINT) * away:.2f}",
        "score": rounded(1)(100 * cell.score),
        "half": "" if half is None else rounded(1)(100 * half),
    }


def _forfeits(played: Sequence[MatchRow]) -> dict[str, object]:
    rows = [
        {
            "position": row.fixture.position,
            "bot": seat.bot,
            "kind": seat.forfeit,
            "text": row.text,
        }
        for row in played
        for seat in row.seats
        if seat.forfeit is not None
    ]
    return {"rows": rows[:FORFEITS_MOST], "left_out": max(0, len(rows) - FORFEITS_MOST)}


def _matches(played: Sequence[MatchRow], recorded: Collection[str]) -> dict[str, object]:
    rows = [
        {
            "position": row.fixture.position,
            "seats": row.seats,
            "deals": row.deals,
            "termination": row.termination.replace("_", " "),
            "text": row.text,
            "record": row.match_id if row.fixture.fixture_id in recorded else "",
        }
        for row in played[:MATCHES_MOST]
    ]
    return {"rows": rows, "left_out": len(played) - len(rows)}
