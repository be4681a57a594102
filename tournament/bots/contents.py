"""Walks and hashes a bot's folder, which may be hostile: nothing is followed, awaited or trusted.

A folder that is not fit to be copied and played from is refused with the reason. What a build made
in a copy may be larger and stranger than what an author hands in.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tournament.errors import BotFolderError

MANIFEST = "bot.toml"
SEAL = ".frozen"
"""A file in a frozen copy that holds the hash of its content, what its build made included."""
IGNORED = ("__pycache__", ".git", "*.pyc", "rummy-data", SEAL)
"""Names that are no part of any bot, besides those of its `ignore`; patterns of fnmatch."""

_MIB = 1024 * 1024
_CHUNK = _MIB
_LINKS_MOST = 40
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a folder may be: bytes in all and of one file, entries, bytes of a path in it.

    With `is_plain` its names must be printable UTF-8, and its links must stay inside.
    """

    total_mb: int
    file_mb: int
    entries: int
    path: int
    is_plain: bool


SOURCE = Bounds(total_mb=256, file_mb=128, entries=20_000, path=400, is_plain=True)
"""What an author may hand in."""
BUILT = Bounds(total_mb=4096, file_mb=2048, entries=400_000, path=2_000, is_plain=False)
"""What a copy may be when its build has ended. Its links are kept and never followed."""


@dataclass(frozen=True, slots=True)
class Item:
    """A file or link of a folder: its path there with /, and `x`, `f` or `l` for its kind."""

    name: str
    path: Path
    kind: bytes


def digest_of(path: Path, ignore: Sequence[str], bounds: Bounds) -> str:
    """Return the SHA-256 over all files of a folder, as content_hash says."""
    digest = hashlib.sha256()
    for item in items(path, ignore, bounds):
        for part in (os.fsencode(item.name), item.kind):
            digest.update(len(part).to_bytes(8, "big") + part)
        size, chunks = _content(item, bounds)
        digest.update(size.to_bytes(8, "big"))
        for chunk in chunks:
            digest.update(chunk)
    return digest.hexdigest()


def file_hashes(path: Path, ignore: Sequence[str], bounds: Bounds) -> dict[str, tuple[bytes, str]]:
    """Return kind and SHA-256 of every file of a folder by its path there."""
    hashes = {}
    for item in items(path, ignore, bounds):
        digest = hashlib.sha256()
        for chunk in _content(item, bounds)[1]:
            digest.update(chunk)
        hashes[item.name] = (item.kind, digest.hexdigest())
    return hashes


def items(path: Path, ignore: Sequence[str], bounds: Bounds) -> list[Item]:
    """Return all files and links of a folder, sorted by path. Raises BotFolderError."""
    found: list[Item] = []
    total = entries = 0
    open_folders = [""]
    while open_folders:
        above = open_folders.pop()
        for entry in _entries(path / above):
            if any(fnmatchcase(entry.name, pattern) for pattern in (*IGNORED, *ignore)):
                continue
            name = f"{above}/{entry.name}" if above else entry.name
            entries += 1
            if entries > bounds.entries:
                raise BotFolderError(
                    f"{path} holds more than {bounds.entries} files and folders: allowed are"
                    f" {bounds.entries}; `ignore` in its {MANIFEST} leaves out what a build makes"
                )
            _check_name(path, name, bounds)
            state = _state(path / name)
            if stat.S_ISDIR(state.st_mode):
                open_folders.append(name)
                continue
            total += state.st_size
            _check_size(path, name, state.st_size, total, bounds)
            found.append(Item(name, path / name, _kind(path, name, state.st_mode, bounds)))
    return sorted(found, key=lambda item: item.name)


def read_small(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file, `most` at most. Raises OSError, BotFolderError."""
    with _opened(path) as (number, size):
        if size > most:
            raise BotFolderError(f"{path} has {size} bytes: allowed are {most}")
        return b"".join(_chunks(number, size, path))


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError as error:
        raise BotFolderError(f"{folder} can't be read: {error.strerror}") from error


def _state(path: Path) -> os.stat_result:
    try:
        return path.lstat()
    except OSError as error:
        raise BotFolderError(f"{path} can't be read: {error.strerror}") from error


def _check_name(folder: Path, name: str, bounds: Bounds) -> None:
    length = len(os.fsencode(name))
    if length > bounds.path:
        raise BotFolderError(
            f"{folder} holds a path of {length} bytes, {name[:_SHOWN]!r}…: allowed are"
            f" {bounds.path}"
        )
    if bounds.is_plain and not name.isprintable():
        raise BotFolderError(
            f"{folder} holds a file named {name[:_SHOWN]!r}: allowed are names of printable"
            " characters in UTF-8"
        )


def _check_size(folder: Path, name: str, size: int, total: int, bounds: Bounds) -> None:
    if size > bounds.file_mb * _MIB:
        raise BotFolderError(
            f"{folder / name} has {_in_mib(size)}: allowed are {bounds.file_mb} MiB for one file"
        )
    if total > bounds.total_mb * _MIB:
        raise BotFolderError(
            f"{folder} holds more than {bounds.total_mb} MiB: allowed are {bounds.total_mb};"
            f" `ignore` in its {MANIFEST} leaves out what a build makes"
        )


def _in_mib(size: int) -> str:
    return f"{-(-size // _MIB)} MiB"


def _kind(folder: Path, name: str, mode: int, bounds: Bounds) -> bytes:
    if stat.S_ISLNK(mode):
        problem = link_problem(folder, name) if bounds.is_plain else None
        if problem is not None:
            raise BotFolderError(f"{folder / name} is a link {problem}: use a copy")
        return b"l"
    if not stat.S_ISREG(mode):
        raise BotFolderError(f"{folder / name} is neither a file nor a folder: remove it")
    return b"x" if mode & 0o100 else b"f"


def link_problem(folder: Path, name: str) -> str | None:
    """Return what is wrong with a link of a folder, if it does not stay inside all the way.

    It is followed step by step: out and in again by the folder's own name is outside too.
    """
    *place, last = name.split("/")
    ahead, links = [last], 0
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not place:
                return "to outside the bot's folder"
            place.pop()
            continue
        try:
            target = os.readlink(folder.joinpath(*place, part))  # noqa: PTH115 - as it is written
        except OSError:  # no link, or not there
            place.append(part)
            continue
        links += 1
        if links > _LINKS_MOST:
            return "that leads in circles"
        if target.startswith("/"):
            return f"to outside the bot's folder, {target[:_SHOWN]!r}"
        ahead += reversed(target.split("/"))
    return None


@contextmanager
def _opened(path: Path) -> Iterator[tuple[int, int]]:
    """Open a regular file without following a link or waiting for a FIFO; give its size too."""
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        state = os.fstat(number)
        if not stat.S_ISREG(state.st_mode):
            raise BotFolderError(f"{path} is neither a file nor a folder: remove it")
        yield number, state.st_size
    finally:
        os.close(number)


def _content(item: Item, bounds: Bounds) -> tuple[int, Iterator[bytes]]:
    """Return how many bytes an item has, and them in parts, or the text of a link."""
    if item.kind == b"l":
        text = os.fsencode(os.readlink(item.path))  # noqa: PTH115 - as it is written
        return len(text), iter([text])
    return _state(item.path).st_size, _file_chunks(item, bounds)


def _file_chunks(item: Item, bounds: Bounds) -> Iterator[bytes]:
    try:
        with _opened(item.path) as (number, size):
            _check_size(item.path.parent, item.path.name, size, 0, bounds)
            yield from _chunks(number, size, item.path)
    except OSError as error:
        raise BotFolderError(f"{item.path} can't be read: {error.strerror}") from error


def _chunks(number: int, size: int, path: Path) -> Iterator[bytes]:
    """Yield exactly so many bytes: a file that grows meanwhile can't fill the memory."""
    left = size
    while left:
        chunk = os.read(number, min(left, _CHUNK))
        if not chunk:
            raise BotFolderError(f"{path} changed while it was read: try again")
        left -= len(chunk)
        yield chunk
