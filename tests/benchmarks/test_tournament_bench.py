"""`tournament bench` measures what it says: bounded here, for figures see RESULTS.md."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tournament.fakes import command
from tournament.bench import measure
from tournament.bench.measure import BenchError, bench_tournament, encounters_for
from tournament.commands.bench import bench_view
from tournament.report.render import Format, render


def test_the_command_measures_and_leaves_nothing(tmp_path: Path) -> None:
    done = command(
        "bench", "--matches", "6", "--workers", "2", "--no-tenfold", "--format", "json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)["rows"]
    assert (row["workers"], row["matches"]) == (2, 12)
    assert row["matches_per_s"] == pytest.approx(row["matches"] / row["seconds"], rel=0.02)
    assert row["decisions_per_s"] > 10 * row["matches_per_s"]
    assert row["echo_per_s"] > 100
    part = row["decisions_per_s"] / row["echo_per_s"]
    assert row["part_of_echo"] == pytest.approx(part, abs=0.01)
    assert "12 matches, workers: 2" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--matches", "0"), "--matches has '0': allowed are whole numbers 1–10000"),
        (("--matches", "many"), "--matches has 'many'"),
        (("--workers", "1,0"), "--workers has '0': allowed are whole numbers 1–64"),
        (("--workers", ""), "--workers has ''"),
    ],
)
def test_wrong_numbers_are_refused(tmp_path: Path, words: tuple[str, ...], error: str) -> None:
    done = command("bench", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert error in done.stderr


@pytest.mark.parametrize("matches", [1, 6, 7, 120, 10_000])
def test_at_least_so_many_matches_are_played(matches: int) -> None:
    played = encounters_for(matches) * 6
    assert played >= matches
    assert played == 12 or played < matches + 6


def _faked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Have every match take a second for each worker, and none really be played."""
    played: list[tuple[int, int]] = []

    def play(encounters: int, workers: int) -> measure._Played:
        played.append((encounters, workers))
        matches = encounters * 6
        return measure._Played(matches, matches * 100, matches / workers)

    echo = {"echo_per_s": 1_000.0, "referee_per_s": 800.0}
    monkeypatch.setattr(measure, "_play", play)
    monkeypatch.setattr(measure, "_wire", lambda matches: dict.fromkeys(matches, echo))
    return played


def test_figures_follow_from_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    played = _faked(monkeypatch)
    said: list[str] = []
    figures = bench_tournament(12, [1, 2], said.append, tenfold=True)
    assert played == [(2, 1), (2, 2), (1, 2), (20, 2)]
    assert [row.matches_per_s for row in figures.rows] == [1, 2]
    assert [row.decisions_per_s for row in figures.rows] == [100, 200]
    assert [row.part_of_echo for row in figures.rows] == [0.1, 0.2]
    assert figures.growth is not None
    assert (figures.growth.matches, figures.growth.ten_times_matches) == (12, 120)
    assert figures.growth.ratio == 1
    assert len(said) == 4
    table = json.loads(render(bench_view(figures), Format.JSON))
    assert [row["workers"] for row in table["rows"]] == [1, 2]
    assert table["growth"][0]["ratio"] == 1
    text = render(bench_view(figures), Format.TABLE)
    assert "Matches/s" in text
    assert "Ten times the matches" in text


def test_the_start_of_processes_is_no_growth() -> None:
    start, once = measure._Played(6, 0, 5.0), measure._Played(60, 0, 10.4)
    assert measure._ratio(start, once, measure._Played(600, 0, 64.4)) == 1
    assert measure._ratio(start, once, measure._Played(600, 0, 123.8)) == 2
    assert measure._ratio(start, measure._Played(12, 0, 4.9), once) is None


def test_a_command_that_fails_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(argv: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        assert argv[:2] == [sys.executable, "-m"]
        return subprocess.CompletedProcess(argv, 1, "", "error: no room\n")

    monkeypatch.setattr("tournament.bench.measure.subprocess.run", fail)
    with pytest.raises(BenchError, match=r"`referee bench wire .*` ended with exit code 1:\nerror"):
        bench_tournament(6, [1], lambda _: None, tenfold=False)
