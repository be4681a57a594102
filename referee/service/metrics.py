"""Metrics for Prometheus, over HTTP in threads of their own; needs the extra `metrics`.

The event loop never calls anything here. A scrape reads plain numbers of the referee: each is
whole, but two of them may be a decision apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from referee import __version__
from referee.service.addresses import host_and_port
from referee.service.meter import BOUNDS_US, Meter
from referee.service.server import ListenError, Referee


class RefereeCollector(Collector):
    """Reads a referee when it is scraped."""

    def __init__(self, referee: Referee, meter: Meter) -> None:
        self._referee = referee
        self._meter = meter

    def collect(self) -> Iterator[Metric]:
        """All metrics of the referee."""
        yield InfoMetricFamily("rummy_referee", "The program", {"version": __version__})
        yield from self._decisions()
        yield from self._matches()
        yield from self._sessions()
        clock = self._referee.clock
        yield CounterMetricFamily(
            "rummy_loop_stalls", "Times when the event loop stood still", clock.stalls
        )
        yield CounterMetricFamily(
            "rummy_loop_stalled_seconds",
            "Time for which it stood still: nobody is charged for it",
            clock.total_stalled_us / 1e6,
        )

    def _decisions(self) -> Iterator[Metric]:
        meter = self._meter
        counts, charged_s, forgiven_s = (
            list(meter.decisions_by_time),
            meter.charged_us / 1e6,
            meter.forgiven_us / 1e6,
        )
        buckets, so_far = [], 0
        for bound, count in zip([*(us / 1e6 for us in BOUNDS_US), "+Inf"], counts, strict=True):
            so_far += count
            buckets.append((str(bound), float(so_far)))
        yield CounterMetricFamily("rummy_decisions", "Decisions that have ended", so_far)
        yield HistogramMetricFamily(
            "rummy_decision_seconds",
            "Thinking time charged for a decision",
            buckets=buckets,
            sum_value=charged_s,
        )
        yield CounterMetricFamily("rummy_charged_seconds", "Thinking time charged", charged_s)
        yield CounterMetricFamily(
            "rummy_forgiven_seconds", "Time of decisions that was not charged", forgiven_s
        )
        yield _by_label(
            "rummy_rejections", "Choices not accepted, or in part", "reason", meter.rejections
        )

    def _matches(self) -> Iterator[Metric]:
        meter = self._meter
        yield GaugeMetricFamily(
            "rummy_matches_running", "Matches being played", len(self._referee.running)
        )
        yield _by_label("rummy_matches", "Matches that ended", "termination", meter.matches)
        yield _by_label("rummy_forfeits", "Seats that forfeited a match", "kind", meter.forfeits)

    def _sessions(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "rummy_sessions_open", "Streams of bots", self._referee.open_sessions
        )
        yield _by_label(
            "rummy_sessions_ended",
            "Streams that ended, and calls that were refused",
            "reason",
            self._referee.sessions_ended,
        )
        yield GaugeMetricFamily(
            "rummy_draining", "1 while no match begins any more", int(self._referee.is_draining)
        )


def _by_label(name: str, about: str, label: str, counts: Mapping[str, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(name, about, labels=[label])
    # A copy in one step: the event loop goes on counting.
    for value, count in dict(counts).items():
        family.add_metric([value], count)
    return family


@dataclass(frozen=True, slots=True)
class MetricsServer:
    """A running HTTP server."""

    address: str
    _server: WSGIServer
    _thread: Thread

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def start_metrics(address: str, referee: Referee, meter: Meter) -> MetricsServer:
    """Serve metrics at `HOST:PORT` (port 0: any). Raises AddressError, ListenError."""
    host, port = host_and_port(address)
    registry = CollectorRegistry()
    registry.register(RefereeCollector(referee, meter))
    ProcessCollector(registry=registry)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise ListenError(f"cannot serve metrics at {address}: {error.strerror}") from error
    return MetricsServer(f"{address.rpartition(':')[0]}:{server.server_port}", server, thread)
