"""`tournament bots` and `withdraw`: what they show and say, in every state."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.tournament.cups import harmful, store_cup
from tests.tournament.fakes import entry
from tournament.commands.bots import bots_command, withdraw
from tournament.errors import StoreError, TournamentError, UsageError
from tournament.report.render import Format
from tournament.store.registry import Registry
from tournament.store.store import Store

KEYS = [
    "bot", "version", "author", "language", "content_hash", "runs", "is_untrusted", "submitted",
    "matches", "withdrawn", "paused",
]  # fmt: skip


def _register(data: Path, *names: str) -> None:
    with Store.open(data) as store:
        for name in names:
            Registry(store).register(entry(name), is_elsewhere=False)


def test_without_submissions_they_are_those_of_the_latest_tournament(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store_cup(tmp_path)
    bots_command(data=tmp_path)
    told = capsys.readouterr()
    assert "/nowhere/a" in told.out
    assert "No bot was submitted; these took part in the latest tournament, t1" in told.err
    bots_command(data=tmp_path, format_=Format.JSON)
    told = capsys.readouterr()
    assert json.loads(told.out)["tournament"]["id"] == "t1"
    assert told.err == ""


def test_submitted_bots_with_what_they_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = store_cup(tmp_path)
    _register(tmp_path, "a", "z")
    bots_command(data=tmp_path, format_=Format.JSON)
    body = json.loads(capsys.readouterr().out)
    assert body["tournament"] is None
    assert [list(row) for row in body["bots"]] == [KEYS, KEYS]
    assert [row["bot"] for row in body["bots"]] == ["a", "z"]
    played = sum("a" in leg.seats for leg in plan)
    assert [row["matches"] for row in body["bots"]] == [played, 0]
    bots_command(data=tmp_path, format_=Format.CSV)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == KEYS
    assert rows[0]["matches"] == str(played)
    bots_command(data=tmp_path, tournament="t1", format_=Format.JSON)
    body = json.loads(capsys.readouterr().out)
    assert body["tournament"]["id"] == "t1"
    assert [row["bot"] for row in body["bots"]] == ["a", "b", "c"]


def test_texts_that_do_harm_stay_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open(tmp_path) as store:
        Registry(store).register(harmful("a"), is_elsewhere=False)
    for format_ in Format:
        bots_command(data=tmp_path, format_=format_)
        text = capsys.readouterr().out
        assert "\x1b" not in text or format_ is Format.CSV
        if format_ is Format.JSON:
            assert json.loads(text)["bots"][0]["author"] == harmful("a").author


def test_withdrawing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_cup(tmp_path)
    _register(tmp_path, "a", "b")
    withdraw(bot="a", data=tmp_path)
    assert "a 1.0 is withdrawn; what it played stays" in capsys.readouterr().err
    withdraw(bot="a@1.0", data=tmp_path)
    with Store.view(tmp_path) as store:
        since = Registry(store).of("a")[0].withdrawn
    assert f"a 1.0 was withdrawn already, at {since}" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"a has no version '2': submitted are 1\.0"):
        withdraw(bot="a", version="2", data=tmp_path)
    with pytest.raises(UsageError, match=r"--version is '1\.0', and 'a@2' says another one"):
        withdraw(bot="a@2", version="1.0", data=tmp_path)
    with pytest.raises(UsageError, match="no bot 'x' was submitted: submitted are a, b"):
        withdraw(bot="x", data=tmp_path)
    bots_command(data=tmp_path)
    shown = capsys.readouterr().out
    assert "withdrawn" in shown
    assert "may play" in shown


def test_where_nothing_was_stored_yet(tmp_path: Path) -> None:
    with Store.open(tmp_path):
        pass
    with pytest.raises(TournamentError, match="no bot was submitted yet: `tournament submit"):
        bots_command(data=tmp_path)


def test_where_there_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        bots_command(data=tmp_path)
    with pytest.raises(StoreError, match="does not exist"):
        withdraw(bot="a", data=tmp_path)
    assert list(tmp_path.iterdir()) == []
