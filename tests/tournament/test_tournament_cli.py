"""The command: exit codes, what goes where, and no traceback for what can be explained."""

import csv
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import tournament
from referee.match.outcome import Termination
from tests.tournament.fakes import bot_folder, command, environment, match_result, store_plan
from tournament.bots.find import find_bots
from tournament.bots.sandbox.choose import choose
from tournament.commands.options import file_and_bots
from tournament.commands.playing import INTERRUPTED_EXIT, begin_and_play, play_locked
from tournament.config import Config
from tournament.errors import StoreError, UsageError
from tournament.runner.run import begin
from tournament.store.store import Store


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
    for name in (
        "run", "resume", "play", "submit", "new-bot", "bots", "withdraw", "leaderboard", "matches",
        "export",
    ):  # fmt: skip
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
    done = command("leaderboard", "--format", "json", "--tournament", "t1", cwd=played)
    assert (done.returncode, done.stderr) == (0, "")
    body = json.loads(done.stdout)
    assert body["tournament"]["id"] == "t1"
    assert sorted(row["bot"] for row in body["standings"]) == ["a", "b", "c"]
    done = command("leaderboard", "--tournament", "t1", cwd=played)
    assert "Tournament t1: 6 of 6 matches" in done.stdout
    assert "All deals come from --seed 3" in done.stderr
    done = command("leaderboard", "--format", "csv", "--tournament", "t2", cwd=played)
    assert [row["matches"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["0", "0"]


def test_matches_and_bots(played: Path) -> None:
    done = command("matches", "--format", "json", "--tournament", "t1", cwd=played)
    assert len(json.loads(done.stdout)["matches"]) == 6
    done = command("bots", "--format", "json", cwd=played)
    assert [bot["bot"] for bot in json.loads(done.stdout)["bots"]] == ["a", "b"]


@pytest.mark.parametrize("view", ["leaderboard", "matches"])
def test_every_view_shows_the_latest_of_any_kind(played: Path, view: str) -> None:
    done = command(view, "--format", "json", cwd=played)
    assert json.loads(done.stdout)["tournament"]["id"] == "t2"
    assert "the latest, whether `run` or `play`" in " ".join(
        command(view, "--help", cwd=played).stdout.split()
    )


def test_views_leave_nothing_beside_the_database(played: Path) -> None:
    before = sorted(played.rglob("*"))
    for view in ("leaderboard", "matches", "bots"):
        assert command(view, cwd=played).returncode == 0
    assert sorted(played.rglob("*")) == before


# Gives up what lets root write in spite of modes (PR_CAPBSET_DROP of CAP_DAC_OVERRIDE), where it is
# root on Linux, and goes on as the command. Not a preexec_fn: this process may have gRPC running.
_WITHOUT_ROOTS_POWERS = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
if hasattr(libc, "prctl"):
    libc.prctl(24, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "tournament", *sys.argv[1:]])
"""


@pytest.mark.parametrize("view", ["leaderboard", "matches", "bots"])
def test_a_folder_that_can_only_be_read_can_be_viewed(played: Path, view: str) -> None:
    data = played / "rummy-data"
    data.chmod(0o500)
    (data / "rummy.sqlite3").chmod(0o400)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _WITHOUT_ROOTS_POWERS, view, "--format", "json"],
            cwd=played,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        data.chmod(0o700)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["tournament"]["id"] == "t2"


@pytest.mark.parametrize(
    ("shell", "text"),
    [
        (">&-", "error: stdout is closed: there is nowhere to write to\n"),
        (">/dev/full", "error: stdout can't be written: No space left on device\n"),
    ],
)
def test_an_output_that_can_not_be_written_is_explained(
    played: Path, shell: str, text: str
) -> None:
    line = f"{shlex.quote(sys.executable)} -m tournament matches {shell}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=played, env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, text)


def test_an_output_that_lacks_letters_is_written_nevertheless(played: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for words in (["matches"], ["leaderboard"], ["matches", "--format", "json"]):
        done = subprocess.run(
            [sys.executable, "-m", "tournament", *words],
            cwd=played,
            env={**environment(), **plain, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout.isascii()) == (0, True), done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["leaderboard"], 1, "rummy.sqlite3 does not exist: `tournament run` begins"),
        (["resume"], 1, "does not exist"),
        (["run", "--bots", "nobody"], 2, "'nobody' is neither a folder nor a sample bot"),
        (["run", "--bots", "greedy"], 2, "there is 1 bot: a table of 2 seats needs 2"),
        (["run", "--rules", "poker"], 2, "preset is 'poker': allowed are basic"),
        (["run", "--set", "target"], 2, "--set: 'target' is not of the form field=value"),
        (["run", "--set", "target=1"], 2, "target is 1: allowed"),
        (["run", "--seats", "9"], 2, "seats is 9: allowed is a whole number 2–6"),
        (["run", "none.toml"], 2, "none.toml can't be read"),
        (["run", "a.toml", "b.toml"], 2, "only one tournament file"),
        (["run", "folder"], 2, "'folder' is no tournament file"),
        (["run", "--seed", "x"], 2, "'--seed': 'x': allowed is a whole number 0 or more"),
        (["run", "--seats", "x"], 2, "error: Invalid value for '--seats': 'x': allowed is a whole"),
        (["run", "--encounters", "1000000"], 2, "make 6000000 matches: allowed are 200000"),
        (["run", "--data", ""], 2, "'--data': '': allowed is the path of a folder"),
        (["run", "--data", __file__], 2, f"{__file__} is not a folder"),
        (["run", "--workers", "-2"], 2, "workers is -2: allowed is a whole number 0–1000"),
        (["play", "greedy"], 2, "there is 1 bot: an encounter has 2–6"),
        (
            ["play", "greedy", "greedy"],
            2,
            "greedy and greedy are the same bot, 'greedy': name it once",
        ),
        (["play"], 2, "Missing argument"),
        (["leaderboard", "--format", "xml"], 2, "'xml': allowed is table|json|csv|markdown"),
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
    assert (done.returncode, done.stdout) == (2, "")
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
    assert done.returncode == 2
    assert "mine/bot.toml: run is []" in done.stderr


def test_a_bot_that_is_missing_in_a_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('bots = ["greedy", "./mine"]')
    done = command("run", "cup.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cup.toml: bots: '")
    assert "mine' is neither a folder nor a sample bot" in done.stderr


def test_exit_codes_are_shown(tmp_path: Path) -> None:
    text = command("--help", cwd=tmp_path).stdout
    for code in (0, 1, 2, 3, 130):
        assert f"\n    {code} " in text


def test_a_run_that_breaks_off_says_how_to_go_on(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_off(*_: object, **__: object) -> None:
        raise StoreError("no room on the disk")

    monkeypatch.setattr("tournament.runner.run.play", break_off)
    config = Config(encounters=1)
    with Store.open(played / "rummy-data") as store:
        data, sandbox = played / "rummy-data", choose("none")
        identity = begin(store, data, config, find_bots([]), None, sandbox=sandbox)
        hint = (
            f"no room on the disk\\nWhat is stored stays; go on with: tournament resume {identity}"
        )
        with pytest.raises(StoreError, match=hint):
            play_locked(store, data, identity, 1, sandbox.name)


def test_an_interrupt_while_planning_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tournament.runner.run.begin", interrupt)
    with pytest.raises(typer.Exit) as caught:
        begin_and_play(Config(encounters=5_000), find_bots([]), tmp_path, None, sandbox="none")
    assert caught.value.exit_code == INTERRUPTED_EXIT
    said = capsys.readouterr().err
    assert said.startswith("WARNING: bots run without a sandbox and without limits: ")
    assert said.endswith(
        ".\nplanning 30000 matches …\ninterrupted while planning: nothing is stored\n"
    )


def test_a_resume_while_it_is_played_says_so_and_nothing_else(tmp_path: Path) -> None:
    data = tmp_path / "rummy-data"
    with Store.open(data) as store:
        config, sandbox = Config(encounters=1), choose("none")
        identity = begin(store, data, config, find_bots([]), None, sandbox=sandbox)
        with store.lock(identity):
            done = command("resume", cwd=tmp_path)
    text = f"error: tournament {identity} is being played by another process: wait for it\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", text)


def test_more_bots_may_follow_the_option() -> None:
    a, b, cup = Path("a"), Path("b"), Path("cup.toml")
    assert file_and_bots([a, b], ["x"]) == (None, ["x", "a", "b"])
    assert file_and_bots([cup, a], ["x", "y"]) == (cup, ["x", "y", "a"])
    assert file_and_bots([], None) == (None, [])
    with pytest.raises(UsageError, match=r"folders of bots follow --bots"):
        file_and_bots([a], None)


def test_aborted_is_no_result() -> None:
    assert not match_result([1, 2], termination=Termination.ABORTED).has_result
