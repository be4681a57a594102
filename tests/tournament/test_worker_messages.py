"""What runner and worker say survives the pipe."""

import pytest

from referee.match.outcome import Forfeit, Termination
from tests.tournament.fakes import match_result
from tournament.worker.messages import (
    Acknowledged,
    BotEnded,
    BotFailure,
    BotSpec,
    BotStarted,
    Failed,
    Failure,
    Message,
    PlayLeg,
    Ready,
    Result,
    Setup,
    decode,
    encode,
)

MESSAGES: list[Message] = [
    Setup(
        socket_dir="/tmp/x",
        log_dir="/tmp/y",
        sandbox="bubblewrap",
        hidden=("/data", "/home"),
        preset="basic",
        overrides={"target": 50, "packs": {"4": 2}},
        time_control={"bank_ms": 5},
        bots=(BotSpec("a", "1.0", "/bots/a", ("python3", "bot.py"), memory_mb=512, tcp=True),),
    ),
    PlayLeg(
        fixture_id="f",
        match_id="m",
        leg=1,
        seats=("a", "b"),
        first_dealer=1,
        secret=bytes(range(32)),
        salt=b"\xff" * 32,
        randomness=(b"1" * 32, b"2" * 32),
        fresh=True,
        withdrawn=("b",),
    ),
    Acknowledged("f"),
    Ready(),
    BotStarted(pid=5, mark="77"),
    BotEnded(pid=5),
    Result(
        "f",
        match_result([2, 1], forfeits={0: Forfeit.TIME}, termination=Termination.FORFEIT),
        failures=(BotFailure("a", 1, Failure.ENDED, "ended", tail="no", log="/logs/a"),),
    ),
    Failed("f", "zwölf\nlines"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_messages_come_back_equal_in_one_line(message: Message) -> None:
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode(line) == message


def test_secrets_are_not_shown() -> None:
    assert "secret" not in repr(MESSAGES[1])


@pytest.mark.parametrize("line", [b"hello\n", b"{}\n", b"[1]\n", b'{"type": "Ready", "x": 1}\n'])
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a message|Expecting value"):
        decode(line)
