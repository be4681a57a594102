"""`tournament ladder` as people run it: kills, stops, locks, refusals, and a small crowd."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.commands import ENVIRONMENT, ROOT
from tests.ladder.crowd import run
from tests.ladder.hall import QUICK, Hall, children, hall, is_alive
from tests.ladder.visitors import Caller, Visitor
from tests.service.test_tls import new_key, self_signed
from tests.tournament.fakes import command
from tournament.report.results import load
from tournament.store import queries
from tournament.store.store import Store


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


async def until(is_so: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(90):
        while True:
            answer = is_so()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.05)


# --- kill −9 --------------------------------------------------------------------------------------


def test_a_ladder_that_is_killed_goes_on_with_all_that_it_said(tmp_path: Path) -> None:
    address = free_address()
    told: dict[str, bytes] = {}
    tokens: list[str] = []
    ladders = set()
    for round_ in range(3):
        with hall(tmp_path, *(QUICK if not round_ else ()), listen=address) as at:
            asyncio.run(_visit_and_kill(at, tokens, told, is_last=round_ == 2))
            ladders.add(at.lines("listening")[0]["ladder"])
    assert len(ladders) == 1
    with Store.view(tmp_path / "data") as store:
        [ladder] = store.tournaments()
        rows = queries.matches(store, ladder.id)
        ended = {row.match_id: row for row in rows if row.termination}
        # Everything that was said is there, unchanged.
        assert len(told) > 20
        for match_id, record_hash in told.items():
            assert ended[match_id].record_hash == record_hash.hex()
        # Nothing is doubled, and what was cut is closed and counts for nothing.
        assert len(ended) == len([row for row in rows if row.termination])
        assert all(row.aborts == 1 for row in rows if not row.termination)
        assert any(not row.termination for row in rows)
        assert len({row.fixture.position for row in rows}) == len(rows)
        legs = load(store, ladder.id).legs
        assert set(Counter(leg.encounter_id for leg in legs).values()) == {2}
        assert len(legs) >= 6


async def _visit_and_kill(
    at: Hall, tokens: list[str], told: dict[str, bytes], *, is_last: bool
) -> None:
    caller = Caller(at.address)
    tokens += [await caller.register(f"bot{number}") for number in range(len(tokens), 6)]
    before = (await caller.status()).matches
    assert before >= len(told)
    for match in await caller.matches():
        assert told.get(match.match_id, match.record_hash) == match.record_hash
    visitors = [Visitor(at.address, token, seed=n) for n, token in enumerate(tokens)]
    for visitor in visitors:
        visitor.come()
    try:

        async def have_played() -> bool:
            return (await caller.status()).matches >= before + 16

        await until(have_played)
        told |= {match.match_id: match.record_hash for match in await caller.matches()}
        rater = children(at.process.pid)
        at.process.send_signal(signal.SIGTERM if is_last else signal.SIGKILL)
        assert await asyncio.to_thread(at.process.wait, 60) == (0 if is_last else -signal.SIGKILL)
        await until(lambda: not any(is_alive(pid) for pid in rater))
    finally:
        for visitor in visitors:
            await visitor.close()
        await caller.channel.close()


# --- stopping -------------------------------------------------------------------------------------


def test_the_first_signal_lets_matches_end_and_the_second_does_not(tmp_path: Path) -> None:
    with hall(tmp_path, "--set", "match_end=fixed_deals", "--set", "deals=200") as at:
        asyncio.run(_stop_twice(at))
        assert at.lines("stopping")
        [aborted] = at.lines("matches aborted")
        assert len(aborted["match_ids"]) == 1
        assert at.lines("stopped")
    with Store.view(tmp_path / "data") as store:
        [ladder] = store.tournaments()
        assert {row.aborts for row in queries.matches(store, ladder.id)} == {1}


async def _stop_twice(at: Hall) -> None:
    caller = Caller(at.address)
    visitors = [Visitor(at.address, await caller.register(name)) for name in ("a", "b")]
    for visitor in visitors:
        visitor.come()

    async def is_playing() -> bool:
        return (await caller.status()).running > 0

    await until(is_playing)
    at.process.send_signal(signal.SIGTERM)
    await until(lambda: bool(at.lines("stopping")))
    assert at.process.poll() is None
    at.process.send_signal(signal.SIGTERM)
    begin = time.monotonic()
    assert await asyncio.to_thread(at.process.wait, 60) == 0
    assert time.monotonic() - begin < 30
    for visitor in visitors:
        await visitor.close()
    await caller.channel.close()


# --- one ladder, one process ----------------------------------------------------------------------


def test_two_processes_do_not_keep_one_ladder(tmp_path: Path) -> None:
    with hall(tmp_path, *QUICK) as at:
        other = command("ladder", "--data", "data", "--listen", "127.0.0.1:0", cwd=tmp_path)
        assert (other.returncode, "another process" in other.stderr) == (1, True)
        ladder = at.lines("listening")[0]["ladder"]
        resumed = command("resume", ladder, "--data", "data", cwd=tmp_path)
        assert resumed.returncode != 0
        # The views show it while it runs.
        shown = command("leaderboard", "--data", "data", "--format", "json", cwd=tmp_path)
        assert (shown.returncode, json.loads(shown.stdout)["standings"]) == (0, [])
    # What lies there is not played under other rules.
    other = command("ladder", "--data", "data", "--rules", "standard", cwd=tmp_path)
    assert (other.returncode, "was begun otherwise" in other.stderr) == (1, True)


def test_register_prints_a_token_and_explains_refusals(tmp_path: Path) -> None:
    with hall(tmp_path, *QUICK, "--invited") as at:
        refused = command("register", at.address, "bot", cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "by invitation" in refused.stderr
        assert "Put the token into the variable RUMMY_TOKEN" in " ".join(refused.stderr.split())
        wrong = command("register", at.address, "--", "-bot", cwd=tmp_path)
        assert (wrong.returncode, "bot is '-bot': allowed" in wrong.stderr) == (2, True)
        organiser = (tmp_path / "data/organiser.token").read_text().strip()
        os.environ["RUMMY_TOKEN"] = organiser
        try:
            done = command("register", at.address, "bot", "2", "--author", "A", cwd=tmp_path)
        finally:
            del os.environ["RUMMY_TOKEN"]
        assert (done.returncode, len(done.stdout.strip())) == (0, 43)
        assert "bot@2 is registered" in done.stderr
        os.environ["RUMMY_TOKEN"] = "stale"
        try:
            stale = command("register", at.address, "new", cwd=tmp_path)
        finally:
            del os.environ["RUMMY_TOKEN"]
        assert stale.returncode == 1
        with Path("/dev/full").open("w") as full:
            lost = subprocess.run(
                [sys.executable, "-m", "tournament", "register", at.address, "lost"],
                env={**ENVIRONMENT, "RUMMY_TOKEN": organiser},
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                timeout=60,
            )
        assert lost.returncode == 1
        assert "the token is lost; whoever runs the ladder" in " ".join(lost.stderr.split())
        assert "that of the variable RUMMY_TOKEN" in " ".join(stale.stderr.split())
        assert f"register {at.address}" in at.text
        assert 'RUMMY_TOKEN="$(cat data/organiser.token)" tournament register' in at.text
    missing = command("register", free_address(), "bot", cwd=tmp_path)
    assert missing.returncode == 1
    assert "Is a ladder there?" in missing.stderr
    (tmp_path / "empty.pem").write_text("no certificate")
    for words, said in (
        (["nowhere", "bot"], "'nowhere' is no address of a ladder: allowed are HOST:PORT"),
        (["localhost:1", "bot", "--tls-ca", "empty.pem"], "empty.pem is not a PEM file"),
        (["localhost:1", "bot", "--tls-ca", "missing.pem"], "missing.pem can't be read"),
    ):
        done = command("register", *words, cwd=tmp_path)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "0.0.0.0:0"], "can be reached from outside"),
        (["--listen", "nowhere"], "is no address"),
        (["--time", "bank=1"], "time_control.bank"),
        (["--matches", "0"], "allowed are numbers 1–1000"),
        (["--grace", "x"], "allowed are seconds 0.1–3600"),
        (["--tls-key", "k"], "--tls-cert"),
        (["--tls-client-ca", "k"], "without --tls-cert"),
        (["missing.toml"], "missing.toml can't be read"),
        (["--rules", "whist"], "whist"),
        (["--metrics", "0.0.0.0:1"], "can be reached from outside"),
    ],
)
def test_wrong_use_is_explained(tmp_path: Path, words: list[str], said: str) -> None:
    done = command("ladder", "--data", "data", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    # Nothing was begun.
    assert not (tmp_path / "data").exists()


# --- a crowd --------------------------------------------------------------------------------------


def test_a_small_crowd_plays_and_nobody_is_lost() -> None:
    figures = run(10, 20.0, *QUICK)
    assert figures.matches >= 10
    assert figures.matches_per_bot_least >= 1
    assert figures.streams_lost == 0
    assert figures.forfeits == 0
    assert figures.newcomers >= 1
    assert figures.newcomer_first_match_s_worst < 20.0  # each of them played
    assert figures.returned >= 1


def test_a_ladder_without_its_database_ends_and_says_why(tmp_path: Path) -> None:
    with hall(tmp_path, *QUICK) as at:
        asyncio.run(_lose_database(at, tmp_path / "data" / "rummy.sqlite3"))
        assert "was removed or replaced" in at.text


async def _lose_database(at: Hall, file: Path) -> None:
    caller = Caller(at.address)
    visitors = [Visitor(at.address, await caller.register(name)) for name in ("a", "b")]
    await asyncio.to_thread(file.unlink)
    for visitor in visitors:
        visitor.come()
    assert await asyncio.to_thread(at.process.wait, 60) == 1
    for visitor in visitors:
        await visitor.close()
    await caller.channel.close()


def test_the_python_of_the_page_works(tmp_path: Path) -> None:
    page = (ROOT / "docs/ladder.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    with hall(tmp_path, *QUICK) as at:
        done = subprocess.run(
            [sys.executable, "-c", code, at.address, "my-bot"],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    token, row = done.stdout.splitlines()
    assert len(token) == 43
    assert row == "0 my-bot@1 0.0 0"


def test_a_ladder_speaks_tls(tmp_path: Path) -> None:
    key = new_key(tmp_path / "key")
    cert = self_signed(tmp_path / "cert", key)
    with hall(tmp_path, *QUICK, "--tls-cert", str(cert), "--tls-key", str(key)) as at:
        address = at.address.replace("127.0.0.1", "localhost")
        done = command("register", address, "bot", "--tls-ca", str(cert), cwd=tmp_path)
        assert (done.returncode, len(done.stdout.strip())) == (0, 43), done.stderr
        # It says how it is to be called.
        assert f"tournament register {at.address} NAME VERSION --tls-ca CA.pem" in at.text
        assert f"RUMMY_REFEREE={at.address}, RUMMY_TLS_CA=CA.pem and RUMMY_TOKEN" in at.text
        plain = command("register", at.address, "other", cwd=tmp_path)
        assert plain.returncode == 1
        assert "One that speaks TLS takes --tls or --tls-ca" in " ".join(plain.stderr.split())
        (tmp_path / "stranger").mkdir()
        other = self_signed(tmp_path / "stranger" / "cert", new_key(tmp_path / "stranger" / "key"))
        done = command("register", address, "bot", "--tls-ca", str(other), cwd=tmp_path)
        assert done.returncode == 1
        # One error, in our own words.
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith(f"error: {address}: ")
        assert "with a certificate that you trust?" in " ".join(done.stderr.split())
