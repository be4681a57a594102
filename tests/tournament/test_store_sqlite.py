"""The file of SQLite: private, durable, and whatever is wrong with it is said in words."""

import errno
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

import tournament
from tests.tournament.fakes import environment, match_result, store_plan
from tournament.errors import StoreError
from tournament.store import sqlite
from tournament.store.queries import matches
from tournament.store.store import Store


def test_the_file_is_private_and_durable(tmp_path: Path) -> None:
    with Store.open(tmp_path / "data") as store:
        folder = Path(store.name).parent
        assert oct(folder.stat().st_mode)[-3:] == "700"
        assert {oct(file.stat().st_mode)[-3:] for file in folder.iterdir()} == {"600"}
        with store._database.engine.connect() as db:
            pragma = {
                name: db.execute(text(f"PRAGMA {name}")).scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            }
    assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_missing_database_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist: `tournament run` begins"):
        Store.open(tmp_path / "data", create=False)
    with pytest.raises(StoreError, match="does not exist"):
        Store.view(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / sqlite.FILE_NAME
    path.write_bytes(b"not a database, " * 100)
    with pytest.raises(StoreError, match=r"rummy\.sqlite3 is damaged or not a database .*move it"):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match=r"rummy\.sqlite3 is damaged or not a database .*move it"):
        Store.view(tmp_path)


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store_plan(store, encounters=20)
    path = tmp_path / sqlite.FILE_NAME
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with (
        pytest.raises(StoreError, match="is damaged or not a database"),
        Store.open(tmp_path) as store,
    ):
        store.pending("t1")


def test_a_damaged_page_is_found_before_anything_is_played_on_it(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        for item in store_plan(store, encounters=12):
            for leg in item.legs:
                store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        whole = _read(store)
    path = tmp_path / sqlite.FILE_NAME
    good = path.read_bytes()
    found: list[str] = []
    for start in range(0, len(good), 4096):
        path.write_bytes(good[:start] + b"\xa5" * 4096 + good[start + 4096 :])
        try:
            with Store.open(tmp_path) as store:
                # A page that holds nothing but records, or nothing at all.
                assert _read(store) == whole
        except StoreError as error:
            found.append(str(error))
    assert len(found) > len(good) // 4096 // 2
    assert [text for text in found if "is damaged or not a database" not in text] == []


def _read(store: Store) -> object:
    return store.tournaments(), store.entries("t1"), matches(store, "t1")


def test_a_locked_database_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_BUSY_MS", 50)
    with Store.open(tmp_path) as store:
        [encounter] = store_plan(store, "ab")
        other = sqlite3.connect(store.name, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"is locked by another process .*wait for it"):
                store.note_abort("t1", "x", "y")
            # Readers are not kept out.
            assert len(store.pending("t1")) == 2
        finally:
            other.close()
        assert store.save_result("t1", encounter.legs[0].fixture_id, match_result([1, 2]))


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

    monkeypatch.setattr("tournament.store.sqlite.os.open", refuse)
    with pytest.raises(StoreError, match="can't be opened or written"):
        Store.open(tmp_path)


def test_nothing_is_stored_when_the_file_is_gone_or_another(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        [encounter] = store_plan(store, "ab")
        assert store.is_there
        (tmp_path / sqlite.FILE_NAME).rename(tmp_path / "away")
        for _ in range(2):
            assert not store.is_there
            with pytest.raises(StoreError, match="was removed or replaced while it was in use"):
                store.save_result("t1", encounter.legs[0].fixture_id, match_result([1, 2]))
            (tmp_path / sqlite.FILE_NAME).touch()
        with pytest.raises(StoreError, match="was removed or replaced"):
            store.set_status("t1", "finished")


def test_a_view_can_not_write(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store_plan(store, "ab")
    with Store.view(tmp_path) as store, pytest.raises(StoreError, match="readonly"):
        store.set_status("t1", "finished")


# A full disk


@pytest.fixture
def full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on a disk of one megabyte, or one whose database may not grow beyond it."""
    folder = tmp_path / "small"
    folder.mkdir()
    is_mounted = False
    if os.geteuid() == 0 and sys.platform == "linux":
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
        is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    if not is_mounted:
        configure = sqlite._configure

        def limited(connection: sqlite3.Connection, record: object) -> None:
            configure(connection, record)
            connection.execute("PRAGMA max_page_count = 200").close()

        monkeypatch.setattr(sqlite, "_configure", limited)
    try:
        yield folder
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_loses_nothing_that_was_stored(full_disk: Path) -> None:
    big = os.urandom(30_000)  # what can't be compressed
    with Store.open(full_disk) as store:
        plan = store_plan(store, encounters=20)
        fixtures = [leg.fixture_id for item in plan for leg in item.legs]
        stored: list[str] = []

        def fill() -> None:
            for fixture in fixtures:
                assert store.save_result("t1", fixture, match_result([1, 2], record=big))
                stored.append(fixture)

        with pytest.raises(StoreError, match=r"can't be .*written .*what is stored stays"):
            fill()
        assert stored
        assert _stored(store) == stored
    with Store.open(full_disk) as store:
        assert _stored(store) == stored
        assert len(store.pending("t1")) == len(fixtures) - len(stored)


def _stored(store: Store) -> list[str]:
    return [row.fixture.fixture_id for row in matches(store, "t1") if row.record_hash]


def test_a_limit_on_the_size_of_files_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    script = """
import os, resource, sys
from pathlib import Path
from tests.tournament.fakes import match_result, store_plan
from tournament.errors import StoreError
from tournament.store.store import Store
with Store.open(Path(sys.argv[1])) as store:
    plan = store_plan(store, encounters=20)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
    try:
        for item in plan:
            for leg in item.legs:
                result = match_result([1, 2], record=os.urandom(30_000))
                assert store.save_result("t1", leg.fixture_id, result)
                print(leg.fixture_id, flush=True)
    except StoreError as error:
        print(error, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=Path(tournament.__file__).parents[1],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "can't be read or written" in done.stderr
    assert "what is stored stays" in done.stderr
    acknowledged = done.stdout.split()
    assert acknowledged
    with Store.open(tmp_path) as store:
        assert _stored(store) == acknowledged


def test_it_needs_no_more_descriptors_than_before(tmp_path: Path) -> None:
    """What is opened is closed: a small limit on descriptors is never reached."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(least, 120), most))
    try:
        for number in range(60):
            with Store.open(tmp_path) as store, store.lock(f"t{number}"):
                assert store.tournaments() == []
            with Store.view(tmp_path) as store:
                assert store.tournaments() == []
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
