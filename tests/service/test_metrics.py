"""Metrics: what is counted is what happened, and a scrape says it."""

import asyncio
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from referee.match.outcome import Forfeit, Termination
from referee.match.spec import TimeControl
from referee.service.addresses import AddressError
from referee.service.meter import BOUNDS_US, Meter, MeteredClock
from referee.service.metrics import start_metrics
from referee.service.server import ListenError, Referee
from rummy.referee.v1 import play_pb2 as pb
from tests.commands import ENVIRONMENT, refused
from tests.service.clients import (
    Client,
    at_random,
    choice_of,
    client,
    new_spec,
    referee_at,
    result_of,
    two_bots,
    until_disconnected,
)
from tests.service.serving import serving

Labels = tuple[tuple[str, str], ...]
Samples = dict[tuple[str, Labels], float]


def parse(text: str) -> Samples:
    """All samples, by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as response:
        text: str = response.read().decode()
    return text


async def scrape(referee: Referee, meter: Meter) -> Samples:
    """Read the metrics as Prometheus does."""
    server = start_metrics("127.0.0.1:0", referee, meter)
    try:
        return parse(await asyncio.to_thread(fetch, f"http://{server.address}/metrics"))
    finally:
        await asyncio.to_thread(server.close)


def test_decisions_are_sorted_by_time() -> None:
    meter = Meter()
    clock = MeteredClock(TimeControl(), meter)
    clock.grant()
    for us in (0, 100, 101, 1_000, 1_001, 30_000_000, 30_000_001):
        clock.charge(us, 7, with_reconnect=False)
    wanted = dict.fromkeys(range(len(BOUNDS_US) + 1), 0)
    for index in (0, 0, 1, BOUNDS_US.index(1_000), BOUNDS_US.index(2_500), -2, -1):
        wanted[index % len(wanted)] += 1
    assert meter.decisions_by_time == list(wanted.values())
    assert meter.charged_us == clock.charged_us == 60_002_203
    assert meter.forgiven_us == clock.forgiven_us == 49
    assert clock.decisions == 7


async def test_scrape_agrees_with_the_results(tmp_path: Path) -> None:
    meter = Meter()

    async def at_first_wrong(bot: Client, update: pb.Update) -> pb.Choice:
        return choice_of(update, 999_999) if bot.decisions == 1 else await at_random(bot, update)

    async with referee_at(tmp_path, meter=meter) as (referee, address):
        async with two_bots(referee, address) as (tokens, one, other):
            playing = asyncio.create_task(referee.play(new_spec(), tokens))
            await asyncio.gather(one.play(at_first_wrong), other.play())
            result = await result_of(playing)
            playing = asyncio.create_task(referee.play(new_spec(), tokens))
            await one.until("match_starting")
            samples = await scrape(referee, meter)
            assert samples["rummy_matches_running", ()] == 1
            assert samples["rummy_sessions_open", ()] == 2
            assert samples["rummy_draining", ()] == 0
            assert samples["rummy_matches_total", (("termination", "completed"),)] == 1
            decisions = sum(seat.decisions for seat in result.seats)
            assert decisions == one.decisions + other.decisions
            assert samples["rummy_decisions_total", ()] == decisions
            assert samples["rummy_decision_seconds_count", ()] == decisions
            assert samples["rummy_decision_seconds_bucket", (("le", "+Inf"),)] == decisions
            charged_s = sum(seat.charged_us for seat in result.seats) / 1e6
            assert samples["rummy_decision_seconds_sum", ()] == pytest.approx(charged_s)
            assert samples["rummy_charged_seconds_total", ()] == pytest.approx(charged_s)
            forgiven_s = sum(seat.forgiven_us for seat in result.seats) / 1e6
            assert samples["rummy_forgiven_seconds_total", ()] == pytest.approx(forgiven_s)
            assert samples["rummy_rejections_total", (("reason", "bad_index"),)] == 1
            referee.report_exit(tokens[0], "exit code 3")
            await other.play()
            await result_of(playing)
        async with client(address, "nonsense") as stranger:
            assert await stranger.receive() is None
        await until_disconnected(referee, tokens[0])
        await until_disconnected(referee, tokens[1])
        samples = await scrape(referee, meter)
        assert samples["rummy_sessions_open", ()] == 0
        assert samples["rummy_sessions_ended_total", (("reason", "BAD_TOKEN"),)] == 1
        assert samples["rummy_sessions_ended_total", (("reason", "ENDED"),)] == 2
        assert samples["rummy_forfeits_total", (("kind", "startup"),)] == 1
        assert samples["rummy_forfeits_total", (("kind", "time"),)] == 0
        assert samples["rummy_matches_total", (("termination", "forfeit"),)] == 1
        await referee.drain(1)
        assert (await scrape(referee, meter))["rummy_draining", ()] == 1


async def test_ends_of_sessions(tmp_path: Path) -> None:
    meter = Meter()
    async with referee_at(tmp_path, meter=meter) as (referee, address):
        token = referee.issue_token("bot", "1")
        for last in (pb.PlayRequest(goodbye=pb.Goodbye()), b"\xff\xff"):
            async with client(address, token) as bot:
                await bot.hello()
                await bot.send(last)
                assert await bot.receive() is None
            await until_disconnected(referee, token)
        assert dict(referee.sessions_ended) == {"GOODBYE": 1, "MALFORMED_MESSAGE": 1}


async def test_every_name_of_the_docs_is_there(tmp_path: Path) -> None:
    """And no other, but for those of the process itself."""
    meter = Meter()
    async with referee_at(tmp_path, meter=meter) as (referee, _):
        samples = await scrape(referee, meter)
    names = {name for name, _ in samples if name.startswith("rummy_")}
    text = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()
    told = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `rummy_")}
    bare = {name.partition("{")[0] for name in told}
    parts = ("_bucket", "_count", "_sum")
    families = {name.removesuffix(part) for name in names for part in parts if part in name}
    whole = {name for name in names if not name.endswith(parts)} | families
    # A reason appears with the first of its kind.
    assert bare - {"rummy_rejections_total", "rummy_sessions_ended_total"} == whole
    for label, kinds in (("termination", Termination), ("kind", Forfeit)):
        for kind in kinds:
            assert any(labels == ((label, kind.value),) for _, labels in samples)


async def test_loop_that_stands_still_is_seen(tmp_path: Path) -> None:
    meter = Meter()
    async with referee_at(tmp_path, meter=meter) as (referee, _):
        referee.clock.stalls, referee.clock.total_stalled_us = 3, 1_500_000
        samples = await scrape(referee, meter)
    assert samples["rummy_loop_stalls_total", ()] >= 3
    assert 1.5 <= samples["rummy_loop_stalled_seconds_total", ()] < 30


async def test_addresses_of_metrics(tmp_path: Path) -> None:
    meter = Meter()
    async with referee_at(tmp_path, meter=meter) as (referee, _):
        with pytest.raises(AddressError, match="'nonsense' is no address"):
            start_metrics("nonsense", referee, meter)
        server = start_metrics("127.0.0.1:0", referee, meter)
        with pytest.raises(ListenError, match=f"cannot serve metrics at {server.address}"):
            start_metrics(server.address, referee, meter)
        await asyncio.to_thread(server.close)
    serve = ("serve", "--listen", "127.0.0.1:0", "--metrics")
    assert "--metrics 0.0.0.0:9464 can be reached from outside" in refused(*serve, "0.0.0.0:9464")
    assert "'9464' is no address" in refused(*serve, "9464")
    assert "metrics are served at HOST:PORT" in refused(*serve, "unix:/tmp/x.sock")


def test_without_the_extra_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.service.serve.find_spec", lambda _name: None)
    told = refused("serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
    assert "pip install 'rummy-referee[metrics]'" in told


def test_nothing_of_prometheus_is_loaded_unless_asked_for() -> None:
    code = "import sys, referee.service.serve; print('prometheus_client' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_command_serves_metrics(tmp_path: Path) -> None:
    listen = ("--listen", f"unix:{tmp_path}/r.sock")
    with serving(tmp_path, *listen, "--metrics", "127.0.0.1:0") as server:
        url = server.wait_for("serving metrics")["url"]
        samples = parse(fetch(url))
        assert samples["rummy_sessions_open", ()] == 0
        assert any(name == "rummy_referee_info" for name, _ in samples)
        assert server.stop() == 0
