"""The one line that each match has in the log."""

import asyncio
import json

from structlog.testing import capture_logs

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
