"""What runner and worker say to each other: one JSON object a line, over the worker's pipes.

runner → worker: setup once; then for each leg play, and acknowledged when its result is durable.
worker → runner: ready once; for each leg result or failed; bot_started and bot_ended in between.
What went wrong with bots' processes comes with the result and is for the organiser alone.
The worker begins no leg before the last one is acknowledged. A closed pipe ends the worker.
"""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from referee.match.outcome import Forfeit, MatchResult, SeatResult, Termination
from tournament.bots.sandbox.limits import MEMORY_MB

LINE_LIMIT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class BotSpec:
    """A bot that can be started: `folder` is its frozen copy, `run` its argv."""

    name: str
    version: str
    folder: str
    run: tuple[str, ...]
    memory_mb: int = MEMORY_MB
    tcp: bool = False


@dataclass(frozen=True, slots=True)
class Setup:
    """All that stays the same while a worker lives. `warm` is how many bots it keeps running.

    Bots' output goes below `log_dir`, which all workers of a run share. `sandbox` is the tier that
    bots run in; `hidden` are folders that none of them may see.
    """

    socket_dir: str
    log_dir: str
    sandbox: str
    hidden: tuple[str, ...]
    preset: str
    overrides: Mapping[str, object]
    time_control: Mapping[str, int]
    bots: tuple[BotSpec, ...]
    warm: int = 8
    launch_s: float = 30.0


@dataclass(frozen=True, slots=True)
class PlayLeg:
    """One leg to play. `fresh` asks for new processes; `withdrawn` bots are not started at all."""

    fixture_id: str
    match_id: str
    leg: int
    seats: tuple[str, ...]
    first_dealer: int
    secret: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    randomness: tuple[bytes, ...] = field(repr=False)
    fresh: bool = False
    withdrawn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The runner has done with a leg: what was to be stored is on the disk."""

    fixture_id: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker's referee listens."""


@dataclass(frozen=True, slots=True)
class BotStarted:
    """A bot runs. If its worker dies, the runner ends it; `mark` tells it from a later process."""

    pid: int
    mark: str


@dataclass(frozen=True, slots=True)
class BotEnded:
    """A bot's process is gone."""

    pid: int


class Failure(StrEnum):
    """What can go wrong with a bot's process."""

    NOT_STARTED = "not_started"
    NO_HELLO = "no_hello"
    NOT_READY = "not_ready"
    ENDED = "ended"
    WITHDRAWN = "withdrawn"


PUBLIC_WORDS: Mapping[Failure, str] = {
    Failure.NOT_STARTED: "no process was started",
    Failure.NO_HELLO: "it said no hello",
    Failure.ENDED: "no process is left",
    Failure.WITHDRAWN: "it was withdrawn",
}
"""What opponents are told: nothing of programs, paths and output. The referee ends its text so."""


@dataclass(frozen=True, slots=True)
class BotFailure:
    """Why a bot forfeited by its process: `text` follows its name, `tail` is its last output.

    `log` is the path of all its output, empty if it never ran.
    """

    bot: str
    leg: int
    failure: Failure
    text: str
    tail: str = ""
    log: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A leg has ended."""

    fixture_id: str
    result: MatchResult
    failures: tuple[BotFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A leg has no result through nobody's fault."""

    fixture_id: str
    text: str


Message = Setup | PlayLeg | Acknowledged | Ready | BotStarted | BotEnded | Result | Failed


def encode(message: Message) -> bytes:
    """Return the message as a line."""
    body = {"type": type(message).__name__, **asdict(message)}
    return json.dumps(body, default=_plain).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Return the message of a line. Raises ValueError."""
    body = json.loads(line, object_hook=_bytes_again)
    try:
        kind = body.pop("type")
        return _READERS[kind](body)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a message between runner and worker: {line[:200]!r}") from error


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"{value!r} can't be sent")


def _bytes_again(table: dict[str, Any]) -> object:
    return base64.b64decode(table["base64"]) if table.keys() == {"base64"} else table


def _setup(body: dict[str, Any]) -> Setup:
    bots = tuple(BotSpec(**{**bot, "run": tuple(bot["run"])}) for bot in body.pop("bots"))
    hidden = tuple(body.pop("hidden"))
    return Setup(bots=bots, hidden=hidden, **body)


def _play_leg(body: dict[str, Any]) -> PlayLeg:
    for key in ("seats", "randomness", "withdrawn"):
        body[key] = tuple(body[key])
    return PlayLeg(**body)


def _result(body: dict[str, Any]) -> Result:
    fields = body["result"]
    fields["termination"] = Termination(fields["termination"])
    fields["seats"] = tuple(
        SeatResult(**{**seat, "forfeit": seat["forfeit"] and Forfeit(seat["forfeit"])})
        for seat in fields["seats"]
    )
    failures = tuple(
        BotFailure(**{**item, "failure": Failure(item["failure"])}) for item in body["failures"]
    )
    return Result(fixture_id=body["fixture_id"], result=MatchResult(**fields), failures=failures)


_READERS: Mapping[str, Callable[[dict[str, Any]], Message]] = {
    "Setup": _setup,
    "PlayLeg": _play_leg,
    "Acknowledged": lambda body: Acknowledged(**body),
    "Ready": lambda body: Ready(**body),
    "BotStarted": lambda body: BotStarted(**body),
    "BotEnded": lambda body: BotEnded(**body),
    "Result": _result,
    "Failed": lambda body: Failed(**body),
}
