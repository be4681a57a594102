"""Databases of earlier versions are brought up to date and go on; of later ones, refused."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, MetaData, create_engine, inspect, text

import tournament
from tests.tournament.conftest import Place
from tests.tournament.fakes import entry, match_result, store_plan
from tournament.errors import StoreError
from tournament.report.results import load
from tournament.store import upgrade
from tournament.store.queries import leg_results, matches, record
from tournament.store.registry import Registry, registrations_in
from tournament.store.schema import metadata
from tournament.store.sqlite import FILE_NAME
from tournament.store.store import Store

STEPS = Path(tournament.__file__).parent / "store" / "migrations"


def _engine(place: Place) -> Engine:
    if place.url is not None:
        return create_engine(place.url.replace("postgresql:", "postgresql+psycopg:"))
    place.data.mkdir(exist_ok=True)
    return create_engine(f"sqlite:///{place.data / FILE_NAME}")


@contextmanager
def _changing(place: Place) -> Iterator[Connection]:
    engine = _engine(place)
    try:
        with engine.begin() as db:
            yield db
    finally:
        engine.dispose()


def _config(db: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(STEPS))
    config.attributes["connection"] = db
    return config


def _first_tables(db: Connection) -> None:
    """Make the tables of step 0001 with a tournament in them: three of six legs are played."""
    command.upgrade(_config(db), "0001")
    made = MetaData()
    made.reflect(db)
    now = "2026-01-02T03:04:05.006+00:00"

    def insert(table: str, *rows: Mapping[str, object]) -> None:
        db.execute(made.tables[table].insert(), list(rows))

    bots = ("a", "b", "c")
    insert(
        "bots", *({"name": b, "author": "x", "language": "python", "created": now} for b in bots)
    )
    insert(
        "versions",
        *(
            {"content_hash": b * 64, "bot": b, "version": "1", "manifest": "{}", "created": now}
            for b in bots
        ),
    )
    config = json.dumps({"format": "round_robin"})
    rows = [
        {"id": name, "config": config, "config_hash": "h", "created": now, "status": "unfinished"}
        for name in ("t1", "t2")
    ]
    insert("tournaments", *rows)
    entries = [{"tournament": "t1", "bot": b, "content_hash": b * 64, "folder": "/"} for b in bots]
    insert("entries", *entries)
    sets = [("a", "b"), ("a", "c"), ("b", "c")]
    for number, pair in enumerate(sets):
        key = {"tournament": "t1", "encounter": f"e{number}"}
        insert("encounters", key | {"number": 0, "legs": 2, "secret": bytes([number]) * 32})
        for leg in range(2):
            position = 2 * number + leg
            row = {"fixture": f"f{position}", "position": position, "leg": leg, "first_dealer": 0}
            seats = json.dumps(pair[leg:] + pair[:leg])
            more = {"seats": seats, "salt": b"s" * 32, "aborts": 0, "abort_text": ""}
            insert("fixtures", key | row | more)
    # They came in at times that are not in plan order; two of them in the same millisecond.
    for position, when in ((4, 1), (1, 2), (0, 2)):
        _first_result(insert, position, f"2026-01-02T03:04:0{when}.000+00:00")


def _first_result(insert: object, position: int, when: str) -> None:
    assert callable(insert)
    key = {"tournament": "t1", "fixture": f"f{position}"}
    done = {"match_id": f"m{position}", "termination": "completed", "has_result": True, "text": "x"}
    insert("results", key | done | {"deals": 1, "record_hash": "00", "created": when})
    seats = {0: ("a", "b"), 1: ("b", "a"), 4: ("b", "c")}[position]
    numbers = ("total", "decisions", "charged_us", "forgiven_us", "longest_us")
    rest = dict.fromkeys((*numbers, "illegal_strikes", "time_strikes"), 0)
    for seat, bot in enumerate(seats):
        place = {"seat": seat, "bot": bot, "place": 1 + seat, "forfeit": None}
        insert("seat_results", key | place | rest)
    # An empty record in the format in which records are kept.
    insert("records", key | {"record_hash": "00", "data": bytes.fromhex("789c030000000001")})


def _other_step(found: str) -> str:
    return f"has tables of step {found}, and only {upgrade.HEAD} can be shown"


def test_a_tournament_that_an_earlier_version_began_goes_on(place: Place) -> None:
    with _changing(place) as db:
        _first_tables(db)
    with place.open() as store:
        assert {row.position: row.has_result for row in leg_results(store, "t1")} == {
            0: True, 1: True, 4: True,
        }  # fmt: skip
        sequence = {row.fixture.position: row.sequence for row in matches(store, "t1")}
        assert sequence == {4: 1, 0: 2, 1: 3, 2: None, 3: None, 5: None}
        assert {(row.round, row.reasons) for row in matches(store, "t1")} == {(0, "")}
        assert record(store, "t1", "f4") == b""
        pending = [leg.fixture.fixture_id for leg in store.pending("t1")]
        assert pending == ["f2", "f3", "f5"]
        for fixture in pending:
            assert store.save_result("t1", fixture, match_result([1, 2]), reasons="r")
        assert [row.sequence for row in matches(store, "t1")] == [2, 3, 4, 5, 1, 6]
        assert [row.matches for row in load(store, "t1").standings] == [4, 4, 4]
        assert [(item.id, item.matches) for item in store.tournaments()] == [("t2", 0), ("t1", 6)]
    with place.open() as store:
        assert store.pending("t1") == []


def test_the_steps_make_exactly_the_tables_of_the_schema(place: Place) -> None:
    def described(db: Connection) -> dict[str, object]:
        found = inspect(db)
        tables = {
            name: (
                [
                    (column["name"], str(column["type"]), column["nullable"])
                    for column in found.get_columns(name)
                ],
                sorted(str(index) for index in found.get_indexes(name)),
            )
            for name in sorted(found.get_table_names())
        }
        assert compare_metadata(MigrationContext.configure(db), metadata) == []
        return dict(tables)

    with place.open() as store, store._database.engine.connect() as db:
        new = described(db)
    with _changing(place) as db:
        command.downgrade(_config(db), "base")
        assert inspect(db).get_table_names() == ["alembic_version"]
        _first_tables(db)
    with place.open() as store, store._database.engine.connect() as db:
        assert described(db) == new


def test_a_step_back_keeps_the_results(place: Place) -> None:
    with place.open() as store:
        leg = store_plan(store)[0].legs[0]
        store.save_result("t1", leg.fixture_id, match_result([1, 2]))
    with _changing(place) as db:
        command.downgrade(_config(db), "0001")
    with pytest.raises(StoreError, match=_other_step("0001")):
        place.view()
    with place.open() as store:
        assert [row.sequence for row in matches(store, "t1")] == [1] + [None] * 5


def test_a_step_back_takes_the_registrations_and_keeps_the_rest(place: Place) -> None:
    with place.open() as store:
        leg = store_plan(store)[0].legs[0]
        store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        Registry(store).register(entry("a"), is_elsewhere=False)
    with _changing(place) as db:
        command.downgrade(_config(db), "0002")
        assert "registrations" not in inspect(db).get_table_names()
    assert registrations_in(place.data, place.url) == []  # and nothing is brought up to date
    with pytest.raises(StoreError, match=_other_step("0002")):
        place.view()
    with place.open() as store:
        assert Registry(store).all() == []
        assert [row.sequence for row in matches(store, "t1")] == [1] + [None] * 5
        Registry(store).register(entry("a"), is_elsewhere=False)
        assert [one.bot for one in Registry(store).all()] == ["a"]


def test_the_newest_step_is_the_one_the_code_expects() -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == upgrade.HEAD


def test_a_database_of_a_newer_version_is_refused(place: Place) -> None:
    place.open().close()
    with _changing(place) as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="was made by another version of rummy-referee"):
        place.open()
    with pytest.raises(StoreError, match=_other_step("9999")):
        place.view()


def test_a_step_that_fails_changes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with _changing(place) as db:
        _first_tables(db)

    def fail(*_: object, **__: object) -> None:
        raise OSError("no more")

    with monkeypatch.context() as patch:
        patch.setattr("alembic.op.create_index", fail)
        with pytest.raises(StoreError, match="no more"):
            place.open()
    with _changing(place) as db:
        columns = {column["name"] for column in inspect(db).get_columns("results")}
        assert "sequence" not in columns
    with place.open() as store:
        assert len(leg_results(store, "t1")) == 3


def test_viewing_changes_no_tables(place: Place) -> None:
    if place.url is None:
        place.data.mkdir()
        sqlite3.connect(place.data / FILE_NAME).close()
    with pytest.raises(StoreError, match="holds no tournaments: `tournament run` begins one"):
        place.view()
    with place.open() as store:
        store_plan(store, "ab")
    with place.view() as store:
        assert [found.id for found in store.tournaments()] == ["t1"]
        with pytest.raises(StoreError, match=r"readonly|read-only"):
            store.set_status("t1", "finished")


def test_a_record_that_is_damaged_is_named(store: Store) -> None:
    leg = store_plan(store)[0].legs[0]
    store.save_result("t1", leg.fixture_id, match_result([1, 2]))
    with store._database.writing() as db:
        db.execute(metadata.tables["records"].update().values(data=b"no zlib"))
    with pytest.raises(StoreError, match=rf"the record of '{leg.fixture_id}' .*is damaged"):
        record(store, "t1", leg.fixture_id)
