"""What a ladder needs of its referee: keys instead of tokens, and bots in the same process."""

import asyncio
from pathlib import Path

import pytest

from referee.engine.presets import make_ruleset
from referee.match.outcome import Forfeit, Termination
from referee.match.spec import MatchSpec, SeatSpec
from referee.service.errors import CallError
from referee.service.server import Referee
from referee.service.tokens import Tokens, key_of, new_token
from tests.service.clients import PATIENT
from tournament.ladder.chance import quick_chance
from tournament.ladder.partner import Partner

ONE_DEAL = make_ruleset("basic", {"match_end": "fixed_deals", "deals": 1})
LONG = make_ruleset("basic", {"match_end": "fixed_deals", "deals": 200})


def spec(match_id: str, *, is_long: bool = False) -> MatchSpec:
    return MatchSpec(
        match_id=match_id,
        rules=LONG if is_long else ONE_DEAL,
        seats=tuple(SeatSpec(name, "1", bytes(32)) for name in "ab"),
        secret=bytes(32),
        salt=bytes(32),
    )


def test_a_token_of_which_only_the_key_is_known_lets_in() -> None:
    tokens = Tokens()
    token = new_token()
    assert tokens.identify(token) is None
    tokens.admit_key(key_of(token), "bot", "2")
    identity = tokens.identify(token)
    assert identity is not None
    assert (identity.bot, identity.version, identity.key) == ("bot", "2", key_of(token))
    other = new_token()
    tokens.replace_key(key_of(token), key_of(other))
    assert tokens.identify(token) is None
    renamed = tokens.identify(other)
    assert renamed is not None
    assert (renamed.bot, renamed.version) == ("bot", "2")
    with pytest.raises(KeyError):
        tokens.replace_key(key_of(token), key_of(other))


async def test_two_partners_play_in_one_process(tmp_path: Path) -> None:
    referee = Referee(policy=PATIENT)
    await referee.listen(f"unix:{tmp_path}/referee")
    tokens = [referee.issue_token(name, "1") for name in "ab"]
    streams = [Partner(quick_chance()) for _ in tokens]
    serving = [
        asyncio.create_task(referee.serve_inside(token, stream))
        for token, stream in zip(tokens, streams, strict=True)
    ]
    for token in tokens:
        await referee.wait_connected(token, 10.0)
    for number in range(3):
        result = await referee.play(spec(f"m{number}"), tokens)
        assert result.termination is Termination.COMPLETED
        assert [seat.forfeit for seat in result.seats] == [None, None]
    streams[0].leave()
    await serving[0]
    assert not referee.bot(tokens[0]).is_connected
    streams[1].leave()
    await serving[1]
    with pytest.raises(CallError, match="not known"):
        await referee.serve_inside("wrong", Partner(quick_chance()))
    await referee.close()


async def test_who_is_withdrawn_resigns_at_once(tmp_path: Path) -> None:
    referee = Referee(policy=PATIENT)
    await referee.listen(f"unix:{tmp_path}/referee")
    tokens = [referee.issue_token(name, "1") for name in "ab"]
    streams = [Partner(quick_chance()) for _ in tokens]
    serving = [
        asyncio.create_task(referee.serve_inside(token, stream))
        for token, stream in zip(tokens, streams, strict=True)
    ]
    for token in tokens:
        await referee.wait_connected(token, 10.0)
    playing = asyncio.create_task(referee.play(spec("m", is_long=True), tokens))
    await asyncio.sleep(0)
    assert referee.running == ["m"]
    referee.withdraw_key(key_of(tokens[0]), "it was withdrawn")
    referee.withdraw_key(key_of("nobody's"), "it was withdrawn")
    result = await playing
    assert [seat.forfeit for seat in result.seats] == [Forfeit.RESIGN, None]
    assert "it was withdrawn" in result.text
    await serving[0]  # its session has ended
    assert referee.tokens.identify(tokens[0]) is None
    streams[1].leave()
    await asyncio.gather(*serving)
    await referee.close()


async def test_a_bot_with_another_token_goes_on(tmp_path: Path) -> None:
    referee = Referee(policy=PATIENT)
    await referee.listen(f"unix:{tmp_path}/referee")
    tokens = [referee.issue_token(name, "1") for name in "ab"]
    serving = [
        asyncio.create_task(referee.serve_inside(token, Partner(quick_chance())))
        for token in tokens
    ]
    for token in tokens:
        await referee.wait_connected(token, 10.0)
    playing = asyncio.create_task(referee.play(spec("m"), tokens))
    await asyncio.sleep(0)
    new = new_token()
    bot = referee.bot(tokens[0])
    referee.replace_key(key_of(tokens[0]), key_of(new))
    await serving[0]  # the old session has ended
    with pytest.raises(ValueError, match="revoked"):
        referee.bot(tokens[0])
    assert referee.bot(new) is bot
    again = asyncio.create_task(referee.serve_inside(new, Partner(quick_chance())))
    result = await playing
    assert result.termination is Termination.COMPLETED
    await referee.close()
    await asyncio.gather(*serving[1:], again)
