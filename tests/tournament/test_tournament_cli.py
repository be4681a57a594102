"""The command: exit codes, what goes where, and no traceback for what can be explained."""

import csv
import io
import json
from pathlib import Path

import pytest

import tournament
from referee.match.outcome import Termination
from tests.tournament.fakes import bot_folder, command, match_result, store_plan
from tournament.cli import _file_and_bots
from tournament.errors import UsageError
from tournament.store import Store


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """Return a folder whose rummy-data holds one tournament, and one encounter after it."""
    with Store.open(tmp_path / "rummy-data") as store:
        config = {"format": "round_robin", "seats": 2, "encounters": 1, "rules": {}, "seed": 3}
        for encounter in store_plan(store, config=config):
            for leg in encounter.legs:
                store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        store_plan(store, "ab", identity="t2", config={**config, "format": "single"})
    return tmp_path


def test_help_shows_examples_and_every_command(tmp_path: Path) -> None:
    done = command("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "tournament run --bots my-bot greedy --seed 7" in done.stdout
    for name in ("run", "resume", "play", "leaderboard", "matches", "bots"):
        assert f"\n  {name} " in done.stdout
    done = command("run", "--help", cwd=tmp_path)
    for option in (
        "--bots", "--rules", "--set", "--seats", "--encounters", "--workers", "--seed", "--data",
    ):  # fmt: skip
        assert option in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_version(tmp_path: Path) -> None:
    done = command("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"tournament {tournament.__version__}\n")


def test_leaderboard_as_data_and_for_people(played: Path) -> None:
    done = command("leaderboard", "--format", "json", cwd=played)
    assert (done.returncode, done.stderr) == (0, "")
    body = json.loads(done.stdout)
    assert body["tournament"]["id"] == "t1"  # the encounter after it is no tournament
    assert sorted(row["bot"] for row in body["standings"]) == ["a", "b", "c"]
    done = command("leaderboard", cwd=played)
    assert "Tournament t1: 6 of 6 matches" in done.stdout
    assert "All deals come from --seed 3" in done.stderr
    done = command("leaderboard", "--format", "csv", "--tournament", "t2", cwd=played)
    assert [row["matches"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["0", "0"]


def test_matches_and_bots(played: Path) -> None:
    done = command("matches", "--format", "json", "--tournament", "t1", cwd=played)
    assert len(json.loads(done.stdout)["matches"]) == 6
    done = command("bots", "--format", "json", cwd=played)
    assert [bot["bot"] for bot in json.loads(done.stdout)["bots"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["leaderboard"], 1, "rummy.sqlite3 does not exist: `tournament run` begins"),
        (["resume"], 1, "does not exist"),
        (["run", "--bots", "nobody"], 2, "'nobody' is neither a folder nor a sample bot"),
        (["run", "--bots", "greedy"], 2, "there are 1 bots: a table of 2 seats needs 2"),
        (["run", "--rules", "poker"], 2, "preset is 'poker': allowed are basic"),
        (["run", "--set", "target"], 2, "--set: 'target' is not of the form field=value"),
        (["run", "--set", "target=1"], 2, "target is 1: allowed"),
        (["run", "--seats", "9"], 2, "seats is 9: allowed is a whole number 2–6"),
        (["run", "none.toml"], 1, "none.toml can't be read"),
        (["run", "a.toml", "b.toml"], 2, "only one tournament file"),
        (["run", "folder"], 2, "'folder' is no tournament file"),
        (["run", "--seed", "x"], 2, "--seed"),
        (["run", "--workers", "-2"], 2, "workers is -2: allowed is a whole number 0–1000"),
        (["play", "greedy"], 2, "there are 1 bots: an encounter has 2–6"),
        (["play", "greedy", "greedy"], 2, "are both named 'greedy'"),
        (["play"], 2, "Missing argument"),
        (["leaderboard", "--format", "xml"], 2, "xml"),
        (["dance"], 2, "dance"),
        ([], 2, "Usage"),
    ],
)
def test_what_goes_wrong_is_explained(
    tmp_path: Path, words: list[str], code: int, text: str
) -> None:
    done = command(*words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert text in done.stderr or (not words and text in done.stdout)
    assert "Traceback" not in done.stderr
    if words:
        assert done.stdout == ""


def test_broken_files_are_explained(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text("colour = 1")
    done = command("run", "cup.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: cup.toml: there is no key 'colour': allowed are format")
    (tmp_path / "rummy-data").mkdir()
    (tmp_path / "rummy-data" / "rummy.sqlite3").write_bytes(b"nonsense" * 200)
    done = command("leaderboard", cwd=tmp_path)
    assert done.returncode == 1
    assert "is damaged or not a database" in done.stderr
    assert "Traceback" not in done.stderr


def test_resume_says_what_it_can_not_resume(played: Path) -> None:
    done = command("resume", "t9", cwd=played)
    assert done.returncode == 1
    assert "has no tournament 't9': the latest are t2, t1" in done.stderr


def test_a_bot_that_is_wrong_stops_the_run_before_it_begins(tmp_path: Path) -> None:
    bot_folder(tmp_path, "mine", changes={"run": []})
    done = command("run", "--bots", "mine", "greedy", cwd=tmp_path)
    assert done.returncode == 1
    assert "mine/bot.toml: run is []" in done.stderr


def test_more_bots_may_follow_the_option() -> None:
    a, b, cup = Path("a"), Path("b"), Path("cup.toml")
    assert _file_and_bots([a, b], ["x"]) == (None, ["x", "a", "b"])
    assert _file_and_bots([cup, a], ["x", "y"]) == (cup, ["x", "y", "a"])
    assert _file_and_bots([], None) == (None, [])
    with pytest.raises(UsageError, match=r"folders of bots follow --bots"):
        _file_and_bots([a], None)


def test_aborted_is_no_result() -> None:
    assert not match_result([1, 2], termination=Termination.ABORTED).has_result
