"""Keeps the referee's own log lines away from a report: they say again what its findings say."""

from referee.service.logs import configure_logs


def quiet() -> None:
    """Let the referee of this process log errors alone."""
    configure_logs(quiet=True)
