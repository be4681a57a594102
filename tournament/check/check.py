"""Checks one bot: hosts a referee, takes the steps one after another, and reports."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import grpc

from referee.service.bots import Bot
from referee.service.server import Referee
from referee.service.session import Stream
from tournament.bots.folder import BotFolder
from tournament.bots.guard import Guard
from tournament.bots.sandbox.limits import MEMORY_MB, Limits
from tournament.bots.sandbox.wrapped import Sandbox
from tournament.bots.start import Program
from tournament.check import partner
from tournament.check.report import Finding, Report, Settings, Status, Verdict
from tournament.check.room import POLICY, Room, Unclear, failed
from tournament.check.steps.table import STEPS, Step
from tournament.check.subject import Elsewhere, Launched, NotThere
from tournament.check.usage import watching
from tournament.check.where import Where
from tournament.check.wire import Wire

Progress = Callable[[Finding], None]
Doing = Callable[[str], None]
PARTNERS = 5
HURRY_PART = 0.6
"""The part of its time after which a check has its matches as short as they may be."""
_CONNECT_S = 10.0


async def check_bot(
    bot: BotFolder,
    *,
    sandbox: Sandbox,
    copy: Path,
    scratch: Path,
    progress: Progress = lambda _: None,
    doing: Doing = lambda _: None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> Report:
    """Check the bot whose frozen copy is `copy`.

    `progress` gets each finding as it is made, `doing` words for what begins: a step, a match.
    `scratch` is an empty private folder with a short path, which its owner removes. The bot's
    processes are gone when this returns, and so they are when it is cancelled. It takes
    `settings.limit_s` and some seconds at the most, whatever the bot does. Call it in the main
    thread. Raises OSError when it is this machine that lacks something.
    """
    limits = Limits(memory_mb=bot.memory_mb or MEMORY_MB, tcp=bot.tcp)
    address = f"unix:{scratch}/check.sock"
    async with _hosting([address]) as (referee, wire, _, tokens):
        with Guard(scratch) as guard:
            subject = Launched(
                referee,
                sandbox,
                Program(copy, bot.run, limits),
                name=bot.name,
                version=bot.version,
                address=address,
                scratch=scratch,
                settings=settings,
                guard=guard,
            )
            room = Room(referee, subject, wire, settings, tokens)
            try:
                async with watching(subject.peak, subject.pid):
                    findings, seconds = await _take_steps(room, progress, doing)
            finally:
                await _in_any_case(subject.stop())
            output = subject.tail()
    return Report(bot.name, bot.version, sandbox.name, settings, findings, seconds, output)


async def check_elsewhere(
    bot: BotFolder | None,
    *,
    address: str,
    credentials: grpc.ServerCredentials | None,
    scratch: Path,
    tell: Callable[[str, str], None],
    wait_s: float,
    progress: Progress = lambda _: None,
    doing: Doing = lambda _: None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> Report:
    """Check a bot that its author starts, and that dials `address`, HOST:PORT or unix:PATH.

    With `credentials` TCP is TLS. `tell` gets the address and the token for the bot, which is
    waited for `wait_s` seconds. Without a folder of the bot its name is not compared. `progress`
    and `doing` are told as by `check_bot`. Raises ListenError.
    """
    name, version = (bot.name, bot.version) if bot is not None else ("", "")
    own = f"unix:{scratch}/check.sock"
    async with _hosting([own, address], credentials) as (referee, wire, bound, tokens):
        subject = Elsewhere(
            referee, name=name, version=version, wait_s=wait_s, again_s=settings.launch_s
        )
        tell(bound[1], subject.token)
        room = Room(referee, subject, wire, settings, tokens)
        findings, seconds = await _take_steps(room, progress, doing, extra_s=wait_s)
    hello = wire.hello
    if bot is None and hello is not None:
        name, version = hello.bot, hello.version
    return Report(name, version, "", settings, findings, seconds, [])


async def _in_any_case(work: Coroutine[None, None, None]) -> None:
    """Do the work to its end, also when the caller is cancelled meanwhile."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


@asynccontextmanager
async def _hosting(
    addresses: Sequence[str], credentials: grpc.ServerCredentials | None = None
) -> AsyncIterator[tuple[Referee, Wire, list[str], list[str]]]:
    """Serve at these addresses, with partners at the first one.

    Yields the referee, what passes between it and the bot, the addresses for bots, and the
    partners' tokens.
    """
    wire = Wire()
    others: set[str] = set()

    def tap(stream: Stream, bot: Bot) -> Stream:
        return stream if bot.identity.key in others else wire.tap(stream)

    referee = Referee(policy=POLICY, tap=tap)
    tokens = [referee.issue_token(partner.NAME, partner.VERSION) for _ in range(PARTNERS)]
    others |= {referee.bot(token).identity.key for token in tokens}
    try:
        bound = await referee.listen(*addresses, credentials=credentials)
        async with partner.partners(bound[0], tokens):
            for token in tokens:
                await referee.wait_connected(token, _CONNECT_S)
            yield referee, wire, bound, tokens
    finally:
        await referee.close(grace_s=0.2)


async def _take_steps(
    room: Room, progress: Progress, doing: Doing, extra_s: float = 0.0
) -> tuple[list[Finding], float]:
    """Take all steps; return their findings and the seconds that they took together."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    deadline = begin + room.settings.limit_s + extra_s
    room.hurry_at = begin + HURRY_PART * room.settings.limit_s + extra_s
    findings: list[Finding] = []
    gone = ""
    for number, step in enumerate(STEPS, 1):
        start = loop.time()
        room.tell = partial(_tell_of, doing, number, step)
        room.tell("")
        killed = _kills(room)
        if step.needs_process and room.subject.is_elsewhere:
            verdict = Verdict(Status.NOT_SEEN, "it runs elsewhere")
        elif step.needs_bot and gone:
            verdict = Verdict(Status.NOT_RUN, gone)
        else:
            verdict, gone = await _take(room, step, deadline, gone)
        if number == 1 and verdict.status is Status.FAILED:
            gone = "the bot did not come (step 1)"
        if _kills(room) > killed and verdict.status is Status.FAILED:
            # One fault: the step that looks at memory and processes fails for it.
            text = "the bot was ended by its sandbox meanwhile"
            verdict = Verdict(Status.NOT_RUN, f"{text}: {verdict.text}")
        findings.append(Finding(number, step.key, step.title, verdict, loop.time() - start))
        progress(findings[-1])
    return findings, loop.time() - begin


def _tell_of(doing: Doing, number: int, step: Step, text: str) -> None:
    doing(f"{number:>2}  {step.title}{': ' * bool(text)}{text}")


async def _take(room: Room, step: Step, deadline: float, gone: str) -> tuple[Verdict, str]:
    """Take a step; return its verdict, and why no further one can be taken, if so."""
    try:
        async with asyncio.timeout_at(deadline) as timeout:
            if step.needs_bot:
                try:
                    await room.subject.ensure()
                except NotThere as error:
                    gone = f"the bot could not be had again: {error}"
                    return Verdict(Status.NOT_RUN, gone), gone
            return await step.run(room), gone
    except NotThere as error:
        gone = f"the bot could not be had again: {error}"
        return failed(gone, expected="that it can be started again", where=Where.STEPS), gone
    except Unclear as error:
        text = f"this machine was too busy to tell: {error}; run the check again"
        return failed(text, where=Where.STEPS), gone
    except TimeoutError:
        if not timeout.expired():
            raise
        text = f"the {room.settings.limit_s:g} s of a check are over"
        return failed(text, "answers, but slowly", "a check in that time", Where.STEPS), text


def _kills(room: Room) -> int:
    """Return how often the sandbox has ended the bot."""
    return len(room.subject.killed) if isinstance(room.subject, Launched) else 0
