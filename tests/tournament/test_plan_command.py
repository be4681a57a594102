"""`tournament plan`: what it prints is a file that plans the same, and nothing is stored."""

import json
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.tournament.fakes import bot_folder, command
from tournament.cli import app
from tournament.config import Overrides, load_config
from tournament.errors import UsageError


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with five bots and files of every format the current one, and return it."""
    monkeypatch.chdir(tmp_path)
    for name in "abcde":
        bot_folder(tmp_path / "bots", name)
    bots = 'bots = ["bots"]\n'
    (tmp_path / "all.toml").write_text(bots + "encounters = 3\nseed = 7\n")
    (tmp_path / "some.toml").write_text(
        bots + 'format = "gauntlet"\nchallengers = ["a", "e"]\n[rules]\npreset = "standard"\n'
    )
    (tmp_path / "swiss.toml").write_text(bots + 'format = "swiss"\nrounds = 4\n')
    (tmp_path / "tables.toml").write_text(
        bots + "seats = 3\ntables = 9\n[rules]\nceiling = 150\nhand_size = {3 = 8}\n"
    )
    return tmp_path


def planned(words: str) -> str:
    """What the command prints, run here; nothing else may be said."""
    done = CliRunner().invoke(app, ["plan", *shlex.split(words)], catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("words", "encounters", "matches", "rounds"),
    [
        ("all.toml", 30, 60, 1),
        ("all.toml --encounters 1 --seats 4", 5, 20, 1),
        ("some.toml", 7 * 25, 7 * 25 * 2, 1),
        ("swiss.toml", 8, 16, 4),
        ("swiss.toml --rounds 2 --encounters 3", 12, 24, 2),
        ("tables.toml", 9, 27, 1),
        ("tables.toml --tables 12 --seats 5", 12, 60, 1),
        ("--bots bots/a bots/b greedy --set target=150 --seed 3", 75, 150, 1),
        ("", 75, 150, 1),
    ],
)
def test_the_printed_file_plans_the_same(
    cup: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    encounters: int,
    matches: int,
    rounds: int,
) -> None:
    body = json.loads(planned(f"{words} --format json"))
    assert body["plan"]["encounters"] == encounters
    assert body["plan"]["matches"] == matches
    assert body["plan"]["rounds"] == rounds
    elsewhere = cup / "elsewhere"
    elsewhere.mkdir()
    texts = [planned(f"{words} --format {format_}") for format_ in ("table", "toml")]
    monkeypatch.chdir(elsewhere)
    for text in texts:
        assert tomllib.loads(text) == body["config"]
        (elsewhere / "full.toml").write_text(text)
        assert json.loads(planned("full.toml --format json")) == body
    assert {path.name for path in elsewhere.iterdir()} == {"full.toml"}
    assert not (cup / "rummy-data").exists()


def test_the_printed_file_is_the_same_tournament_for_a_resume(cup: Path) -> None:
    config = load_config(cup / "tables.toml", Overrides())
    (cup / "full.toml").write_text(planned("tables.toml"))
    assert load_config(cup / "full.toml", Overrides()).hash == config.hash


@pytest.mark.usefixtures("cup")
def test_counts_and_balance_stand_below_as_comments() -> None:
    text = planned("tables.toml")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert comments == [
        "# 5 bots: a, b, c, d, e",
        "# 9 encounters, 27 matches",
        "# a bot takes part in 5–6 (mean 5.40) encounters",
        "# two bots meet in 2–3 (mean 2.70) encounters",
        "# a bot sits in each seat in 5–6 (mean 5.40) matches",
        "# the seats of a bot differ by 0 matches",
        "# a bot sits right after another in 1–2 (mean 1.35) encounters",
    ]
    text = planned("swiss.toml")
    assert text.endswith("\n# 5 bots: a, b, c, d, e\n# 8 encounters, 16 matches in 4 rounds\n")
    assert "#" not in planned("tables.toml --format toml")
    balance = json.loads(planned("tables.toml --format json"))["plan"]["balance"]
    assert balance["appearances"] == {"least": 5, "mean": 5.4, "most": 6}
    assert json.loads(planned("all.toml --format json"))["plan"]["balance"] is None


@pytest.mark.usefixtures("cup")
def test_one_of_something_is_not_said_in_the_plural() -> None:
    text = planned("--bots bots/a bots/b bots/c --seats 3 --encounters 1")
    assert "# 3 bots: a, b, c\n# 1 encounter, 3 matches\n" in text
    assert "# two bots meet in 1 encounter\n" in text
    assert "# a bot sits in each seat in 1 match\n" in text
    assert "# a bot sits right after another in 0–1 (mean 0.50) encounters\n" in text
    text = planned("--bots bots/a bots/b bots/c --seats 3 --tables 20")
    assert "# a bot sits right after another in 10 encounters\n" in text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("swiss.toml --rounds 6", "command line: rounds is 6: allowed are 1–5 with 5 bots"),
        ("late.toml", "late.toml: rounds is 9: allowed are 1–5 with 5 bots"),
        ("swiss.toml --seats 3", "command line: seats is 3: allowed is 2, as format is 'swiss'"),
        ("all.toml --tables 3", "command line: tables is 3: allowed is no value, as seats is 2"),
        ("all.toml --rounds 3", "command line: rounds is 3: allowed is no value, as format is"),
        (
            "some.toml --bots bots/a bots/b",
            "challengers has 'e', which takes no part: allowed are a,",
        ),
        ("all.toml --seats 6", "there are 5 bots: a table of 6 seats needs 6"),
        ("all.toml --encounters 10001", "make 200020 matches: allowed are 200000"),
        ("none.toml", "none.toml can't be read: No such file"),
        ("--bots nowhere", "'nowhere' is neither a folder nor a sample bot"),
        ("broken.toml", "broken.toml is not TOML: "),
    ],
)
def test_what_run_refuses_is_refused(cup: Path, words: str, text: str) -> None:
    (cup / "broken.toml").write_text("seats = 2\nbots = [\n")
    late = (cup / "swiss.toml").read_text().replace("rounds = 4", "rounds = 9")
    (cup / "late.toml").write_text(late)
    with pytest.raises(UsageError) as caught:
        planned(words)
    assert text in str(caught.value)
    assert not (cup / "rummy-data").exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "swiss.toml --rounds 6",
            "error: swiss.toml with options of the command line: rounds is 6: allowed are 1–5",
        ),
        ("all.toml --format csv", "'csv': allowed is table|json|toml"),
    ],
)
def test_a_refusal_is_words_for_people_and_the_exit_code(cup: Path, words: str, text: str) -> None:
    done = command("plan", *words.split(), cwd=cup)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert "Traceback" not in done.stderr
