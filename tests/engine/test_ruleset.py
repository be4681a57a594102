"""Rules as data: presets, overrides, every refusal with its fields, values and what is allowed."""

import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from referee.engine.presets import PRESETS, make_ruleset, merge_overrides, parse_override
from referee.engine.rule_checks import seat_numbers
from referee.engine.rule_fields import BY_SEATS, FIELDS, shown
from referee.engine.ruleset import RuleSet, RuleSetError
from tests.engine.reference_rules import PRESETS as REFERENCE_PRESETS
from tests.engine.reference_rules import make_rules

BASIC_HANDS = {"2": 10, "3": 7, "4": 7, "5": 6, "6": 6}


def refusal(preset: str, overrides: dict[str, object]) -> RuleSetError:
    with pytest.raises(RuleSetError) as raised:
        make_ruleset(preset, overrides)
    return raised.value


# --- presets ----------------------------------------------------------------------------------


def test_there_are_five_presets() -> None:
    assert list(PRESETS) == ["basic", "standard", "standard-wta", "traditional", "classic"]


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_is_valid_and_is_itself(preset: str) -> None:
    assert make_ruleset(preset) == PRESETS[preset]
    assert make_ruleset(preset, {}) == make_ruleset(preset, None)
    assert PRESETS[preset].preset == preset


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_equals_the_table_of_the_rules(preset: str) -> None:
    ours, theirs = make_ruleset(preset), make_rules(preset)
    assert set(PRESETS) == set(REFERENCE_PRESETS)
    for name in FIELDS:
        wanted = getattr(theirs, name)
        came = getattr(ours, name)
        if name in BY_SEATS:
            came = {seats: came[seats] for seats in seat_numbers(ours)}
            wanted = {seats: wanted[seats] for seats in seat_numbers(ours)}
        if wanted is not None or name not in ("target", "ceiling", "deals"):
            assert came == wanted, name


@pytest.mark.parametrize("preset", PRESETS)
def test_all_fields_of_a_preset_given_as_overrides_change_nothing(preset: str) -> None:
    rules = make_ruleset(preset)
    named = {name: value for name, value in rules.to_dict().items() if name != "preset"}
    assert set(named) == set(FIELDS)
    assert make_ruleset(preset, json.loads(json.dumps(named))) == rules


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        make_ruleset("basic").target = 300  # type: ignore[misc]


def test_rules_as_a_dictionary_have_maps_with_text_keys() -> None:
    named = make_ruleset("traditional").to_dict()
    assert named["preset"] == "traditional"
    assert named["hand_size"] == {"2": 10, "3": 7, "4": 7}
    assert named["packs"] == {"2": 1, "3": 1, "4": 1}
    assert named["max_melds_per_turn"] is None
    assert named["ace"] == "low"
    assert json.loads(json.dumps(named)) == named


@pytest.mark.parametrize("seats", [1, 5, 7])
def test_a_match_needs_a_number_of_seats_that_is_allowed(seats: int) -> None:
    rules = make_ruleset("traditional")
    rules.check_seats(2)
    rules.check_seats(4)
    with pytest.raises(
        RuleSetError, match=f"{seats} seats: traditional is played by 2–4"
    ) as raised:
        rules.check_seats(seats)
    assert raised.value.fields == ("seats_min", "seats_max")


# --- one value --------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["", "Basic", "gin", "standard_wta"])
def test_an_unknown_preset_is_refused(preset: str) -> None:
    error = refusal(preset, {})
    assert error.fields == ("preset",)
    assert str(error) == (
        f"preset is {preset!r}: allowed are basic, standard, standard-wta, traditional, classic"
    )


@pytest.mark.parametrize("name", ["preset", "Target", "hand", "hand-size", ""])
def test_an_unknown_field_is_refused(name: str) -> None:
    error = refusal("basic", {name: 1})
    assert error.fields == (name,)
    assert repr(name) in str(error)
    assert "seats_min, seats_max, packs" in str(error)


WRONG: dict[str, tuple[object, ...]] = {
    "seats_min": (1, 7, "2", 2.0, True, None),
    "seats_max": (1, 7, "6", None),
    "packs": (1, None, [1], {"1": 1}, {"7": 1}, {"2": 0}, {"2": 3}, {"2": True}, {"two": 1}),
    "hand_size": (10, "10", {"2": 2}, {"2": 14}, {"2": 7.0}, {"2": None}, {"02": 7}),
    "jokers": (-1, 5, "2", None, False),
    "wilds": ("joker", "Jokers", 1, True),
    "wild_swap": (0, 1, "true", None),
    "ace": ("high", 1, True),
    "ace_points": (0, 10, 11, "1", True, None),
    "set_suits": ("none", 2),
    "same_card_discard": ("unless last", True),
    "max_melds_per_turn": (0, 2, "1", True, "unlimited"),
    "layoff_gate": (True, "own_meld"),
    "go_out": ("discard", False),
    "final_discard_hidden": (0, "false", None),
    "recycle": (True, "reshuffle"),
    "recycle_keeps_upcard": (1, None),
    "recycles_allowed": (-1, "two", 1.0, True, "none"),
    "recycle_trigger": ("draw", 0),
    "exhausted_result": ("lowest", None),
    "cap_result": ("", None),
    "turn_cap_per_seat": (19, 0, "150", None, "unlimited"),
    "scoring": ("wta", None),
    "rummy_multiplier": (0, 4, 1.5, None),
    "rummy_requires_final_discard": (1, None),
    "match_end": ("never", None),
    "target": (49, 501, "100", None, True),
    "ceiling": (49, 501, None),
    "deals": (0, 201, None),
}


def test_every_field_has_wrong_values_to_try() -> None:
    assert set(WRONG) == set(FIELDS)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_wrong_value_is_refused_by_its_field_with_what_is_allowed(
    name: str, value: object
) -> None:
    error = refusal("classic", {name: value})
    assert error.fields == (name,)
    assert str(error).startswith(f"{name} is {shown(value)}: allowed are ")
    assert FIELDS[name].allowed in str(error)


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("wilds", None, "none"),
        ("layoff_gate", None, "none"),
        ("layoff_gate", "none", "none"),
        ("max_melds_per_turn", None, None),
        ("max_melds_per_turn", "none", None),
        ("recycles_allowed", None, None),
        ("recycles_allowed", "unlimited", None),
        ("recycles_allowed", 5, 5),
    ],
)
def test_nothing_and_no_limit_have_a_word_and_none(
    name: str, value: object, stored: object
) -> None:
    assert getattr(make_ruleset("basic", {name: value}), name) == stored


# --- values that do not go together -------------------------------------------------------------


TIED: list[tuple[str, dict[str, Any], tuple[str, ...], str]] = [
    ("basic", {"hand_size": {"6": 9}}, ("packs", "hand_size", "jokers", "seats_max"), "at least 2"),
    ("standard", {"packs": {"6": 1}}, ("packs", "hand_size", "jokers", "seats_min"), "6 seats"),
    ("basic", {"jokers": 2}, ("wilds", "jokers"), "jokers_and_deuces"),
    ("basic", {"jokers": 2, "wilds": "deuces"}, ("wilds", "jokers"), "jokers_and_deuces"),
    ("basic", {"wilds": "jokers"}, ("wilds", "jokers"), "1–4"),
    ("basic", {"wilds": "jokers_and_deuces"}, ("wilds", "jokers"), "1–4"),
    ("basic", {"wild_swap": True}, ("wild_swap", "wilds"), "other than none"),
    ("basic", {"ace_points": 15}, ("ace_points", "ace"), "high_or_low"),
    ("standard", {"rummy_multiplier": 2}, ("rummy_multiplier", "scoring"), "winner_takes_all"),
    (
        "traditional",
        {"rummy_requires_final_discard": True},
        ("rummy_requires_final_discard", "rummy_multiplier"),
        "2 or 3",
    ),
    ("basic", {"match_end": "elimination"}, ("match_end", "scoring"), "penalty"),
    ("classic", {"match_end": "first_over_lowest_wins"}, ("match_end", "scoring"), "penalty"),
    ("standard", {"match_end": "target"}, ("match_end", "scoring"), "winner_takes_all"),
    ("basic", {"recycle": "none"}, ("recycle", "recycles_allowed"), "exactly when"),
    ("basic", {"recycles_allowed": 0}, ("recycle", "recycles_allowed"), "exactly when"),
    ("basic", {"target": 60}, ("target", "preset"), "50, 75, … 300"),
    ("basic", {"target": 325}, ("target", "preset"), "50, 75, … 300"),
    ("basic", {"seats_min": 4, "seats_max": 3}, ("seats_min", "seats_max"), "above"),
    (
        "traditional",
        {"seats_max": 5},
        ("hand_size", "packs", "seats_min", "seats_max"),
        "5 seats",
    ),
    (
        "traditional",
        {"seats_max": 5, "packs": {"5": 1}},
        ("hand_size", "packs", "seats_max"),
        "hand_size needs an entry for 5 seats",
    ),
]


@pytest.mark.parametrize(("preset", "overrides", "fields", "allowed"), TIED)
def test_values_that_do_not_go_together_are_refused_naming_all_of_them(
    preset: str, overrides: dict[str, object], fields: tuple[str, ...], allowed: str
) -> None:
    error = refusal(preset, overrides)
    assert set(fields) <= set(error.fields)
    assert allowed in str(error)
    stated = make_ruleset(preset).to_dict() | {"preset": preset}
    for name in error.fields:
        value = stated[name] if name in BY_SEATS else overrides.get(name, stated[name])
        text = f"{name} = " if name in BY_SEATS else f"{name} = {shown(value)}"
        assert text in str(error)


@pytest.mark.parametrize(
    ("preset", "overrides"),
    [
        ("basic", {"hand_size": {"6": 8}}),
        ("basic", {"hand_size": {"4": 12}, "seats_max": 4}),
        ("basic", {"jokers": 2, "wilds": "jokers", "wild_swap": True}),
        ("basic", {"wilds": "deuces", "wild_swap": True}),
        ("basic", {"ace": "high_or_low", "ace_points": 15}),
        ("basic", {"recycle": "none", "recycles_allowed": 0}),
        ("basic", {"target": 300}),
        ("basic", {"target": 60, "match_end": "fixed_deals", "deals": 200}),
        ("classic", {"target": 51}),
        ("standard", {"match_end": "first_over_lowest_wins", "ceiling": 500}),
        ("standard", {"packs": {"5": 1, "6": 1}, "hand_size": {"5": 6, "6": 6}}),
        ("standard-wta", {"rummy_multiplier": 3, "rummy_requires_final_discard": True}),
        ("traditional", {"seats_max": 5, "packs": {"5": 1}, "hand_size": {"5": 6}}),
        ("basic", {"turn_cap_per_seat": 20}),
    ],
)
def test_values_at_the_edge_go_together(preset: str, overrides: dict[str, object]) -> None:
    rules = make_ruleset(preset, overrides)
    for name, value in overrides.items():
        if name not in BY_SEATS:
            assert getattr(rules, name) == value


def test_elimination_needs_rows_down_to_two_seats() -> None:
    rules = make_ruleset("standard", {"seats_min": 5})
    assert list(seat_numbers(rules)) == [2, 3, 4, 5, 6]
    error = refusal("standard", {"seats_min": 5, "hand_size": {"4": 13}})
    assert "hand_size" in error.fields
    wta = make_ruleset("standard-wta", {"seats_min": 5, "hand_size": {"4": 13}})
    assert list(seat_numbers(wta)) == [5, 6]


# --- overrides --------------------------------------------------------------------------------


def test_an_override_of_a_map_replaces_only_the_entries_that_it_names() -> None:
    rules = make_ruleset("basic", {"hand_size": {"5": 5, 3: 8}})
    assert rules.to_dict()["hand_size"] == {**BASIC_HANDS, "5": 5, "3": 8}
    assert rules.packs == make_ruleset("basic").packs
    assert make_ruleset("basic").to_dict()["hand_size"] == BASIC_HANDS


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("target=150", ("target", 150)),
        ("recycles_allowed=unlimited", ("recycles_allowed", "unlimited")),
        ("recycles_allowed=null", ("recycles_allowed", None)),
        ("wild_swap=true", ("wild_swap", True)),
        ("wild_swap=false", ("wild_swap", False)),
        ("hand_size.5=6", ("hand_size", {"5": 6})),
        ("ace=high_or_low", ("ace", "high_or_low")),
        ("target = 150 ", ("target", 150)),
        ("deals=-1", ("deals", -1)),
        ("ace=", ("ace", "")),
        ("ace==low", ("ace", "=low")),
    ],
)
def test_an_override_of_the_command_line_is_read(text: str, parsed: tuple[str, object]) -> None:
    assert parse_override(text) == parsed


@pytest.mark.parametrize("text", ["", "target", "=5", " = 5"])
def test_an_override_without_field_or_value_is_refused(text: str) -> None:
    with pytest.raises(RuleSetError, match="field=value"):
        parse_override(text)


@pytest.mark.parametrize(
    "text",
    [
        "deals=--1",
        "deals=-",
        "deals=1-",
        "deals=²",
        "deals=1e2",
        "deals=1_0",
        f"deals={'9' * 5000}",
    ],
)
def test_a_value_that_is_no_number_stays_text_and_is_refused_by_its_field(text: str) -> None:
    name, value = parse_override(text)
    assert refusal("basic", {name: value}).fields == ("deals",)


def test_several_overrides_of_one_map_add_up_and_of_one_field_the_last_counts() -> None:
    texts = ("hand_size.5=5", "target=75", "hand_size.6=5", "target=125", "hand_size.5=4")
    merged = merge_overrides(parse_override(text) for text in texts)
    assert merged == {"hand_size": {"5": 4, "6": 5}, "target": 125}
    rules = make_ruleset("basic", merged)
    assert rules.hand_size == (0, 0, 10, 7, 7, 4, 5)
    assert rules.target == 125
    assert merge_overrides([]) == {}


def test_a_map_by_the_wrong_name_is_refused() -> None:
    name, value = parse_override("target.5=6")
    assert refusal("basic", {name: value}).fields == ("target",)


def test_equal_rules_are_equal_and_can_be_keys() -> None:
    rules: dict[RuleSet, int] = {make_ruleset("basic"): 1, make_ruleset("basic", {"target": 75}): 2}
    assert rules[make_ruleset("basic", {"target": 100})] == 1
