"""What a ladder is to be: from a file, options, and what is stored."""

from pathlib import Path

import pytest

from referee.engine.presets import make_ruleset
from referee.match.spec import TimeControl
from tournament.errors import ConfigError, ResumeError, UsageError
from tournament.ladder.serve import called
from tournament.ladder.settings import (
    Asked,
    check_rules,
    config_to_play,
    read_asked,
    stored_table,
)
from tournament.store.stored import UNFINISHED, Tournament


def file_of(folder: Path, text: str) -> Path:
    path = folder / "ladder.toml"
    path.write_text(text)
    return path


def stored_as(asked: Asked) -> Tournament:
    config = read_asked(asked)
    table = {"format": "ladder", **stored_table(config)}
    return Tournament("l", table, config.rules_hash, "now", UNFINISHED, None, 0, 0)


def test_options_are_put_over_the_file(tmp_path: Path) -> None:
    file = file_of(
        tmp_path,
        'format = "ladder"\nseats = 3\n[rules]\npreset = "basic"\ndeals = 4\n'
        'match_end = "fixed_deals"\n[time_control]\nper_decision_ms = 300\nbank_ms = 5\n',
    )
    config = read_asked(Asked(file))
    assert (config.seats, config.rules.deals) == (3, 4)
    assert config.time_control == TimeControl(per_decision_ms=300, bank_ms=5)
    changed = read_asked(
        Asked(file, seats=2, rules={"deals": 7}, time=("bank_ms=9", "match_cap_ms=77"))
    )
    assert (changed.seats, changed.rules.deals) == (2, 7)
    assert changed.time_control == TimeControl(per_decision_ms=300, bank_ms=9, match_cap_ms=77)
    fresh = read_asked(Asked(file, preset="standard"))
    assert fresh.rules == make_ruleset("standard", {})  # the file's were for its own preset


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("encounters = 3\n", "a ladder has no key 'encounters': allowed are format, seats"),
        ('bots = ["greedy"]\n', "no key 'bots'"),
        ("seed = 1\n", "no key 'seed'"),
        ('format = "swiss"\n', "format is for a ladder: allowed is 'ladder'"),
        ("seats = 7\n", "seats is 7"),
        ("[rules]\nwings = 2\n", "wings"),
        ("[time_control]\nbank_ms = -1\n", "bank_ms is -1"),
        ("= 3\n", "is not TOML"),
    ],
)
def test_wrong_files_are_explained(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=r"ladder\.toml") as caught:
        read_asked(Asked(file_of(tmp_path, text)))
    assert said in str(caught.value)


@pytest.mark.parametrize("time", ["bank", "bank_ms=", "bank_ms=-1", "bank_ms=1.5", "wing_ms=2"])
def test_wrong_times_are_explained(time: str) -> None:
    with pytest.raises(UsageError, match=r"bank|wing"):
        read_asked(Asked(time=(time,)))


def test_a_stored_ladder_goes_on_as_it_was_begun() -> None:
    asked = Asked(rules={"match_end": "fixed_deals", "deals": 3}, time=("bank_ms=9",))
    stored = stored_as(asked)
    config = config_to_play(Asked(), stored)
    assert config == config_to_play(asked, stored)
    assert (config.rules.deals, config.time_control.bank_ms) == (3, 9)
    with pytest.raises(ResumeError, match=r"rules was .*another ladder needs another --data"):
        config_to_play(Asked(preset="standard"), stored)
    with pytest.raises(ResumeError, match="time_control was"):
        config_to_play(Asked(rules=asked.rules, time=("bank_ms=10",)), stored)


def test_a_ladder_of_another_version_is_not_played() -> None:
    stored = stored_as(Asked())
    changed = Tournament("l", stored.config, "other", "now", UNFINISHED, None, 0, 0)
    with pytest.raises(ResumeError, match="reads differently"):
        config_to_play(Asked(), changed)
    unknown = {**stored.config, "rules": {"preset": "later"}}
    with pytest.raises(ResumeError, match="another version"):
        config_to_play(Asked(), Tournament("l", unknown, "", "now", UNFINISHED, None, 0, 0))


@pytest.mark.parametrize("preset", ["basic", "standard", "standard-wta", "traditional", "classic"])
def test_a_test_match_is_one_deal_of_the_same_rules(preset: str) -> None:
    config = read_asked(Asked(preset=preset))
    short = check_rules(config)
    assert (short.match_end, short.deals) == ("fixed_deals", 1)
    assert short.hand_size == config.rules.hand_size
    short.check_seats(2)


def test_nobody_is_sent_to_an_address_that_is_everywhere() -> None:
    for address in ("127.0.0.1:5", "[::1]:5", "10.0.0.1:5", "name.example:5", "unix:/a/[::]:b"):
        assert called(address) == address
    assert called("0.0.0.0:50051") == "HOST:50051"
    assert called("[::]:7") == "HOST:7"
