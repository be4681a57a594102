"""Views in all formats have the same columns and lose nothing."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from tests.tournament.fakes import entry
from tournament.report.bots import bots_view
from tournament.report.leaderboard import leaderboard_view
from tournament.report.matches import matches_view
from tournament.report.render import Format, render
from tournament.schedule.fixtures import Fixture
from tournament.statistics.standings import SeatRow, Standing
from tournament.store.stored import MatchRow, Tournament

TOURNAMENT = Tournament(
    id="t1",
    config={"format": "round_robin", "seats": 2, "encounters": 1, "rules": {}, "seed": 7},
    config_hash="h",
    created="2026-01-01T00:00:00+00:00",
    status="finished",
    counted=None,
    matches=2,
    planned=2,
)
NO_RESULT: tuple[str, str, str, None, str, tuple[()]] = ("", "", "", None, "", ())
"""What a match has, from its id on, that is not played."""
ROW = Standing(
    rank=1, bot="a", version="1|0", rating=10.123456789, mu=25.5, sigma=5.125, matches=2, wins=1,
    draws=0, losses=1, mean_place=1.5, points_per_match=50.25, forfeits={"time": 2, "crash": 1},
    mean_ms=None, worst_ms=12.3456, error=0.75, gap=1.5, gap_low=-0.25, gap_high=3.25,
    superiority=0.954, is_significant=False,
)  # fmt: skip
LEADERBOARD = leaderboard_view(TOURNAMENT, [ROW, replace(ROW, rank=2, bot="b")])


def test_json_is_what_scripts_rely_on() -> None:
    body = json.loads(render(LEADERBOARD, Format.JSON))
    assert body.keys() == {"tournament", "standings"}
    assert (body["tournament"]["id"], body["tournament"]["seed"]) == ("t1", 7)
    row = body["standings"][0]
    assert row.keys() == {
        "mean_place", "mean_ms", "worst_ms",
        "rank", "bot", "version", "rating", "mu", "sigma", "matches", "wins", "draws", "losses",
        "points_per_match", "forfeits", "error", "gap", "gap_low", "gap_high", "superiority",
        "is_significant",
    }  # fmt: skip
    assert (row["rating"], row["forfeits"], row["mean_ms"]) == (
        10.123456789, {"time": 2, "crash": 1}, None,
    )  # fmt: skip


def test_csv_has_the_names_of_json_as_columns() -> None:
    rows = list(csv.DictReader(io.StringIO(render(LEADERBOARD, Format.CSV))))
    assert list(rows[0]) == [*json.loads(render(LEADERBOARD, Format.JSON))["standings"][0]]
    assert (rows[1]["bot"], rows[0]["version"], rows[0]["rating"]) == ("b", "1|0", "10.123456789")
    assert json.loads(rows[0]["forfeits"]) == {"time": 2, "crash": 1}
    assert rows[0]["mean_ms"] == ""


def test_markdown_escapes_bars() -> None:
    lines = render(LEADERBOARD, Format.MARKDOWN).splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("| # | Bot | Version | ≈ | Rating |")
    assert lines[1].startswith("|---:|---|---|---|---:|")
    assert "| 1\\|0 | ≈ | 10.12 |" in lines[2]
    assert "| time 2, crash 1 | – | 12.3 | 1.50 (-0.25 to 3.25) | 95.4 % |" in lines[2]


def test_a_table_off_a_terminal_is_uncut_and_without_colours() -> None:
    text = render(LEADERBOARD, Format.TABLE)
    assert "Tournament t1: 2 of 2 matches" in text
    assert "time 2, crash 1" in text
    assert "\x1b" not in text
    assert "12.3" in text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "2 of 2 matches"),
        ({"status": "unfinished"}, "2 of 2 matches, provisional"),
        ({"planned": 10_000, "counted": 1}, "2 matches, decided after 1 encounter"),
        ({"matches": 27, "planned": 10_000, "counted": 12},
         "27 matches, decided after 12 encounters"),
        # The last one decided, or none did.
        ({"matches": 24, "planned": 24, "counted": 12}, "24 of 24 matches"),
        ({"config": {"format": "test"}, "planned": 10_000, "status": "unfinished"},
         "2 of at most 10000 matches, provisional"),
    ],
)  # fmt: skip
def test_a_title_says_how_far_it_is(changes: dict[str, Any], text: str) -> None:
    view = leaderboard_view(replace(TOURNAMENT, **changes), [ROW])
    assert render(view, Format.TABLE).splitlines()[0] == f"Tournament t1: {text}"
    body = json.loads(render(view, Format.JSON))
    assert body["tournament"]["counted"] == changes.get("counted")


@pytest.mark.parametrize(
    ("rules", "is_penalty"),
    [
        ({"preset": "standard"}, True),
        ({"preset": "basic"}, False),
        ({}, False),
        ({"preset": "standard", "hand_size": {"2": 7}}, True),
        ({"preset": "of another version"}, False),
        (None, False),
    ],
)
def test_points_that_are_bad_say_so(rules: object, is_penalty: bool) -> None:
    tournament = replace(TOURNAMENT, config={"rules": rules})
    fixture = Fixture("f0", "e0", 0, 0, ("a", "b"), 0)
    plain, named = (
        [leaderboard_view(one, [ROW]), matches_view(one, [MatchRow(fixture, 0, *NO_RESULT)])]
        for one in (TOURNAMENT, tournament)
    )
    for view, other in zip(named, plain, strict=True):
        for format_ in (Format.TABLE, Format.MARKDOWN):
            text = render(view, format_)
            assert ("Penalty points" in text) == is_penalty
            assert (text.count("Penalty points: fewer are better.") == 1) == is_penalty
        # Scripts read the same names whatever the rules are.
        assert render(view, Format.CSV) == render(other, Format.CSV)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_a_table_on_a_terminal_leaves_out_columns_and_cuts_no_cell(width: int) -> None:
    console = Console(force_terminal=True, width=width, file=io.StringIO())
    text = render(LEADERBOARD, Format.TABLE, console=console)
    assert "…" not in text
    assert "10.12" in text
    plain = Text.from_ansi(text).plain
    assert ("± " in plain) == (width >= 80)
    assert ("Mean ms" in plain) == (width >= 200)
    assert ("shows more columns" in plain) == (width < 200)
    assert max(len(line) for line in plain.splitlines()) <= width


@pytest.mark.parametrize("term", ["xterm", "dumb"])
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_matches_keep_their_reason_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int, term: str
) -> None:
    monkeypatch.setenv("TERM", term)
    fixture = Fixture("0123456789abcdef", "fedcba9876543210", 0, 0, ("counting", "random"), 0)
    why = "random (seat 1) was not ready in time: random ended with exit code 1 before its hello"
    seat = SeatRow("a", 1, 100, None, 5, 1000, 500)
    row = MatchRow(fixture, 0, "m", "forfeit", why, 3, "ab" * 32, (seat, seat))
    console = Console(force_terminal=True, width=width, height=25, file=io.StringIO())
    text = render(matches_view(TOURNAMENT, [row]), Format.TABLE, console=console)
    plain = Text.from_ansi(text).plain
    assert max(len(line) for line in plain.splitlines()) <= width
    assert "counting – random" in plain
    assert "0123456789abcdef" not in plain
    assert "exit" in plain
    assert "…" not in plain
    assert ("Record" in plain) == (width >= 120)


def test_a_dumb_terminal_leaves_columns_out_like_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = []
    for term in ("xterm", "dumb"):
        monkeypatch.setenv("TERM", term)
        console = Console(force_terminal=True, width=80, height=25, file=io.StringIO())
        text = Text.from_ansi(render(LEADERBOARD, Format.TABLE, console=console)).plain
        texts.append([line.rstrip() for line in text.splitlines()])
    assert texts[0] == texts[1]


def test_matches_with_and_without_a_result() -> None:
    fixture = Fixture("f0", "e0", 0, 0, ("a", "b"), 0)
    seat = SeatRow("a", 1, 100, None, 5, 1000, 500)
    rows = [
        MatchRow(fixture, 0, "m", "completed", "the end", 3, "ab" * 32, (seat, replace(seat))),
        MatchRow(replace(fixture, position=1), 0, "", "", "stalled", None, "", ()),
    ]
    view = matches_view(TOURNAMENT, rows)
    first, second = json.loads(render(view, Format.JSON))["matches"]
    assert (first["seats"], first["places"], first["totals"]) == (["a", "b"], [1, 1], [100, 100])
    assert (second["termination"], second["places"], second["deals"]) == ("", [], None)
    assert "| 1 | 0 | a – b |  |  | – | – | stalled | – |" in render(view, Format.MARKDOWN)
    csv_row = list(csv.DictReader(io.StringIO(render(view, Format.CSV))))[1]
    assert [*csv_row] == [*second]
    assert (csv_row["fixture"], csv_row["seats"], csv_row["deals"]) == ("f0", '["a", "b"]', "")


@pytest.mark.parametrize("format_", list(Format))
def test_every_view_has_every_format(format_: Format) -> None:
    view = bots_view(TOURNAMENT, [entry("a")])
    text = render(view, format_)
    assert "somebody" in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_markup_in_names_stays_text() -> None:
    view = leaderboard_view(TOURNAMENT, [replace(ROW, version="[red]x[/red]")])
    assert "[red]x[/red]" in render(view, Format.TABLE)
