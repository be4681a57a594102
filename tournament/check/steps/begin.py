"""The first steps: the bot comes, and says who it is."""

import asyncio

from rummy.referee.v1 import play_pb2 as pb
from tournament.check.report import Status, Verdict
from tournament.check.room import Room, failed
from tournament.check.subject import Launched, NotThere
from tournament.check.where import Where

_NONCE = 7_000_007
_POLL_S = 0.01


async def start(room: Room) -> Verdict:
    """The bot starts, or is started by its author, and says hello in time."""
    subject = room.subject
    begin = asyncio.get_running_loop().time()
    try:
        await subject.ensure()
    except NotThere as error:
        refused = room.refusals
        sent = room.wire.first and f"as its first message {room.wire.first}"
        if refused:
            sent += f"{'; ' * bool(sent)}refused: {', '.join(refused)}"
        within = f" within {room.settings.launch_s:g} s" if not subject.is_elsewhere else ""
        expected = f"a call of PlayService/Play with hello first{within}"
        return failed(str(error), sent or "nothing", expected, Where.CONNECT)
    seconds = asyncio.get_running_loop().time() - begin
    text = f"hello came after {seconds:.2f} s"
    if isinstance(subject, Launched):
        text += f" ({room.settings.launch_s:g} s allowed)"
    if room.wire.is_polled:
        text += "; it polls, without a stream"
    return Verdict(Status.PASSED, text, figures={"hello_s": round(seconds, 3)})


async def handshake(room: Room) -> Verdict:
    """The hello is what bot.toml says, and a ping is answered."""
    hello, subject = room.wire.hello, room.subject
    assert hello is not None, "nobody is connected without one"
    for what, said, registered in (
        ("name", hello.bot, subject.name),
        ("version", hello.version, subject.version),
    ):
        if registered and said != registered:
            return failed(
                f"its {what} is not that of bot.toml",
                f"hello with {'bot' if what == 'name' else what} {said[:80]!r}",
                repr(registered),
                Where.MANIFEST,
            )
    most = max(1, hello.max_concurrent_matches)
    text = f"{hello.bot} {hello.version}; {most} {'match' if most == 1 else 'matches'} at once"
    text += f"; features {', '.join(hello.features)}" if hello.features else ""
    figures = {"max_concurrent_matches": most, "features": len(hello.features)}
    if not room.wire.is_polled and not await _is_answered(room):
        return Verdict(
            Status.WARNING,
            f"{text}; a ping was not answered within {room.settings.answer_s:g} s",
            "no pong",
            f"a pong with the nonce {_NONCE}",
            Where.MESSAGES,
            figures,
        )
    return Verdict(Status.PASSED, text, figures=figures)


async def _is_answered(room: Room) -> bool:
    """Send a ping, and return whether its pong came."""
    session = room.referee.bot(room.subject.token).session
    if session is None:
        return False
    session.send(pb.PlayResponse(ping=pb.Ping(nonce=_NONCE)).SerializeToString())
    left_s = room.settings.answer_s
    while _NONCE not in room.wire.pongs and left_s > 0:
        await asyncio.sleep(_POLL_S)
        left_s -= _POLL_S
    return _NONCE in room.wire.pongs
