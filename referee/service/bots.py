"""A bot as the service knows it: who it is, its session if it has one, and its matches."""

import asyncio
from collections.abc import Sequence

import structlog

from referee.engine.events import Event
from referee.match.outcome import Forfeit, MatchResult
from referee.match.runner import Match
from referee.match.seat_player import Decision, Rejected
from referee.service.messages import MatchMessages
from referee.service.session import Session
from referee.service.tokens import Identity

_log = structlog.get_logger()


class Bot:
    """One token's bot. It outlives its sessions: the newest one takes over the matches."""

    __slots__ = (
        "_arrivals",
        "exited",
        "identity",
        "is_house",
        "name",
        "seats",
        "session",
        "version",
    )

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.name = identity.bot
        self.version = identity.version
        self.session: Session | None = None
        self.seats: dict[str, SeatOfBot] = {}
        """By match id."""
        self.is_house = False
        """One of the referee's own, which organisers leave alone."""
        self.exited = ""
        """How its process ended, once a launcher has said so."""
        self._arrivals: list[asyncio.Future[None]] = []

    @property
    def is_connected(self) -> bool:
        """Whether a session is open."""
        return self.session is not None

    def attach(self, session: Session) -> None:
        """A session has said hello: it takes over from an older one."""
        older, self.session = self.session, session
        if older is not None:
            older.replaced()
        for arrival in self._arrivals:
            if not arrival.done():
                arrival.set_result(None)
        self._arrivals.clear()

    def resume(self) -> None:
        """Send what the matches that are still running have for the new session."""
        for seat in list(self.seats.values()):
            seat.match.connection_back(seat.number)

    def detach(self, session: Session, fault: str) -> None:
        """A session has ended: by goodbye, by a fault of the bot (in words), or just so."""
        if self.session is not session:
            return
        self.session = None
        for seat in list(self.seats.values()):
            if session.said_goodbye:
                seat.match.forfeit(seat.number, Forfeit.RESIGN)
            elif fault:
                seat.match.protocol_broken(seat.number, fault)
            else:
                seat.match.connection_lost(seat.number)

    def process_ended(self, how: str) -> None:
        """The launcher saw its process end: no session will come back."""
        self.exited = how
        for arrival in self._arrivals:
            if not arrival.done():
                arrival.set_exception(ConnectionError(how))
        self._arrivals.clear()
        for seat in list(self.seats.values()):
            seat.match.forfeit(seat.number, Forfeit.CRASH, how)

    async def arrived(self, timeout_s: float) -> None:
        """Wait for a session. Raises TimeoutError, or ConnectionError if the process ended."""
        if self.is_connected:
            return
        if self.exited:
            raise ConnectionError(self.exited)
        arrival = asyncio.get_running_loop().create_future()
        self._arrivals.append(arrival)
        async with asyncio.timeout(timeout_s):
            await arrival


class SeatOfBot:
    """A bot at one seat of a match: a `SeatPlayer` that writes to the bot's session, if any."""

    __slots__ = ("_log", "_messages", "bot", "match", "number")

    def __init__(self, bot: Bot, number: int, messages: MatchMessages) -> None:
        self.bot = bot
        self.number = number
        self.match: Match
        self._messages = messages
        self._log = _log.bind(match_id=messages.match_id, seat=number, bot=bot.name)

    def _send(self, message: bytes) -> None:
        if self.bot.session is not None:
            self.bot.session.send(message)

    def match_starting(self) -> None:
        """Tell the bot."""
        self._send(self._messages.match_starting(self.number))

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Tell the bot."""
        if self.bot.session is not None:
            message = self._messages.update(self.number, first_event_number, events, decision)
            self.bot.session.send(message)

    def rejected(self, rejected: Rejected) -> None:
        """Tell the bot."""
        self._log.debug("rejected", reason=rejected.reason, text=rejected.text)
        self._send(self._messages.rejected(rejected))

    def match_ended(self, result: MatchResult) -> None:
        """Tell the bot, and forget the match."""
        self._send(self._messages.match_ended(result))
        self.bot.seats.pop(result.match_id, None)
