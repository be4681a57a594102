"""The sample bots under the real referee, through the command."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.tournament.fakes import clean_temp, command, environment
from tournament.store.queries import matches
from tournament.store.store import Store


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    assert tmp_path.is_dir()  # made before, for it would be found as left behind
    with clean_temp(monkeypatch):
        yield


RUN = ("run", "--bots", "random", "greedy", "--encounters", "2", "--seed", "7")


def places(data: Path) -> list[list[tuple[str, int, int, int]]]:
    with Store.open(data, create=False) as store:
        rows = matches(store, store.tournaments()[0].id)
    return [[(s.bot, s.place, s.total, s.decisions) for s in row.seats] for row in rows]


def test_a_seeded_run_is_the_same_again_whatever_the_number_of_workers(tmp_path: Path) -> None:
    one = command(*RUN, "--workers", "1", "--data", "one", cwd=tmp_path)
    two = command(*RUN, "--workers", "2", "--data", "two", cwd=tmp_path)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert places(tmp_path / "one") == places(tmp_path / "two")
    assert "greedy" in one.stdout
    assert "one/rummy.sqlite3" in one.stderr
    done = command("leaderboard", "--format", "json", "--data", "one", cwd=tmp_path)
    rows = json.loads(done.stdout)["standings"]
    assert {row["bot"]: row["matches"] for row in rows} == {"greedy": 4, "random": 4}
    assert all(row["forfeits"] == {} for row in rows)
    again = command("resume", "--data", "one", cwd=tmp_path)
    assert (again.returncode, "no unfinished tournament" in again.stderr) == (1, True)


def test_one_encounter_of_three_seats(tmp_path: Path) -> None:
    done = command("play", "random", "greedy", "counting", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["matches"]
    assert [row["seats"][0] for row in rows] == ["random", "greedy", "counting"]
    assert all(min(row["places"]) == 1 for row in rows)


def test_an_interrupted_run_says_how_to_go_on_and_goes_on(tmp_path: Path) -> None:
    words = ("run", "--bots", "random", "greedy", "--encounters", "40")
    run = Popen(
        [sys.executable, "-m", "tournament", *words],
        cwd=tmp_path,
        env=environment(),
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    )
    assert run.stderr is not None
    for line in run.stderr:
        if "matches to play" in line:
            break
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, "")
    assert "of 80 matches are stored; go on with: tournament resume " in err
    identity = err.rpartition("tournament resume ")[2].split()[0]
    done = command("resume", identity, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "80 of 80 matches" in done.stdout
