"""The process that computes standings, so that no match waits for them: `python -m` of this module.

Its first line says, as JSON, which database (`data`, `url`) and which `ladder`; for every further
line it answers with a message of `standing`. It ends when its input does.
"""

import json
import os
import sys
import time
from pathlib import Path

from tournament.errors import StoreError
from tournament.ladder.standing import Fitted, written
from tournament.rating.error_bars import covariance
from tournament.rating.order_free import Fit, fit
from tournament.statistics.standings import rated_matches, standings
from tournament.store.queries import counted_legs
from tournament.store.store import Store

NICENESS = 5
"""Matches come first where processors are few."""


def main() -> int:
    """Serve the pipes; a database that can't be read is told, and ends it with 1."""
    os.nice(NICENESS)
    asked = json.loads(sys.stdin.readline())
    start: Fit | None = None
    try:
        with Store.view(Path(asked["data"]), asked["url"]) as store:
            for _ in sys.stdin:
                fitted, start = fitted_of(store, asked["ladder"], start)
                sys.stdout.buffer.write(written(fitted))
                sys.stdout.buffer.flush()
    except StoreError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


def fitted_of(store: Store, ladder: str, start: Fit | None) -> tuple[Fitted, Fit]:
    """Return what the stored results of a ladder say now; `start` is its last fit."""
    began = time.perf_counter()
    legs = counted_legs(store, ladder)
    played = {seat.bot for leg in legs for seat in leg.seats}
    versions = {e.bot: e.version for e in store.entries(ladder) if e.bot in played}
    found = fit(rated_matches(legs), versions, start=start)
    rows = standings(versions, legs, fit=found)
    bots = list(found.ratings)
    fitted = Fitted(
        rows=rows,
        bots=bots,
        means=[found.ratings[bot].mu for bot in bots],
        covariance=[value for row in covariance(found) for value in row],
        matches=len(legs),
        seconds=time.perf_counter() - began,
    )
    return fitted, found


if __name__ == "__main__":
    sys.exit(main())
