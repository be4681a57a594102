"""Plays tournaments of the sample bots and holds their rate against a raw gRPC echo.

Everything runs as a process of its own, as a user would start it: a tournament with all that
belongs to it, from its start to its leaderboard, and `referee bench wire` for the echo.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.find import DEFAULT_BOTS
from tournament.errors import TournamentError
from tournament.store.queries import matches as stored_matches
from tournament.store.store import Store

TENFOLD = 10
_SEED = 1
_SEATS = 2
_PAIRS = len(DEFAULT_BOTS) * (len(DEFAULT_BOTS) - 1) // 2
_WIRE_SECONDS = 2.0
_WORDS_MOST = 2_000

Say = Callable[[str], None]


class BenchError(TournamentError):
    """What is measured did not run to its end."""


@dataclass(frozen=True, slots=True)
class PlayedRow:
    """A tournament played with so many workers, and the echo with as many decisions in flight."""

    workers: int
    matches: int
    seconds: float
    matches_per_s: float
    decisions_per_s: int
    echo_per_s: int
    part_of_echo: float
    """Decisions a second of the tournament over those of the echo."""
    referee_per_s: int
    """What one referee alone answers with as many matches at once, its bots at no cost."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The same tournament with ten times the encounters.

    `start_seconds` is what one encounter for each pair takes, mostly for starting every process. It
    is taken off before times are compared: with a `ratio` of 1.0 a further match costs as much in
    the long tournament as in the short one. None where the short one was too short to tell.
    """

    workers: int
    start_seconds: float
    matches: int
    seconds: float
    ten_times_matches: int
    ten_times_seconds: float
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """All that was measured."""

    rows: tuple[PlayedRow, ...]
    growth: Growth | None


@dataclass(frozen=True, slots=True)
class _Played:
    matches: int
    decisions: int
    seconds: float


def encounters_for(matches: int) -> int:
    """Return the encounters of each pair that give at least so many matches, two at the least."""
    return max(2, -(-matches // (_PAIRS * _SEATS)))


def bench_tournament(matches: int, workers: Sequence[int], say: Say, *, tenfold: bool) -> Figures:
    """Measure at least `matches` matches with each number of workers. Raises BenchError.

    `tenfold` has the last of them measured with ten times the matches too.
    """
    encounters = encounters_for(matches)
    say("the raw echo")
    echo = _wire(workers)
    played = {}
    for count in workers:
        say(f"{encounters * _PAIRS * _SEATS} matches, workers: {count}")
        played[count] = _play(encounters, count)
    growth = None
    if tenfold:
        count = workers[-1]
        say(f"{TENFOLD * encounters * _PAIRS * _SEATS} matches, workers: {count}")
        sizes = (_play(1, count), played[count], _play(TENFOLD * encounters, count))
        growth = _growth(count, *sizes)
    return Figures(tuple(_row(n, one, echo[n]) for n, one in played.items()), growth)


def _row(workers: int, played: _Played, echo: Mapping[str, float]) -> PlayedRow:
    decisions_per_s = played.decisions / played.seconds
    return PlayedRow(
        workers=workers,
        matches=played.matches,
        seconds=round(played.seconds, 2),
        matches_per_s=round(played.matches / played.seconds, 2),
        decisions_per_s=round(decisions_per_s),
        echo_per_s=round(echo["echo_per_s"]),
        part_of_echo=round(decisions_per_s / echo["echo_per_s"], 3),
        referee_per_s=round(echo["referee_per_s"]),
    )


def _growth(workers: int, start: _Played, once: _Played, ten_times: _Played) -> Growth:
    return Growth(
        workers=workers,
        start_seconds=round(start.seconds, 2),
        matches=once.matches,
        seconds=round(once.seconds, 2),
        ten_times_matches=ten_times.matches,
        ten_times_seconds=round(ten_times.seconds, 2),
        ratio=_ratio(start, once, ten_times),
    )


def _ratio(start: _Played, once: _Played, ten_times: _Played) -> float | None:
    """Return what a further match costs in the long tournament over what it does in the short."""
    short = (once.seconds - start.seconds) / (once.matches - start.matches)
    long = (ten_times.seconds - start.seconds) / (ten_times.matches - start.matches)
    return round(long / short, 3) if short > 0 else None


def _wire(matches: Sequence[int]) -> dict[int, dict[str, float]]:
    """Return the row of the wire's bench for each number of matches at once."""
    numbers = ",".join(map(str, matches))
    words = ("--matches", numbers, "--seconds", str(_WIRE_SECONDS), "--idle", "0")
    rows = json.loads(_run("referee", "bench", "wire", *words, "--format", "json"))["rows"]
    return {row["matches"]: row for row in rows}


def _play(encounters: int, workers: int) -> _Played:
    numbers = {"encounters": encounters, "workers": workers, "seed": _SEED}
    words = [word for name, number in numbers.items() for word in (f"--{name}", str(number))]
    with tempfile.TemporaryDirectory(prefix="rummy-bench-") as folder:
        began = time.perf_counter()
        _run("tournament", "run", *words, "--data", folder)
        seconds = time.perf_counter() - began
        with Store.view(Path(folder)) as store:
            rows = stored_matches(store, store.tournaments()[0].id)
    decisions = sum(seat.decisions for row in rows for seat in row.seats)
    return _Played(len(rows), decisions, seconds)


def _run(*words: str) -> str:
    """Return what a command of this installation writes. Raises BenchError if it fails."""
    argv = [sys.executable, "-m", *words]
    done = subprocess.run(  # noqa: S603 - our own commands
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchError(
            f"`{' '.join(words)}` ended with exit code {done.returncode}:\n"
            f"{done.stderr.strip()[-_WORDS_MOST:]}"
        )
    return done.stdout
