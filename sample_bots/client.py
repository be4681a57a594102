"""The way from a strategy to the referee: one stream, any number of matches over it.

A bot is a `Strategy` made anew for each match. It finds the referee by `RUMMY_REFEREE` (`host:port`
or `unix:/path`), and says who it is by `RUMMY_TOKEN` (a practice server asks for none). With
`RUMMY_TLS_CA`, a PEM file of whom to trust, it speaks TLS.

Exit codes: 0 the referee ended the stream or SIGTERM came, 1 the referee refused or could not be
reached, 2 the environment has no address.

One asyncio task reads, thinks and writes. Measured against grpc's threaded client with one decision
in flight (450 bytes down, 24 up), this took 0.24 ms a round trip instead of 0.28 and a quarter less
processor time: nothing hops between threads.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import grpc

from rummy.referee.v1.play_pb2 import (
    Choice,
    Decision,
    Hello,
    MatchStarting,
    PlayRequest,
    PlayResponse,
    Pong,
    Ready,
    Update,
    Welcome,
)
from rummy.referee.v1.play_pb2_grpc import PlayServiceStub
from rummy.referee.v1.rummy_pb2 import Action, Event

MAX_CONCURRENT_MATCHES = 16
FIRST_BACKOFF_S = 0.05
LONGEST_BACKOFF_S = 1.0
# Losing one of these is worth another try; any other status is an answer that will not change.
PASSING = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)
# The loop below paces the attempts; the channel must not sit out a longer pause of its own.
CHANNEL_OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


class Strategy(ABC):
    """Plays one seat of one match."""

    @abstractmethod
    def choose(self, decision: Decision) -> Sequence[Action] | int:
        """Answer with a plan of actions or with an index into `decision.legal_actions`."""

    def observe(self, event: Event) -> None:  # noqa: B027  # Strategies without memory need none.
        """Take note of what happened. Each event of the match comes once, in order."""


Factory = Callable[[MatchStarting], Strategy]


class RefusedError(Exception):
    """The referee's answer is final; the text is for the bot's author."""


class _Seat:
    """A running match: its strategy and the number of the next event that it has not seen."""

    def __init__(self, starting: MatchStarting, factory: Factory) -> None:
        self.strategy = factory(starting)
        self.reconnect_s = starting.time_control.reconnect_ms / 1000
        self.next_event = 1

    def update(self, update: Update) -> Sequence[Action] | int | None:
        """Show the events that are new, then answer the decision if there is one."""
        for number, event in enumerate(update.events, update.first_event_number):
            # After a reconnect the current deal's events come again under their old numbers.
            if number >= self.next_event:
                self.strategy.observe(event)
                self.next_event = number + 1
        return self.strategy.choose(update.decision) if update.HasField("decision") else None


class Bot:
    """What a bot answers to each message. It does no input or output of its own."""

    def __init__(self, name: str, version: str, factory: Factory) -> None:
        self._name = name
        self._version = version
        self._factory = factory
        self._seats: dict[str, _Seat] = {}

    @property
    def is_playing(self) -> bool:
        """Whether a match is running."""
        return bool(self._seats)

    @property
    def reconnect_s(self) -> float:
        """Seconds for which a lost stream is worth reconnecting for the running matches' sake."""
        return max((seat.reconnect_s for seat in self._seats.values()), default=0.0)

    def hello(self) -> PlayRequest:
        """Introduce the bot: the first message of a stream."""
        return PlayRequest(
            hello=Hello(
                bot=self._name,
                version=self._version,
                max_concurrent_matches=MAX_CONCURRENT_MATCHES,
            )
        )

    def answer(self, response: PlayResponse) -> PlayRequest | None:
        """Return the answer to a message, None if it needs none or is not known here."""
        match response.WhichOneof("message"):
            case "update":
                return self._update(response.update)
            case "match_starting":
                starting = response.match_starting
                # After a reconnect it may come again: the strategy then goes on.
                if starting.match_id not in self._seats:
                    self._seats[starting.match_id] = _Seat(starting, self._factory)
                return PlayRequest(ready=Ready(match_id=starting.match_id))
            case "match_ended":
                self._seats.pop(response.match_ended.match_id, None)
            case "ping":
                return PlayRequest(pong=Pong(nonce=response.ping.nonce))
            case "rejected":
                _say(f"{self._name}: choice rejected: {response.rejected.text}")
            case "welcome":
                self._welcome(response.welcome)
        return None

    def _update(self, update: Update) -> PlayRequest | None:
        seat = self._seats.get(update.match_id)
        chosen = seat.update(update) if seat else None
        if chosen is None:
            return None
        choice = Choice(match_id=update.match_id, decision_id=update.decision.decision_id)
        if isinstance(chosen, int):
            choice.legal_action_index = chosen
        else:
            choice.actions.extend(chosen)
        return PlayRequest(choice=choice)

    def _welcome(self, welcome: Welcome) -> None:
        # Whatever the new session does not take over has ended in the meantime.
        resumed = set(welcome.resumed_match_ids)
        self._seats = {name: seat for name, seat in self._seats.items() if name in resumed}


def run(name: str, version: str, factory: Factory) -> None:
    """Play until the referee is done with this bot, then exit the process."""
    sys.exit(main(Bot(name, version, factory), os.environ))


def main(bot: Bot, environ: Mapping[str, str], patience_s: float = 10.0) -> int:
    """Play with the address and token in `environ` and return the exit code."""
    if not environ.get("RUMMY_REFEREE"):
        _say("RUMMY_REFEREE must be set: the referee's address, HOST:PORT or unix:PATH")
        return 2
    trusted = environ.get("RUMMY_TLS_CA", "")
    try:
        certificates = Path(trusted).read_bytes() if trusted else b""
    except OSError as error:
        _say(f"RUMMY_TLS_CA: {trusted} cannot be read: {error.strerror}")
        return 2
    try:
        asyncio.run(_until_signal(bot, environ, patience_s, certificates))
    except RefusedError as error:
        _say(str(error))
        return 1
    return 0


async def _until_signal(
    bot: Bot, environ: Mapping[str, str], patience_s: float, certificates: bytes
) -> None:
    loop = asyncio.get_running_loop()
    address, token = environ["RUMMY_REFEREE"], environ.get("RUMMY_TOKEN", "")
    playing = loop.create_task(play(bot, address, token, patience_s, certificates))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, playing.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await playing


def _channel(address: str, certificates: bytes) -> grpc.aio.Channel:
    if not certificates:
        return grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)
    trust = grpc.ssl_channel_credentials(certificates)
    return grpc.aio.secure_channel(address, trust, options=CHANNEL_OPTIONS)


async def play(
    bot: Bot, address: str, token: str, patience_s: float = 10.0, certificates: bytes = b""
) -> None:
    """Keep a stream to the referee until it ends one cleanly while no match is running.

    A lost stream is dialled again for `patience_s`, or for the reconnect time of the running
    matches if that is longer. Raise `RefusedError` when the referee refuses or stays out of reach.
    With certificates (PEM, of whom to trust) the stream is TLS.
    """
    async with _channel(address, certificates) as channel:
        lost_at = time.monotonic()
        backoff_s = FIRST_BACKOFF_S
        while True:
            was_welcome, code, details = await _session(bot, channel, token)
            if code is grpc.StatusCode.OK and not bot.is_playing:
                return
            if code is not grpc.StatusCode.OK and code not in PASSING:
                raise RefusedError(f"the referee at {address} refused: {code.name}: {details}")
            now = time.monotonic()
            if was_welcome:
                lost_at = now
                backoff_s = FIRST_BACKOFF_S
            tried_s = now - lost_at
            if tried_s + backoff_s > max(patience_s, bot.reconnect_s):
                raise RefusedError(
                    f"no referee at {address} in {tried_s:.1f} s: {code.name}: {details}"
                )
            await asyncio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, LONGEST_BACKOFF_S)


async def _session(
    bot: Bot, channel: grpc.aio.Channel, token: str
) -> tuple[bool, grpc.StatusCode, str]:
    """Run one stream to its end; return whether it was welcome, and the status with its text."""
    call = PlayServiceStub(channel).Play(metadata=(("authorization", f"Bearer {token}"),))
    was_welcome = False
    # A stream that breaks raises from whichever of read and write meets it first.
    with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
        await call.write(bot.hello())
        # No timeout around the read: cancelling one would end the stream.
        while isinstance(response := await call.read(), PlayResponse):
            was_welcome = was_welcome or response.HasField("welcome")
            request = bot.answer(response)
            if request is not None:
                await call.write(request)
    return was_welcome, await call.code(), (await call.details()) or "no details"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
