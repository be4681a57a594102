"""`referee serve`: one process that listens, plays, and stops gracefully (docs/serving.md)."""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from referee.engine.ruleset import RuleSet
from referee.service.access import TokenFileError, organiser_token
from referee.service.addresses import AddressError, check_address, is_local
from referee.service.descriptors import allow_many_descriptors
from referee.service.lobby import HouseBotError, Lobby, LobbySpec, house_bots
from referee.service.logs import configure_logs
from referee.service.match_service import MatchService
from referee.service.meter import Meter
from referee.service.server import ListenError, Referee
from referee.service.tls import Tls, TlsError, TlsFiles, read_tls

_log = structlog.get_logger()


class ServeError(ValueError):
    """The server cannot be run as asked; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What `referee serve` is asked for. Empty or None: without it."""

    listen: tuple[str, ...]
    rules: RuleSet
    seats: int = 2
    house: str = ""
    """One of `house_bots`."""
    matches: int = 1
    """For each guest; 0: until it leaves."""
    insecure: bool = False
    """Allow plain TCP, and metrics, beyond this machine."""
    tls: TlsFiles | None = None
    metrics: str = ""
    """Address of the metrics."""
    organiser_token_file: Path | None = None
    require_tokens: bool = False
    """Only bots whose token was issued may play, and nothing begins by itself."""
    grace_s: float = 10.0
    """How long running matches may go on after the first signal."""
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was read before anything began."""

    tls: Tls | None
    organiser_token: str


def prepare(options: ServeOptions) -> Prepared:
    """Check all that can be checked, and read the files. Raises ServeError."""
    if options.require_tokens and options.organiser_token_file is None:
        raise ServeError(
            "--require-tokens needs --organiser-token-file: only an organiser can issue tokens"
        )
    if options.require_tokens and options.house:
        raise ServeError(
            f"--play {options.house} is for guests, and --require-tokens lets none in: allowed is"
            " one of the two"
        )
    known = house_bots()
    if options.house and options.house not in known:
        raise ServeError(f"no house bot is called {options.house!r}: there are {', '.join(known)}")
    try:
        _check_addresses(options)
        tls = read_tls(options.tls) if options.tls is not None else None
        path = options.organiser_token_file
        return Prepared(tls, organiser_token(path) if path is not None else "")
    except (AddressError, TlsError, TokenFileError) as error:
        raise ServeError(str(error)) from error


def _check_addresses(options: ServeOptions) -> None:
    for address in options.listen:
        check_address(address)
        if not is_local(address) and options.tls is None and not options.insecure:
            raise ServeError(
                f"{address} can be reached from outside, and plain TCP hides neither hands nor"
                " tokens: listen on 127.0.0.1, give --tls-cert and --tls-key, or say --insecure"
            )
    if not options.metrics:
        return
    if options.metrics.startswith("unix:"):
        raise ServeError(f"{options.metrics}: metrics are served at HOST:PORT, such as 127.0.0.1:0")
    check_address(options.metrics)
    if not is_local(options.metrics) and not options.insecure:
        raise ServeError(
            f"--metrics {options.metrics} can be reached from outside, and metrics are never"
            " encrypted: allowed is loopback such as 127.0.0.1:9464, or --insecure"
        )
    if find_spec("prometheus_client") is None:
        raise ServeError("--metrics needs an extra: pip install 'rummy-referee[metrics]'")


async def serve_until_stopped(options: ServeOptions, prepared: Prepared) -> None:
    """Serve until SIGINT or SIGTERM. Raises ServeError."""
    configure_logs(verbose=options.verbose)
    allow_many_descriptors()
    loop = asyncio.get_running_loop()
    signals: asyncio.Queue[int] = asyncio.Queue()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signals.put_nowait, number)
    try:
        async with _serving(options, prepared) as (referee, lobby):
            if not await is_interrupted(lobby.open(), signals):
                await signals.get()
            _log.info("stopping", running=referee.running, grace_s=options.grace_s)
            referee.is_draining = True
            lobby.dismiss_waiting()
            await is_interrupted(referee.drain(options.grace_s), signals)
            referee.abort_running("the referee is stopping")
    except (ListenError, HouseBotError) as error:
        raise ServeError(str(error)) from error
    _log.info("stopped")


@asynccontextmanager
async def _serving(
    options: ServeOptions, prepared: Prepared
) -> AsyncIterator[tuple[Referee, Lobby]]:
    """A referee that listens, and its lobby, which is not open yet; both are closed at the end."""
    tls = prepared.tls
    meter = Meter() if options.metrics else None
    async with AsyncExitStack() as stack:
        house = ""
        if options.house:
            # House bots speak no TLS and need none: they have a socket of their own.
            folder = stack.enter_context(TemporaryDirectory(prefix="referee-"))
            house = f"unix:{folder}/house.sock"
            try:
                check_address(house)
            except AddressError as error:
                raise ServeError(f"the folder for temporary files (TMPDIR): {error}") from error
        referee = Referee(is_open=not options.require_tokens, meter=meter)
        stack.push_async_callback(referee.close)
        if prepared.organiser_token:
            referee.tokens.admit_organiser(prepared.organiser_token)
            organisers = MatchService(referee)
            referee.add_service(organisers.name, organisers.handler())
            referee.on_arrival(organisers.arrived)
            stack.callback(organisers.close)
        addresses = [*options.listen, house] if house else options.listen
        bound = await referee.listen(*addresses, credentials=tls.credentials if tls else None)
        if meter is not None:
            from referee.service.metrics import start_metrics  # noqa: PLC0415 - an extra

            metrics = start_metrics(options.metrics, referee, meter)
            stack.push_async_callback(asyncio.to_thread, metrics.close)
            _log.info("serving metrics", url=f"http://{metrics.address}/metrics")
        for address in bound[: len(options.listen)]:
            is_tls = tls is not None and not address.startswith("unix:")
            _log.info("listening", address=address, tls=is_tls, rules=options.rules.preset)
        if tls is not None:
            _log.info("certificate", not_after=tls.not_after)
        spec = LobbySpec(options.rules, options.seats, options.house, options.matches)
        lobby = Lobby(referee, house, spec)
        stack.push_async_callback(lobby.close)
        yield referee, lobby


async def is_interrupted(
    work: Coroutine[None, None, object], signals: "asyncio.Queue[int]"
) -> bool:
    """Do some work, unless a signal comes first and ends it; whether one came."""
    working = asyncio.create_task(work)
    signalled = asyncio.create_task(signals.get())
    try:
        await asyncio.wait({working, signalled}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        return signalled.done()
    finally:
        for task in (working, signalled):
            task.cancel()
        await asyncio.gather(working, signalled, return_exceptions=True)
