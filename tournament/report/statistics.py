"""Figures of a tournament: pairs, seats, mirroring, time, forfeits, ends of matches."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from tournament.report.about import about, title, with_points
from tournament.report.cells import interval, or_dash, percent, rounded
from tournament.report.render import Column, Part, Row, View
from tournament.report.results import Results
from tournament.statistics import summary
from tournament.statistics.pairs import overall_rows, pair_rows

_US_PER_MS = 1_000


def _number(name: str, heading: str, digits: int | None = None, *, spare: int = 0) -> Column:
    show = or_dash if digits is None else rounded(digits)
    return Column(name, heading, show, is_number=True, spare=spare)


def _share(name: str, heading: str, *, spare: int = 0) -> Column:
    return Column(name, heading, percent, is_number=True, spare=spare)


def _hidden(*names: str) -> tuple[Column, ...]:
    """Limits of intervals, which people read beside the value between them."""
    return tuple(Column(name, "", for_people=False) for name in names)


def _with_limits(
    name: str, heading: str, digits: int, low: str, high: str, *, factor: float = 1, spare: int = 0
) -> Column:
    def show(row: Row) -> str:
        middle, least, most = (_times(row[key], factor) for key in (name, low, high))
        limits = interval(least, most, digits)
        text = rounded(digits)(middle)
        return f"{text} ({limits})" if limits else text

    return Column(name, heading, is_number=True, spare=spare, show_row=show)


def _times(value: object, factor: float) -> float | None:
    return value * factor if isinstance(value, int | float) else None


_PAIRS = (
    Column("bot", "Bot", is_names=True),
    Column("opponent", "Against", lambda name: "all" if name is None else str(name), is_names=True),
    _number("pairs", "Pairs"),
    _number("ll", "LL", spare=4),
    _number("ld", "LD", spare=4),
    _number("wl_dd", "=", spare=4),
    _number("wd", "WD", spare=4),
    _number("ww", "WW", spare=4),
    _with_limits("score", "Score %", 1, "low", "high", factor=100),
    *_hidden("low", "high"),
    _with_limits("elo", "Elo", 0, "elo_low", "elo_high", spare=2),
    *_hidden("elo_low", "elo_high"),
    _with_limits(
        "normalised_elo", "Normalised Elo", 0, "normalised_low", "normalised_high", spare=5
    ),
    *_hidden("normalised_low", "normalised_high"),
    _share("los", "LOS", spare=3),
)
_SEATS = (
    Column("by", "By", lambda by: str(by).replace("_", " ")),
    _number("index", "Number"),
    _number("matches", "Matches"),
    _with_limits("score", "Score %", 1, "low", "high", factor=100),
    *_hidden("low", "high"),
    _number("points", "Points", 1),
)
_MIRRORING = (
    _number("encounters", "Encounters"),
    _with_limits("factor", "Matches saved, factor", 2, "low", "high"),
    *_hidden("low", "high"),
)
_TIMES = (
    Column("bot", "Bot", is_names=True),
    _number("matches", "Matches", spare=1),
    _number("decisions", "Decisions", spare=4),
    _number("mean_ms", "Mean ms", 2),
    _number("worst_ms", "Worst ms", 1),
    _number("charged_s", "Charged s", 1, spare=3),
    _number("forgiven_s", "Forgiven s", 2, spare=2),
    _number("charged_per_match_s", "A match s", 2, spare=5),
    _number("most_per_match_s", "Most s", 2, spare=6),
    _share("worst_share", "Worst of limit", spare=7),
    _share("cap_share", "Most of cap", spare=8),
)
_FORFEITS = (
    Column("bot", "Bot", is_names=True),
    Column("kind", "Kind"),
    _number("count", "Matches"),
    _share("share", "Of its matches"),
)
_TERMINATIONS = (
    Column("termination", "End"),
    _number("count", "Matches"),
    _share("share", "Of all"),
)
_POINTS = (
    Column("bot", "Bot", is_names=True),
    _number("matches", "Matches"),
    _with_limits("mean", "Points a match", 1, "low", "high"),
    *_hidden("low", "high"),
    _number("least", "Least"),
    _number("most", "Most"),
)


def statistics_view(results: Results) -> View:
    """Return all figures; those of pairs only for two seats. Bots come by their rank."""
    tournament, legs, ranked = results.tournament, results.legs, results.ranked
    place = {bot: number for number, bot in enumerate(ranked)}
    parts: list[Part] = []
    if tournament.config.get("seats", 2) == 2:
        rows = [*overall_rows(ranked, legs), *pair_rows(legs)]
        # Against all first, then against each.
        rows.sort(key=lambda row: (place[row.bot], place.get(row.opponent or "", -1)))
        parts.append(Part("pairs", _PAIRS, _rows(rows), "Pairs of legs on the same deals"))
    clock = tournament.config.get("time_control")
    times = summary.time_use(
        ranked,
        legs,
        per_decision_us=_limit_us(clock, "per_decision_ms"),
        match_cap_us=_limit_us(clock, "match_cap_ms"),
    )
    parts += [
        Part("points", _POINTS, _rows(summary.points(ranked, legs), place), "Points"),
        Part("seats", _SEATS, _rows(summary.seat_advantage(legs)), "What a seat is worth"),
        Part(
            "mirroring",
            _MIRRORING,
            _rows([summary.mirroring(legs)]),
            "What it saved to play the same deals from every seat",
            is_single=True,
        ),
        Part("times", _TIMES, _rows(times, place), "Thinking time"),
        Part("forfeits", _FORFEITS, _rows(summary.forfeits(legs), place), "Forfeits"),
        Part(
            "terminations",
            _TERMINATIONS,
            _rows(summary.terminations(results.all_legs)),
            "How matches ended",
        ),
    ]
    return View(
        about=about(tournament), parts=with_points(parts, tournament), title=title(tournament)
    )


def _rows(items: Iterable[Any], place: Mapping[str, int] | None = None) -> list[Row]:
    found = list(items)
    if place is not None:
        found.sort(key=lambda item: place[item.bot])
    return [asdict(item) for item in found]


def _limit_us(clock: object, name: str) -> int | None:
    value = clock.get(name) if isinstance(clock, Mapping) else None
    return value * _US_PER_MS if isinstance(value, int) else None
