"""Early stopping of a test of two bots: the sequential probability ratio test on pairs. Pure.

Wald's test asks after every whole encounter whether the results are so much more likely under one
of two Elo differences that the question is settled. A difference alone does not say how likely
each of the five pair scores is, so for either one the best distribution with that mean is taken
(the generalised test). Encounters are judged in plan order: what happened to finish first does not
matter.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tournament.statistics.intervals import deviance
from tournament.statistics.pairs import PAIR_SCORES, check_pair_score, expected_score

ELO_MOST = 1000.0
"""Elo differences that can be tested lie between −ELO_MOST and ELO_MOST."""
_UNSEEN = 1e-3
"""Counts for a pair score that was not seen yet, so that no result is held to be impossible."""


class Outcome(StrEnum):
    """What a test says. H0: the difference is `elo0` (or less); H1: it is `elo1` (or more)."""

    ACCEPTED_H0 = "accepted_h0"
    ACCEPTED_H1 = "accepted_h1"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a test stands: the log-likelihood ratio of H1 to H0 between its two bounds.

    `at` is the number of encounters after which it was first decided, and `llr` the ratio then:
    later encounters change nothing.
    """

    llr: float
    lower: float
    upper: float
    outcome: Outcome
    at: int | None


def log_likelihood_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Return ln of how much likelier the counts are under `elo1` than under `elo0`.

    Counts are of LL, LD, WL or DD, WD, WW. Each likelihood is the highest that five probabilities
    reach whose mean is the score of that Elo difference. Without any count the ratio is 0.
    """
    if not any(counts):
        return 0.0
    seen = {score: count or _UNSEEN for score, count in zip(PAIR_SCORES, counts, strict=True)}
    # What both lose against the unconditional maximum, which cancels out.
    return (deviance(seen, expected_score(elo0)) - deviance(seen, expected_score(elo1))) / 2


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of Elo difference `elo0` against `elo1`, from the first bot's view.

    `alpha` is the accepted probability of taking H1 when `elo0` is true, `beta` that of taking H0
    when `elo1` is true. Raises ValueError for parameters that make no test.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not -ELO_MOST <= elo <= ELO_MOST:
                raise ValueError(f"{name} is {elo}: allowed is {-ELO_MOST:g} to {ELO_MOST:g}")
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo1 is {self.elo1}: allowed is more than elo0, {self.elo0}")
        for name, risk in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < risk < 0.5:
                raise ValueError(f"{name} is {risk}: allowed is more than 0 and less than 0.5")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def running(self) -> "Running":
        """Return a test without encounters yet."""
        return Running(self)

    def judge(self, pair_scores: Iterable[float]) -> Verdict:
        """Judge the first bot's scores of whole encounters, in plan order.

        Raises ValueError for a score that two legs cannot have.
        """
        running = self.running()
        for score in pair_scores:
            running.add(score)
        return running.verdict


@dataclass(slots=True)
class Running:
    """A test that takes one encounter after the other."""

    sprt: Sprt
    counts: list[int] = field(default_factory=lambda: [0] * len(PAIR_SCORES))
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        self.verdict = self._verdict(0.0)

    def add(self, pair_score: float) -> Verdict:
        """Take the next encounter in plan order; a decision stays what it is.

        Raises ValueError for a score that two legs cannot have.
        """
        check_pair_score(pair_score)
        self.counts[PAIR_SCORES.index(pair_score)] += 1
        if self.verdict.outcome is Outcome.UNDECIDED:
            sprt = self.sprt
            self.verdict = self._verdict(log_likelihood_ratio(self.counts, sprt.elo0, sprt.elo1))
        return self.verdict

    def _verdict(self, llr: float) -> Verdict:
        outcome = Outcome.UNDECIDED
        if llr >= self.sprt.upper:
            outcome = Outcome.ACCEPTED_H1
        elif llr <= self.sprt.lower:
            outcome = Outcome.ACCEPTED_H0
        at = None if outcome is Outcome.UNDECIDED else sum(self.counts)
        return Verdict(llr, self.sprt.lower, self.sprt.upper, outcome, at)
