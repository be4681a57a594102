"""The benchmarks run, and say what they should: bounded here, for figures see RESULTS.md."""

from referee.bench.engine import bench_engine
from referee.bench.wire import bench_wire
from referee.engine.presets import make_ruleset


def test_bench_engine() -> None:
    parts: list[float] = []
    rates = bench_engine(make_ruleset("basic"), 2, 0.3, 1, parts.append)
    # The aim is 150,000; a machine that is busy and old still has this much.
    assert rates.actions_per_second > 20_000
    assert rates.actions > rates.deals > 0
    assert 1 < rates.legal_actions_mean < 40
    assert rates.observe_us < 100


def test_bench_wire() -> None:
    said: list[str] = []
    [row] = bench_wire([2], 0.5, said.append)
    assert row.matches == 2
    assert row.echo_per_s > 100
    # The aim is 0.80 at 32 matches on a quiet machine.
    assert row.ratio > 0.2
    assert 0 < row.p50_ms <= row.p99_ms
    assert said
