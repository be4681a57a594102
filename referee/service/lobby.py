"""Practice matches for bots that dial in: against house bots, or against each other."""

import asyncio
import secrets
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import grpc
import structlog

from referee import __version__
from referee.engine.ruleset import RuleSet
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.bots import Bot
from referee.service.errors import CallError
from referee.service.server import Referee, StoppingError

_log = structlog.get_logger()
_START_S = 30.0
_BACK_S = 5.0
"""How long a house bot that lost its connection has to come back by itself."""
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
    """Seats every guest that says hello, until `close`.

    Guests are bots whose token nobody issued. The others wait for the matches of whoever did.
    """

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
        """Call off what is still being played, and stop the house bots."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(house.stop() for house in self._house))

    def dismiss_waiting(self) -> None:
        """Let guests go that wait for others: no match begins any more."""
        for bot in self._waiting:
            _let_go(bot)
        self._waiting = []

    def _arrived(self, bot: Bot) -> None:
        if bot in self._served or bot.identity.bot:
            return
        if self._referee.is_draining:
            _let_go(bot)
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
        number, failed = 0, ""
        try:
            await self._is_open.wait()
            while all(bot.is_connected for bot in guests) and not self._referee.is_draining:
                table = [*guests, *(await self._house_players())]
                shift = number % len(table)
                seated = table[-shift:] + table[:-shift] if shift else table
                async with self._room:
                    await self._referee.play_bots(self._match(seated), seated)
                number += 1
                if number == self._spec.matches:
                    break
        except StoppingError:
            pass  # It began to stop while the guests waited for their place.
        except HouseBotError as error:
            _log.error("no match", bots=[bot.name for bot in guests], why=str(error))
            failed = str(error)
        except Exception as error:  # noqa: BLE001 - the guests are told, the log says what
            _log.error("no match", bots=[bot.name for bot in guests], exc_info=error)
            failed = "the referee failed; its log says why"
        finally:
            for bot in guests:
                self._served.discard(bot)
                _let_go(bot, failed)

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


def _let_go(bot: Bot, failed: str = "") -> None:
    if bot.session is not None:
        error = CallError(grpc.StatusCode.INTERNAL, "NO_MATCH", failed) if failed else None
        bot.session.close(error)


class _HouseBot:
    """A sample bot as a process of its own, started again when it has ended."""

    def __init__(self, referee: Referee, name: str, program: Path, address: str) -> None:
        self._referee = referee
        self._name = name
        self._program = program
        self._address = address
        self._bot: Bot | None = None
        self._token = ""
        self._process: asyncio.subprocess.Process | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()
        """Held while the process is started or stopped: several tables may ask at once."""

    @property
    def capacity(self) -> int:
        """Matches that it can play at once."""
        session = self._bot.session if self._bot else None
        return session.max_concurrent_matches if session else 1

    async def player(self) -> Bot:
        """The connected bot. Raises HouseBotError if it does not start again."""
        async with self._changing:
            if not await self._is_back():
                await self._stop()
                await self._start()
            assert self._bot is not None, "a house bot that has started is known"
            return self._bot

    async def start(self) -> None:
        """Start the process and wait for its hello. Raises HouseBotError."""
        async with self._changing:
            await self._start()

    async def stop(self) -> None:
        """End the process, wait for its end, and refuse its token from then on."""
        async with self._changing:
            await self._stop()

    async def _is_back(self) -> bool:
        """Whether it is connected, perhaps after a moment."""
        if self._process is None or self._process.returncode is not None:
            return False
        try:
            await self._referee.wait_connected(self._token, _BACK_S)
        except (TimeoutError, ConnectionError):
            return False
        # Where any token is let in, a bot that comes back is another object.
        self._bot = self._referee.bot(self._token)
        self._bot.is_house = True
        return self._process.returncode is None

    async def _start(self) -> None:
        self._token = token = self._referee.issue_token(f"house-{self._name}", __version__)
        self._bot = self._referee.bot(token)
        self._bot.is_house = True
        path = [entry for entry in sys.path if entry]
        try:
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
            await self._referee.wait_connected(token, _START_S)
        except (TimeoutError, OSError) as error:
            await self._stop()
            raise HouseBotError(f"the house bot {self._name} did not start: {error}") from error

    async def _watch(self, process: asyncio.subprocess.Process, token: str) -> None:
        code = await process.wait()
        self._referee.report_exit(token, f"exit code {code}")

    async def _stop(self) -> None:
        process, watcher = self._process, self._watcher
        if process is not None and watcher is not None:
            if process.returncode is None:
                process.terminate()
                _, alive = await asyncio.wait({watcher}, timeout=2.0)
                if alive:
                    process.kill()
            await watcher
        self._process = self._watcher = self._bot = None
        if self._token:
            self._referee.revoke_token(self._token)
            self._token = ""
