"""Reads a bot's folder: its bot.toml, checked key by key, and the hash of its content."""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tournament.errors import BotFolderError

MANIFEST = "bot.toml"
SEAL = ".frozen"
"""A file in a frozen copy that holds the hash of its content, what its build made included."""
IGNORED = ("__pycache__", ".git", "*.pyc", "rummy-data", SEAL)
"""Names that are no part of any bot, besides those of its `ignore`; patterns of fnmatch."""

_NAME = re.compile(r"[a-z0-9_-]{1,64}")
_TEXT_MOST = 64
_ARGV_ALLOWED = "a list of one or more texts, the program first"


@dataclass(frozen=True, slots=True)
class BotFolder:
    """A bot as its author handed it in. `build` is empty when there is nothing to build.

    `ignore` names files and folders that are no part of it: what a build in place left behind.
    `needs` names programs that must be on the PATH to build and run it.
    """

    path: Path
    name: str
    version: str
    author: str
    language: str
    build: tuple[str, ...]
    run: tuple[str, ...]
    ignore: tuple[str, ...]
    needs: tuple[str, ...]
    memory_mb: int | None
    content_hash: str

    @property
    def manifest(self) -> dict[str, object]:
        """What bot.toml says, in plain values."""
        return {
            "name": self.name,
            "version": self.version,
            "author": self.author,
            "language": self.language,
            "build": list(self.build),
            "run": list(self.run),
            "ignore": list(self.ignore),
            "needs": list(self.needs),
            "limits": {} if self.memory_mb is None else {"memory_mb": self.memory_mb},
        }


def read_bot_folder(path: Path) -> BotFolder:
    """Read and check a bot's folder. Raises BotFolderError naming file, key, value, allowed."""
    file = path / MANIFEST
    if not path.is_dir():
        raise BotFolderError(f"{path} is not a folder: a bot is a folder with a {MANIFEST}")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig"))  # it may begin with a BOM
    except FileNotFoundError:
        raise BotFolderError(f"{path} has no {MANIFEST}: a bot is a folder with one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BotFolderError(f"{file} is not TOML: {error}") from error
    except OSError as error:
        raise BotFolderError(f"{file} can't be read: {error.strerror}") from error
    keys = _Keys(file, table)
    keys.only("name", "version", "author", "language", "build", "run", "ignore", "needs", "limits")
    ignore = keys.ignore()
    return BotFolder(
        path=path.resolve(),
        name=keys.name(),
        version=keys.text("version"),
        author=keys.text("author"),
        language=keys.text("language"),
        build=keys.argv("build", required=False),
        run=keys.argv("run", required=True),
        ignore=ignore,
        needs=keys.needs(),
        memory_mb=keys.memory_mb(),
        content_hash=content_hash(path, ignore),
    )


class _Keys:
    """The keys of one bot.toml, taken out one by one."""

    def __init__(self, file: Path, table: Mapping[str, object]) -> None:
        self._file = file
        self._table = table

    def _wrong(self, key: str, value: object, allowed: str) -> BotFolderError:
        return BotFolderError(f"{self._file}: {key} is {value!r}: allowed is {allowed}")

    def _get(self, key: str, allowed: str) -> object:
        if key not in self._table:
            raise BotFolderError(f"{self._file}: {key} is missing: it must be {allowed}")
        return self._table[key]

    def only(self, *allowed: str) -> None:
        for key in self._table:
            if key not in allowed:
                raise BotFolderError(
                    f"{self._file}: there is no key {key!r}: allowed are {', '.join(allowed)}"
                )

    def name(self) -> str:
        allowed = "1–64 characters of a–z, 0–9, _ and -"
        value = self._get("name", allowed)
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise self._wrong("name", value, allowed)
        return value

    def text(self, key: str) -> str:
        allowed = f"a text of 1–{_TEXT_MOST} printable characters"
        value = self._get(key, allowed)
        if (
            not isinstance(value, str)
            or not 1 <= len(value) <= _TEXT_MOST
            or not value.isprintable()
        ):
            raise self._wrong(key, value, allowed)
        return value

    def argv(self, key: str, *, required: bool) -> tuple[str, ...]:
        if not required and key not in self._table:
            return ()
        value = self._get(key, _ARGV_ALLOWED)
        if not isinstance(value, list) or not value:
            raise self._wrong(key, value, _ARGV_ALLOWED)
        for word in value:
            if not isinstance(word, str) or "\0" in word:
                raise self._wrong(key, value, _ARGV_ALLOWED)
        if not value[0]:
            raise self._wrong(key, value, _ARGV_ALLOWED)
        return tuple(value)

    def ignore(self) -> tuple[str, ...]:
        allowed = (
            f"a list of names or patterns such as 'bin' or '*.o', without / and not {MANIFEST}"
        )
        value = self._table.get("ignore", [])
        if not isinstance(value, list):
            raise self._wrong("ignore", value, allowed)
        for name in value:
            if not isinstance(name, str) or not name or set(name) & {"/", "\0"}:
                raise self._wrong("ignore", value, allowed)
            if fnmatchcase(MANIFEST, name):
                raise self._wrong("ignore", value, allowed)
        return tuple(value)

    def needs(self) -> tuple[str, ...]:
        allowed = "a list of names of programs such as 'go'"
        value = self._table.get("needs", [])
        if not isinstance(value, list) or not all(
            isinstance(name, str) and name and not set(name) & {"/", "\0"} for name in value
        ):
            raise self._wrong("needs", value, allowed)
        return tuple(value)

    def memory_mb(self) -> int | None:
        limits = self._table.get("limits", {})
        if not isinstance(limits, dict):
            raise self._wrong("limits", limits, "a table with memory_mb")
        for key in limits:
            if key != "memory_mb":
                raise BotFolderError(
                    f"{self._file}: there is no key 'limits.{key}': allowed is limits.memory_mb"
                )
        if "memory_mb" not in limits:
            return None
        value = limits["memory_mb"]
        if type(value) is not int or not 64 <= value <= 1_048_576:
            raise self._wrong("limits.memory_mb", value, "a whole number 64–1048576")
        return value


def content_hash(path: Path, ignore: Sequence[str] = ()) -> str:
    """Return the SHA-256 over all files of a folder: path, kind and bytes, sorted by path.

    What `ignore` and IGNORED name is left out, in all folders of it.
    Links must stay inside the folder, for it is copied to be played from.
    """
    digest = hashlib.sha256()
    for name, kind, data in _contents(path, ignore):
        for part in (name.encode(), kind, data):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def changed_files(before: Path, now: Path, *, built: bool, ignore: Sequence[str] = ()) -> list[str]:
    """Return what differs between two folders of a bot: `bot.py changed`, `x added`, `y removed`.

    When `before` was `built`, files that only it has may come from there and are not named.
    """
    old, new = (
        {
            name: (kind, hashlib.sha256(data).digest())
            for name, kind, data in _contents(path, ignore)
        }
        for path in (before, now)
    )
    lines = []
    for name in sorted({*old, *new}):
        if name not in old:
            lines.append(f"{name} added")
        elif name not in new:
            lines += [] if built else [f"{name} removed"]
        elif old[name] != new[name]:
            lines.append(f"{name} changed")
    return lines


def _contents(path: Path, ignore: Sequence[str]) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield path, kind and bytes of every file, sorted by path."""
    for file in _files(path, ignore):
        relative = file.relative_to(path).as_posix()
        if file.is_symlink():
            if not file.resolve().is_relative_to(path.resolve()):
                raise BotFolderError(f"{file} is a link to outside the bot's folder: use a copy")
            kind, data = b"l", str(file.readlink()).encode()
        else:
            try:
                kind = b"x" if file.stat().st_mode & 0o100 else b"f"
                data = file.read_bytes()
            except OSError as error:
                raise BotFolderError(f"{file} can't be read: {error.strerror}") from error
        yield relative, kind, data


def _files(path: Path, ignore: Sequence[str]) -> Iterator[Path]:
    found = []
    for file in path.rglob("*"):
        parts = file.relative_to(path).parts
        if any(fnmatchcase(part, pattern) for part in parts for pattern in (*IGNORED, *ignore)):
            continue
        if file.is_symlink() or file.is_file():
            found.append(file)
        elif not file.is_dir():
            raise BotFolderError(f"{file} is neither a file nor a folder: remove it")
    return iter(sorted(found, key=lambda file: file.relative_to(path).as_posix()))
