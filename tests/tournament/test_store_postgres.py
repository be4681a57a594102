"""PostgreSQL: its faults are said in words, its crashes lose nothing, passwords stay secret."""

import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest
from sqlalchemy import text

from tests.tournament import postgres
from tests.tournament.fakes import match_result, store_plan
from tournament.errors import StoreError, TournamentError, UsageError
from tournament.store.postgres import PostgreSQL, printable, read_url
from tournament.store.queries import leg_results, matches
from tournament.store.store import Store

NOWHERE = Path("/nowhere")
"""No data folder is needed."""


def test_a_name_tells_where_it_is_without_what_is_secret() -> None:
    for given, name in {
        "postgresql://me:pw@host:1/cup": "postgresql://me@host:1/cup",
        "postgres://me:p%40w@host/cup": "postgresql://me@host/cup",
        "postgresql://host/cup?password=pw&sslmode=require": "postgresql://host/cup",
        "postgresql:///cup?host=/run/pg&user=x": "postgresql:///cup?host=%2Frun%2Fpg",
        "postgresql://[::1]:5432/cup": "postgresql://[::1]:5432/cup",
    }.items():
        assert printable(read_url(given)) == name


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", r"can't be read: allowed is postgresql://USER:PASSWORD@HOST:PORT/DATABASE"),
        ("cup.sqlite3", "can't be read: allowed is postgresql://"),
        ("postgresql://me:geheim@host:port/cup", "can't be read: allowed is postgresql://"),
        ("mysql://me:geheim@host/cup", "begins with 'mysql': allowed is postgresql://"),
        ("sqlite:///cup", "begins with 'sqlite': .* without a URL it is a file"),
        ("postgresql+asyncpg://me:geheim@host/cup", "begins with 'postgresql.asyncpg'"),
        ("postgresql://me:geheim@host", "postgresql://me@host names no database"),
        ("postgresql://me:x@geheim@host/cup", "more than one @: in a password write @ as %40"),
    ],
)
def test_a_url_that_is_none_is_refused(url: str, words: str) -> None:
    for way in (Store.open, Store.view):
        with pytest.raises(UsageError, match=words) as caught:
            way(NOWHERE, url)
        assert "geheim" not in _all_texts(caught.value)


def _all_texts(error: BaseException) -> str:
    """Return what a log of the error would show, its causes and their notes included."""
    return "".join(traceback.format_exception(error))


_BEFORE = f"{postgres.USER}:{postgres.QUOTED}@127.0.0.1"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((postgres.QUOTED, "geheim"), r"can't be opened \(.*password.*\): the password stands in"),
        (("/DATABASE", "/nothing"), r"can't be opened \(.*\): make it first.*createdb nothing"),
        (("127.0.0.1:PORT", "127.0.0.1:1"), r"can't be opened \(.*refused.*check that the server"),
        ((_BEFORE, f"me:geheim@/x?host={NOWHERE}&x="), "can't be opened|invalid connection option"),
        (("127.0.0.1:PORT", "nothing.invalid"), r"can't be opened \(.*nothing\.invalid.*check"),
        (("/DATABASE", "/DATABASE?sslmode=require"), r"can't be opened \(.*SSL.*check that"),
        (("/DATABASE", "/DATABASE?bogus=1"), "bogus"),
    ],
)
def test_a_server_that_does_not_let_us_in_is_explained(
    postgres_url: str, change: tuple[str, str], words: str
) -> None:
    url = read_url(postgres_url)
    old, new = (
        part.replace("PORT", str(url.port)).replace("DATABASE", str(url.database))
        for part in change
    )
    wrong = postgres_url.replace(old, new)
    assert wrong != postgres_url
    for way in (Store.open, Store.view):
        with pytest.raises(StoreError, match=words) as caught:
            way(NOWHERE, wrong)
        shown = _all_texts(caught.value)
        assert "geheim" not in shown
        assert postgres.PASSWORD not in shown
        assert postgres.QUOTED not in shown


def test_a_missing_driver_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"needs the driver psycopg.*pip install 'rummy-referee\["):
        Store.open(NOWHERE, "postgresql://me:geheim@host/cup")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("25006", "can be read only"),
        ("42501", "refuses this user .*own the database"),
        ("53100", "make room on the server's disk; what is stored stays"),
        ("53200", "has nothing left for this"),
        ("55P03", "is locked by another process .*wait for it"),
        ("40P01", "was changed by another process at the same time"),
        ("57014", "was told to stop"),
        ("57P01", "the connection to .* was lost .*what is stored stays"),
        ("58030", "can't read or write its files"),
        ("XX001", "is damaged"),
        ("P0001", r": it is so$"),
    ],
)
def test_what_a_server_answers_is_explained(postgres_url: str, state: str, words: str) -> None:
    options = f"ERRCODE = '{state}', DETAIL = 'geheim'"
    fault = f"DO $$ BEGIN RAISE EXCEPTION 'it is so' USING {options}; END $$"
    with Store.open(NOWHERE, postgres_url) as store:
        with pytest.raises(StoreError, match=words) as caught, store.reading() as db:
            db.execute(text(fault))
        assert "it is so" in str(caught.value)
        assert "geheim" not in str(caught.value)
        assert store.name in str(caught.value)
        assert store.tournaments() == []


def test_a_row_that_is_refused_does_not_tell_its_secrets(postgres_url: str) -> None:
    with Store.open(NOWHERE, postgres_url) as store:
        store_plan(store)
        with pytest.raises(StoreError) as caught:
            store_plan(store)  # the id is taken
        assert "duplicate key" in str(caught.value)
        assert "[parameters" not in _all_texts(caught.value)
        assert len(store.tournaments()) == 1


def test_tables_of_something_else_are_left_alone(
    postgres_server: postgres.Server, postgres_url: str
) -> None:
    name = str(read_url(postgres_url).database)
    postgres_server.run_sql("CREATE TABLE results (x int)", name)
    with pytest.raises(StoreError, match=r"holds tables of something else .*of its own"):
        Store.open(NOWHERE, postgres_url)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    assert postgres_server.run_sql(tables, name) == ["results"]


def test_a_user_without_rights_is_told_so(
    postgres_server: postgres.Server, postgres_url: str
) -> None:
    name = str(read_url(postgres_url).database)
    guest = postgres_url.replace(f"{postgres.USER}:", "guest:")
    postgres_server.run_sql(f"CREATE USER guest PASSWORD '{postgres.PASSWORD}'")
    try:
        postgres_server.run_sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC", name)
        with pytest.raises(StoreError, match="refuses this user"):
            Store.open(NOWHERE, guest)
        with Store.open(NOWHERE, postgres_url) as store:
            store_plan(store)
        with pytest.raises(StoreError, match="refuses this user"):
            Store.view(NOWHERE, guest)
        postgres_server.run_sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", name)
        # Who may only read can open it for both, as long as there is nothing to bring up to date.
        with Store.view(NOWHERE, guest) as store:
            assert [item.id for item in store.tournaments()] == ["t1"]
            with pytest.raises(StoreError, match="can be read only"):
                store.set_status("t1", "finished")
        with (
            Store.open(NOWHERE, guest) as store,
            pytest.raises(StoreError, match="refuses this user"),
        ):
            store.set_status("t1", "finished")
    finally:
        postgres_server.run_sql("DROP OWNED BY guest", name)
        postgres_server.run_sql("DROP USER guest")


def test_what_is_acknowledged_is_durable_whatever_the_default_is(
    postgres_server: postgres.Server, postgres_url: str
) -> None:
    name = str(read_url(postgres_url).database)
    postgres_server.run_sql(f"ALTER DATABASE {name} SET synchronous_commit = off", name)
    with Store.open(NOWHERE, postgres_url) as store, store.reading() as db:
        assert db.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_a_reader_sees_one_moment(postgres_url: str) -> None:
    with Store.open(NOWHERE, postgres_url) as store:
        legs = store_plan(store)[0].legs
        with store.reading() as db:
            count = text("SELECT count(*) FROM results")
            assert db.execute(count).scalar() == 0
            assert store.save_result("t1", legs[0].fixture_id, match_result([1, 2]))
            assert db.execute(count).scalar() == 0
        with store.reading() as db:
            assert db.execute(count).scalar() == 1


def test_connections_that_the_server_ended_meanwhile_are_made_anew(
    postgres_server: postgres.Server, postgres_url: str
) -> None:
    name = str(read_url(postgres_url).database)
    with Store.open(NOWHERE, postgres_url) as store:
        store_plan(store)
        ended = postgres_server.run_sql(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            f" WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        )
        assert ended
        assert len(store.pending("t1")) == 6


def test_a_connection_that_breaks_in_a_transaction_leaves_nothing_of_it(
    postgres_server: postgres.Server, postgres_url: str
) -> None:
    with Store.open(NOWHERE, postgres_url) as store:
        leg = store_plan(store)[0].legs[0]

        def write() -> None:
            with store.writing("t1") as db:
                db.execute(text("UPDATE tournaments SET status = 'broken'"))
                pid = db.execute(text("SELECT pg_backend_pid()")).scalar()
                postgres_server.run_sql(f"SELECT pg_terminate_backend({pid}, 60000)")
                db.execute(text("SELECT 1"))

        with pytest.raises(StoreError, match=r"connection to .* was lost"):
            write()
        assert store.tournament("t1").status == "unfinished"
        assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))


@pytest.fixture
def own_server(postgres_programs: Path) -> Iterator[postgres.Server]:
    """A server that the test may kill; what it acknowledged is on the disk."""
    with postgres.running_server(postgres_programs, is_durable=True) as server:
        yield server


def test_kills_of_the_server_lose_and_double_nothing(own_server: postgres.Server) -> None:
    seed = Random().randrange(2**32)
    chance = Random(seed)
    with own_server.database() as url:
        with Store.open(NOWHERE, url) as store:
            legs = [leg.fixture_id for e in store_plan(store, encounters=40) for leg in e.legs]
        acknowledged: list[str] = []
        for _ in range(3):
            after = chance.randrange(1, 40)
            _write_until_killed(own_server, url, legs, acknowledged, after)
            own_server.start()
        with Store.open(NOWHERE, url) as store, store.lock("t1"):
            lost = set(acknowledged) - set(_stored(store))
            assert not lost, f"seed {seed}"
            for fixture in legs:  # those that are stored, too: who knows which they are
                store.save_result("t1", fixture, match_result([1, 2], match_id=fixture))
            assert _stored(store) == legs
            rows = matches(store, "t1")
            assert sorted(row.sequence or 0 for row in rows) == list(range(1, len(legs) + 1))
            assert {row.match_id for row in rows} == set(legs)
            assert [len(leg.seats) for leg in leg_results(store, "t1")] == [2] * len(legs)


def _write_until_killed(
    server: postgres.Server, url: str, legs: list[str], acknowledged: list[str], after: int
) -> None:
    """Store results, without a pause, from another thread; kill the server in the midst of it."""
    enough = Event()
    errors: list[TournamentError] = []

    def write() -> None:
        try:
            with Store.open(NOWHERE, url) as store, store.lock("t1"):
                new = 0
                for fixture in legs:
                    result = match_result([1, 2], match_id=fixture)
                    new += store.save_result("t1", fixture, result)
                    acknowledged.append(fixture)
                    if new >= after:
                        enough.set()
        except TournamentError as error:
            errors.append(error)
        finally:
            enough.set()

    writer = Thread(target=write)
    writer.start()
    enough.wait(60)
    server.kill()
    writer.join(60)
    assert [str(error) for error in errors if "was lost" not in str(error)] == []
    assert errors, "all was written before the server was killed"


def _stored(store: Store) -> list[str]:
    return [row.fixture.fixture_id for row in matches(store, "t1") if row.record_hash]


def test_a_server_that_is_gone_is_explained_and_found_again(own_server: postgres.Server) -> None:
    with own_server.database() as url, Store.open(NOWHERE, url) as store:
        leg = store_plan(store)[0].legs[0]
        own_server.stop()
        with pytest.raises(StoreError, match=r"can't be opened|was lost"):
            store.tournaments()
        with pytest.raises(StoreError, match=r"can't be opened|was lost"):
            store.save_result("t1", leg.fixture_id, match_result([1, 2]))
        assert store.is_there
        own_server.start()
        assert store.save_result("t1", leg.fixture_id, match_result([1, 2]))


def test_locks_are_let_go_of_when_the_server_is_gone(own_server: postgres.Server) -> None:
    with own_server.database() as url, Store.open(NOWHERE, url) as store:
        with store.lock("t1"):
            own_server.stop()
        own_server.start()
        with store.lock("t1"):
            store_plan(store)


def test_nothing_stays_open(postgres_server: postgres.Server, postgres_url: str) -> None:
    name = str(read_url(postgres_url).database)
    with Store.open(NOWHERE, postgres_url) as store:
        for number in range(40):  # more than the server has room for
            with store.lock(f"t{number}"):
                store_plan(store, "ab", identity=f"t{number}")
            with pytest.raises(StoreError):
                store_plan(store, "ab", identity=f"t{number}")
    database = PostgreSQL.view(postgres_url)
    database.close()
    count = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'"
    for _ in range(10_000):  # the server sees the end of its clients a moment later
        if postgres_server.run_sql(count) == [0]:
            return
    pytest.fail("connections are left")
