"""Tournament files: what they may say, and how wrong values are refused."""

import json
import re
import tomllib
from dataclasses import fields, replace
from datetime import UTC
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from tournament.config import (
    Config,
    Overrides,
    differences,
    from_table,
    full_table,
    load_config,
    read_config,
)
from tournament.errors import ConfigError, UsageError
from tournament.keys import as_toml

FULL = """
format = "round_robin"
seats = 3
encounters = 5
workers = 2
bots = ["greedy", "mine"]
seed = 7

[rules]
preset = "standard"
ceiling = 150
packs = {4 = 1}
hand_size = {4 = 7}

[time_control]
per_decision_ms = 200
bank_ms = 5000
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "cup.toml"
    file.write_text(text)
    return file


def test_a_complete_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    config = load_config(write(tmp_path, FULL), Overrides())
    assert (config.seats, config.encounters, config.workers, config.seed) == (3, 5, 2, 7)
    assert config.bots == ("greedy", str(tmp_path / "mine"))
    assert (config.rules.preset, config.rules.ceiling) == ("standard", 150)
    assert (config.rules.packs[4], config.rules.packs[5]) == (1, 2)
    assert (config.time_control.per_decision_ms, config.time_control.startup_ms) == (200, 10_000)


def test_what_is_stored_reads_back_the_same(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, FULL), Overrides())
    again = from_table(config.to_dict(), "store", stored=True)
    assert again == config
    assert again.hash == config.hash


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, ""), Overrides()) == Config()
    assert load_config(None, Overrides()) == Config()


def test_options_go_over_the_file(tmp_path: Path) -> None:
    options = Overrides(
        seats=2, encounters=1, workers=4, seed=9, rules={"ceiling": 200}, bots=["random", "greedy"]
    )
    config = load_config(write(tmp_path, FULL), options)
    assert (config.seats, config.encounters, config.workers, config.seed) == (2, 1, 4, 9)
    assert config.bots == ("random", "greedy")
    assert config.rules.ceiling == 200
    assert config.rules.packs[4] == 1
    assert config.time_control.per_decision_ms == 200


def test_another_preset_drops_the_rules_of_the_file(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, FULL), Overrides(preset="basic", rules={"target": 50}))
    assert (config.preset, config.overrides) == ("basic", {"target": 50})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("colour = 1", "there is no key 'colour': allowed are format, seats, encounters"),
        ('format = "knockout"', "format is 'knockout': allowed is round_robin or gauntlet or swi"),
        ('format = "single"', "format is 'single': allowed is round_robin or gauntlet or swiss"),
        ('format = "test"', "format is 'test': allowed is round_robin or gauntlet or swiss"),
        ("sprt = {elo0 = 1}", "there is no key 'sprt': allowed are format, "),
        (
            "rounds = 5",
            "rounds is 5: allowed is no value, as format is 'round_robin' and rounds goes",
        ),
        ('challengers = ["a"]', "challengers is ['a']: allowed is no value, as format is 'round_r"),
        ('format = "gauntlet"\nseats = 3\ntables = 4', "tables is 4: allowed is no value, as form"),
        ('format = "gauntlet"', "challengers is missing: format is 'gauntlet', which needs it; al"),
        (
            'format = "gauntlet"\nchallengers = []',
            "challengers is []: allowed is a list of names of bots, not empty, each once",
        ),
        (
            'format = "gauntlet"\nchallengers = ["a", "a"]',
            "challengers is ['a', 'a']: allowed is a list of names of bots, not empty, each once",
        ),
        ('untrusted = "ann"', "untrusted is 'ann': allowed is true, false or a list of names of b"),
        (
            "untrusted = [3]",
            "untrusted is [3]: allowed is a list of names of bots, not empty, each",
        ),
        (
            'format = "swiss"',
            "rounds is missing: format is 'swiss', which needs it; allowed is a w",
        ),
        ('format = "swiss"\nrounds = 0', "rounds is 0: allowed is a whole number, 1 or more"),
        (
            'format = "swiss"\nrounds = 3\nseats = 3',
            "seats is 3: allowed is 2, as format is 'swiss'",
        ),
        ("tables = 5", "tables is 5: allowed is no value, as seats is 2 and tables are for 3–6"),
        (
            "seats = 3\ntables = 5\nencounters = 2",
            "encounters is 2: allowed is no value beside tables, which are the encounters of all",
        ),
        ("seats = 3\ntables = 0", "tables is 0: allowed is a whole number, 1 or more"),
        ("seats = 7", "seats is 7: allowed is a whole number 2–6"),
        ("seats = true", "seats is true: allowed"),
        ("encounters = 0", "encounters is 0: allowed is a whole number, 1 or more"),
        ('encounters = "5"', "encounters is '5': allowed"),
        ("workers = -1", "workers is -1: allowed is a whole number 0–1000"),
        ("seed = 1.5", "seed is 1.5: allowed is a whole number 0–"),
        ("seed = 2024-01-01", "seed is 2024-01-01: allowed is a whole number 0–"),
        ("workers = {most = true}", "workers is {most = true}: allowed is a whole number 0–1000"),
        ('bots = "greedy"', "bots is 'greedy': allowed is a list of folders or names"),
        ("bots = [1]", "bots is [1]: allowed"),
        (
            "bots = []",
            "bots is []: allowed is a list of folders or names of bots, not empty",
        ),
        ('rules = "basic"', "rules is 'basic': allowed is a table"),
        ('rules = {preset = "poker"}', "rules: preset is 'poker': allowed are basic, standard"),
        ("rules = {preset = 1}", "rules.preset is 1: allowed is a text"),
        ("rules = {trumps = 1}", "rules: no rule is called 'trumps'"),
        ("rules = {target = 10}", "rules: target is 10"),
        ("time_control = 5", "time_control is 5: allowed is a table"),
        ("time_control = {total = 5}", "there is no key 'time_control.total': allowed are time_"),
        (
            "time_control = {bank_ms = true}",
            "time_control.bank_ms is true: allowed is a whole number of milliseconds",
        ),
        ("time_control = {bank_ms = -1}", "time_control.bank_ms is -1: allowed are whole"),
        ('seats = 5\nrules = {preset = "traditional"}', "rules: 5 seats: traditional is played by"),
    ],
)
def test_wrong_files_are_refused_by_file_key_and_value(
    tmp_path: Path, text: str, expected: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(file, Overrides())
    assert str(caught.value).startswith(f"{file}: {expected}")
    assert caught.value.exit_code == 2


def test_wrong_options_are_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="command line: seats is 9: allowed") as caught:
        load_config(write(tmp_path, FULL), Overrides(seats=9))
    assert caught.value.exit_code == 2


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read: No such file"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match=r"is not TOML: .*line 2"):
        read_config(write(tmp_path, "seats = 2\nencounters = \nworkers = 1"))
    with pytest.raises(ConfigError, match=r"is not TOML: .*at the end, line 3"):
        read_config(write(tmp_path, "seats = 2\n\nbots = [1"))
    with pytest.raises(
        ConfigError, match=r"is not TOML: Cannot declare rules\.own twice \(at line 2"
    ):
        read_config(write(tmp_path, "[rules.own]\n[rules.own]\n"))
    file = tmp_path / "cup.toml"
    file.write_bytes(b"seats = 2\nbots = ['\xff']\n")
    with pytest.raises(ConfigError, match="is not TOML: line 2 is not UTF-8"):
        read_config(file)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_bytes(b"\xef\xbb\xbfseats = 3\n")
    assert load_config(file, Overrides()).seats == 3


SWISS_FILE = 'format = "swiss"\nrounds = 3\n'
GAUNTLET_FILE = 'format = "gauntlet"\nchallengers = ["greedy"]\n'
TABLES_FILE = "seats = 3\ntables = 9\n"


@pytest.mark.parametrize("text", [SWISS_FILE, GAUNTLET_FILE, TABLES_FILE, FULL])
def test_a_file_of_any_format_is_stored_and_written_in_full_without_a_change(
    tmp_path: Path, text: str
) -> None:
    config = load_config(write(tmp_path, text), Overrides())
    for table in (config.to_dict(), full_table(config)):
        assert from_table(json.loads(json.dumps(table)), "store", stored=True).hash == config.hash
        file = write(tmp_path, tomli_w.dumps(table))
        assert load_config(file, Overrides()).hash == config.hash
    full = from_table(full_table(config), "full")
    assert full.rules == config.rules
    assert set(full_table(config)["rules"]) > {"ceiling", "hand_size"}  # type: ignore[call-overload]
    assert full_table(full) == full_table(config)


def test_rules_without_a_limit_can_stand_in_a_file() -> None:
    config = Config(overrides={"recycles_allowed": None, "max_melds_per_turn": None})
    again = from_table(tomllib.loads(tomli_w.dumps(full_table(config))), "full")
    assert again.rules == config.rules
    assert again.rules.recycles_allowed is None


def test_each_format_has_its_own_number_of_encounters(tmp_path: Path) -> None:
    swiss = load_config(write(tmp_path, SWISS_FILE), Overrides())
    assert (swiss.format, swiss.rounds, swiss.encounters, swiss.seats) == ("swiss", 3, 1, 2)
    gauntlet = load_config(write(tmp_path, GAUNTLET_FILE), Overrides())
    assert (gauntlet.challengers, gauntlet.encounters) == (("greedy",), 25)
    tables = load_config(write(tmp_path, TABLES_FILE), Overrides())
    assert (tables.tables, tables.encounters) == (9, 1)
    assert "encounters" not in tables.to_dict()


def test_bots_are_marked_as_untrusted_by_name_or_all(tmp_path: Path) -> None:
    bots = ("ann", "bob")
    for text, expected in (("false", ()), ("[]", ()), ("true", bots), ('["bob"]', ("bob",))):
        config = load_config(write(tmp_path, f"untrusted = {text}"), Overrides())
        assert config.untrusted_among(bots) == expected
        again = from_table(config.to_dict(), "store", stored=True)
        assert again.untrusted_among(bots) == expected
        assert config.hash == Config().hash  # it makes no difference to what is dealt
    config = load_config(write(tmp_path, 'untrusted = ["cid"]'), Overrides())
    with pytest.raises(ConfigError, match=r"untrusted names 'cid', which is no bot here: .* ann, "):
        config.untrusted_among(bots)


def test_options_for_how_much_is_played(tmp_path: Path) -> None:
    file = write(tmp_path, TABLES_FILE)
    assert load_config(file, Overrides(tables=12)).tables == 12
    by_set = load_config(file, Overrides(encounters=4))
    assert (by_set.tables, by_set.encounters) == (None, 4)
    assert load_config(write(tmp_path, FULL), Overrides(tables=7)).tables == 7
    with pytest.raises(UsageError, match="command line: encounters is 4: allowed is no value besi"):
        load_config(file, Overrides(tables=12, encounters=4))
    assert load_config(write(tmp_path, SWISS_FILE), Overrides(rounds=5)).rounds == 5
    with pytest.raises(UsageError, match="command line: rounds is 5: allowed is no value, as form"):
        load_config(write(tmp_path, FULL), Overrides(rounds=5))


def test_matches_are_counted_over_all_rounds() -> None:
    assert Config().match_count(4) == 6 * 25 * 2
    assert Config(format="swiss", rounds=3, encounters=2).match_count(7) == 3 * 3 * 2 * 2
    assert Config(seats=4, tables=10, encounters=1).match_count(9) == 40
    gauntlet = Config(format="gauntlet", challengers=("a",), encounters=1)
    assert gauntlet.match_count(5) == 4 * 2


def test_a_test_has_its_question() -> None:
    table: dict[str, object] = {"format": "test", "encounters": 50}
    config = from_table(table, "store", stored=True)
    assert config.sprt == {"elo0": 0, "elo1": 10, "alpha": 0.05, "beta": 0.05}
    other = from_table({**table, "sprt": {"elo1": 5, "alpha": 0.1}}, "store", stored=True)
    assert other.sprt == {"elo0": 0, "elo1": 5, "alpha": 0.1, "beta": 0.05}
    assert from_table(json.loads(json.dumps(other.to_dict())), "store", stored=True) == other
    assert other.hash != config.hash


@pytest.mark.parametrize(
    ("sprt", "expected"),
    [
        ({"elo2": 1}, "there is no key 'sprt.elo2': allowed are sprt.elo0, sprt.elo1, sprt.alpha"),
        ({"elo0": "1"}, "sprt.elo0 is '1': allowed is a number"),
        ({"elo0": True}, "sprt.elo0 is true: allowed is a number"),
        ({"elo1": float("nan")}, "sprt.elo1 is nan: allowed is −1000 to 1000"),
        ({"elo0": -2000}, "sprt.elo0 is -2000.0: allowed is −1000 to 1000"),
        ({"elo0": 10}, "sprt.elo1 is 10.0: allowed is more than elo0, 10"),
        ({"alpha": 0}, "sprt.alpha is 0.0: allowed is more than 0 and less than 0.5"),
        ({"beta": 0.5}, "sprt.beta is 0.5: allowed is more than 0 and less than 0.5"),
    ],
)
def test_questions_that_no_test_can_answer_are_refused(
    sprt: dict[str, object], expected: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        from_table({"format": "test", "sprt": sprt}, "store", stored=True)
    assert str(caught.value).startswith(f"store: {expected}")


def test_what_was_stored_before_there_were_more_formats_reads_the_same() -> None:
    stored: dict[str, object] = {
        "format": "round_robin",
        "seats": 2,
        "encounters": 25,
        "workers": 0,
        "rules": {"preset": "basic"},
        "time_control": {
            "per_decision_ms": 1000, "bank_ms": 30000, "startup_ms": 10000, "reconnect_ms": 30000,
            "match_cap_ms": 300000,
        },
        "bots": ["greedy", "random"],
        "seed": 7,
    }  # fmt: skip
    config = from_table(stored, "store", stored=True)
    assert config.to_dict() == stored
    assert config.hash == "7f91b592b9791fcb"  # as that version made it
    assert (
        from_table({**stored, "format": "single"}, "store", stored=True).hash == "74f2514ee1bb17d6"
    )


def test_the_hash_tells_what_matters() -> None:
    base = Config()
    assert base.hash == Config(workers=4, bots=("a",)).hash
    swiss = Config(format="swiss", rounds=3, encounters=1)
    gauntlet = Config(format="gauntlet", challengers=("a", "b"))
    sprt = {"elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05}
    test = Config(format="test", sprt=sprt)
    different = [
        base, Config(encounters=11), Config(seats=3), Config(seed=1), Config(preset="classic"),
        Config(overrides={"target": 50}), swiss, replace(swiss, rounds=4),
        replace(swiss, encounters=2), gauntlet, replace(gauntlet, challengers=("a", "c")),
        Config(seats=3, tables=5, encounters=1), Config(seats=3, tables=6, encounters=1),
        Config(seats=3, encounters=1), test,
        *(replace(test, sprt={**sprt, key: 0.01}) for key in sprt),
    ]  # fmt: skip
    assert len({config.hash for config in different}) == len(different)
    # Who challenges whom does not depend on the order of the names.
    assert replace(gauntlet, challengers=("b", "a")).hash == gauntlet.hash


DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL))
def test_every_file_of_the_documentation_can_be_read(tmp_path: Path, text: str) -> None:
    assert load_config(write(tmp_path, text), Overrides()) != Config()


def test_the_documentation_has_every_key() -> None:
    table = DOCS.partition("## The file")[2]
    keys = [
        key.partition(".")[0]
        for key in re.findall(r"^\| `([a-z_]+)[.A-Za-z]*`", table, re.MULTILINE)
    ]
    hidden = {"preset", "overrides", "sprt", "source"}
    expected = {item.name for item in fields(Config)} - hidden | {"rules"}
    assert set(keys) == expected


def test_a_changed_format_is_a_difference(tmp_path: Path) -> None:
    before = read_config(write(tmp_path, SWISS_FILE))
    after = read_config(write(tmp_path, GAUNTLET_FILE))
    assert differences(before, after) == [
        "challengers was not there and is ['greedy']",
        "format was 'swiss' and is 'gauntlet'",
        "rounds was 3 and is not there",
    ]


def test_differences_name_what_changed() -> None:
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == [
        "b was 2 and is 3",
        "c was not there and is 4",
    ]


def test_the_order_of_keys_is_no_difference() -> None:
    before = {"rules": {"preset": "basic", "target": 50}}
    after: dict[str, object] = {"rules": {"target": 50, "preset": "basic"}}
    assert differences(before, after) == []
    assert differences(before, {**after, "workers": 1}) == ["workers was not there and is 1"]


TOML_VALUES = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cc"]))
    | st.sampled_from(["it's", "two\nlines", "\\", '"', "", "\t"])
    | st.dates()
    | st.datetimes(timezones=st.just(UTC) | st.none())
    | st.times(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab-_ .'", max_size=5), inner),
    max_leaves=8,
)


@given(TOML_VALUES)
def test_values_are_shown_as_toml_writes_them(value: object) -> None:
    text = as_toml(value)
    assert tomllib.loads(f"value = {text}") == {"value": value}
    assert "\n" not in text
