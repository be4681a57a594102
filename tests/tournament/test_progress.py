"""Progress lines come now and then, and always at the end."""

import io

from rich.console import Console

from tournament.runner.progress import BarProgress, LineProgress, make_progress


def test_lines_come_every_five_seconds_and_at_the_end() -> None:
    now = 100.0
    lines: list[str] = []
    progress = LineProgress(lines.append, clock=lambda: now)
    progress.begin(done=10, planned=22)
    for _ in range(12):
        now += 1.0
        progress.advance()
    progress.note("a note")
    progress.end()
    assert lines == [
        "12 matches to play, 10 of 22 are done",
        "15/22 matches, 1.0 matches/s, 7 s left",
        "20/22 matches, 1.0 matches/s, 2 s left",
        "22/22 matches, 1.0 matches/s, 0 s left",
        "a note",
    ]


def test_what_may_end_sooner_tells_no_time_left() -> None:
    now = 100.0
    lines: list[str] = []
    progress = LineProgress(lines.append, clock=lambda: now)
    progress.begin(done=10, planned=10_000, is_most=True)
    for _ in range(5):
        now += 1.0
        progress.advance()
    assert lines == [
        "at most 9990 matches to play, 10 of 10000 are done",
        "15 of at most 10000 matches, 1.0 matches/s",
    ]


def test_a_bar_of_what_may_end_sooner_tells_no_time_left() -> None:
    shown = []
    for is_most in (False, True):
        out = io.StringIO()
        progress = make_progress(Console(file=out, force_terminal=True, width=120))
        assert isinstance(progress, BarProgress)
        progress.begin(done=1, planned=10_000, is_most=is_most)
        progress.advance()
        progress.end()
        shown.append(out.getvalue())
    assert ["at most" in text for text in shown] == [False, True]
    assert ["-:--:--" in text for text in shown] == [True, False]


def test_a_bar_on_a_terminal_shows_matches_and_rate() -> None:
    out = io.StringIO()
    progress = make_progress(Console(file=out, force_terminal=True, width=100))
    assert isinstance(progress, BarProgress)
    progress.begin(done=1, planned=2)
    progress.note("[a] note")
    progress.advance()
    progress.end()
    assert "2/2" in out.getvalue()
    assert "matches/s" in out.getvalue()
    assert "[a] note" in out.getvalue()


def test_elsewhere_there_are_lines() -> None:
    assert isinstance(make_progress(Console(file=io.StringIO())), LineProgress)


def test_a_line_says_which_round_begins() -> None:
    lines: list[str] = []
    progress = LineProgress(lines.append)
    progress.begin(done=4, planned=12)
    progress.round(2, 3)
    assert lines == ["8 matches to play, 4 of 12 are done", "round 2 of 3"]


def test_the_bar_names_the_round() -> None:
    out = io.StringIO()
    progress = make_progress(Console(file=out, force_terminal=True, width=120))
    assert isinstance(progress, BarProgress)
    progress.begin(done=0, planned=12)
    progress.round(2, 3)
    progress.advance()
    progress.end()
    assert "round 2 of 3" in out.getvalue()
