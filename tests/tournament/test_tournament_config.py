"""Tournament files: what they may say, and how wrong values are refused."""

from pathlib import Path

import pytest

from tournament.config import (
    Config,
    Overrides,
    differences,
    from_table,
    load_config,
    read_config,
)
from tournament.errors import ConfigError, UsageError

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
        ('format = "knockout"', "format is 'knockout': allowed is round_robin"),
        ('format = "single"', "format is 'single': allowed is round_robin"),
        ("seats = 7", "seats is 7: allowed is a whole number 2–6"),
        ("seats = true", "seats is True: allowed"),
        ("encounters = 0", "encounters is 0: allowed is a whole number 1–1000000"),
        ('encounters = "5"', "encounters is '5': allowed"),
        ("workers = -1", "workers is -1: allowed is a whole number 0–1000"),
        ("seed = 1.5", "seed is 1.5: allowed is a whole number 0–"),
        ('bots = "greedy"', "bots is 'greedy': allowed is a list of folders or names"),
        ("bots = [1]", "bots is [1]: allowed"),
        (
            "bots = []",
            "bots is []: allowed is a list of folders or names of sample bots, not empty",
        ),
        ('rules = "basic"', "rules is 'basic': allowed is a table"),
        ('rules = {preset = "poker"}', "rules: preset is 'poker': allowed are basic, standard"),
        ("rules = {preset = 1}", "rules.preset is 1: allowed is a text"),
        ("rules = {trumps = 1}", "rules: no rule is called 'trumps'"),
        ("rules = {target = 10}", "rules: target is 10"),
        ("time_control = 5", "time_control is 5: allowed is a table"),
        ("time_control = {total = 5}", "there is no key 'time_control.total': allowed are time_"),
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
    with pytest.raises(ConfigError, match="is not TOML"):
        read_config(write(tmp_path, "seats = "))


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_bytes(b"\xef\xbb\xbfseats = 3\n")
    assert load_config(file, Overrides()).seats == 3


def test_the_hash_tells_what_matters() -> None:
    base = Config()
    assert base.hash == Config(workers=4, bots=("a",)).hash
    different = [
        Config(encounters=11), Config(seats=3), Config(seed=1), Config(preset="classic"),
        Config(overrides={"target": 50}),
    ]  # fmt: skip
    assert len({base.hash, *(config.hash for config in different)}) == 6


def test_differences_name_what_changed() -> None:
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == [
        "b was 2 and is 3",
        "c was None and is 4",
    ]
