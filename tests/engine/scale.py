"""How much random testing to do, and how to repeat one case of it."""

import os
from collections.abc import Iterator

SCALE = float(os.environ.get("RUMMY_TEST_SCALE", "1"))
"""Factor on the number of random cases: 1 in every run of the tests, more to search longer."""

_CASE = os.environ.get("RUMMY_TEST_CASE")


def cases(number: int) -> Iterator[int]:
    """Numbers of the cases to run; RUMMY_TEST_CASE picks one of them."""
    return iter([int(_CASE)] if _CASE else range(max(1, round(number * SCALE))))


def repeat(file: str, test: str, seed: str, case: int) -> str:
    """The seed of a case and the command that runs it alone, for the text of a failure."""
    command = f"python -m pytest 'tests/engine/{file}::{test}'"
    return f"seed {seed!r}; repeat with: RUMMY_TEST_CASE={case} {command}"
