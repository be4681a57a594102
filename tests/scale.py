"""How much random testing to do, and how to repeat one case of it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from random import SystemRandom

from hypothesis import seed as seeded

SCALE = float(os.environ.get("RUMMY_TEST_SCALE", "1"))
"""Factor on the number of random cases: 1 in every run of the tests, more to search longer."""

_CASE = os.environ.get("RUMMY_TEST_CASE")
ALL_CASES = _CASE is None and SCALE >= 1
"""Whether enough of them run to expect that something rare comes up."""


def cases(number: int) -> Iterator[int]:
    """Numbers of the cases to run; RUMMY_TEST_CASE picks one of them."""
    return iter([int(_CASE)] if _CASE else range(max(1, round(number * SCALE))))


def repeat(file: str, test: str, seed: str, case: int) -> str:
    """The seed of a case and the command that runs it alone, for the text of a failure."""
    path = Path(file).relative_to(Path(__file__).parent.parent)
    command = f"RUMMY_TEST_CASE={case} python -m pytest '{path}::{test}'"
    if SCALE != 1:  # Hypothesis looks longer then, and may have found it late.
        command = f"RUMMY_TEST_SCALE={SCALE:g} {command}"
    return f"seed {seed!r}; repeat with: {command}"


@contextmanager
def repeating(file: str, test: str, seed: str, case: int) -> Iterator[None]:
    """Add to any failure how to repeat it."""
    try:
        yield
    except BaseException as error:
        error.add_note(repeat(file, test, seed, case))
        raise


def repeatable(test: Callable[[], None]) -> Callable[[], None]:
    """Around a property of hypothesis: examples are new each time, and failures repeatable."""
    case = int(_CASE) if _CASE else SystemRandom().randrange(2**32)
    run = seeded(case)(test)
    file = test.__code__.co_filename

    @wraps(run)
    def repeated() -> None:
        with repeating(file, run.__name__, str(case), case):
            run()

    return repeated
