"""Practice matches for bots that dial in: against house bots, or against each other."""

import asyncio
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import structlog

from referee.engine.ruleset import RuleSet
from referee.match.outcome import MatchResult
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.bots import Bot
from referee.service.server import Referee

_log = structlog.get_logger()
_START_S = 30.0
_MOST_MATCHES = 1_000


class HouseBotError(ValueError):
    """A house bot does not start."""


@dataclass(frozen=True, slots=True)
class LobbySpec:
    """What is played. `house` is one of `house_bots`; empty: bots that connect meet each other."""

    rules: RuleSet
    seats: int
    house: str = ""
    matches: int = 1
    """Matches for each bot that connects; 0: until it leaves."""
    time_control: TimeControl = field(default_factory=TimeControl)


def house_bots() -> dict[str, Path]:
    """The installed sample bots that run as they are, by name."""
    spec = find_spec("sample_bots")
    folders = spec.submodule_search_locations if spec else None
    root = Path(next(iter(folders))) if folders else Path()
    return {path.parent.name: path for path in sorted(root.glob("*/bot.py"))}


class Lobby:
    """Seats every bot that says hello, until `close`."""

    def __init__(self, referee: Referee, address: str, spec: LobbySpec) -> None:
        """`address` is where house bots dial to. Raises RuleSetError."""
        spec.rules.check_seats(spec.seats)
        self._referee = referee
        self._address = address
        self._spec = spec
        self._program = house_bots()[spec.house] if spec.house else None
        self._house: list[_HouseBot] = []
        self._room = asyncio.Semaphore(_MOST_MATCHES)
        self._is_open = asyncio.Event()
        self._waiting: list[Bot] = []
        self._served: set[Bot] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Let bots in, and start the house bots, which they wait for. Raises HouseBotError."""
        self._referee.on_arrival(self._arrived)
        if self._program is not None:
            for _ in range(self._spec.seats - 1):
                house = _HouseBot(self._referee, self._spec.house, self._program, self._address)
                self._house.append(house)
                await house.start()
            # A house bot plays as many matches at once as it said it can; others wait.
            self._room = asyncio.Semaphore(min(house.capacity for house in self._house))
            _log.info("house bot is ready", bot=self._spec.house, seats=self._spec.seats)
        self._is_open.set()

    async def close(self) -> None:
        """Stop the house bots."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for house in self._house:
            await house.stop()

    def _arrived(self, bot: Bot) -> None:
        if bot in self._served or any(house.bot is bot for house in self._house):
            return
        self._served.add(bot)
        if self._program is not None:
            self._begin([bot])
            return
        self._waiting = [other for other in self._waiting if other.is_connected]
        self._waiting.append(bot)
        if len(self._waiting) == self._spec.seats:
            self._begin(self._waiting)
            self._waiting = []
        else:
            missing = self._spec.seats - len(self._waiting)
            _log.info("waiting for other bots", bot=bot.name, missing=missing)

    def _begin(self, bots: list[Bot]) -> None:
        task = asyncio.create_task(self._serve(bots))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, guests: list[Bot]) -> None:
        """Play the agreed number of matches, changing seats, then let the guests go."""
        number = 0
        try:
            await self._is_open.wait()
            while all(bot.is_connected for bot in guests) and not self._referee.is_draining:
                table = [*guests, *(await self._house_players())]
                shift = number % len(table)
                seated = table[-shift:] + table[:-shift] if shift else table
                async with self._room:
                    result = await self._referee.play_bots(self._match(seated), seated)
                for bot in guests:
                    _log.info("result", bot=bot.name, **_summary(result, seated.index(bot)))
                number += 1
                if number == self._spec.matches:
                    break
        finally:
            for bot in guests:
                self._served.discard(bot)
                if bot.session is not None:
                    bot.session.close()

    async def _house_players(self) -> list[Bot]:
        return [await house.player() for house in self._house]

    def _match(self, seated: list[Bot]) -> MatchSpec:
        return MatchSpec(
            match_id=secrets.token_hex(8),
            rules=self._spec.rules,
            seats=tuple(SeatSpec(bot.name, bot.version, secrets.token_bytes(32)) for bot in seated),
            secret=secrets.token_bytes(32),
            salt=secrets.token_bytes(32),
            time_control=self._spec.time_control,
        )


def _summary(result: MatchResult, seat: int) -> Mapping[str, object]:
    own = result.seats[seat]
    return {
        "match_id": result.match_id,
        "seat": seat,
        "place": own.place,
        "totals": [other.total for other in result.seats],
        "forfeit": own.forfeit.value if own.forfeit else None,
        "decisions": own.decisions,
        "charged_ms": own.charged_us // 1_000,
    }


class _HouseBot:
    """A sample bot as a process of its own, started again when it has ended."""

    def __init__(self, referee: Referee, name: str, program: Path, address: str) -> None:
        self.bot: Bot | None = None
        self._referee = referee
        self._name = name
        self._program = program
        self._address = address
        self._process: asyncio.subprocess.Process | None = None
        self._watcher: asyncio.Task[None] | None = None

    @property
    def capacity(self) -> int:
        """Matches that it can play at once."""
        session = self.bot.session if self.bot else None
        return session.max_concurrent_matches if session else 1

    async def player(self) -> Bot:
        """The connected bot. Raises HouseBotError if it does not start again."""
        if self.bot is None or not self.bot.is_connected:
            await self.stop()
            await self.start()
        assert self.bot is not None, "a house bot that has started is known"
        return self.bot

    async def start(self) -> None:
        """Start the process and wait for its hello. Raises HouseBotError."""
        token = self._referee.issue_token(f"house-{self._name}", "")
        self.bot = self._referee.bot(token)
        path = [entry for entry in sys.path if entry]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(self._program),
            env={
                "RUMMY_REFEREE": self._address,
                "RUMMY_TOKEN": token,
                "PYTHONPATH": ":".join(path),
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        self._watcher = asyncio.create_task(self._watch(self._process, token))
        try:
            await self._referee.wait_connected(token, _START_S)
        except (TimeoutError, ConnectionError) as error:
            await self.stop()
            raise HouseBotError(f"the house bot {self._name} did not start: {error}") from error

    async def _watch(self, process: asyncio.subprocess.Process, token: str) -> None:
        code = await process.wait()
        self._referee.report_exit(token, f"exit code {code}")

    async def stop(self) -> None:
        """End the process and wait for its end."""
        if self._process is None or self._watcher is None:
            return
        if self._process.returncode is None:
            self._process.terminate()
            _, alive = await asyncio.wait({self._watcher}, timeout=2.0)
            if alive:
                self._process.kill()
        await self._watcher
        self._process = self._watcher = None
