"""Logs: readable on a terminal, JSON lines otherwise; always on standard error."""

import contextlib
import logging
import os
import sys
from typing import Final, TextIO, cast

import structlog

from referee.match.outcome import MatchResult
from referee.match.spec import MatchSpec

_STANDARD_ERROR: Final = 2


class _Lines:
    """A file by its descriptor, as far as it takes lines.

    What it does not take is lost: no match may hang on whether a disk is full, or on who reads.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, text: str) -> None:
        rest = text.encode("utf-8", "backslashreplace")
        with contextlib.suppress(OSError):
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    def flush(self) -> None:
        """Nothing is kept back."""


def configure_logs(
    *, verbose: bool = False, quiet: bool = False, to: int = _STANDARD_ERROR
) -> None:
    """Set structlog up for a process: details with `verbose`, only errors with `quiet`.

    `to`: the descriptor that gets the lines.
    """
    if to == _STANDARD_ERROR and sys.stderr is None:  # it is closed, and may be any file later
        to = os.open(os.devnull, os.O_WRONLY)
    is_terminal = os.isatty(to)
    # The default shows the local variables of every frame: hands, stock, secrets.
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer: structlog.typing.Processor = (
        console if is_terminal else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([] if is_terminal else [structlog.processors.format_exc_info]),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO
        ),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", _Lines(to))),
        cache_logger_on_first_use=True,
    )


def match_fields(spec: MatchSpec, result: MatchResult, duration_s: float) -> dict[str, object]:
    """The fields of the one line that a match has in the log (docs/serving.md); lists by seat."""
    seats = result.seats
    return {
        "match_id": result.match_id,
        "rules": spec.rules.preset,
        "seats": len(seats),
        "bots": [seat.bot for seat in spec.seats],
        "versions": [seat.version for seat in spec.seats],
        "termination": result.termination.value,
        "text": result.text,
        "places": [seat.place for seat in seats],
        "totals": [seat.total for seat in seats],
        "forfeits": [seat.forfeit.value if seat.forfeit else None for seat in seats],
        "deals": result.deals,
        "decisions": [seat.decisions for seat in seats],
        "charged_ms": [seat.charged_us // 1_000 for seat in seats],
        "forgiven_ms": [seat.forgiven_us // 1_000 for seat in seats],
        "illegal_strikes": [seat.illegal_strikes for seat in seats],
        "time_strikes": [seat.time_strikes for seat in seats],
        "duration_s": round(duration_s, 3),
        "head": result.record_hash.hex(),
    }
