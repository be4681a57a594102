"""`crosstable`, `show`, `versions` and the other views: same columns in all data, every state."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.match.outcome import Termination
from tests.tournament.cups import HARM, harmful, store_cup
from tests.tournament.fakes import command, entry, match_result
from tournament.commands import bots, views
from tournament.commands.verdict import PASSED_OVER, verdict_view
from tournament.errors import StoreError, TournamentError, UsageError
from tournament.report.match import commitment_of
from tournament.report.render import Format, render
from tournament.runner.early_stop import Trial
from tournament.statistics.sprt import Sprt
from tournament.store.store import Store

VIEWS: dict[str, Callable[..., None]] = {
    "leaderboard": views.leaderboard,
    "crosstable": views.crosstable_command,
    "statistics": views.statistics,
    "matches": views.matches_command,
    "bots": bots.bots_command,
    "versions": views.versions,
    "show": lambda **options: views.show(match="0", **options),
}


@pytest.fixture
def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Call a view on the folder of the test and return what it writes to stdout."""

    def show(view: Callable[..., None], format_: Format, **options: object) -> str:
        capsys.readouterr()
        view(data=tmp_path, format_=format_, **options)
        return capsys.readouterr().out

    return show


def body(text: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(text)
    return read


STATES: dict[str, dict[str, Any]] = {
    "played": {},
    "nothing is played": {"legs": 0},
    "an encounter is half played": {"legs": 3},
    "six seats": {"names": "abcdef", "seats": 6, "encounters": 2},
    "names are long and texts do harm": {
        "names": [], "entries": [harmful("a" * 64), harmful("b" * 64), harmful("c_-9")],
    },
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", VIEWS)
def test_every_view_has_the_same_names_in_all_data(
    tmp_path: Path, shown: Callable[..., str], state: str, name: str
) -> None:
    store_cup(tmp_path, **STATES[state])
    view = VIEWS[name]
    read = body(shown(view, Format.JSON))
    assert read["tournament"]["id"] == "t1"
    rows = list(csv.DictReader(io.StringIO(shown(view, Format.CSV), newline="")))
    parts = {name: part for name, part in read.items() if name != "tournament"}
    lists = [part if isinstance(part, list) else [part] for part in parts.values()]
    assert len(rows) == sum(map(len, lists))
    names = {name for part in lists for row in part for name in row}
    if rows:
        assert {*rows[0]} - {"part"} >= names
        assert all(None not in row and None not in row.values() for row in rows)
    for format_ in (Format.TABLE, Format.MARKDOWN):
        text = shown(view, format_)
        assert text.replace("\n", "").isprintable()
        assert text.endswith("\n")


def test_the_crosstable_is_seen_from_both_sides(tmp_path: Path, shown: Callable[..., str]) -> None:
    store_cup(tmp_path, "abc", encounters=10)
    pairs = body(shown(views.crosstable_command, Format.JSON))["pairs"]
    assert len(pairs) == 6
    by_pair = {(row["bot"], row["opponent"]): row for row in pairs}
    for (bot, opponent), row in by_pair.items():
        other = by_pair[opponent, bot]
        assert row["wins"] == other["losses"]
        assert row["score"] == pytest.approx(1 - other["score"])
        assert (row["encounters"], row["matches"]) == (10, 20)
    ranked = [row["bot"] for row in body(shown(views.leaderboard, Format.JSON))["standings"]]
    lines = shown(views.crosstable_command, Format.MARKDOWN).splitlines()
    assert lines[0] == "| # | Bot | 1 | 2 | 3 |"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [row[1] for row in cells] == ranked
    assert [row[2 + number] for number, row in enumerate(cells)] == ["", "", ""]
    score = by_pair[ranked[0], ranked[2]]["score"]
    assert cells[0][4].startswith(f"{100 * score:.1f} ±")


def test_a_match_is_found_by_its_number_its_id_or_its_fixture(
    tmp_path: Path, shown: Callable[..., str]
) -> None:
    leg = store_cup(tmp_path)[3]
    found = [
        body(shown(views.show, Format.JSON, match=match))
        for match in ("3", "match3", leg.fixture_id)
    ]
    assert found[0] == found[1] == found[2]
    match, seats, legs = (found[0][name] for name in ("match", "seats", "legs"))
    assert (match["position"], match["fixture"], match["leg"]) == (3, leg.fixture_id, leg.leg)
    assert match["reasons"] == "a word for the organiser"
    assert [row["bot"] for row in seats] == list(leg.seats)
    assert (seats[0]["mean_ms"], seats[0]["worst_ms"], seats[0]["charged_ms"]) == (2.0, 5.0, 20.0)
    assert [row["is_this"] for row in legs] == [False, True]
    assert {row["encounter"] for row in [match]} == {leg.encounter_id}
    assert [row["position"] for row in legs] == [2, 3]


def test_a_match_that_is_not_played_has_seats_too(
    tmp_path: Path, shown: Callable[..., str]
) -> None:
    leg = store_cup(tmp_path, legs=0)[0]
    found = body(shown(views.show, Format.JSON, match="0"))
    assert [row["bot"] for row in found["seats"]] == list(leg.seats)
    assert found["seats"][0]["place"] is None
    assert found["match"]["commitment"] == ""
    assert "not played yet" in shown(views.show, Format.TABLE, match="0")


@pytest.mark.parametrize(
    ("record", "commitment"),
    [
        (b'{"kind":"match","commitment":"ab12"}\n{"kind":"x"}\n', "ab12"),
        (b"", ""), (b"no json\n", ""), (b"[1]\n", ""), (b"\xff\xfe\n", ""),
    ],
)  # fmt: skip
def test_the_commitment_comes_from_the_record(record: bytes, commitment: str) -> None:
    assert commitment_of(record) == commitment


def test_a_match_that_is_not_there_is_named(tmp_path: Path) -> None:
    store_cup(tmp_path)
    with pytest.raises(StoreError, match="no match 'nowhere'"):
        views.show(match="nowhere", data=tmp_path)


def test_versions_are_rated_over_tournaments_that_were_played_alike(
    tmp_path: Path, shown: Callable[..., str]
) -> None:
    store_cup(tmp_path, "abc", identity="t1")
    store_cup(tmp_path, "ab", identity="t2", encounters=2)
    store_cup(tmp_path, "abcd", identity="t3", seats=4)
    read = body(shown(views.versions, Format.JSON, tournament="t1"))
    assert sorted(read["tournament"]["tournaments"]) == ["t1", "t2"]
    rows = {row["bot"]: row for row in read["versions"]}
    assert (rows["a"]["matches"], rows["b"]["matches"], rows["c"]["matches"]) == (20, 20, 16)
    assert rows["a"]["content_hash"] == entry("a").content_hash
    [row] = body(shown(views.versions, Format.JSON, tournament="t1", bot="b"))["versions"]
    assert (row["bot"], row["rank"]) == ("b", 1)
    with pytest.raises(TournamentError, match=r"no bot 'z' in tournaments .* a, b, c"):
        views.versions(bot="z", tournament="t1", data=tmp_path)


def test_versions_that_another_program_played_are_not_compared(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.create_tournament(
            "t1", config={"format": "round_robin"}, config_hash="another", entries=[entry("a")],
            plan=[], secrets={}, salts={},
        )  # fmt: skip
    with pytest.raises(TournamentError, match="t1 was played under rules or defaults"):
        views.versions(data=tmp_path)


def test_statistics_count_what_was_played(tmp_path: Path, shown: Callable[..., str]) -> None:
    store_cup(tmp_path, "abc", encounters=5)
    read = body(shown(views.statistics, Format.JSON))
    assert {*read} == {
        "tournament", "pairs", "points", "seats", "mirroring", "times", "forfeits", "terminations",
    }  # fmt: skip
    overall = [row for row in read["pairs"] if row["opponent"] is None]
    assert [row["pairs"] for row in overall] == [10, 10, 10]
    assert {row["termination"]: row["count"] for row in read["terminations"]} == {
        "completed": 29, "forfeit": 1,
    }  # fmt: skip
    assert [row["count"] for row in read["forfeits"]] == [1]
    assert {row["bot"] for row in read["times"]} == {"a", "b", "c"}
    assert read["mirroring"]["encounters"] == 15
    # Shares of the time control: the longest decision took 5 ms of 1 s.
    assert read["times"][0]["worst_share"] == 0.005


def test_statistics_of_tables_have_no_pairs(tmp_path: Path, shown: Callable[..., str]) -> None:
    store_cup(tmp_path, "abc", seats=3)
    assert "pairs" not in body(shown(views.statistics, Format.JSON))


def test_a_leaderboard_of_one_bot_and_of_none(tmp_path: Path, shown: Callable[..., str]) -> None:
    with Store.open(tmp_path) as store:
        for identity, entries in (("t1", [entry("a")]), ("t2", [entry("a"), entry("b")])):
            store.create_tournament(
                identity, config={"format": "round_robin"}, config_hash="", entries=entries,
                plan=[], secrets={}, salts={},
            )  # fmt: skip
    for name in ("leaderboard", "crosstable", "statistics", "matches", "bots"):
        for identity in ("t1", "t2"):
            for format_ in Format:
                assert shown(VIEWS[name], format_, tournament=identity).endswith("\n")
    rows = body(shown(views.leaderboard, Format.JSON, tournament="t1"))["standings"]
    assert [(row["bot"], row["matches"], row["gap"]) for row in rows] == [("a", 0, None)]


def test_a_store_without_a_tournament_says_what_begins_one(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with pytest.raises(TournamentError, match="has no tournament yet: `tournament run` begins"):
        views.leaderboard(data=tmp_path)


def test_seconds_without_watch_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'t1': seconds are for --watch; --tournament takes"):
        views.leaderboard(seconds="t1", data=tmp_path)


def test_an_unfinished_tournament_is_called_provisional(
    tmp_path: Path, shown: Callable[..., str]
) -> None:
    store_cup(tmp_path, legs=2)
    assert "2 of 24 matches, provisional" in shown(views.leaderboard, Format.TABLE)
    store_cup(tmp_path, identity="t2")
    assert "provisional" not in shown(views.leaderboard, Format.TABLE, tournament="t2")


def test_rows_whose_order_is_open_are_marked(tmp_path: Path, shown: Callable[..., str]) -> None:
    store_cup(tmp_path, "ab", legs=2)
    text = shown(views.leaderboard, Format.TABLE)
    row = body(shown(views.leaderboard, Format.JSON))["standings"][0]
    assert not row["is_significant"]
    sign = "?" if row["is_significant"] is None else "≈"
    assert f"\n{sign} " in text


@pytest.mark.parametrize(
    ("scores", "verdict", "json_name"),
    [
        ([1.0] * 60, "H1 accepted: stronger by 200 rather than 0 Elo", "accepted_h1"),
        ([0.0] * 60, "H0 accepted: stronger by 0 rather than 200 Elo", "accepted_h0"),
        ([1.0, 0.0], "undecided", "undecided"),
    ],
)
def test_a_verdict_is_told_in_words(
    tmp_path: Path, scores: list[float], verdict: str, json_name: str
) -> None:
    store_cup(tmp_path, "ab")
    sprt = Sprt(elo0=0, elo1=200, alpha=0.05, beta=0.05)
    trial = Trial("a", "b", sprt.judge(scores), scores, planned=5_000, unplayed=2)
    with Store.view(tmp_path) as store:
        view = verdict_view(store.tournament("t1"), trial, sprt)
    text = render(view, Format.TABLE)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert f"Verdict {verdict}" in lines
    assert f"Encounters {len(scores)} of at most 5000" in lines
    assert "Passed over 2" in lines
    assert PASSED_OVER in lines
    assert body(render(view, Format.JSON))["test"]["outcome"] == json_name


def test_views_of_the_command_write_data_alone_to_stdout(tmp_path: Path) -> None:
    store_cup(tmp_path / "rummy-data", entries=[harmful("a"), harmful("b")])
    for words in (["crosstable"], ["statistics"], ["show", "1"], ["versions"], ["versions", "a"]):
        done = command(*words, "--format", "json", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert json.loads(done.stdout)["tournament"]["id"] == "t1"
    done = command("bots", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["bots"][0]["author"] == HARM
    done = command("show", "99", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no match '99' in tournament 't1'" in done.stderr


def test_a_result_of_nobody_counts_for_nobody(tmp_path: Path, shown: Callable[..., str]) -> None:
    legs = store_cup(tmp_path, "ab", encounters=1, legs=0)
    with Store.open(tmp_path) as store:
        unready = match_result([0, 0], termination=Termination.NOT_STARTED)
        for leg in legs:
            store.save_result("t1", leg.fixture_id, unready)
    rows = body(shown(views.leaderboard, Format.JSON))["standings"]
    assert [row["matches"] for row in rows] == [0, 0]
    assert body(shown(views.crosstable_command, Format.JSON))["pairs"][0]["score"] is None
