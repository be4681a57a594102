"""Addresses to listen on, `HOST:PORT` or `unix:PATH`, and who can reach them."""

import ipaddress
import socket
import stat
from pathlib import Path

_SOCKET_PATH_BYTES = 107


class AddressError(ValueError):
    """This is no address, or none that may be listened on; the message says what is allowed."""


def socket_path(address: str) -> Path | None:
    """The path of `unix:PATH`; None for any other address."""
    return Path(address.removeprefix("unix:")) if address.startswith("unix:") else None


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of `HOST:PORT`, without the brackets of IPv6. Raises AddressError."""
    host, _, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    is_number = port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65_535
    if not bare or not is_number or (":" in bare and host == bare):
        raise AddressError(
            f"{address!r} is no address: allowed are HOST:PORT with a port 0–65535, such as"
            " 127.0.0.1:50051 or [::1]:50051"
        )
    return bare, int(port)


def is_local(address: str) -> bool:
    """Whether only this machine reaches it: a unix socket, or loopback. Raises AddressError."""
    if address.startswith("unix:"):
        return True
    host, _ = host_and_port(address)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_address(address: str) -> None:
    """Raise AddressError unless this can be listened on, as far as can be told without trying."""
    path = socket_path(address)
    if path is None:
        if ":" not in address:
            raise AddressError(
                f"{address!r} is no address: allowed are HOST:PORT and unix:PATH, such as"
                " 127.0.0.1:50051"
            )
        host_and_port(address)
        return
    if not 1 <= len(str(path).encode()) <= _SOCKET_PATH_BYTES or path.is_dir():
        raise AddressError(
            f"{address}: a socket path has 1–{_SOCKET_PATH_BYTES} bytes and is no folder"
        )
    if not path.parent.is_dir():
        raise AddressError(f"{address}: there is no folder {path.parent}")


def remove_dead_socket(path: Path) -> None:
    """Remove a socket file that nobody listens on any more. Raises AddressError for other files."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise AddressError(f"{path} exists and is not a socket: choose another path")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise AddressError(f"{path} is a socket that another process listens on")
