"""Pairs of legs: the five counts, Elo and its limits, and what counts while a test is running."""

import math
from dataclasses import asdict
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scale import repeatable
from tests.tournament.statistics_cases import bots_of, leg, pair, renamed, seat, whole_encounters
from tournament.statistics.pairs import (
    PAIR_SCORES,
    elo_difference,
    expected_score,
    overall_rows,
    pair_row,
    pair_rows,
    pair_scores,
    plan_prefix,
)
from tournament.statistics.standings import LegResult

letters = st.sampled_from([a + b for a, b in product("WDL", repeat=2)])


def played(*results: str, bots: str = "ab", start: int = 0) -> list[LegResult]:
    """Encounters of two bots with these results."""
    return [
        each
        for number, result in enumerate(results)
        for each in pair(f"{bots}{number}", start + 2 * number, result, bots)
    ]


@repeatable
@given(st.lists(letters, max_size=40))
def test_the_five_counts_are_those_of_the_results(results: list[str]) -> None:
    rows = {(row.bot, row.opponent): row for row in pair_rows(played(*results))}
    kinds = ["".join(sorted(result, reverse=True)) for result in results]
    if not results:
        assert rows == {}
        return
    row, back = rows["a", "b"], rows["b", "a"]
    expected = [
        kinds.count("LL"), kinds.count("LD"), kinds.count("WL") + kinds.count("DD"),
        kinds.count("WD"), kinds.count("WW"),
    ]  # fmt: skip
    assert [row.ll, row.ld, row.wl_dd, row.wd, row.ww] == expected
    assert [back.ww, back.wd, back.wl_dd, back.ld, back.ll] == expected
    assert row.pairs == sum(expected) == len(results)
    worth = {"W": 1.0, "D": 0.5, "L": 0.0}
    assert row.score == pytest.approx(sum(map(worth.__getitem__, "".join(results))) / 2 / row.pairs)


@repeatable
@given(st.lists(letters, min_size=2, max_size=40))
def test_the_other_view_is_the_opposite(results: list[str]) -> None:
    rows = {row.bot: row for row in pair_rows(played(*results))}
    one, other = asdict(rows["a"]), asdict(rows["b"])
    for name, opposite in (
        ("elo", "elo"), ("elo_low", "elo_high"), ("elo_high", "elo_low"),
        ("normalised_elo", "normalised_elo"), ("normalised_low", "normalised_high"),
    ):  # fmt: skip
        if one[name] is None:
            assert other[opposite] is None
        elif abs(one[name]) < 2_000:
            assert other[opposite] == pytest.approx(-one[name], rel=1e-6, abs=1e-6)
    assert one["los"] + other["los"] == pytest.approx(1)


def test_figures_of_a_hundred_pairs() -> None:
    scores = [score for score, n in zip(PAIR_SCORES, (10, 20, 40, 25, 15), strict=True)
              for _ in range(n)]  # fmt: skip
    row = pair_row(scores, "a", "b")
    number, mean = 110, 58.75 / 110
    variance = sum((score - mean) ** 2 for score in scores) / number
    assert row.score == pytest.approx(mean)
    assert row.elo == pytest.approx(-400 * math.log10(1 / mean - 1))
    assert row.normalised_elo == pytest.approx(
        (mean - 0.5) / math.sqrt(2 * variance) * 800 / math.log(10)
    )
    # With as many pairs, close to the mean ± 1.96 standard errors and the normal probability.
    error = math.sqrt(variance / number)
    assert row.low == pytest.approx(mean - 1.98 * error, abs=0.002)
    assert row.high == pytest.approx(mean + 1.98 * error, abs=0.002)
    assert row.los == pytest.approx(
        (1 + math.erf((mean - 0.5) / error / math.sqrt(2))) / 2, abs=4e-3
    )
    assert row.elo_low == elo_difference(row.low)
    assert row.elo_high == elo_difference(row.high)


def test_a_shut_out_has_a_limit_on_one_side_only() -> None:
    row = pair_row([1.0] * 20, "a", "b")
    assert (row.score, row.elo, row.elo_high, row.normalised_elo) == (1, None, None, None)
    assert row.elo_low is not None
    assert 150 < row.elo_low < 500
    assert row.los is not None
    assert 0.999 < row.los < 1
    back = pair_row([0.0] * 20, "b", "a")
    assert (back.elo, back.elo_low) == (None, None)
    assert back.elo_high == pytest.approx(-row.elo_low)


@pytest.mark.parametrize("scores", [[], [0.75]])
def test_too_few_pairs_say_nothing(scores: list[float]) -> None:
    row = pair_row(scores, "a")
    assert row.pairs == len(scores)
    assert (row.low, row.high, row.elo_low, row.elo_high, row.los) == (None,) * 5
    assert (row.normalised_elo, row.normalised_low) == (None, None)
    assert row.elo == (pytest.approx(190.848, abs=1e-3) if scores else None)


@repeatable
@given(st.floats(-900, 900))
def test_elo_and_score_are_inverse(elo: float) -> None:
    assert elo_difference(expected_score(elo)) == pytest.approx(elo, abs=1e-6)


@repeatable
@given(whole_encounters(seats=2), st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(legs: list[LegResult], chance: Random) -> None:
    rows = pair_rows(legs)
    shuffled = list(legs)
    chance.shuffle(shuffled)
    bots = bots_of(legs)
    assert pair_rows(shuffled) == rows
    assert overall_rows(bots, shuffled) == overall_rows(bots, legs)
    names = {bot: f"x{9 - number}" for number, bot in enumerate(bots)}
    back = {new: old for old, new in names.items()}
    other = {
        (back[row.bot], back[row.opponent or ""]): {**asdict(row), "bot": "", "opponent": ""}
        for row in pair_rows(renamed(legs, names))
    }
    assert other == {
        (row.bot, row.opponent): {**asdict(row), "bot": "", "opponent": ""} for row in rows
    }


@repeatable
@given(whole_encounters(seats=2))
def test_overall_is_the_sum_over_opponents(legs: list[LegResult]) -> None:
    rows = pair_rows(legs)
    for overall in overall_rows([*bots_of(legs), "idle"], legs):
        own = [row for row in rows if row.bot == overall.bot]
        assert overall.opponent is None
        for name in ("pairs", "ll", "ld", "wl_dd", "wd", "ww"):
            assert getattr(overall, name) == sum(getattr(row, name) for row in own)
        assert pair_row(pair_scores(legs, overall.bot), overall.bot) == overall
        for row in own:
            scores = pair_scores(legs, overall.bot, row.opponent)
            assert pair_row(scores, overall.bot, row.opponent) == row


def test_scores_come_in_plan_order() -> None:
    legs = played("WW", "LL", "WD", "DL")
    assert pair_scores(legs[::-1], "a") == [1, 0, 0.75, 0.25]
    assert pair_scores(legs, "b", "a") == [0, 1, 0.25, 0.75]
    assert pair_scores(legs, "a", "c") == []


def test_only_the_beginning_of_the_plan_counts() -> None:
    legs = played("WW", "LL", "WD", "DL")
    plan = [(f"ab{number}", 2) for number in range(5)]
    assert plan_prefix(plan, legs, "a") == [1, 0, 0.75, 0.25]
    # The second encounter lacks a leg: what was faster than it waits.
    assert plan_prefix(plan, legs[:3] + legs[4:], "a") == [1]
    assert plan_prefix(plan, legs[2:], "a") == []
    assert plan_prefix(plan, legs[2:], "a", unplayed={"ab0"}) == [0, 0.75, 0.25]
    nobody = leg("ab1", 2, seat("a", 0), seat("b", 0), has_result=False)
    assert plan_prefix(plan, [*legs[:2], nobody, *legs[3:]], "a") == [1, 0.75, 0.25]
    assert plan_prefix(plan, [*legs[:2], nobody, *legs[4:]], "a") == [1, 0.75, 0.25]


@repeatable
@given(st.lists(letters, max_size=10), st.randoms(use_true_random=False))
def test_what_counts_only_grows_whoever_finishes_first(results: list[str], chance: Random) -> None:
    legs = played(*results)
    plan = [(f"ab{number}", 2) for number in range(len(results))]
    arrived = list(legs)
    chance.shuffle(arrived)
    final = pair_scores(legs, "a")
    for number in range(len(arrived) + 1):
        found = plan_prefix(plan, arrived[:number], "a")
        assert found == final[: len(found)]
    assert plan_prefix(plan, arrived, "a") == final


def test_wrong_tables_and_scores_are_refused() -> None:
    three = [leg("e", 0, seat("a", 1), seat("b", 2), seat("c", 3))]
    for call in (lambda: pair_rows(three), lambda: overall_rows("abc", three),
                 lambda: pair_scores(three, "a")):  # fmt: skip
        with pytest.raises(ValueError, match="a table has 3 seats: pairs of legs are for 2 seats"):
            call()
    with pytest.raises(ValueError, match=r"score of a pair of legs is 0.6: allowed are 0, 0\.25"):
        pair_row([0.5, 0.6], "a")
