"""Logs: readable on a terminal, JSON lines otherwise; always on standard error."""

import logging
import sys

import structlog

from referee.match.outcome import MatchResult
from referee.match.spec import MatchSpec


def configure_logs(*, verbose: bool = False, quiet: bool = False) -> None:
    """Set structlog up for a process: details with `verbose`, only errors with `quiet`."""
    is_terminal = sys.stderr.isatty()
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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
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
