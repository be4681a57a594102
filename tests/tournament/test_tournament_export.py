"""`tournament export`: files that anybody can read and check, and no deck that is still played."""

import csv
import errno
import json
import tomllib
from pathlib import Path

import pytest

from referee.match.outcome import Termination
from tests.tournament.cups import store_cup
from tests.tournament.fakes import command, entry, match_result, store_plan
from tournament.commands.export import configuration as configuration_of
from tournament.config import Overrides, load_config
from tournament.errors import OutputError, UsageError
from tournament.report.export import Exported, Options, export
from tournament.report.results import load
from tournament.store.store import Store
from tournament.store.stored import Tournament

OPTIONS = Options({"format": "round_robin", "seats": 2, "rules": {"preset": "basic"}}, "1.2.3")
VIEWS = ("bots", "crosstable", "leaderboard", "matches", "ratings", "statistics")


def export_to(store: Store, folder: Path) -> tuple[Exported, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    done = export(store, store.tournament("t1"), folder, OPTIONS, lambda *at: told.append(at))
    return done, told


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A tournament of three encounters: one whole, one half played, one not begun."""
    with Store.open(tmp_path / "rummy-data") as store:
        plan = store_plan(store)
        legs = [leg for encounter in plan for leg in encounter.legs]
        for number, leg in enumerate(legs[:3]):
            result = match_result([1, 2], match_id=f"match{number}")
            store.save_result("t1", leg.fixture_id, result)
    return tmp_path / "rummy-data"


def test_only_records_of_whole_encounters_are_written(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "cup"
    with Store.view(data) as store:
        done, told = export_to(store, folder)
    assert done == Exported(records=2, stored=1, encounters=2)
    assert told == [(0, 2), (1, 2)]
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    data_files = [f"{name}.{ending}" for name in VIEWS for ending in ("csv", "json")]
    assert files == sorted(
        [
            *data_files, "configuration.json", "configuration.toml", "heads.txt", "index.html",
            "records/match0.jsonl", "records/match1.jsonl",
        ]
    )  # fmt: skip
    first, second = (match_result([1, 2], match_id=name) for name in ("match0", "match1"))
    assert (folder / "records/match0.jsonl").read_bytes() == first.record
    heads = [line.split() for line in (folder / "heads.txt").read_text().splitlines()]
    assert heads == [[one.record_hash.hex(), one.match_id] for one in (first, second)]
    rows = json.loads((folder / "matches.json").read_text())["matches"]
    assert len(rows) == 6
    # Of an encounter that is half played nothing is told but that it is planned.
    assert [row["match_id"] for row in rows] == ["match0", "match1", "", "", "", ""]
    assert [row["termination"] for row in rows] == ["completed"] * 2 + [""] * 4
    with (folder / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 3


def test_a_leg_that_nobody_was_ready_for_has_ended_too(tmp_path: Path) -> None:
    with Store.open(tmp_path / "rummy-data") as store:
        encounter = store_plan(store)[0]
        unready = match_result([0, 0], termination=Termination.NOT_STARTED)
        for leg, result in zip(encounter.legs, (match_result([1, 2]), unready), strict=True):
            store.save_result("t1", leg.fixture_id, result)
        done, _ = export_to(store, tmp_path / "cup")
    assert done == Exported(records=2, stored=0, encounters=2)


@pytest.mark.parametrize("is_file", [True, False])
def test_nothing_is_written_over(data: Path, tmp_path: Path, is_file: bool) -> None:
    there = tmp_path / "cup"
    if is_file:
        there.write_text("mine")
    else:
        there.mkdir()
        (there / "mine").write_text("mine")
    with Store.view(data) as store, pytest.raises(UsageError, match="new or an empty folder"):
        export_to(store, there)
    assert (there if is_file else there / "mine").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_explained(data: Path) -> None:
    with Store.view(data) as store, pytest.raises(OutputError, match="/proc/cup can't be written"):
        export_to(store, Path("/proc/cup"))


def test_an_export_that_fails_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with Store.view(data) as store, pytest.raises(OutputError, match="No space left"):
        export_to(store, tmp_path / "cup")
    assert list(tmp_path.iterdir()) == [data]


def test_the_command_tells_what_it_wrote(data: Path, tmp_path: Path) -> None:
    done = command("export", "cup", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "cup/index.html is the page to begin with" in done.stderr
    assert "cup/records has 2 records, cup/heads.txt their heads" in done.stderr
    assert (
        "not whole yet: 2 encounters. Left out of what was played in them: 1 record," in done.stderr
    )
    done = command("export", "cup", cwd=tmp_path)
    assert done.returncode == 2
    assert "cup is there already" in done.stderr
    assert data.exists()


def test_nothing_that_is_for_the_organiser_gets_out(tmp_path: Path) -> None:
    legs = store_cup(tmp_path / "rummy-data", legs=3, entries=[entry("a"), entry("b"), entry("c")])
    with Store.open(tmp_path / "rummy-data") as store:
        store.note_abort("t1", legs[5].fixture_id, "a worker's words")
    done = command("export", "cup", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for path in (tmp_path / "cup").rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            # Reasons, words about attempts, paths of this machine, secrets and salts.
            for hidden in ("for the organiser", "a worker's", "/nowhere", "/home", "s" * 32):
                assert hidden not in text, path
            assert "73" * 32 not in text, path
    configuration = tomllib.loads((tmp_path / "cup/configuration.toml").read_text())
    assert configuration == json.loads((tmp_path / "cup/configuration.json").read_text())
    assert configuration["bots"] == ["a", "b", "c"]
    assert configuration["time_control"]["bank_ms"] == 30_000
    assert configuration["rules"]["hand_size"]["2"] == 10
    assert "seed" not in configuration


def test_a_seed_that_somebody_chose_is_told(tmp_path: Path) -> None:
    store_cup(tmp_path / "rummy-data", seed=11)
    assert command("export", "cup", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "cup/configuration.json").read_text())["seed"] == 11
    assert "This is no contest." in (tmp_path / "cup/index.html").read_text()


def test_the_configuration_plans_the_same_tournament(tmp_path: Path) -> None:
    store_cup(tmp_path / "rummy-data", seats=3, encounters=2)
    assert command("export", "cup", cwd=tmp_path).returncode == 0
    config = load_config(tmp_path / "cup/configuration.toml", Overrides())
    with Store.view(tmp_path / "rummy-data") as store:
        assert config.hash == store.tournament("t1").config_hash


def test_a_tournament_that_another_program_began_is_exported_nevertheless() -> None:
    begun = Tournament(
        id="t1", config={"format": "carousel", "bots": ["/home/x"], "file": "/home/x/cup.toml"},
        config_hash="", created="", status="finished", counted=None, matches=0,
        planned=0,
    )  # fmt: skip
    assert configuration_of(begun, ["a"]) == {"format": "carousel", "bots": ["a"]}


def test_ratings_have_every_digit(tmp_path: Path) -> None:
    store_cup(tmp_path / "rummy-data")
    with Store.view(tmp_path / "rummy-data") as store:
        export_to(store, tmp_path / "cup")
        rows = load(store, "t1").standings
    with (tmp_path / "cup/ratings.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [(row["bot"], float(row["mu"]), float(row["sigma"])) for row in written] == [
        (row.bot, row.mu, row.sigma) for row in rows
    ]
    assert all(row["content_hash"] == entry(row["bot"]).content_hash for row in written)
