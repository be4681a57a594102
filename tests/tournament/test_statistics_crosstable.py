"""The crosstable against counting by hand, whatever order and names the results have."""

from dataclasses import asdict
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scale import repeatable
from tests.tournament.statistics_cases import bots_of, leg, pair, renamed, seat, whole_encounters
from tournament.statistics.crosstable import Cell, crosstable
from tournament.statistics.intervals import score_interval
from tournament.statistics.standings import LegResult


def counted_by_hand(legs: list[LegResult], bot: str, opponent: str) -> dict[str, object]:
    """A cell from all legs, one question after the other."""
    both = [each for each in legs if {bot, opponent} <= {row.bot for row in each.seats}]
    rows = [{row.bot: row for row in each.seats} for each in both]
    better = [row[opponent].place - row[bot].place for row in rows]
    scores = [(1 if gap > 0 else 0.5 if gap == 0 else 0) for gap in better]
    encounters = sorted({each.encounter_id for each in both})
    means = [
        mean(score for each, score in zip(both, scores, strict=True) if each.encounter_id == name)
        for name in encounters
    ]
    interval = score_interval(means)
    return {
        "encounters": len(encounters),
        "matches": len(both),
        "wins": sum(gap > 0 for gap in better),
        "draws": better.count(0),
        "losses": sum(gap < 0 for gap in better),
        "score": pytest.approx(mean(scores)) if scores else None,
        "low": None if interval.low is None else pytest.approx(interval.low, abs=1e-9),
        "high": None if interval.high is None else pytest.approx(interval.high, abs=1e-9),
        "points": mean(row[bot].total for row in rows) if rows else None,
    }


@repeatable
@given(whole_encounters())
def test_every_cell_is_what_counting_says(legs: list[LegResult]) -> None:
    bots = [*bots_of(legs), "idle"]
    cells = crosstable(bots, legs)
    pairs = [(bot, other) for bot in sorted(bots) for other in sorted(bots) if bot != other]
    assert [(cell.bot, cell.opponent) for cell in cells] == pairs
    for cell in cells:
        found = {**asdict(cell)}
        assert (found.pop("bot"), found.pop("opponent")) == (cell.bot, cell.opponent)
        assert found == counted_by_hand(legs, cell.bot, cell.opponent)


@repeatable
@given(whole_encounters())
def test_both_views_agree_and_sums_hold(legs: list[LegResult]) -> None:
    cells = {(cell.bot, cell.opponent): cell for cell in crosstable(bots_of(legs), legs)}
    for (bot, opponent), cell in cells.items():
        back = cells[opponent, bot]
        assert cell.wins + cell.draws + cell.losses == cell.matches == back.matches
        assert (cell.wins, cell.draws, cell.losses) == (back.losses, back.draws, back.wins)
        if cell.score is not None:
            assert back.score is not None
            assert cell.score + back.score == pytest.approx(1)
            assert cell.score * cell.matches == pytest.approx(cell.wins + cell.draws / 2)
        if cell.low is not None:
            assert back.high is not None
            assert cell.low + back.high == pytest.approx(1, abs=1e-9)
    seats = len(legs[0].seats) if legs else 0
    meetings = len(legs) * seats * (seats - 1)
    assert sum(cell.matches for cell in cells.values()) == meetings
    assert sum((cell.score or 0) * cell.matches for cell in cells.values()) == pytest.approx(
        meetings / 2
    )


@repeatable
@given(whole_encounters(), st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(legs: list[LegResult], chance: Random) -> None:
    bots = bots_of(legs)
    cells = crosstable(bots, legs)
    shuffled = list(legs)
    chance.shuffle(shuffled)
    assert crosstable(reversed(bots), shuffled) == cells
    names = {bot: f"x{9 - number}" for number, bot in enumerate(bots)}
    assert _by_pair(crosstable(names.values(), renamed(legs, names))) == {
        (names[bot], names[opponent]): cell for (bot, opponent), cell in _by_pair(cells).items()
    }


def _by_pair(cells: list[Cell]) -> dict[tuple[str, str], dict[str, object]]:
    return {
        (cell.bot, cell.opponent): {**asdict(cell), "bot": "", "opponent": ""} for cell in cells
    }


def test_nobody_one_bot_and_bots_that_never_met() -> None:
    assert crosstable([], []) == []
    assert crosstable(["a"], []) == []
    unplayed = Cell("a", "b", 0, 0, 0, 0, 0, None, None, None, None)
    assert crosstable(["b", "a"], [])[0] == unplayed


def test_one_encounter_has_a_score_without_limits() -> None:
    cell, _ = crosstable("ab", pair("e", 0, "WD"))
    assert (cell.encounters, cell.matches, cell.score) == (1, 2, 0.75)
    assert (cell.low, cell.high, cell.points) == (None, None, 30)


def test_legs_of_one_encounter_count_as_one_observation() -> None:
    # In 20 encounters a wins both legs or loses both: 40 matches tell no more than 20.
    legs = [
        each
        for number in range(20)
        for each in pair(f"e{number}", 2 * number, "WW" if number % 2 else "LL")
    ]
    # Whoever sits first wins: each encounter is even, and nothing varies.
    even = [each for number in range(20) for each in pair(f"e{number}", 2 * number, "WL")]
    cell, _ = crosstable("ab", legs)
    steady, _ = crosstable("ab", even)
    assert (cell.score, steady.score) == (0.5, 0.5)
    assert (cell.wins, cell.losses) == (steady.wins, steady.losses) == (20, 20)
    assert cell.low is not None
    assert steady.low is not None
    assert cell.low == pytest.approx(0.2753, abs=0.02)  # ½ − 2.093 · ½/√19.4, skewed a little
    assert steady.low > 0.44


def test_at_larger_tables_a_bot_wins_against_those_behind_it() -> None:
    legs = [
        leg("e", 0, seat("a", 1, total=90), seat("b", 2), seat("c", 2)),
        leg("e", 1, seat("b", 1), seat("c", 2), seat("a", 3, total=10)),
    ]
    cells = {(cell.bot, cell.opponent): cell for cell in crosstable("abc", legs)}
    assert [cells["a", "b"].score, cells["b", "c"].score, cells["c", "a"].score] == [0.5, 0.75, 0.5]
    assert (cells["a", "b"].points, cells["b", "c"].draws) == (50, 1)
