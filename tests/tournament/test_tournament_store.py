"""Results are stored once and stay; what goes wrong is said in words."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

import tournament
from referee.match.outcome import Forfeit, Termination
from tests.tournament.fakes import match_result, store_plan
from tournament.errors import StoreError
from tournament.store import database
from tournament.store.queries import leg_results, legs_per_encounter, matches, record
from tournament.store.schema import metadata
from tournament.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "data") as store:
        yield store


def test_the_file_is_private_and_durable(store: Store) -> None:
    folder = store.path.parent
    assert oct(folder.stat().st_mode)[-3:] == "700"
    assert {oct(file.stat().st_mode)[-3:] for file in folder.iterdir()} == {"600"}
    with store._engine.connect() as db:
        pragma = {
            name: db.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_the_steps_make_exactly_the_tables_of_the_schema(store: Store) -> None:
    with store._engine.connect() as db:
        assert compare_metadata(MigrationContext.configure(db), metadata) == []


def test_the_newest_step_is_the_one_the_code_expects() -> None:
    config = Config()
    steps = Path(tournament.__file__).parent / "store" / "migrations"
    config.set_main_option("script_location", str(steps))
    assert ScriptDirectory.from_config(config).get_current_head() == database.HEAD


def test_a_plan_comes_back_with_its_secrets_in_order(store: Store) -> None:
    plan = store_plan(store, encounters=2)
    pending = store.pending("t1")
    assert [leg.fixture for leg in pending] == [leg for e in plan for leg in e.legs]
    assert {len(leg.secret) for leg in pending} == {32}
    assert len({leg.secret for leg in pending}) == len(plan)
    assert "secret" not in repr(pending[0])
    assert [entry.bot for entry in store.entries("t1")] == ["a", "b", "c"]
    assert legs_per_encounter(store, "t1") == {e.encounter_id: 2 for e in plan}


def test_a_result_is_stored_once(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    assert store.save_result("t1", leg.fixture_id, match_result([1, 2], match_id="first"))
    assert not store.save_result("t1", leg.fixture_id, match_result([2, 1], match_id="second"))
    (stored,) = leg_results(store, "t1")
    assert [(seat.bot, seat.place) for seat in stored.seats] == [
        (leg.seats[0], 1), (leg.seats[1], 2),
    ]  # fmt: skip
    assert record(store, "t1", leg.fixture_id) == b"record of first\n"
    assert leg.fixture_id not in {item.fixture.fixture_id for item in store.pending("t1")}


def test_two_tournaments_of_the_same_bots_keep_their_results_apart(store: Store) -> None:
    leg = store_plan(store, identity="t1")[0].legs[0]
    assert store_plan(store, identity="t2")[0].legs[0].fixture_id == leg.fixture_id
    assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))
    assert store.save_result("t2", leg.fixture_id, match_result([1, 2]))
    assert [item.id for item in store.tournaments()] == ["t2", "t1"]
    assert [item.matches for item in store.tournaments()] == [1, 1]


def test_results_come_in_plan_order_whatever_order_they_were_stored_in(store: Store) -> None:
    legs = [leg for e in store_plan(store) for leg in e.legs]
    for leg in reversed(legs):
        store.save_result("t1", leg.fixture_id, match_result([1, 2]))
    assert [leg.position for leg in leg_results(store, "t1")] == list(range(6))
    assert [row.fixture for row in matches(store, "t1")] == legs


def test_everything_about_a_seat_comes_back(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    result = match_result(
        [1, 2], termination=Termination.FORFEIT, forfeits={1: Forfeit.CRASH}, text="b ended"
    )
    store.save_result("t1", leg.fixture_id, result)
    row = matches(store, "t1")[0]
    assert (row.termination, row.text, row.deals) == ("forfeit", "b ended", 3)
    assert row.record_hash == result.record_hash.hex()
    seat = row.seats[1]
    assert (seat.forfeit, seat.total, seat.decisions) == (Forfeit.CRASH, 50, 10)
    assert (seat.charged_us, seat.longest_us) == (20_000, 5_000)


def test_a_match_that_never_began_is_stored_without_a_result(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    result = match_result([0, 0], termination=Termination.NOT_STARTED)
    assert store.save_result("t1", leg.fixture_id, result)
    assert [leg.has_result for leg in leg_results(store, "t1")] == [False]


def test_aborts_are_counted_with_their_reason(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    store.note_abort("t1", leg.fixture_id, "stalled")
    store.note_abort("t1", leg.fixture_id, "stalled again")
    assert store.pending("t1")[0].aborts == 2
    assert matches(store, "t1")[0].text == "stalled again"


def test_an_unknown_fixture_or_tournament_is_an_error(store: Store) -> None:
    store_plan(store)
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        store.save_result("t1", "nothing", match_result([1, 2]))
    with pytest.raises(StoreError, match="has no tournament 't9': the latest are t1"):
        store.tournament("t9")
    with pytest.raises(StoreError, match="has no record of 'nothing'"):
        record(store, "t1", "nothing")


def test_a_half_stored_result_is_not_stored(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    too_many_seats = match_result([1, 2, 3])
    with pytest.raises(ValueError, match="longer"):
        store.save_result("t1", leg.fixture_id, too_many_seats)
    assert leg_results(store, "t1") == []
    assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))


def test_results_survive_a_kill_right_after_they_were_stored(tmp_path: Path) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from tests.tournament.fakes import match_result, store_plan
from tournament.store.store import Store
store = Store.open(Path(sys.argv[1]))
for encounter in store_plan(store, encounters=3):
    for leg in encounter.legs:
        assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        print(leg.fixture_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    root = Path(tournament.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    acknowledged = done.stdout.split()
    with Store.open(tmp_path, create=False) as store:
        stored = [row.fixture.fixture_id for row in matches(store, "t1") if row.termination]
    assert stored == acknowledged
    assert len(stored) == 18


def test_a_missing_database_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist: `tournament run` begins"):
        Store.open(tmp_path / "data", create=False)
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / database.FILE_NAME
    path.write_bytes(b"not a database, " * 100)
    with pytest.raises(StoreError, match=r"rummy\.sqlite3 is damaged or not a database .*move it"):
        Store.open(tmp_path)


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store_plan(store, encounters=20)
    path = tmp_path / database.FILE_NAME
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with (
        pytest.raises(StoreError, match="is damaged or not a database"),
        Store.open(tmp_path) as store,
    ):
        store.pending("t1")


def test_a_locked_database_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_MS", 50)
    with Store.open(tmp_path) as store:
        store_plan(store)
        other = sqlite3.connect(store.path, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"is locked by another process .*wait for it"):
                store.note_abort("t1", "x", "y")
        finally:
            other.close()


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match=r"data/rummy\.sqlite3.*exists"):
        Store.open(tmp_path / "data")


def test_a_folder_that_may_not_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        # Root may write everywhere, so the folder's own mode would not do.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tournament.store.database.os.open", refuse)
    with pytest.raises(StoreError, match="can't be opened or written"):
        Store.open(tmp_path)


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store, database.writing(store._engine) as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="was made by another version of rummy-referee"):
        Store.open(tmp_path)


def test_nothing_is_stored_when_the_file_is_gone_or_another(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        [encounter] = store_plan(store, "ab")
        (tmp_path / "rummy.sqlite3").rename(tmp_path / "away")
        for _ in range(2):
            with pytest.raises(StoreError, match="was removed or replaced while it was in use"):
                store.save_result("t1", encounter.legs[0].fixture_id, match_result([1, 2]))
            (tmp_path / "rummy.sqlite3").touch()
        with pytest.raises(StoreError, match="was removed or replaced"):
            store.set_status("t1", "finished")


def test_viewing_changes_no_tables(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        Store.view(tmp_path)
    sqlite3.connect(tmp_path / "rummy.sqlite3").close()
    with pytest.raises(StoreError, match="has tables of step none, and only 0001 can be shown"):
        Store.view(tmp_path)
    with Store.open(tmp_path) as store:
        store_plan(store, "ab")
    with Store.view(tmp_path) as store:
        assert [found.id for found in store.tournaments()] == ["t1"]
        with pytest.raises(StoreError, match="readonly"):
            store.set_status("t1", "finished")
