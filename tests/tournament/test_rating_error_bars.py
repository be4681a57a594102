"""Error bars against leaving encounters out, in the cases where they are small, and in general."""

import math
import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tournament.rating_simulation import play, tables
from tournament.rating import error_bars as module
from tournament.rating.environment import RatedMatch
from tournament.rating.error_bars import Difference, error_bars
from tournament.rating.order_free import fit


def encounters(*legs: str) -> list[RatedMatch]:
    """Of "ab cd" a wins the first leg of an encounter and c the second; "a=b" is a draw."""
    matches: list[RatedMatch] = []
    for number, encounter in enumerate(legs):
        for leg in encounter.split():
            places = {leg[0]: 1, leg[-1]: 1 if "=" in leg else 2}
            matches.append(RatedMatch(len(matches), f"e{number}", places))
    return matches


def difference(matches: list[RatedMatch], first: str = "a", second: str = "b") -> Difference:
    found = error_bars(fit(matches), matches).difference(first, second)
    assert found is not None
    return found


def width(matches: list[RatedMatch], first: str = "a", second: str = "b") -> float:
    found = difference(matches, first, second)
    return found.high - found.low


@pytest.mark.parametrize("seats", [2, 3])
def test_the_scatter_is_that_of_leaving_each_encounter_out(
    seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The jackknife needs no formula: refit without an encounter, and see what moves."""
    monkeypatch.setattr(module, "MODEL_WEIGHT", 0.0)
    number = 4
    plan = tables(number, seats, encounters=12 if seats == 2 else 8)
    matches = play(random.Random(7), [25.0, 26.0, 27.5, 30.0], plan, luck=0.4)
    whole = fit(matches)
    bars = error_bars(whole, matches)
    names = sorted({match.encounter_id for match in matches})
    without = [
        fit([match for match in matches if match.encounter_id != name], start=whole).ratings
        for name in names
    ]
    for first, second in combinations(sorted(whole.ratings), 2):
        gaps = [ratings[first].mu - ratings[second].mu for ratings in without]
        mean = sum(gaps) / len(gaps)
        scatter = sum((gap - mean) ** 2 for gap in gaps) * (len(gaps) - 1) / len(gaps)
        contrast = [float(bot == first) - float(bot == second) for bot in whole.ratings]
        error, _ = bars._error(contrast)
        assert error == pytest.approx(math.sqrt(scatter), rel=0.12)


def test_legs_that_go_together_are_one_observation() -> None:
    """The same results, once in encounters of two alike and once each for itself."""
    mirrored = encounters(*["ab ba"] * 60, *["ab ab"] * 20, *["ba ba"] * 10)
    alone = [RatedMatch(m.position, f"leg-{m.position}", m.places) for m in mirrored]
    double = encounters(*["ab ab"] * 50, *["ba ba"] * 40)
    assert [len(m) for m in (alone, double)] == [180, 180]
    assert width(mirrored) < 0.9 * width(alone)
    assert 1.1 * width(alone) < width(double)


@pytest.mark.parametrize("number", [2, 3, 10, 50, 200])
def test_a_shut_out_is_not_certainty(number: int) -> None:
    """No scatter at all is seen, but how far apart they are nobody knows."""
    found = difference(encounters(*["ab ab"] * number))
    assert found.low < found.mean < found.high
    assert found.high - found.low > 15
    assert 0.9 < found.superiority < 0.9995
    if number >= 10:
        assert found.is_significant


def test_two_encounters_decide_nothing() -> None:
    assert not difference(encounters("ab ab", "ab ab")).is_significant


def test_encounters_that_all_end_even_close_in_as_fast_as_they_can() -> None:
    """If N encounters were even, one in N/3 may still be not: the rule of three."""
    for number in (20, 100, 1000):
        half = width(encounters(*["ab ba"] * number)) / 2
        least = difference(encounters(*["ab ba"] * (number - 3), *["ab ab"] * 3)).mean
        assert half > 0.7 * least


def test_too_few_encounters_say_nothing() -> None:
    one = encounters("ab ab")
    bars = error_bars(fit(one, ["c"]), one)
    assert bars.difference("a", "b") is None
    assert bars.half_width("a") is None
    assert bars.half_width("c") is None
    nobody = error_bars(fit([], ["a", "b"]), [])
    assert nobody.difference("a", "b") is None


def test_bots_that_nothing_ties_cannot_be_compared() -> None:
    matches = encounters(*["ab ba", "ab ab"] * 5, *["cd cd", "cd dc"] * 5)
    bars = error_bars(fit(matches, ["e"]), matches)
    assert bars.difference("a", "c") is None
    assert bars.difference("a", "e") is None
    assert bars.difference("a", "a") is None
    assert bars.difference("a", "b") is not None
    assert bars.half_width("c") is not None


def test_a_group_does_not_feel_another_group() -> None:
    left, right = encounters(*["ab ba", "ab ab"] * 5), encounters(*["cd cd", "cd dc"] * 5)
    moved = [RatedMatch(m.position + 20, f"r{m.encounter_id}", m.places) for m in right]
    both = [*left, *moved]
    together = error_bars(fit(both), both)
    alone = error_bars(fit(left), left)
    one, two = together.half_width("a"), alone.half_width("a")
    assert one is not None
    assert one == pytest.approx(two, abs=1e-6)


def test_the_matches_must_be_those_of_the_fit() -> None:
    matches = encounters("ab ab", "ba ab")
    for others in (matches[1:], [], encounters("ab ab", "ab ab")):
        with pytest.raises(ValueError, match="exactly the matches"):
            error_bars(fit(matches), others)


@given(st.integers(0, 2**32), st.sampled_from([2, 2, 3]))
@settings(max_examples=20)
def test_what_holds_for_all(seed: int, seats: int) -> None:
    chance = random.Random(seed)
    skills = [chance.gauss(25, chance.choice([0, 3, 15])) for _ in range(4)]
    plan = tables(4, seats, encounters=chance.randint(1, 4))
    matches = play(chance, skills, plan, luck=0.3)
    fitted = fit(matches)
    bars = error_bars(fitted, matches)
    shuffled = chance.sample(matches, len(matches))
    again = error_bars(fit(shuffled), shuffled)
    for first, second in combinations(fitted.ratings, 2):
        one, two = bars.difference(first, second), bars.difference(second, first)
        assert one is not None
        assert two is not None
        assert again.difference(first, second) == one  # To the last bit.
        assert one.mean == fitted.ratings[first].mu - fitted.ratings[second].mu
        assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
        assert one.superiority == pytest.approx(1 - two.superiority)
        assert one.is_significant == (abs(one.superiority - 0.5) > 0.475)
        assert one.low < one.mean < one.high
    for bot, rating in fitted.ratings.items():
        half = bars.half_width(bot)
        assert half is not None
        # The prior alone is the least that is known.
        assert 0 < half < 4 * 25 / 3
        assert math.isfinite(rating.mu)


def test_four_times_the_encounters_halve_the_bars() -> None:
    skills = [24.0, 25.0, 26.0]
    few = play(random.Random(1), skills, tables(3, 2, 50), luck=0.4)
    many = play(random.Random(2), skills, tables(3, 2, 200), luck=0.4)
    for first, second in pairwise(f"bot-{i}" for i in range(3)):
        ratio = width(few, first, second) / width(many, first, second)
        assert ratio == pytest.approx(2, rel=0.15)
