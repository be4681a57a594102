"""Reads once what several views of a tournament are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tournament.rating.order_free import Fit, fit
from tournament.statistics.standings import (
    LegResult,
    Standing,
    best_first,
    counted,
    rated_matches,
    standings,
)
from tournament.store.queries import leg_results, legs_that_count
from tournament.store.store import Store
from tournament.store.stored import FINISHED, Entry, Tournament


@dataclass(frozen=True)
class Results:
    """What is stored of a tournament at one moment; what is computed from it, when asked for."""

    tournament: Tournament
    entries: Sequence[Entry]
    all_legs: Sequence[LegResult]
    """Every leg that has ended, in plan order."""
    planned: Mapping[str, int]
    """How many legs each encounter has that counts."""
    start: Fit | None = None
    """An earlier fit of the same tournament: the next one takes less time from there."""

    @cached_property
    def legs(self) -> list[LegResult]:
        """The legs of whole encounters: what counts."""
        return counted(self.all_legs, self.planned)

    @cached_property
    def fit(self) -> Fit:
        """The ratings."""
        return fit(rated_matches(self.legs), self.bots, start=self.start)

    @cached_property
    def standings(self) -> list[Standing]:
        """The rows of the leaderboard, best first."""
        versions = {entry.bot: entry.version for entry in self.entries}
        return standings(versions, self.legs, fit=self.fit)

    @property
    def bots(self) -> list[str]:
        """The names of all bots."""
        return [entry.bot for entry in self.entries]

    @property
    def ranked(self) -> list[str]:
        """The names of all bots, best first."""
        # As standings are sorted; error bars, which take longer, are not needed for it.
        ratings = self.fit.ratings
        return best_first(self.bots, ratings)

    @property
    def is_final(self) -> bool:
        """Whether nothing is played any more."""
        return self.tournament.status == FINISHED


def load(store: Store, tournament: str, *, start: Fit | None = None) -> Results:
    """Read a tournament's results as they are now. Raises StoreError."""
    # The plan of a further round comes after the results of the one before: legs are read first.
    legs = leg_results(store, tournament)
    return Results(
        tournament=store.tournament(tournament),
        entries=store.entries(tournament),
        all_legs=legs,
        planned=legs_that_count(store, tournament),
        start=start,
    )
