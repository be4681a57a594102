"""The referee as one object: listen, let bots in, play matches, stop."""

import asyncio
import socket
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from referee.engine.game import RummyGame
from referee.match.outcome import MatchResult
from referee.match.policy import Policy
from referee.match.runner import Match
from referee.match.spec import MatchSpec
from referee.service.bots import Bot, SeatOfBot
from referee.service.loop_clock import LoopClock
from referee.service.messages import MatchMessages
from referee.service.play_service import PlayService
from referee.service.session import Limits
from referee.service.tokens import Tokens
from rummy.referee.v1 import play_pb2

_log = structlog.get_logger()
_PLAY_SERVICE = play_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name


class ListenError(OSError):
    """The address cannot be listened on; the message says why and what to do."""


def _server_options(limits: Limits) -> list[tuple[str, int]]:
    """Channel options, each with its reason."""
    return [
        # Larger messages end the stream before they are read.
        ("grpc.max_receive_message_length", limits.max_message_bytes),
        # A second referee on the same port must fail, not share it.
        ("grpc.so_reuseport", 0),
        # A bot that does not read, or floods, is held back by flow control after about 64 KiB
        # instead of filling buffers of megabytes.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", 65_535),
        # Notice silent connections in seconds, not minutes.
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", 5_000),
        ("grpc.http2.ping_timeout_ms", 5_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 1_000),
        ("grpc.http2.max_ping_strikes", 0),
    ]


class Referee:
    """One event loop's referee. All methods are called on that loop."""

    def __init__(
        self,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        policy: Policy = Policy(),  # noqa: B008 - frozen
        max_sessions: int = 2_000,
        is_open: bool = False,
    ) -> None:
        """With `is_open` any token is let in, under the name that the bot gives itself."""
        self._policy = policy
        self._clock = LoopClock(asyncio.get_running_loop())
        self._play = PlayService(Tokens(is_open=is_open), limits, policy, max_sessions=max_sessions)
        self._server = grpc.aio.server(options=_server_options(limits))
        self._server.add_generic_rpc_handlers((self._play.handler(),))
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (_PLAY_SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)
        self._matches: dict[str, Match] = {}
        self.is_draining = False
        """Whether the service is about to stop: no match should begin."""
        self._all_ended: asyncio.Future[None] | None = None

    # --- listening and stopping -----------------------------------------------------------------

    async def listen(self, *addresses: str) -> list[str]:
        """Serve on each `HOST:PORT` (port 0: any) or `unix:PATH`, once; the addresses for bots.

        Raises ListenError.
        """
        bound = [self._bind(address) for address in addresses]
        await self._server.start()
        self._clock.start()
        for name in ("", _PLAY_SERVICE):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return bound

    def _bind(self, address: str) -> str:
        is_unix = address.startswith("unix:")
        if is_unix:
            _remove_dead_socket(Path(address.removeprefix("unix:")))
        try:
            port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise ListenError(
                f"cannot listen on {address}: is it taken by another process, or not yours to use?"
            ) from error
        return address if is_unix else f"{address.rpartition(':')[0]}:{port}"

    async def close(self, grace_s: float = 1.0) -> None:
        """Abort what is still being played, end all sessions, and stop serving."""
        await self._health.enter_graceful_shutdown()
        for match in list(self._matches.values()):
            match.abort("the referee is stopping")
        self._play.close_all()
        await self._server.stop(grace_s)
        self._clock.stop()

    async def drain(self, timeout_s: float) -> bool:
        """Wait for running matches while no other should begin; whether all have ended."""
        self.is_draining = True
        await self._health.enter_graceful_shutdown()
        if self._matches:
            self._all_ended = asyncio.get_running_loop().create_future()
            await asyncio.wait({self._all_ended}, timeout=timeout_s)
        return not self._matches

    # --- bots -----------------------------------------------------------------------------------

    def issue_token(self, bot: str, version: str) -> str:
        """A token for one process of a bot."""
        return self._play.tokens.issue(bot, version)

    def revoke_token(self, token: str) -> None:
        """Refuse the token from now on and end its session."""
        bot = self._play.bot_of(token)
        self._play.tokens.revoke(token)
        if bot is not None:
            self._play.bots.pop(bot.identity.key, None)
            if bot.session is not None:
                bot.session.close()

    def on_arrival(self, callback: Callable[[Bot], None]) -> None:
        """Call back whenever a bot has said hello."""
        self._play.on_arrival = callback

    async def wait_connected(self, token: str, timeout_s: float) -> None:
        """Wait for the bot's hello. Raises TimeoutError; ConnectionError if its process ended."""
        await self.bot(token).arrived(timeout_s)

    def report_exit(self, token: str, how: str) -> None:
        """The process behind the token has ended: its matches are forfeited as crashed."""
        self.bot(token).process_ended(how)

    def bot(self, token: str) -> Bot:
        """The bot behind a token. Raises ValueError if it was never issued, or revoked."""
        bot = self._play.bot_of(token)
        if bot is None:
            raise ValueError("the token was never issued here, or was revoked")
        return bot

    # --- matches --------------------------------------------------------------------------------

    async def play(self, spec: MatchSpec, tokens: Sequence[str]) -> MatchResult:
        """Play one match between the bots of these tokens, by seat, to its result.

        Whatever the bots do, a result comes: a seat that is not there forfeits. If this call is
        cancelled the match is aborted.
        """
        return await self.play_bots(spec, [self.bot(token) for token in tokens])

    async def play_bots(self, spec: MatchSpec, bots: Sequence[Bot]) -> MatchResult:
        """As `play`, for bots that are known. Raises ValueError for a wrong number of them."""
        if len(bots) != len(spec.seats):
            raise ValueError(f"{len(bots)} bots for {len(spec.seats)} seats")
        ended: asyncio.Future[MatchResult] = asyncio.get_running_loop().create_future()
        match = self._new_match(spec, bots, lambda result: _resolve(ended, result))
        self._matches[spec.match_id] = match
        try:
            match.start()
            for seat, bot in enumerate(bots):
                if bot.exited:
                    match.absent(seat, bot.exited)
                elif not bot.is_connected:
                    match.connection_lost(seat)
            return await ended
        finally:
            match.abort("the match was called off")
            del self._matches[spec.match_id]
            if not self._matches and self._all_ended is not None and not self._all_ended.done():
                self._all_ended.set_result(None)

    def _new_match(
        self, spec: MatchSpec, bots: Sequence[Bot], on_end: Callable[[MatchResult], None]
    ) -> Match:
        game = RummyGame(spec.rules, len(spec.seats), spec.secret, spec.first_dealer)
        messages = MatchMessages(spec, self._policy)
        seats = [SeatOfBot(bot, number, messages) for number, bot in enumerate(bots)]

        def on_fault(error: Exception) -> None:
            _log.error("the referee failed", match_id=spec.match_id, exc_info=error)

        match = Match(spec, game, seats, self._clock, on_end, on_fault, self._policy)
        for seat, bot in zip(seats, bots, strict=True):
            seat.match = match
            bot.seats[spec.match_id] = seat
        return match


def _resolve(ended: "asyncio.Future[MatchResult]", result: MatchResult) -> None:
    seats = [seat.place for seat in result.seats]
    _log.info(
        "match ended",
        match_id=result.match_id,
        termination=result.termination.value,
        text=result.text,
        places=seats,
        deals=result.deals,
    )
    if not ended.done():
        ended.set_result(result)


def _remove_dead_socket(path: Path) -> None:
    """Remove a socket file that nobody listens on any more. Raises ListenError for other files."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ListenError(f"{path} exists and is not a socket: choose another path")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise ListenError(f"{path} is a socket that another process listens on")
