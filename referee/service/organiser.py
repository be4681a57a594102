"""The matches that organisers order: they wait for their bots, are played, and are kept a while."""

import asyncio
import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import grpc
import structlog

from referee.engine.ruleset import RuleSet, RuleSetError
from referee.match.outcome import MatchResult
from referee.match.runner import Match
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.bots import Bot
from referee.service.errors import CallError
from referee.service.logs import match_fields
from referee.service.messages import match_ended_message
from referee.service.ordered_match import MatchState, OrderedMatch, never_begun
from referee.service.tokens import Tokens
from rummy.referee.v1 import match_pb2 as pb

_LOOK_S: Final = 0.25
"""How often waiting matches look for their bots when nothing has told them to."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class MatchLimits:
    """What organisers and spectators may use together."""

    most_at_once: int = 256
    """Matches that wait or run."""
    most_kept: int = 256
    """Matches that have ended; the oldest are forgotten."""
    most_kept_bytes: int = 64 * 1024 * 1024
    """Records and events of these; the newest one is kept in any case."""
    most_bots: int = 4_096
    most_watchers: int = 128
    """Streams of spectators, and as many of organisers."""
    unread_s: float = 10.0
    """How long a watcher may leave an update unread."""
    most_spectator_calls: int = 100
    """Calls of all spectators together in a second."""


class MatchHost(Protocol):
    """The referee, as far as organisers need it."""

    tokens: Tokens
    is_draining: bool

    def bots(self) -> Iterable[Bot]:
        """All bots that may be seated."""
        ...

    def bot(self, token: str) -> Bot:
        """The bot behind a token. Raises ValueError if there is none."""
        ...

    def issue_token(self, bot: str, version: str) -> str:
        """A token for one process of a bot."""
        ...

    def revoke_bot(self, bot: Bot) -> None:
        """Refuse the bot's token from now on and end its session."""
        ...

    async def play_bots(
        self,
        spec: MatchSpec,
        bots: Sequence[Bot],
        on_created: Callable[[Match], None] | None = None,
    ) -> MatchResult:
        """Play a match to its result; `on_created` is called before it starts."""
        ...


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """A match as it was ordered, checked field by field. Empty secret or salt: to be drawn."""

    rules: RuleSet
    bots: tuple[Bot, ...]
    time_control: TimeControl
    first_dealer: int
    connect_ms: int
    is_open: bool
    is_published: bool
    secret: bytes
    salt: bytes


class Matches:
    """All matches of one referee that were ordered, by their ids in the order of their creation."""

    def __init__(self, host: MatchHost, limits: MatchLimits) -> None:
        self._host = host
        self._limits = limits
        self._all: dict[str, OrderedMatch] = {}
        self._waiting: dict[str, OrderedMatch] = {}
        self._kept: dict[str, OrderedMatch] = {}
        self._numbers = itertools.count(1)
        self._starter: asyncio.Task[None] | None = None
        self._playing: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    def __iter__(self) -> Iterator[OrderedMatch]:
        return iter(self._all.values())

    def find(self, match_id: str) -> OrderedMatch:
        """A match by its id. Raises CallError."""
        match = self._all.get(match_id)
        if match is None:
            text = f"no match {match_id[:64]!r} is known: it was never ordered here, or is so old"
            text += f" that it is not kept (the last {self._limits.most_kept} are)"
            raise CallError(grpc.StatusCode.NOT_FOUND, "NO_SUCH_MATCH", text)
        return match

    def look(self) -> None:
        """Something has changed: perhaps a match can begin."""
        self._wake.set()

    # --- ordering -------------------------------------------------------------------------------

    def create(self, order: MatchOrder) -> OrderedMatch:
        """Take an order. Raises CallError."""
        self._check(order)
        spec = MatchSpec(
            match_id=secrets.token_hex(8),
            rules=order.rules,
            seats=_seats_of(order.bots),
            secret=order.secret or secrets.token_bytes(32),
            salt=order.salt or secrets.token_bytes(32),
            first_dealer=order.first_dealer,
            time_control=order.time_control,
        )
        match = OrderedMatch(
            next(self._numbers),
            spec,
            order.bots,
            due_s=asyncio.get_running_loop().time() + order.connect_ms / 1_000,
            is_open=order.is_open,
            is_published=order.is_published,
        )
        self._all[spec.match_id] = self._waiting[spec.match_id] = match
        if self._starter is None or self._starter.done():
            self._starter = asyncio.create_task(self._begin_waiting(), name="begin matches")
        self.look()
        _log.info("match ordered", match_id=spec.match_id, bots=[bot.name for bot in order.bots])
        return match

    def _check(self, order: MatchOrder) -> None:
        if self._host.is_draining:
            text = "the referee is stopping: no match begins any more"
            raise CallError(grpc.StatusCode.UNAVAILABLE, "STOPPING", text)
        if len(self._all) - len(self._kept) >= self._limits.most_at_once:
            text = f"{self._limits.most_at_once} matches wait or run: no more are allowed at once"
            raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "MATCHES", text)
        seats = len(order.bots)
        try:
            order.rules.check_seats(seats)
        except RuleSetError as error:
            raise CallError(grpc.StatusCode.INVALID_ARGUMENT, "BAD_RULES", str(error)) from error
        if order.first_dealer >= seats:
            text = f"first_dealer is {order.first_dealer}: allowed are seats 0–{seats - 1}"
            raise CallError(grpc.StatusCode.INVALID_ARGUMENT, "BAD_DEALER", text)
        if order.secret and (order.is_open or order.is_published):
            text = (
                "a match with a secret of its own may share decks: it cannot be open_to_spectators"
            )
            text += " or publish_record; release it when the last match on these decks has ended"
            raise CallError(grpc.StatusCode.INVALID_ARGUMENT, "SHARED_DECKS", text)
        for other in self._all.values():
            if other.spec.secret == order.secret and (other.is_open or other.is_published):
                text = f"the decks of this secret are known: match {other.spec.match_id} on them"
                text += " is released"
                raise CallError(grpc.StatusCode.FAILED_PRECONDITION, "DECKS_KNOWN", text)

    def release(self, match: OrderedMatch) -> None:
        """Show a match to everybody. Raises CallError while its decks are in play."""
        for other in self._all.values():
            if other.result is None and other.spec.secret == match.spec.secret:
                which = "it" if other is match else f"match {other.spec.match_id} on its decks"
                text = f"match {match.spec.match_id} cannot be released: {which} has not ended"
                reason = "NOT_ENDED" if other is match else "DECKS_IN_PLAY"
                raise CallError(grpc.StatusCode.FAILED_PRECONDITION, reason, text)
        match.is_published = True
        _log.info("match released", match_id=match.spec.match_id)

    # --- playing --------------------------------------------------------------------------------

    async def _begin_waiting(self) -> None:
        while self._waiting:
            self._wake.clear()
            if self._host.is_draining:
                self.close()
                return
            for match in list(self._waiting.values()):
                if self._may_begin(match):
                    self._begin(match)
                    # The bots' seats are taken in the next round of the loop.
                    await asyncio.sleep(0)
            try:
                async with asyncio.timeout(_LOOK_S):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _may_begin(self, match: OrderedMatch) -> bool:
        """Whether all bots are there, or will not come in time; none of them is too busy."""
        if match.state is not MatchState.WAITING:
            return False
        # Where bots need no token, one that returns is another object.
        known = {bot.identity.key: bot for bot in self._host.bots()}
        match.bots = [known.get(bot.identity.key, bot) for bot in match.bots]
        sessions = [(bot, bot.session) for bot in match.bots]
        if any(
            session is not None and len(bot.seats) >= session.max_concurrent_matches
            for bot, session in sessions
        ):
            return False
        is_late = asyncio.get_running_loop().time() >= match.due_s
        return is_late or all(bot.exited or session is not None for bot, session in sessions)

    def _begin(self, match: OrderedMatch) -> None:
        del self._waiting[match.spec.match_id]
        match.state = MatchState.RUNNING
        # Without tokens a bot's name is known when it has said hello.
        randomness = [seat.randomness for seat in match.spec.seats]
        match.spec = replace(match.spec, seats=_seats_of(match.bots, randomness))
        task = asyncio.create_task(self._play(match), name=f"play {match.spec.match_id}")
        self._playing.add(task)
        task.add_done_callback(self._playing.discard)

    async def _play(self, match: OrderedMatch) -> None:
        try:
            result = await self._host.play_bots(match.spec, match.bots, match.created)
        except asyncio.CancelledError:
            self._ended(match, never_begun(match.spec, "the referee is stopping"))
            raise
        except Exception as error:  # noqa: BLE001 - nobody else would hear of it
            text = f"the referee failed ({type(error).__name__})"
            if self._host.is_draining:
                text = "the referee is stopping"
            else:
                match_id = match.spec.match_id
                _log.error("match could not be played", match_id=match_id, exc_info=error)
            result = never_begun(match.spec, text)
        self._ended(match, result)
        self.look()

    def _ended(self, match: OrderedMatch, result: MatchResult) -> None:
        message = pb.WatchMatchResponse(match_ended=match_ended_message(result))
        match.ended(result, message.SerializeToString())
        self._kept[match.spec.match_id] = match
        size = sum(kept.size for kept in self._kept.values())
        while len(self._kept) > self._limits.most_kept or (
            size > self._limits.most_kept_bytes and len(self._kept) > 1
        ):
            # What has no record makes room first.
            unplayed = (key for key, kept in self._kept.items() if not kept.has_record)
            oldest = next(unplayed, None) or next(iter(self._kept))
            size -= self._kept.pop(oldest).size
            del self._all[oldest]

    # --- ending ---------------------------------------------------------------------------------

    def cancel(self, match: OrderedMatch, text: str) -> None:
        """Call a match off; one that has ended stays as it is."""
        match_id = match.spec.match_id
        if self._waiting.pop(match_id, None) is not None:
            result = never_begun(match.spec, text)
            _log.info("match ended", **match_fields(match.spec, result, 0.0))
            self._ended(match, result)
        elif match.result is None:
            match.abort(text)

    def close(self) -> None:
        """Call off what has not begun: the referee is stopping."""
        for match in list(self._waiting.values()):
            self.cancel(match, "the referee is stopping")
        self.look()


def _seats_of(
    bots: Sequence[Bot], randomness: Sequence[bytes] | None = None
) -> tuple[SeatSpec, ...]:
    own = randomness or [secrets.token_bytes(32) for _ in bots]
    return tuple(
        SeatSpec(bot.name or "anonymous", bot.version, chance)
        for bot, chance in zip(bots, own, strict=True)
    )
