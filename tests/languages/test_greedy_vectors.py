"""The decision vectors: fresh, wide enough, and sharp enough to tell a wrong strategy."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from referee.engine.presets import PRESETS
from rummy.referee.v1.play_pb2 import Decision
from rummy.referee.v1.rummy_pb2 import (
    ACE_LOW,
    GO_OUT_MUST_DISCARD,
    LAYOFF_GATE_NONE,
    PHASE_DRAW,
    SAME_CARD_DISCARD_FORBIDDEN,
    SET_SUITS_ANY,
    SET_SUITS_DISTINCT,
    WILDS_JOKERS,
    RuleSet,
)
from sample_bots.cards import has_wilds
from tests.languages import make_vectors
from tests.languages.vectors import (
    VECTORS,
    answer_entry,
    decision_of,
    greedy_answer,
    read_vectors,
    rules_of,
)


@pytest.fixture(scope="module")
def vectors() -> dict[str, Any]:
    return read_vectors()


@pytest.fixture(scope="module")
def positions(vectors: dict[str, Any]) -> list[tuple[RuleSet, Decision, dict[str, Any]]]:
    rules = [rules_of(entry) for entry in vectors["rules"]]
    return [
        (rules[entry["rules"]], decision_of(entry), entry["answer"])
        for entry in vectors["decisions"]
    ]


def test_the_file_is_what_the_program_makes() -> None:
    made = make_vectors.text_of(make_vectors.make())
    # Not one assert over both: a megabyte of differences would be no help.
    is_fresh = VECTORS.read_text(encoding="utf-8") == made
    assert is_fresh, "run: python -m tests.languages.make_vectors"


def test_the_python_bot_gives_every_answer(
    positions: Sequence[tuple[RuleSet, Decision, dict[str, Any]]],
) -> None:
    for rules, decision, answer in positions:
        assert answer_entry(greedy_answer(rules, decision)) == answer


def test_all_presets_and_all_numbers_of_seats_are_there(
    vectors: dict[str, Any],
    positions: Sequence[tuple[RuleSet, Decision, dict[str, Any]]],
) -> None:
    assert len(positions) >= 1_000
    seats = {
        (rules.preset, len(decision.observation.hand_counts)) for rules, decision, _ in positions
    }
    for preset, rules in PRESETS.items():
        assert {(preset, number) for number in range(rules.seats_min, rules.seats_max + 1)} <= seats
    assert {entry["rules"] for entry in vectors["decisions"]} == set(range(len(vectors["rules"])))
    draws = sum(decision.observation.phase == PHASE_DRAW for _, decision, _ in positions)
    wild_plays = sum(
        has_wilds(rules) and decision.observation.phase != PHASE_DRAW
        for rules, decision, _ in positions
    )
    plays = len(positions) - draws - wild_plays
    assert min(draws, plays, wild_plays) >= 50
    assert any(decision.legal_actions_cut for _, decision, _ in positions)


def _with(**fields: Any) -> Callable[[RuleSet, Decision], None]:
    """A bot that takes the rules to be other ones."""

    def change(rules: RuleSet, _: Decision) -> None:
        if not has_wilds(rules) or "wilds" in fields:
            for name, value in fields.items():
                setattr(rules, name, value)

    return change


def _without(field: str) -> Callable[[RuleSet, Decision], None]:
    """A bot that does not look at a field of the observation."""

    def change(_: RuleSet, decision: Decision) -> None:
        decision.observation.ClearField(field)  # type: ignore[arg-type]

    return change


def _any_number_of_melds(rules: RuleSet, _: Decision) -> None:
    rules.ClearField("max_melds_per_turn")


@pytest.mark.parametrize(
    "blind",
    [
        pytest.param(_with(ace=ACE_LOW), id="the ace high"),
        pytest.param(_with(set_suits=SET_SUITS_DISTINCT), id="any suits in a set"),
        pytest.param(_with(set_suits=SET_SUITS_ANY), id="distinct suits in a set"),
        pytest.param(_with(same_card_discard=SAME_CARD_DISCARD_FORBIDDEN), id="same card last"),
        pytest.param(_with(layoff_gate=LAYOFF_GATE_NONE), id="the gate before layoffs"),
        pytest.param(_with(go_out=GO_OUT_MUST_DISCARD), id="going out without a discard"),
        pytest.param(_with(ace_points=15), id="the points of an ace"),
        pytest.param(_with(wilds=WILDS_JOKERS), id="deuces"),
        pytest.param(_any_number_of_melds, id="one meld a turn"),
        pytest.param(_without("taken"), id="the card taken"),
        pytest.param(_without("melds_this_turn"), id="melds of this turn"),
        pytest.param(_without("table"), id="the table"),
    ],
)
def test_a_bot_that_misses_something_is_found_out(
    blind: Callable[[RuleSet, Decision], None],
    positions: Sequence[tuple[RuleSet, Decision, dict[str, Any]]],
) -> None:
    wrong = 0
    for known_rules, known_decision, answer in positions:
        rules, decision = RuleSet(), Decision()
        rules.CopyFrom(known_rules)
        decision.CopyFrom(known_decision)
        blind(rules, decision)
        try:
            wrong += answer_entry(greedy_answer(rules, decision)) != answer
        except ValueError:
            wrong += 1  # It found nothing that it may do.
    assert wrong >= 5
