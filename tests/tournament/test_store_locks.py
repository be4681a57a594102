"""A tournament is played by one process at a time, and who lost it can't write any more."""

import fcntl
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import tournament
from tests.tournament import postgres
from tests.tournament.conftest import Place
from tests.tournament.fakes import environment, match_result, store_plan
from tournament.errors import ResumeError, StoreError
from tournament.store.postgres import _HOLDER, _key
from tournament.store.store import Store

ROOT = Path(tournament.__file__).parents[1]


def test_a_tournament_is_locked_for_all_others(place: Place) -> None:
    with place.open() as one, place.open() as other:
        with one.lock("t1"):
            for store in (one, other):
                with pytest.raises(ResumeError, match="tournament t1 is being played by another"):
                    store.lock("t1").__enter__()
            with other.lock("t2"):
                pass
        with other.lock("t1"), pytest.raises(ResumeError):
            one.lock("t1").__enter__()
        with one.lock("t1"):
            pass
    if place.url is None:
        assert list((place.data / "locks").iterdir()) == []


def test_a_lock_is_let_go_of_whatever_happens_under_it(place: Place) -> None:
    with place.open() as store:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError), store.lock("t1"):
                raise ZeroDivisionError
        with store.lock("t1"):
            pass


def test_one_of_many_gets_the_lock(place: Place) -> None:
    place.open().close()
    ready, done = Barrier(8), Barrier(8)

    def play(_: int) -> bool:
        with place.open() as store:
            ready.wait(60)
            try:
                with store.lock("t1"):
                    done.wait(60)
                    return True
            except ResumeError:
                done.wait(60)
                return False

    with ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            assert sum(pool.map(play, range(8))) == 1


def test_a_lock_file_that_its_holder_removes_meanwhile_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the opening and the locking of the file its holder lets go, and removes it."""
    flock = fcntl.flock
    removed: list[Path] = []

    def flock_late(descriptor: int, how: int) -> None:
        if not removed:
            removed.extend((tmp_path / "locks").iterdir())
            removed[0].unlink()
        flock(descriptor, how)

    with Store.open(tmp_path) as store, Store.open(tmp_path) as other:
        monkeypatch.setattr("tournament.store.sqlite.fcntl.flock", flock_late)
        with store.lock("t1"), pytest.raises(ResumeError):
            other.lock("t1").__enter__()
    assert len(removed) == 1


def test_a_process_that_is_killed_lets_go_of_its_lock(place: Place) -> None:
    script = """
import sys, time
from pathlib import Path
from tournament.store.store import Store
with Store.open(Path(sys.argv[1]), sys.argv[2] or None) as store, store.lock("t1"):
    print("locked", flush=True)
    sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(place.data), place.url or ""],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder, place.open() as store:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        who = f"process {holder.pid} on" if place.url else "another process"
        with pytest.raises(ResumeError, match=who):
            store.lock("t1").__enter__()
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait(60)
        # The server needs a moment to see the end of its client.
        _until_free(store)
        with store.lock("t1"):
            pass


def _until_free(store: Store) -> None:
    for _ in range(10_000):
        try:
            with store.lock("t1"):
                return
        except ResumeError:
            continue
    pytest.fail("the lock of a process that was killed is still held")


def test_what_is_written_under_a_lock_goes_the_ordinary_way_for_others(place: Place) -> None:
    with place.open() as store, store.lock("t1"):
        legs = [leg for item in store_plan(store) for leg in item.legs]
        store_plan(store, identity="t2")
        for leg in legs:
            assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        with pytest.raises(ValueError, match="longer"):
            store.save_result("t2", legs[0].fixture_id, match_result([1, 2, 3]))
        assert store.save_result("t2", legs[0].fixture_id, match_result([1, 2]))
        store.set_status("t1", "finished")
    with place.view() as store:
        assert [(t.id, t.matches, t.status) for t in store.tournaments()] == [
            ("t2", 1, "unfinished"), ("t1", 6, "finished"),
        ]  # fmt: skip


def test_an_error_under_a_lock_does_not_end_it(place: Place) -> None:
    with place.open() as store, place.open() as other, store.lock("t1"):
        [item] = store_plan(store, "ab")
        with pytest.raises(StoreError, match="has no fixture"):
            store.save_result("t1", "nothing", match_result([1, 2]))
        with pytest.raises(ResumeError):
            other.lock("t1").__enter__()
        assert store.save_result("t1", item.legs[0].fixture_id, match_result([1, 2]))


def test_who_lost_the_lock_can_not_write(
    postgres_server: postgres.Server, postgres_url: str, tmp_path: Path
) -> None:
    """The connection that holds it breaks, and another process goes on with the tournament."""
    with (
        Store.open(tmp_path, postgres_url) as store,
        Store.open(tmp_path, postgres_url) as other,
        store.lock("t1"),
    ):
        [one, two] = store_plan(store, "ab")[0].legs
        assert store.save_result("t1", one.fixture_id, match_result([1, 2]))
        [pid] = postgres_server.run_sql("SELECT pid FROM pg_locks WHERE locktype = 'advisory'")
        postgres_server.run_sql(f"SELECT pg_terminate_backend({pid}, 60000)")
        with other.lock("t1"):
            for lost in (r"was lost .*resume` goes on", r"kept others .*was lost"):
                with pytest.raises(StoreError, match=lost):
                    store.save_result("t1", two.fixture_id, match_result([1, 2]))
            with pytest.raises(StoreError, match="was lost"):
                store.set_status("t1", "finished")
            # What it reads is right, and what the other one writes counts.
            assert [leg.fixture for leg in store.pending("t1")] == [two]
            assert other.save_result("t1", two.fixture_id, match_result([1, 2]))
        # Other tournaments were not locked.
        store_plan(store, "ab", identity="t2")
    with Store.open(tmp_path, postgres_url) as store, store.lock("t1"):
        assert store.pending("t1") == []


def test_who_holds_a_lock_is_found_by_its_key(postgres_url: str, tmp_path: Path) -> None:
    # Keys of 64 bits stand in two halves in the server's list; some of them are negative.
    names = [f"t{number}" for number in range(20)]
    assert {_key(f"tournament {name}") > 0 for name in names} == {True, False}
    with Store.open(tmp_path, postgres_url) as store:
        for name in names:
            with store.lock(name), store.reading() as db:
                key = {"key": _key(f"tournament {name}")}
                assert f"process {os.getpid()} on" in db.execute(_HOLDER, key).scalar_one()
