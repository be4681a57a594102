"""The referee as one object: listen, let bots in, play matches, stop."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from referee.engine.game import RummyGame
from referee.match.outcome import Forfeit, MatchResult
from referee.match.policy import Policy
from referee.match.runner import Match
from referee.match.seat_player import SeatPlayer
from referee.match.spec import MatchSpec
from referee.service.access import ReflectionGuard
from referee.service.addresses import AddressError, is_local, remove_dead_socket, socket_path
from referee.service.bots import Bot, SeatOfBot
from referee.service.errors import CallError
from referee.service.late_end import LateEnd
from referee.service.logs import match_fields
from referee.service.loop_clock import LoopClock
from referee.service.messages import MatchMessages
from referee.service.meter import Meter, MeteredClock, MeteredSeat
from referee.service.play_service import PlayService
from referee.service.poll_service import PollService
from referee.service.scheduling import Scheduling
from referee.service.session import Limits, Stream
from referee.service.tokens import Tokens
from rummy.referee.v1 import play_pb2

_log = structlog.get_logger()
_PLAY_SERVICE = play_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name


class ListenError(OSError):
    """The address cannot be listened on; the message says why and what to do."""


class StoppingError(RuntimeError):
    """The referee is about to stop: no match begins any more."""


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
        # Notice silent connections within a minute. A client whose only thread thinks answers no
        # ping meanwhile: it has longer than a decision and the bank by default, 31 s.
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", 45_000),
        ("grpc.http2.ping_timeout_ms", 45_000),
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
        meter: Meter | None = None,
        tap: Callable[[Stream, Bot], Stream] | None = None,
    ) -> None:
        """With `is_open` any token is let in, under the name that the bot gives itself.

        Sessions are served over what `tap` returns for their streams: it sees all that passes.
        """
        self._policy = policy
        self._meter = meter
        self.clock = LoopClock(asyncio.get_running_loop())
        self._scheduling = Scheduling(asyncio.get_running_loop())
        self.tokens = Tokens(is_open=is_open)
        self._play = PlayService(self.tokens, limits, policy, max_sessions=max_sessions)
        guard = ReflectionGuard(self.tokens, lambda: self.is_exposed)
        self._play.on_arrival = self._arrived
        self._play.tap = tap
        self._arrivals: list[Callable[[Bot], None]] = []
        self._server = grpc.aio.server(interceptors=(guard,), options=_server_options(limits))
        self._health = health.aio.HealthServicer()
        self._names: list[str] = []
        self.add_service(_PLAY_SERVICE, self._play.handler())
        polled = PollService(self._play)
        self.add_service(polled.name, polled.handler())
        self._matches: dict[str, Match] = {}
        self.is_draining = False
        """Whether the service is about to stop: no match begins."""
        self.is_exposed = False
        """Whether others than this machine can reach it."""
        self._all_ended: asyncio.Future[None] | None = None

    # --- listening and stopping -----------------------------------------------------------------

    def add_service(self, name: str, handler: grpc.GenericRpcHandler) -> None:
        """Serve one more service, by its full name; before `listen`."""
        self._server.add_generic_rpc_handlers((handler,))
        self._names.append(name)

    async def listen(
        self, *addresses: str, credentials: grpc.ServerCredentials | None = None
    ) -> list[str]:
        """Serve on each `HOST:PORT` (port 0: any) or `unix:PATH`, once; the addresses for bots.

        With `credentials` every TCP address speaks TLS; a unix socket never does. Raises
        ListenError.
        """
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (*self._names, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)
        try:
            self.is_exposed = not all(is_local(address) for address in addresses)
            bound = [self._bind(address, credentials) for address in addresses]
        except AddressError as error:
            raise ListenError(str(error)) from error
        await self._server.start()
        self.clock.start()
        self._scheduling.start()
        for name in ("", *self._names):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return bound

    def _bind(self, address: str, credentials: grpc.ServerCredentials | None) -> str:
        path = socket_path(address)
        if path is not None:
            remove_dead_socket(path)
        try:
            if path is None and credentials is not None:
                port = self._server.add_secure_port(address, credentials)
            else:
                port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise ListenError(
                f"cannot listen on {address}: is it taken by another process, not yours to use,"
                " or a host that is not known?"
            ) from error
        return address if path is not None else f"{address.rpartition(':')[0]}:{port}"

    async def close(self, grace_s: float = 1.0) -> None:
        """Abort what is still being played, end all sessions with OK, and stop serving."""
        self.is_draining = True
        await self._health.enter_graceful_shutdown()
        self.abort_running("the referee is stopping")
        self._play.close_all()
        await self._server.stop(grace_s)
        # A call that came at the very end has a task that has not begun. Cancelled by the end of
        # the loop before it does, it would have gRPC print a traceback.
        await asyncio.sleep(0)
        self._scheduling.stop()
        self.clock.stop()

    async def drain(self, timeout_s: float) -> bool:
        """Begin no match any more and wait for those that run; whether all have ended."""
        self.is_draining = True
        await self._health.enter_graceful_shutdown()
        if self._matches:
            self._all_ended = asyncio.get_running_loop().create_future()
            await asyncio.wait({self._all_ended}, timeout=timeout_s)
        return not self._matches

    def abort_running(self, why: str) -> list[str]:
        """End all running matches without a result; their ids."""
        aborted = self.running
        if aborted:
            _log.warning("matches aborted", why=why, match_ids=aborted)
        for match in list(self._matches.values()):
            match.abort(why)
        return aborted

    # --- what is going on -----------------------------------------------------------------------

    @property
    def running(self) -> list[str]:
        """Ids of the matches that are being played."""
        return [match_id for match_id, match in list(self._matches.items()) if not match.result]

    @property
    def open_sessions(self) -> int:
        """Streams of bots that are open, those included that have not said hello."""
        return self._play.open_sessions

    @property
    def sessions_ended(self) -> Mapping[str, int]:
        """How many streams ended and calls were refused, by reason."""
        return self._play.ended

    # --- bots -----------------------------------------------------------------------------------

    def issue_token(self, bot: str, version: str) -> str:
        """A token for one process of a bot."""
        return self.tokens.issue(bot, version)

    def revoke_token(self, token: str) -> None:
        """Refuse the token, a bot's or an organiser's, from now on; a bot's session ends."""
        bot = self._play.bot_of(token)
        self.tokens.revoke(token)
        if bot is not None:
            self.revoke_bot(bot)

    def withdraw_key(self, key: str, why: str) -> None:
        """Refuse the bot's token with this key of an Identity; it resigns from its matches.

        Its session ends with UNAUTHENTICATED, and says why.
        """
        bot = self._play.bots.get(key)
        self.tokens.revoke_key(key)
        if bot is not None:
            for seat in list(bot.seats.values()):
                seat.match.forfeit(seat.number, Forfeit.RESIGN, why)
            text = f"the token is not good any more: {why}"
            self._shut_out(bot, CallError(grpc.StatusCode.UNAUTHENTICATED, "REVOKED", text))

    def replace_key(self, old: str, new: str) -> None:
        """Have a bot known by another token from now on, given both keys.

        Its sessions end with UNAUTHENTICATED, for they came with the old one.
        A session that comes with the new token takes over its matches.
        """
        self.tokens.replace_key(old, new)
        self._play.rekey(old, new)

    def revoke_bot(self, bot: Bot) -> None:
        """Refuse its token from now on and end its session with OK: it has done its work."""
        self._shut_out(bot, None)

    def _shut_out(self, bot: Bot, error: CallError | None) -> None:
        self.tokens.revoke_key(bot.identity.key)
        self._play.bots.pop(bot.identity.key, None)
        if bot.session is not None:
            bot.session.close(error)

    def bots(self) -> Iterable[Bot]:
        """All bots that are known: those of issued tokens that were used, and guests."""
        return list(self._play.bots.values())

    def on_arrival(self, callback: Callable[[Bot], None]) -> None:
        """Call back, after those who asked before, whenever a bot has said hello."""
        self._arrivals.append(callback)

    def _arrived(self, bot: Bot) -> None:
        for callback in self._arrivals:
            callback(bot)

    async def wait_connected(self, token: str, timeout_s: float) -> None:
        """Wait for the bot's hello. Raises TimeoutError; ConnectionError if its process ended."""
        await self.bot(token).arrived(timeout_s)

    async def serve_inside(self, token: str, stream: Stream) -> None:
        """Serve a bot in this process over a stream of its own making, until the stream ends.

        Raises CallError for a token that may not play.
        """
        await self._play.serve(stream, self._play.admit(token))

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

    async def play_bots(
        self,
        spec: MatchSpec,
        bots: Sequence[Bot],
        on_created: Callable[[Match], None] | None = None,
        keep: Callable[[MatchResult], Awaitable[None]] | None = None,
    ) -> MatchResult:
        """As `play`, for bots that are known. `on_created` gets the match before it starts.

        The bots hear of the end when `keep` has returned, and never if it raises.
        Raises ValueError for a wrong number of them, StoppingError when no match may begin.
        """
        if len(bots) != len(spec.seats):
            raise ValueError(f"{len(bots)} bots for {len(spec.seats)} seats")
        if self.is_draining:
            raise StoppingError(f"the referee is stopping: {spec.match_id} does not begin")
        begin = time.monotonic()
        ended: asyncio.Future[MatchResult] = asyncio.get_running_loop().create_future()

        def on_end(result: MatchResult) -> None:
            _log.info("match ended", **match_fields(spec, result, time.monotonic() - begin))
            if self._meter is not None:
                self._meter.ended(result)
            if not ended.done():
                ended.set_result(result)

        late_ends: list[LateEnd] | None = None if keep is None else []
        match = self._new_match(spec, bots, on_end, late_ends)
        self._matches[spec.match_id] = match
        try:
            if on_created is not None:
                on_created(match)
            match.start()
            for seat, bot in enumerate(bots):
                if bot.exited:
                    match.absent(seat, bot.exited)
                elif not bot.is_connected:
                    match.connection_lost(seat)
            result = await ended
            if keep is not None:
                await keep(result)
            for seat_of_bot in late_ends or ():
                seat_of_bot.tell()
            return result
        finally:
            match.abort("the match was called off")
            del self._matches[spec.match_id]
            if not self._matches and self._all_ended is not None and not self._all_ended.done():
                self._all_ended.set_result(None)

    def _new_match(
        self,
        spec: MatchSpec,
        bots: Sequence[Bot],
        on_end: Callable[[MatchResult], None],
        late_ends: list[LateEnd] | None,
    ) -> Match:
        """Make a match, and put what holds back its end into `late_ends`, if that is wanted."""
        game = RummyGame(spec.rules, len(spec.seats), spec.secret, spec.first_dealer, spec.suits)
        messages = MatchMessages(spec, self._policy)
        meter = self._meter
        seats = [
            SeatOfBot(bot, number, messages)
            if meter is None
            else MeteredSeat(bot, number, messages, meter)
            for number, bot in enumerate(bots)
        ]

        def on_fault(error: Exception) -> None:
            _log.error("the referee failed", match_id=spec.match_id, exc_info=error)

        players: Sequence[SeatPlayer] = seats
        if late_ends is not None:
            late_ends += [LateEnd(seat) for seat in seats]
            players = late_ends
        match = Match(spec, game, players, self.clock, on_end, on_fault, self._policy)
        if meter is not None:
            for place in match.seats:
                place.clock = MeteredClock(spec.time_control, meter)
        for seat, bot in zip(seats, bots, strict=True):
            seat.match = match
            bot.seats[spec.match_id] = seat
        return match
