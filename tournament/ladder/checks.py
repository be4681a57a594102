"""Lets bots back in that were paused: each must finish a short match that counts for nothing."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from referee.match.outcome import MatchResult, Termination
from referee.match.spec import MatchSpec, SeatSpec
from referee.service.bots import Bot
from referee.service.server import Referee, StoppingError
from tournament.config import Config
from tournament.ladder.chance import below, new_match_id, new_secret
from tournament.ladder.field import Place
from tournament.ladder.names import PARTNER
from tournament.ladder.partner import Partner
from tournament.ladder.settings import check_rules

_LOOK_S = 0.5
"""How often a bot that is away, or busy, is looked for."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long a bot waits before it is tried: twice as long after each try that fails."""

    first_s: float = 30.0
    longest_s: float = 3_600.0


class Checks:
    """The bots that are being paused, each with a task that tries it."""

    def __init__(
        self,
        referee: Referee,
        config: Config,
        pauses: Pauses,
        bot_of: Callable[[str], Bot | None],
        tried: Callable[[Place, MatchResult], Awaitable[None]],
        passed: Callable[[Place], Awaitable[None]],
    ) -> None:
        """`bot_of` finds an entrant's bot.

        `tried` is called after each test, in which the bot has seat 0, and `passed` for who is to
        be seated again.
        """
        self._referee = referee
        self._rules = check_rules(config)
        self._config = config
        self._pauses = pauses
        self._bot_of = bot_of
        self._tried = tried
        self._passed = passed
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, place: Place) -> None:
        """Try a paused bot from time to time."""
        if place.entrant not in self._tasks:
            task = asyncio.create_task(self._try(place), name=f"check {place.entrant}")
            self._tasks[place.entrant] = task
            task.add_done_callback(lambda _: self._tasks.pop(place.entrant, None))

    async def close(self) -> None:
        """Try nobody any more."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _try(self, place: Place) -> None:
        pause_s = self._pauses.first_s
        with contextlib.suppress(StoppingError):
            while not place.withdrawn:
                place.next_test_ms = time.time_ns() // 1_000_000 + round(pause_s * 1_000)
                await asyncio.sleep(pause_s)
                place.next_test_ms = 0
                result = await self._match(place, await self._free(place))
                own = result.seats[0]
                is_fine = result.has_result and own.forfeit is None
                _log.info("paused bot tried", bot=place.entrant, passed=is_fine, text=result.text)
                await self._tried(place, result)
                if is_fine:
                    await self._passed(place)
                    return
                # An aborted match was nobody's fault, and is no reason to wait longer.
                if result.termination is not Termination.ABORTED:
                    place.tests_failed += 1
                    pause_s = min(2 * pause_s, self._pauses.longest_s)

    async def _free(self, place: Place) -> Bot:
        """Wait until it is connected and in no match."""
        while True:
            bot = self._bot_of(place.entrant)
            if bot is not None and bot.is_connected and not place.busy:
                return bot
            await asyncio.sleep(_LOOK_S)

    async def _match(self, place: Place, bot: Bot) -> MatchResult:
        partners = self._config.seats - 1
        tokens = [self._referee.issue_token(PARTNER, "1") for _ in range(partners)]
        streams = [Partner(below) for _ in tokens]
        serving = [
            asyncio.create_task(self._referee.serve_inside(token, stream))
            for token, stream in zip(tokens, streams, strict=True)
        ]
        try:
            for token in tokens:
                await self._referee.wait_connected(token, self._pauses.longest_s)
            seats = [(place.bot, place.version), *[(PARTNER, "1")] * partners]
            spec = MatchSpec(
                match_id=new_match_id(),
                rules=self._rules,
                seats=tuple(SeatSpec(name, version, new_secret()) for name, version in seats),
                secret=new_secret(),
                salt=new_secret(),
                time_control=self._config.time_control,
            )
            return await self._referee.play_bots(spec, [bot, *map(self._referee.bot, tokens)])
        finally:
            for stream in streams:
                stream.leave()
            await asyncio.gather(*serving, return_exceptions=True)
            for token in tokens:
                self._referee.revoke_token(token)
