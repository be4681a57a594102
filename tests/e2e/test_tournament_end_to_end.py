"""Whole tournaments with real processes over real sockets."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import processes_under, run
from tests.e2e.faulty_bots import write_bot

QUICK = """
format = "round_robin"
encounters = 1
[rules]
preset = "basic"
target = 50
[time_control]
per_decision_ms = 200
bank_ms = 0
startup_ms = {startup_ms}
reconnect_ms = 200
"""


def _standings(folder: Path) -> list[dict[str, Any]]:
    result = run(["tournament", "leaderboard", "--format", "json"], folder)
    assert result.returncode == 0, result.stderr
    return list(json.loads(result.stdout)["standings"])


def _matches(folder: Path) -> list[dict[str, Any]]:
    result = run(["tournament", "matches", "--format", "json"], folder)
    assert result.returncode == 0, result.stderr
    return list(json.loads(result.stdout)["matches"])


def _check_records(folder: Path, count: int) -> None:
    """Every record that an export writes is right, and the one that the result names."""
    result = run(["tournament", "export", "cup"], folder)
    assert result.returncode == 0, result.stderr
    records = sorted(str(path) for path in (folder / "cup" / "records").iterdir())
    assert len(records) == count
    result = run(["referee", "verify", *records, "--heads", "cup/heads.txt"], folder)
    assert result.returncode == 0, result.stdout
    assert result.stdout.endswith(f"{count} ok, 0 failed\n")


def test_a_round_robin_of_the_sample_bots(tmp_path: Path) -> None:
    command = ["tournament", "run", "--encounters", "4", "--seed", "11"]
    result = run(command, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "rummy-data/rummy.sqlite3" in result.stderr + result.stdout
    standings = _standings(tmp_path)
    assert [row["bot"] for row in standings] == ["counting", "greedy", "random"]
    assert all(row["matches"] == 16 for row in standings)
    assert all(not any(row["forfeits"].values()) for row in standings)
    assert processes_under(tmp_path) == []

    with sqlite3.connect(tmp_path / "rummy-data" / "rummy.sqlite3") as database:
        (results,) = database.execute("SELECT count(*) FROM results").fetchone()
        (records,) = database.execute("SELECT count(*) FROM records").fetchone()
    database.close()
    assert (results, records) == (24, 24)
    _check_records(tmp_path, 24)


def test_a_seed_repeats_a_tournament(tmp_path: Path) -> None:
    played = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        workers = "1" if name == "first" else "2"
        result = run(
            ["tournament", "run", "--encounters", "2", "--seed", "5", "--workers", workers], folder
        )
        assert result.returncode == 0, result.stderr
        played.append(
            [
                (match["fixture"], match["places"], match["totals"], match["deals"])
                for match in _matches(folder)
            ]
        )
    assert played[0] == played[1]


@pytest.mark.parametrize(
    ("fault", "forfeit"),
    [
        ("does not start", "startup"),
        ("never gets ready", "startup"),
        ("plays illegally", "illegal"),
        ("is late", "time"),
        ("dies", "crash"),
        ("says goodbye", "resign"),
    ],
)
def test_a_bot_that_breaks_costs_nobody_else_anything(
    tmp_path: Path, fault: str, forfeit: str
) -> None:
    """The tournament ends, every match has a result, and only the faulty bot loses by its fault."""
    folder = write_bot(tmp_path / "bots", fault)
    # Loading a bot is not on the clock: only for the one that never gets ready is it kept short.
    startup_ms = 3_000 if fault == "never gets ready" else 30_000
    (tmp_path / "cup.toml").write_text(QUICK.format(startup_ms=startup_ms))
    bots = ["--bots", str(folder), "greedy", "random"]
    result = run(["tournament", "run", "cup.toml", *bots], tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr, result.stderr
    rows = {row["bot"]: row for row in _standings(tmp_path)}
    assert rows[folder.name]["forfeits"] == {forfeit: 4}
    assert rows[folder.name]["losses"] == 4
    for honest in ("greedy", "random"):
        assert rows[honest]["matches"] == 4
        assert not any(rows[honest]["forfeits"].values())
    assert len(_matches(tmp_path)) == 6
    _check_records(tmp_path, 6)
    assert processes_under(tmp_path) == []


def test_a_bot_that_answers_out_of_turn_plays_on(tmp_path: Path) -> None:
    folder = write_bot(tmp_path / "bots", "answers out of turn")
    (tmp_path / "cup.toml").write_text(QUICK.format(startup_ms=30_000))
    result = run(["tournament", "run", "cup.toml", "--bots", str(folder), "random"], tmp_path)
    assert result.returncode == 0, result.stderr
    assert all(match["termination"] == "completed" for match in _matches(tmp_path))
