"""`referee serve`: one process that listens, plays, and stops gracefully."""

import asyncio
import ipaddress
import signal
from collections.abc import Sequence
from pathlib import Path

import structlog

from referee.engine.ruleset import RuleSet
from referee.service.lobby import HouseBotError, Lobby, LobbySpec, house_bots
from referee.service.logs import configure_logs
from referee.service.server import ListenError, Referee

_log = structlog.get_logger()
_GRACE_S = 10.0
_SOCKET_PATH_BYTES = 107
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - read, not listened on


class ServeError(ValueError):
    """The server cannot be run as asked; the message says what is allowed."""


def check_addresses(addresses: Sequence[str], *, insecure: bool) -> None:
    """Raise ServeError for what is no address, or is plain TCP beyond this machine."""
    for address in addresses:
        if address.startswith("unix:"):
            path = Path(address.removeprefix("unix:"))
            if not 1 <= len(str(path).encode()) <= _SOCKET_PATH_BYTES or path.is_dir():
                raise ServeError(
                    f"{address}: a socket path has 1–{_SOCKET_PATH_BYTES} bytes and is no folder"
                )
            if not path.parent.is_dir():
                raise ServeError(f"{address}: there is no folder {path.parent}")
            continue
        host, colon, port = address.rpartition(":")
        if not colon or not port.isdigit() or int(port) > 65_535 or not host:
            raise ServeError(f"{address!r} is no address: allowed are HOST:PORT and unix:PATH")
        if not insecure and not _is_loopback(host.strip("[]")):
            raise ServeError(
                f"{address} can be reached from outside, and plain TCP hides neither hands nor"
                " tokens: listen on 127.0.0.1, or say --insecure"
            )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def serve_until_stopped(
    addresses: Sequence[str],
    rules: RuleSet,
    *,
    seats: int,
    house: str,
    matches: int,
    verbose: bool,
) -> None:
    """Serve until SIGINT or SIGTERM. Raises ServeError."""
    configure_logs(verbose=verbose)
    referee = Referee(is_open=True)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    lobby = None
    try:
        bound = await referee.listen(*addresses)
        for address in bound:
            _log.info("listening", address=address, rules=rules.preset)
        spec = LobbySpec(rules, seats, house, matches)
        lobby = Lobby(referee, _dialled(bound[0]), spec)
        await lobby.open()
        await stop.wait()
        _log.info("stopping: running matches have ten seconds; again to stop at once")
        stop.clear()
        again = asyncio.create_task(stop.wait())
        drained = asyncio.create_task(referee.drain(_GRACE_S))
        await asyncio.wait({again, drained}, return_when=asyncio.FIRST_COMPLETED)
        for task in (again, drained):
            task.cancel()
    except (ListenError, HouseBotError) as error:
        raise ServeError(str(error)) from error
    finally:
        if lobby is not None:
            await lobby.close()
        await referee.close()


def _dialled(address: str) -> str:
    """The address at which a house bot on this machine finds a referee that listens there."""
    host, _, port = address.rpartition(":")
    return f"{_ANYWHERE[host]}:{port}" if host in _ANYWHERE else address


def check_house(name: str) -> None:
    """Raise ServeError unless this is a house bot, or empty for none."""
    known = house_bots()
    if name and name not in known:
        raise ServeError(f"no house bot is called {name!r}: there are {', '.join(known)}")
