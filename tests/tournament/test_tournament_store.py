"""Results are stored once and stay, in a file or on a server."""

import hashlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, exc

import tournament
from referee.match.outcome import Forfeit, Termination
from tests.tournament.conftest import Place
from tests.tournament.fakes import entry, environment, match_result, store_plan
from tournament.errors import StoreError
from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.round_robin import round_robin
from tournament.store.queries import leg_results, legs_per_encounter, matches, record
from tournament.store.store import Store

ROOT = Path(tournament.__file__).parents[1]


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
    first, second = match_result([1, 2], match_id="first"), match_result([2, 1], match_id="second")
    assert store.save_result("t1", leg.fixture_id, first, reasons="for the organiser")
    assert not store.save_result("t1", leg.fixture_id, second)
    (stored,) = leg_results(store, "t1")
    assert [(seat.bot, seat.place) for seat in stored.seats] == [
        (leg.seats[0], 1), (leg.seats[1], 2),
    ]  # fmt: skip
    assert record(store, "t1", leg.fixture_id) == b"record of first\n"
    assert leg.fixture_id not in {item.fixture.fixture_id for item in store.pending("t1")}
    row = matches(store, "t1")[0]
    assert (row.text, row.reasons, row.sequence) == ("the end", "for the organiser", 1)


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


def test_a_half_stored_result_is_not_stored(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    too_many_seats = match_result([1, 2, 3])
    with pytest.raises(ValueError, match="longer"):
        store.save_result("t1", leg.fixture_id, too_many_seats)
    assert leg_results(store, "t1") == []
    assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))


def test_an_unknown_fixture_or_tournament_is_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="has no tournament 't9': the latest are none yet"):
        store.tournament("t9")
    store_plan(store)
    with pytest.raises(StoreError, match="has no fixture 'nothing' in 't1'"):
        store.save_result("t1", "nothing", match_result([1, 2]))
    with pytest.raises(StoreError, match="has no tournament 't9'"):
        store.save_result("t9", "nothing", match_result([1, 2]))
    with pytest.raises(StoreError, match="has no tournament 't9': the latest are t1"):
        store.tournament("t9")
    with pytest.raises(StoreError, match=r"has no tournament '.udcff'"):
        store.tournament("\udcff")
    with pytest.raises(StoreError, match="has no record of 'nothing'"):
        record(store, "t1", "nothing")


def test_one_tournament_is_what_the_list_says(store: Store) -> None:
    for identity in ("t1", "t2"):
        leg = store_plan(store, identity=identity)[0].legs[0]
    store.save_result("t2", leg.fixture_id, match_result([1, 2]))
    store.set_status("t1", "finished")
    listed = {item.id: item for item in store.tournaments()}
    assert {name: store.tournament(name) for name in ("t1", "t2")} == listed
    assert [(item.status, item.matches, item.planned) for item in listed.values()] == [
        ("unfinished", 1, 6), ("finished", 0, 6),
    ]  # fmt: skip


def test_bots_are_listed_in_one_order_on_every_database(store: Store) -> None:
    # An order of words leaves signs out, and would put these in other places.
    names = ["a_c", "ab", "a-d", "a1", "a"]
    store_plan(store, names)
    assert [item.bot for item in store.entries("t1")] == sorted(names)


def test_texts_that_no_database_can_keep_are_stored_as_near_as_can_be(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    odd = "a\0b\udcffc – é"
    store.note_abort("t1", leg.fixture_id, odd)
    assert matches(store, "t1")[0].text == "a\ufffdb?c – é"
    assert store.save_result("t1", leg.fixture_id, match_result([1, 2], text=odd), reasons=odd)
    row = matches(store, "t1")[0]
    assert (row.text, row.reasons) == ("a\ufffdb?c – é", "a\ufffdb?c – é")


def _round_of(number: int, names: str = "abc") -> list[Encounter]:
    """Return encounters that follow `number` earlier ones of each set."""
    entrants = [Entrant(item.bot, item.content_hash) for item in map(entry, names)]
    plan = round_robin(entrants, seats=2, encounters=number + 1, rules="rules")
    return [replace(item, round=number) for item in plan if item.number == number]


def _chance(plan: list[Encounter], start: bytes) -> tuple[dict[str, bytes], dict[str, bytes]]:
    secrets = {
        item.encounter_id: hashlib.sha256(start + item.encounter_id.encode()).digest()
        for item in plan
    }
    return secrets, {leg.fixture_id: start * 32 for item in plan for leg in item.legs}


def test_a_later_round_is_added_once(store: Store) -> None:
    first = store_plan(store)
    later = _round_of(1)
    store.add_encounters("t1", later, *_chance(later, b"x"))
    planned = store.pending("t1")
    assert [leg.fixture for leg in planned] == [leg for e in first + later for leg in e.legs]
    # Whoever adds it again, with chance of their own, changes nothing.
    store.add_encounters("t1", later, *_chance(later, b"y"))
    assert store.pending("t1") == planned
    assert [row.round for row in matches(store, "t1")] == [0] * 6 + [1] * 6
    store.add_encounters("t1", [], {}, {})
    with pytest.raises(StoreError, match="has no tournament 't9'"):
        store.add_encounters("t9", later, *_chance(later, b"x"))


def test_a_round_is_added_whole_or_not_at_all(store: Store) -> None:
    store_plan(store)
    later = _round_of(1)
    secrets, salts = _chance(later, b"x")
    del salts[later[-1].legs[-1].fixture_id]
    with pytest.raises(KeyError):
        store.add_encounters("t1", later, secrets, salts)
    # Two legs at one place of the plan are refused by the database.
    moved = [replace(item, legs=later[0].legs) for item in later]
    with pytest.raises(StoreError):
        store.add_encounters("t1", moved, *_chance(later, b"x"))
    assert len(store.pending("t1")) == 6


def test_many_who_add_the_same_round_add_it_once(place: Place) -> None:
    with place.open() as store:
        store_plan(store)
    later = _round_of(1)

    def add(number: int) -> None:
        with place.open() as own:
            own.add_encounters("t1", later, *_chance(later, bytes([number])))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    with place.view() as store:
        assert len(store.pending("t1")) == 12
        assert len({leg.salt for leg in store.pending("t1")[6:]}) == 1


def test_many_writers_store_each_result_once_and_number_all(place: Place) -> None:
    with place.open() as store:
        plan = store_plan(store, "abcd", encounters=3)
    fixtures = [leg.fixture_id for e in plan for leg in e.legs]

    def write(writer: int) -> int:
        # Everybody has a result of every leg, and begins at another one.
        start = writer * len(fixtures) // 4
        with place.open() as own:
            return sum(
                own.save_result("t1", fixture, match_result([1, 2], match_id=f"{writer}"))
                for fixture in fixtures[start:] + fixtures[:start]
            )

    with ThreadPoolExecutor(4) as pool:
        stored = list(pool.map(write, range(4)))
    assert sum(stored) == len(fixtures)
    with place.view() as store:
        rows = matches(store, "t1")
        assert sorted(row.sequence or 0 for row in rows) == list(range(1, len(fixtures) + 1))
        assert [len(leg.seats) for leg in leg_results(store, "t1")] == [2] * len(fixtures)


def test_many_store_tournaments_of_the_same_bots_at_once(place: Place) -> None:
    place.open().close()

    def begin(number: int) -> None:
        with place.open() as own:
            store_plan(own, "abcdef"[:: -1 if number % 2 else 1], identity=f"t{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(begin, range(8)))
    with place.view() as store:
        assert sorted(item.id for item in store.tournaments()) == [f"t{n}" for n in range(8)]


def test_many_may_open_what_nobody_has_made_yet(place: Place) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: place.open(), range(4)))
    for number, store in enumerate(stores):
        with store:
            store_plan(store, identity=f"t{number}")
    with place.view() as store:
        assert len(store.tournaments()) == 4


def test_a_commit_whose_answer_was_lost_may_be_tried_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    leg = store_plan(store)[0].legs[0]
    later = _round_of(1)
    writing = store._database.writing

    @contextmanager
    def without_answer(tournament: str | None = None) -> Iterator[Connection]:
        with writing(tournament) as db:
            yield db
        raise exc.OperationalError(
            "COMMIT", None, OSError("no answer"), connection_invalidated=True
        )

    with monkeypatch.context() as patch:
        patch.setattr(store._database, "writing", without_answer)
        with pytest.raises(StoreError, match="no answer"):
            store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        with pytest.raises(StoreError, match="no answer"):
            store.add_encounters("t1", later, *_chance(later, b"x"))
    assert not store.save_result("t1", leg.fixture_id, match_result([1, 2]))
    store.add_encounters("t1", later, *_chance(later, b"x"))
    assert [row.sequence for row in matches(store, "t1")] == [1] + [None] * 11


def test_results_survive_a_kill_right_after_they_were_stored(place: Place) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from tests.tournament.fakes import match_result, store_plan
from tournament.store.store import Store
store = Store.open(Path(sys.argv[1]), sys.argv[2] or None)
for encounter in store_plan(store, encounters=3):
    for leg in encounter.legs:
        assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        print(leg.fixture_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(place.data), place.url or ""],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    acknowledged = done.stdout.split()
    with place.open() as store:
        stored = [row.fixture.fixture_id for row in matches(store, "t1") if row.termination]
    assert stored == acknowledged
    assert len(stored) == 18


def test_a_writer_that_is_killed_in_a_transaction_leaves_nothing_of_it(place: Place) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from tests.tournament.fakes import match_result, store_plan
from tournament.store import store as module
store = module.Store.open(Path(sys.argv[1]), sys.argv[2] or None)
[leg, other] = store_plan(store, "ab")[0].legs
assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))
connect = store._database.writing
def writing(tournament=None):
    holder = connect(tournament)
    db = holder.__enter__()
    execute = db.execute
    def counting(statement, *more):
        done = execute(statement, *more)
        if "records" in str(statement):  # the last statement before the commit
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    db.execute = counting
    class Stub:
        __enter__ = lambda self: db
        __exit__ = lambda self, *error: holder.__exit__(*error)
    return Stub()
store._database.writing = writing
store.save_result("t1", other.fixture_id, match_result([1, 2]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(place.data), place.url or ""],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    with place.open() as store:
        [waiting] = store.pending("t1")
        assert store.save_result("t1", waiting.fixture.fixture_id, match_result([1, 2]))
        assert [row.sequence for row in matches(store, "t1")] == [1, 2]
