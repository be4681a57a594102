"""`tournament ladder`: one process that listens, keeps a ladder going, and stops gracefully."""

import asyncio
import shlex
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from referee.match.policy import Policy
from referee.service.descriptors import allow_many_descriptors
from referee.service.logs import configure_logs
from referee.service.meter import Meter
from referee.service.serve import Prepared, ServeError, ServeOptions, is_interrupted, prepare
from referee.service.server import ListenError, Referee
from referee.service.session import Limits
from referee.service.tls import TlsFiles
from tournament.config import Config
from tournament.errors import TournamentError, UsageError
from tournament.ladder.checks import Pauses
from tournament.ladder.desk import Desk
from tournament.ladder.field import MOST_PER_BOT, Rules
from tournament.ladder.ladder import Ladder
from tournament.ladder.ratings import Ratings
from tournament.ladder.service import TournamentService
from tournament.store.store import Store

TOKEN_FILE: Final = "organiser.token"  # noqa: S105 - where a token is, not one
_PROGRESS_S: Final = 60.0
_LIMITS: Final = Limits(max_concurrent_matches=MOST_PER_BOT)
_POLICY: Final = Policy(most_forgiven_part=0.5)
"""Many bots at once keep any machine from answering for some part of the time. Whoever is about to
lose must not escape by thinking until a part of it is the referee's; it is not charged anyway."""
_log = structlog.get_logger()


class LadderError(TournamentError):
    """The ladder cannot be served."""


@dataclass(frozen=True, slots=True)
class LadderOptions:
    """What `tournament ladder` is asked for besides rules and clock. Empty or None: without it."""

    listen: tuple[str, ...]
    data: Path
    database: str | None = None
    tls: TlsFiles | None = None
    insecure: bool = False
    """Allow plain TCP, and metrics, beyond this machine."""
    by_invitation: bool = False
    metrics: str = ""
    most_matches: int = 16
    grace_s: float = 60.0
    """How long running matches may go on after the first signal."""
    first_pause_s: float = 30.0
    verbose: bool = False


def prepare_ladder(
    options: LadderOptions, config: Config, *, is_rehearsal: bool = False
) -> Prepared:
    """Check all that can be checked before anything begins. Raises UsageError.

    The organiser's token is read from the data folder, and made when it is missing. A rehearsal
    leaves the data folder alone.
    """
    token_file = None if is_rehearsal else options.data / TOKEN_FILE
    try:
        if not is_rehearsal:
            options.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        return prepare(
            ServeOptions(
                listen=options.listen,
                rules=config.rules,
                seats=config.seats,
                insecure=options.insecure,
                tls=options.tls,
                metrics=options.metrics,
                organiser_token_file=token_file,
            )
        )
    except ServeError as error:
        raise UsageError(str(error)) from error


async def serve_until_stopped(
    options: LadderOptions,
    prepared: Prepared,
    config: Config,
    store: Store,
    ladder: str,
    tell: Callable[[str], None],
) -> None:
    """Keep the ladder going until SIGINT or SIGTERM. Raises LadderError and StoreError.

    Whoever calls it holds the ladder's lock. `tell` gets lines for people.
    """
    configure_logs(verbose=options.verbose)
    allow_many_descriptors()
    loop = asyncio.get_running_loop()
    signals: asyncio.Queue[int] = asyncio.Queue()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signals.put_nowait, number)
    try:
        async with serving(options, prepared, config, store, ladder) as host:
            _say_how(options, host, tell)
            progress = asyncio.create_task(_tell_progress(host))
            try:
                if not await is_interrupted(host.ladder.run(), signals):
                    return
            finally:
                progress.cancel()
                await asyncio.gather(progress, return_exceptions=True)
            _log.info("stopping", running=host.referee.running, grace_s=options.grace_s)
            host.referee.is_draining = True
            await is_interrupted(host.referee.drain(options.grace_s), signals)
            _end_matches(host.referee)
            log_progress(host.referee, host.ladder, host.ratings, 0)
    except ListenError as error:
        raise LadderError(str(error)) from error
    _log.info("stopped")


@dataclass(frozen=True, slots=True)
class Host:
    """What is served, and at which addresses."""

    referee: Referee
    ladder: Ladder
    ratings: Ratings
    addresses: list[str]


@asynccontextmanager
async def serving(
    options: LadderOptions, prepared: Prepared, config: Config, store: Store, ladder: str
) -> AsyncIterator[Host]:
    """A ladder that listens; all of it is closed at the end, results first."""
    async with AsyncExitStack() as stack:
        desk = Desk()
        stack.callback(desk.close)
        meter = Meter() if options.metrics else None
        referee = Referee(limits=_LIMITS, policy=_POLICY, meter=meter)
        referee.tokens.admit_organiser(prepared.organiser_token)
        ratings = Ratings(options.data, options.database, ladder)
        rules = Rules(config.seats, config.rules_hash, most_matches=options.most_matches)
        pauses = Pauses(options.first_pause_s)
        host = Ladder(referee, store, desk, ladder, config, rules, ratings, pauses)
        service = TournamentService(
            referee, host, store, desk, ratings, by_invitation=options.by_invitation
        )
        referee.add_service(service.name, service.handler())
        await host.open()
        stack.push_async_callback(referee.close)
        computing = asyncio.create_task(ratings.run())
        stack.push_async_callback(_end, computing)
        stack.push_async_callback(host.close)
        stack.callback(_end_matches, referee)
        tls = prepared.tls
        bound = await referee.listen(
            *options.listen, credentials=tls.credentials if tls is not None else None
        )
        if meter is not None:
            from referee.service.metrics import start_metrics  # noqa: PLC0415 - an extra

            metrics = start_metrics(options.metrics, referee, meter)
            stack.push_async_callback(asyncio.to_thread, metrics.close)
            _log.info("serving metrics", url=f"http://{metrics.address}/metrics")
        for address in bound:
            is_tls = tls is not None and not address.startswith("unix:")
            _log.info("listening", address=address, tls=is_tls, rules=config.preset, ladder=ladder)
        yield Host(referee, host, ratings, bound)


def _end_matches(referee: Referee) -> None:
    """Have no match running any more, nor one beginning: the ladder waits for them to be stored."""
    referee.is_draining = True
    referee.abort_running("the ladder is stopping")


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _say_how(options: LadderOptions, host: Host, tell: Callable[[str], None]) -> None:
    address = called(host.addresses[0])
    is_tls = options.tls is not None and not address.startswith("unix:")
    grpcurl, ours = ("-cacert CA.pem ", " --tls-ca CA.pem") if is_tls else ("-plaintext ", "")
    variable = ""
    if options.by_invitation:
        token = f"$(cat {shlex.quote(str(options.data / TOKEN_FILE))})"
        variable = f'RUMMY_TOKEN="{token}" '
        grpcurl += f'-H "authorization: Bearer {token}" '
    tell(f"ladder {host.ladder.id} at {', '.join(host.addresses)}")
    tell(
        f"register a bot: {variable}tournament register {address} NAME VERSION{ours}, or:"
        f""" grpcurl {grpcurl}-d '{{"bot": "NAME", "version": "1"}}' """
        f"{address} rummy.tournament.v1.TournamentService/Register"
    )
    trusting = ", RUMMY_TLS_CA=CA.pem" if is_tls else ""
    tell(
        f"then run it with RUMMY_REFEREE={address}{trusting} and RUMMY_TOKEN, the token of the"
        " answer"
    )
    if address != host.addresses[0]:
        tell("HOST is a name or an address of this machine, as others know it")
    if is_tls:
        tell("CA.pem is the certificate of this ladder, or of who signed it")


def called(address: str) -> str:
    """Return how others call what listens at an address: everywhere is no place to go to."""
    host, _, port = address.rpartition(":")
    return f"HOST:{port}" if host in ("0.0.0.0", "[::]") else address  # noqa: S104


async def _tell_progress(host: Host) -> None:
    """Log a line each minute."""
    before = 0
    while True:
        await asyncio.sleep(_PROGRESS_S)
        before = log_progress(host.referee, host.ladder, host.ratings, before)


def log_progress(referee: Referee, ladder: Ladder, ratings: Ratings, before: int) -> int:
    """Log how the ladder does, and return how many matches have ended; `before` was the last."""
    field = ladder.field
    connected = field.present()
    _log.info(
        "progress",
        entrants=len(field.places),
        connected=len(connected),
        paused=sum(bool(place.paused) for place in connected),
        running=len(ladder.running),
        most_running=field.most_now,
        open_encounters=len(field.open),
        matches=field.matches,
        matches_new=field.matches - before,
        encounters=field.whole,
        fit_s=round(ratings.latest.seconds, 3),
        fit_matches=ratings.latest.matches,
        stalls=referee.clock.stalls,
        stalled_ms=referee.clock.total_stalled_us // 1_000,
    )
    return field.matches
