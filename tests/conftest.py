"""How all tests run: how long hypothesis searches, what runs alone, no skip unseen in CI."""

import fcntl
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

SCALE = float(os.environ.get("RUMMY_TEST_SCALE", "1"))
"""Factor on the number of random cases."""

# Every ordinary run: examples are new each time, and a failure prints how to repeat it.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=False,
    print_blob=True,
    max_examples=max(1, round(60 * SCALE)),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Let a command that sets up the logs of its process not do so for the tests after it.

    Loggers that keep what they first were would not be seen by `capture_logs` any more. The patch
    is its own: with `monkeypatch`, a test's patches would outlive all its other fixtures.
    """
    before, configure = structlog.get_config(), structlog.configure

    def configure_uncached(**settings: Any) -> None:
        configure(**{**settings, "cache_logger_on_first_use": False})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structlog, "configure", configure_uncached)
        yield
    configure(**before)


BENCHMARKS = Path(__file__).parent / "benchmarks"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """With several processes (`-n auto`), let what measures time run beside no other test.

    Each test holds a lock that all share, a benchmark one for itself. Whoever waits stands at a
    turnstile, so that nobody overtakes.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return (yield)
    alone = BENCHMARKS in item.path.parents
    place = Path(tempfile.gettempdir())
    with (
        (place / f"rummy-{run}.turn").open("w") as turn,
        (place / f"rummy-{run}.lock").open("w") as lock,
    ):
        fcntl.flock(turn, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(turn, fcntl.LOCK_UN)
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Take the locks away, when all processes have ended."""
    manager = session.config.pluginmanager.getplugin("dsession")
    nodes = getattr(manager, "nodemanager", None)
    if nodes is not None:
        for path in Path(tempfile.gettempdir()).glob(f"rummy-{nodes.testrunuid}.*"):
            path.unlink(missing_ok=True)


class SkipsAreFailures:
    """With CI=true a skipped test, or a skipped module, makes the session fail."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a skipped test."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember a module that was skipped as a whole."""
        if report.skipped:
            self.skipped.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn a good end into a failure."""
        if self.skipped and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why."""
        for name in self.skipped:
            terminalreporter.write_line(f"FAILED {name}: skipped, but CI=true allows no skips")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI", "").lower() == "true":
        config.pluginmanager.register(SkipsAreFailures(), "skips-are-failures")
