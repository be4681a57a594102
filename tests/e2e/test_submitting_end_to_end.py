"""From an empty folder to a new version on the leaderboard, as an author goes that way."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import ROOT, assert_explained, processes_under, run
from tests.tournament.fakes import environment

QUICK = ("--set", "target=50", "--encounters", "1")


def _json(folder: Path, *words: str) -> Any:
    done = run(["tournament", *words, "--format", "json"], folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _raise_version(bot: Path) -> None:
    manifest = bot / "bot.toml"
    manifest.write_text(manifest.read_text().replace('"1.0.0"', '"1.1.0"'))


def test_a_new_bot_is_submitted_played_improved_and_withdrawn(tmp_path: Path) -> None:
    assert_explained(run(["tournament", "new-bot", "my-bot"], tmp_path), 0)
    first = _json(tmp_path, "submit", "my-bot")["submitted"]
    assert (first["bot"], first["version"]) == ("my-bot", "1.0.0")
    assert _json(tmp_path, "submit", "my-bot")["submitted"] == first
    bot = tmp_path / "source" / "my-bot"
    bot.parent.mkdir()
    (tmp_path / "my-bot").rename(bot)
    done = run(["tournament", "run", "--bots", "greedy", "my-bot", *QUICK], tmp_path)
    assert_explained(done, 0)

    # Changed, it needs another version; then both versions stay apart.
    (bot / "bot.py").write_text((bot / "bot.py").read_text() + "\n# better\n")
    done = run(["tournament", "submit", str(bot)], tmp_path)
    assert_explained(done, 2)
    assert "my-bot has a version '1.0.0' already" in done.stderr
    _raise_version(bot)
    second = _json(tmp_path, "submit", str(bot))["submitted"]
    assert second["content_hash"] != first["content_hash"]
    done = run(["tournament", "run", "--bots", "greedy", "--submitted", *QUICK], tmp_path)
    assert_explained(done, 0)
    [now] = [row for row in _json(tmp_path, "leaderboard")["standings"] if row["bot"] == "my-bot"]
    assert now["version"] == "1.1.0"
    assert not any(now["forfeits"].values())
    rated = _json(tmp_path, "versions", "my-bot")["versions"]
    assert {(row["version"], row["matches"]) for row in rated} == {("1.0.0", 2), ("1.1.0", 2)}
    listed = _json(tmp_path, "bots")["bots"]
    assert [(row["version"], row["matches"]) for row in listed] == [("1.0.0", 2), ("1.1.0", 2)]

    assert_explained(run(["tournament", "withdraw", "my-bot"], tmp_path), 0)
    assert_explained(run(["tournament", "withdraw", "my-bot"], tmp_path), 0)
    done = run(["tournament", "run", "--bots", "greedy", "my-bot", *QUICK], tmp_path)
    assert_explained(done, 2)
    assert "my-bot 1.1.0 was withdrawn on " in done.stderr
    assert _json(tmp_path, "versions", "my-bot")["versions"] == rated
    assert processes_under(tmp_path) == []


def test_a_bot_that_does_not_pass_is_not_submitted(tmp_path: Path) -> None:
    run(["tournament", "new-bot", "my-bot"], tmp_path)
    bot = tmp_path / "my-bot" / "bot.py"
    bot.write_text(bot.read_text().replace("return self.random.choice", "return 999 or "))
    done = run(["tournament", "submit", "my-bot"], tmp_path)
    assert_explained(done, 1)
    assert "my-bot 1.0.0 did not pass the check, and is not submitted" in done.stderr
    assert done.stdout == ""
    assert list((tmp_path / "rummy-data" / "bots").iterdir()) == []
    done = run(["tournament", "run", "--submitted"], tmp_path)
    assert_explained(done, 2)
    assert "no bot was submitted" in done.stderr
    assert processes_under(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ended_in_the_middle_of_the_check_nothing_is_submitted(
    tmp_path: Path, number: signal.Signals
) -> None:
    run(["tournament", "new-bot", "my-bot"], tmp_path)
    words = [sys.executable, "-m", "tournament", "submit", "my-bot"]
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if b"starts in time" in line:  # the first step of the check is done
                process.send_signal(number)
                break
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    if number == signal.SIGINT:
        assert process.returncode == 130, told
        assert b"interrupted: my-bot 1.0.0 is not submitted" in told
        assert list((tmp_path / "rummy-data" / "bots").iterdir()) == []
    done = run(["tournament", "run", "--submitted"], tmp_path)
    assert_explained(done, 2)
    assert_explained(run(["tournament", "submit", "my-bot"], tmp_path), 0)
    assert [row["bot"] for row in _json(tmp_path, "bots")["bots"]] == ["my-bot"]
    assert processes_under(tmp_path) == []


def test_a_new_bot_that_is_started_by_hand_plays_too(tmp_path: Path) -> None:
    """With the stubs on its path, and nothing else of this project."""
    run(["tournament", "new-bot", "my-bot"], tmp_path)
    words = ["-m", "referee", "serve", "--play", "greedy", "--listen", "127.0.0.1:0"]
    served = subprocess.Popen(
        [sys.executable, *words],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert served.stdout is not None
    try:
        address = json.loads(served.stdout.readline())["address"]
        done = subprocess.run(
            [sys.executable, "bot.py"],
            cwd=tmp_path / "my-bot",
            env={"PYTHONPATH": str(ROOT / "proto"), "RUMMY_REFEREE": address},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        served.terminate()
        told, _ = served.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    [played] = [line for line in told.splitlines() if '"match_id"' in line and "places" in line]
    assert json.loads(played)["termination"] == "completed"
    assert "my-bot" in json.loads(played)["bots"]
