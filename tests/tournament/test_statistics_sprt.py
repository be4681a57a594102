"""The early stop: its ratio against a search of its own, its error rates by simulation."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scale import repeatable
from tournament.statistics.pairs import PAIR_SCORES, expected_score
from tournament.statistics.sprt import Outcome, Sprt, log_likelihood_ratio

counts_of_pairs = st.lists(st.integers(0, 200), min_size=5, max_size=5)


def tilted(shares: list[float], middle: float) -> list[float]:
    """The likeliest probabilities with this mean, found by halving for one multiplier.

    Checked against its own conditions: they sum to 1 and have the mean, which no wrong one does.
    """
    low, high = -1 / (1 - middle), 1 / middle
    for _ in range(200):
        tilt = (low + high) / 2
        if sum(p * (a - middle) / (1 + tilt * (a - middle)) for p, a in _with(shares)) > 0:
            low = tilt
        else:
            high = tilt
    best = [p / (1 + tilt * (a - middle)) for p, a in _with(shares)]
    assert sum(best) == pytest.approx(1, abs=1e-6)
    assert sum(p * a for p, a in _with(best)) == pytest.approx(middle, abs=1e-6)
    return best


def _with(shares: list[float]) -> list[tuple[float, float]]:
    return list(zip(shares, PAIR_SCORES, strict=True))


def slow_ratio(counts: list[int], elo0: float, elo1: float) -> float:
    """Straight from the definition, zeros counted as a thousandth."""
    weights = [count or 1e-3 for count in counts]
    shares = [weight / sum(weights) for weight in weights]
    null, other = (tilted(shares, 1 / (1 + 10 ** (-elo / 400))) for elo in (elo0, elo1))
    return sum(weight * math.log(q / p) for weight, p, q in zip(weights, null, other, strict=True))


@repeatable
@given(counts_of_pairs, st.floats(-300, 290), st.floats(1, 300))
def test_the_ratio_is_that_of_the_definition(
    counts: list[int], elo0: float, distance: float
) -> None:
    elo1 = min(300.0, elo0 + distance)
    expected = slow_ratio(counts, elo0, elo1) if any(counts) else 0
    assert log_likelihood_ratio(counts, elo0, elo1) == pytest.approx(expected, rel=1e-5, abs=1e-5)


@repeatable
@given(counts_of_pairs, st.floats(-300, 290), st.floats(1, 300))
def test_the_ratio_turns_round_with_hypotheses_and_with_bots(
    counts: list[int], elo0: float, distance: float
) -> None:
    ratio = log_likelihood_ratio(counts, elo0, elo0 + distance)
    assert log_likelihood_ratio(counts, elo0 + distance, elo0) == -ratio
    mirrored = log_likelihood_ratio(counts[::-1], -elo0 - distance, -elo0)
    assert mirrored == pytest.approx(-ratio, abs=1e-6)


def test_many_close_results_agree_with_the_normal_approximation() -> None:
    counts = [1_000, 2_200, 4_000, 2_400, 1_050]
    number = sum(counts)
    mean = sum(n * a for n, a in zip(counts, PAIR_SCORES, strict=True)) / number
    variance = sum(n * (a - mean) ** 2 for n, a in zip(counts, PAIR_SCORES, strict=True)) / number
    low, high = expected_score(0), expected_score(5)
    normal = number * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert log_likelihood_ratio(counts, 0, 5) == pytest.approx(normal, rel=0.01)


def test_bounds_are_walds() -> None:
    sprt = Sprt(0, 10, alpha=0.05, beta=0.1)
    assert sprt.upper == pytest.approx(math.log(0.9 / 0.05))
    assert sprt.lower == pytest.approx(math.log(0.1 / 0.95))
    none = sprt.judge([])
    assert (none.llr, none.outcome, none.at) == (0, Outcome.UNDECIDED, None)
    assert (none.lower, none.upper) == (sprt.lower, sprt.upper)


@repeatable
@given(
    st.lists(st.sampled_from(PAIR_SCORES), max_size=120),
    st.sampled_from([(0, 100), (-50, 150), (-5, 5)]),
)
def test_a_verdict_is_the_first_crossing_and_stays(
    found: list[float], elos: tuple[int, int]
) -> None:
    sprt = Sprt(*elos)
    expected, at, ratio = Outcome.UNDECIDED, None, 0.0
    counts = [0] * 5
    for number, score in enumerate(found, start=1):
        counts[PAIR_SCORES.index(score)] += 1
        ratio = log_likelihood_ratio(counts, *elos)
        if not sprt.lower < ratio < sprt.upper:
            expected = Outcome.ACCEPTED_H1 if ratio > 0 else Outcome.ACCEPTED_H0
            at = number
            break
    verdict = sprt.judge(found)
    assert (verdict.llr, verdict.outcome, verdict.at) == (ratio, expected, at)
    if at is not None:
        assert sprt.judge(found[:at]) == verdict
        assert sprt.judge(found[: at - 1]).outcome is Outcome.UNDECIDED
    running = sprt.running()
    assert [running.add(score) for score in found] == [
        sprt.judge(found[:number]) for number in range(1, len(found) + 1)
    ]


def test_shut_outs_and_draws_alone_are_decided_in_the_end() -> None:
    sprt = Sprt(0, 10)
    assert sprt.judge([1.0] * 2_000).outcome is Outcome.ACCEPTED_H1
    assert sprt.judge([0.0] * 2_000).outcome is Outcome.ACCEPTED_H0
    assert sprt.judge([0.5] * 2_000).outcome is Outcome.ACCEPTED_H0
    # A win of both legs is likelier by s1/s0, whatever the rest: one encounter never decides.
    likelier = math.log(expected_score(10) / expected_score(0))
    assert sprt.judge([1.0]).llr == pytest.approx(likelier, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"elo0": 5, "elo1": 5}, "elo1 is 5: allowed is more than elo0, 5"),
        ({"elo0": 5, "elo1": -5}, "elo1 is -5: allowed is more than elo0, 5"),
        ({"elo0": -1e9, "elo1": 0}, r"elo0 is -1000000000.0: allowed is -1000 to 1000"),
        ({"elo0": 0, "elo1": math.inf}, "elo1 is inf: allowed is -1000 to 1000"),
        ({"elo0": math.nan, "elo1": 3}, "elo0 is nan: allowed is -1000 to 1000"),
        ({"elo0": 0, "elo1": 5, "alpha": 0}, "alpha is 0: allowed is more than 0 and less"),
        ({"elo0": 0, "elo1": 5, "beta": 0.5}, "beta is 0.5: allowed is more than 0 and less"),
        ({"elo0": 0, "elo1": 5, "beta": math.nan}, "beta is nan: allowed is more than 0"),
    ],
)
def test_parameters_that_make_no_test_are_refused(arguments: dict[str, float], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Sprt(**arguments)


@pytest.mark.parametrize("score", [0.3, -0.25, 1.25, math.nan])
def test_scores_that_no_pair_has_are_refused(score: float) -> None:
    with pytest.raises(ValueError, match=r"allowed are 0, 0\.25, 0\.5, 0\.75, 1"):
        Sprt(0, 10).judge([0.5, score])


def weights_at(elo: float, base: list[float]) -> list[float]:
    """Pair scores of a bot whose true score is that of `elo`, spread like `base` (mean ½)."""
    return tilted([weight / sum(base) for weight in base], expected_score(elo))


def lengths_and_errors(
    sprt: Sprt, elo: float, base: list[float], runs: int, chance: Random
) -> tuple[float, dict[Outcome, int]]:
    """Mean length of tests, and how they ended, at a true difference."""
    weights = weights_at(elo, base)
    encounters = 0
    outcomes = dict.fromkeys(Outcome, 0)
    for _ in range(runs):
        running = sprt.running()
        while running.verdict.outcome is Outcome.UNDECIDED:
            running.add(chance.choices(PAIR_SCORES, weights)[0])
        encounters += running.verdict.at or 0
        outcomes[running.verdict.outcome] += 1
    return encounters / runs, outcomes


MIRRORED = [1.0, 3.0, 8.0, 3.0, 1.0]
DECISIVE = [1.0, 0.0, 2.0, 0.0, 1.0]
RUNS = 250


@pytest.mark.parametrize(
    ("base", "elo1", "alpha", "beta"),
    [(MIRRORED, 80, 0.05, 0.05), (DECISIVE, 100, 0.05, 0.05), (MIRRORED, 50, 0.1, 0.2)],
)
def test_wrong_verdicts_are_as_rare_as_asked(
    base: list[float], elo1: float, alpha: float, beta: float
) -> None:
    sprt = Sprt(0, elo1, alpha, beta)
    chance = Random(7)
    variance = sum(w * (a - 0.5) ** 2 for w, a in zip(base, PAIR_SCORES, strict=True)) / sum(base)
    drift = (expected_score(elo1) - 0.5) ** 2 / (2 * variance)
    for elo, wrong, risk, other in (
        (0, Outcome.ACCEPTED_H1, alpha, sprt.lower),
        (elo1, Outcome.ACCEPTED_H0, beta, sprt.upper),
    ):
        length, outcomes = lengths_and_errors(sprt, elo, base, RUNS, chance)
        # Three standard deviations of that many tries; overshoot makes errors rarer still.
        assert outcomes[wrong] / RUNS <= risk + 3 * math.sqrt(risk * (1 - risk) / RUNS)
        missed = sprt.upper if other == sprt.lower else sprt.lower
        expected = abs((1 - risk) * other + risk * missed) / drift
        assert 0.8 * expected < length < 1.6 * expected


def test_between_the_hypotheses_either_verdict_comes_and_takes_longer() -> None:
    sprt, chance = Sprt(0, 80), Random(8)
    middle, outcomes = lengths_and_errors(sprt, 40, MIRRORED, RUNS, chance)
    edge, _ = lengths_and_errors(sprt, 80, MIRRORED, RUNS, chance)
    assert middle > 1.2 * edge
    assert min(outcomes[Outcome.ACCEPTED_H0], outcomes[Outcome.ACCEPTED_H1]) > RUNS / 3
