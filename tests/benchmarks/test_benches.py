"""The benchmarks run, and say what they should: bounded here, for figures see RESULTS.md."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from referee.bench.engine import bench_engine
from referee.bench.wire import bench_idle, bench_wire
from referee.engine.presets import make_ruleset
from tests.commands import ENVIRONMENT, ROOT, referee


def test_bench_engine() -> None:
    parts: list[float] = []
    rates = bench_engine(make_ruleset("basic"), 2, 0.3, 1, parts.append)
    # The aim is 150,000; a machine that is busy and old still has this much.
    assert rates.actions_per_second > 20_000
    assert rates.actions > rates.deals > 0
    assert 1 < rates.legal_actions_mean < 40
    assert 0 < rates.observe_us < 100
    # The aim is 30.
    assert 0 < rates.best_melding_us < 300
    assert parts == sorted(parts)
    assert parts[-1] >= 1


@pytest.mark.skipif(find_spec("pyspiel") is None, reason="OpenSpiel: the extra `oracle`")
def test_bench_engine_with_openspiel() -> None:
    rates = bench_engine(make_ruleset("basic"), 2, 0.2, 1, lambda _: None)
    assert rates.openspiel_actions_per_second
    assert rates.openspiel_steps_per_second
    assert rates.openspiel_steps_per_second > rates.openspiel_actions_per_second > 5_000
    # Ours is quicker; how much is in RESULTS.md.
    assert rates.openspiel_ratio
    assert rates.openspiel_ratio > 0.5


def test_bench_engine_without_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.bench.openspiel.pyspiel", None)
    rates = bench_engine(make_ruleset("classic"), 3, 0.05, 1, lambda _: None)
    assert rates.actions_per_second > 0
    assert rates.openspiel_actions_per_second is None
    assert rates.openspiel_steps_per_second is None
    assert rates.openspiel_ratio is None


def test_bench_idle_sessions() -> None:
    kib = bench_idle(100)
    # The aim is 60 KB with 1,000 of them.
    assert kib is None or 0 <= kib < 300


def test_an_interrupted_bench_is_quiet_and_leaves_nobody() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "bench", "wire", "--matches", "1", "--seconds", "60"],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        end = time.monotonic() + 60
        while not (found := children.read_text().split()) and time.monotonic() < end:
            time.sleep(0.05)
        # As Ctrl-C does: to all that were started at the terminal.
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert found
    assert not any(Path(f"/proc/{number}").exists() for number in found)


def test_bench_wire() -> None:
    said: list[str] = []
    [row] = bench_wire([2], 0.5, said.append)
    assert row.matches == 2
    assert row.echo_per_s > 100
    # The aim is 0.80 at 32 matches on a quiet machine.
    assert row.ratio > 0.2
    assert 0 < row.p50_ms <= row.p99_ms
    assert said


def test_bench_wire_with_grpcs_older_poller(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting that docs/serving.md tells of."""
    found = re.search(r"export GRPC_EXPERIMENTS=(\S+)", (ROOT / "docs/serving.md").read_text())
    assert found
    monkeypatch.setitem(ENVIRONMENT, "GRPC_EXPERIMENTS", found[1])
    short = ("--matches", "2", "--seconds", "0.3", "--idle", "0", "--format", "json")
    done = referee("bench", "wire", *short)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)["rows"]
    assert row["referee_per_s"] > 0
