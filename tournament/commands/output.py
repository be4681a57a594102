"""What the command writes: data to stdout, words for people to stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper

from rich.console import Console

from tournament.errors import OutputError
from tournament.report.render import Format, View, render

people = Console(stderr=True, highlight=False)


def prepare() -> None:
    """Make ready for any encoding: what it lacks becomes `?`. Raises OutputError."""
    # A closed stream is None, whatever its type says.
    if not sys.stdout:
        raise OutputError("stdout is closed: there is nowhere to write to")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """Write a line for people."""
    people.print(text, markup=False, soft_wrap=True)


def write(view: View, format_: Format) -> None:
    """Write a view to stdout. Raises OutputError, and BrokenPipeError if nobody reads on."""
    with writing():
        sys.stdout.write(render(view, format_, console=Console()))
        sys.stdout.flush()


@contextmanager
def writing() -> Iterator[None]:
    """Have it said in words that stdout can't be written. Raises OutputError, BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"stdout can't be written: {error.strerror}") from error


def give_up_stdout() -> None:
    """Have what is left for stdout go nowhere, so that it fails no second time at the end."""
    if sys.stdout:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
