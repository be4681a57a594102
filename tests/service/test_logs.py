"""The one line that each match has in the log."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog
from structlog.testing import capture_logs

from referee.service.logs import configure_logs
from referee.service.server import Referee
from tests.service.clients import new_spec, result_of, two_bots

FIELDS = {
    *("match_id", "rules", "seats", "bots", "versions", "termination", "text", "places"),
    *("totals", "forfeits", "deals", "decisions", "charged_ms", "forgiven_ms"),
    *("illegal_strikes", "time_strikes", "duration_s", "head"),
}
"""What docs/serving.md promises."""


async def test_a_match_has_one_line(served: tuple[Referee, str]) -> None:
    referee, address = served
    spec = new_spec()
    async with two_bots(referee, address) as (tokens, one, other):
        with capture_logs() as lines:
            playing = asyncio.create_task(referee.play(spec, tokens))
            await asyncio.gather(one.play(), other.play())
            result = await result_of(playing)
    (line,) = [line for line in lines if line.get("match_id") == spec.match_id]
    assert line.pop("event") == "match ended"
    assert line.pop("log_level") == "info"
    assert set(line) == FIELDS
    assert json.loads(json.dumps(line)) == line
    assert line["bots"] == ["bot0", "bot1"]
    assert line["versions"] == ["1", "1"]
    assert (line["rules"], line["seats"], line["deals"]) == ("basic", 2, 1)
    assert line["termination"] == "completed"
    assert line["places"] == [seat.place for seat in result.seats]
    assert line["totals"] == [seat.total for seat in result.seats]
    assert line["decisions"] == [one.decisions, other.decisions]
    assert line["charged_ms"] == [seat.charged_us // 1_000 for seat in result.seats]
    assert line["forfeits"] == [None, None]
    assert line["illegal_strikes"] == line["time_strikes"] == [0, 0]
    assert line["head"] == result.record_hash.hex()
    assert 0 < line["duration_s"] < 60


async def test_a_forfeit_is_in_the_line(served: tuple[Referee, str]) -> None:
    referee, address = served
    async with two_bots(referee, address) as (tokens, one, other):
        with capture_logs() as lines:
            playing = asyncio.create_task(referee.play(new_spec(), tokens))
            await one.until("match_starting")
            referee.report_exit(tokens[0], "exit code 3")
            await asyncio.gather(other.play(), result_of(playing))
    (line,) = [line for line in lines if line["event"] == "match ended"]
    assert line["forfeits"] == ["startup", None]
    assert line["places"] == [2, 1]
    assert "exit code 3" in line["text"]


@pytest.fixture
def restored() -> Iterator[None]:
    """Logs as they were, afterwards."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.mark.usefixtures("restored")
def test_a_log_that_nobody_reads_any_more_stops_nothing() -> None:
    reader, writer = os.pipe()
    configure_logs(to=writer)
    log = structlog.get_logger()
    log.info("read", text="ü" * 1_000)
    line = json.loads(os.read(reader, 10_000))
    assert (line["event"], line["text"]) == ("read", "ü" * 1_000)
    os.close(reader)
    log.info("lost")
    os.close(writer)


@pytest.mark.usefixtures("restored")
def test_a_full_disk_stops_nothing() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    configure_logs(to=full)
    structlog.get_logger().error("lost", exc_info=ValueError("one"))
    os.close(full)


def test_without_standard_error_nothing_is_written_into_what_has_its_number() -> None:
    script = (
        "import os; from referee.service.logs import configure_logs; import structlog;"
        "os.open(os.devnull, os.O_RDONLY);"  # It takes the number of what is closed.
        "r, w = os.pipe(); os.set_blocking(r, False); os.dup2(w, 2); configure_logs();"
        "structlog.get_logger().error('lost'); os.write(2, b'own'); print(os.read(r, 99))"
    )
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "b'own'\n"
