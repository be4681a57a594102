"""The keys of a bot.toml, taken out one by one: an error names file, key, value, allowed."""

import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tournament.bots.contents import MANIFEST, read_small
from tournament.errors import BotFolderError

_MANIFEST_MOST = 1024 * 1024
NAME = re.compile(r"[a-z0-9_][a-z0-9_-]{0,63}")
NAME_ALLOWED = "1–64 characters of a–z, 0–9, _ and -, the first of them no -"
"""A name is also written where options are."""
_TEXT_MOST, _IGNORE_MOST = 64, 64
_SHOWN = 200
_ARGV_ALLOWED = "a list of one or more texts, the program first"
_ARGV_MOST = 32 * 1024
"""Far below what Linux takes for one argument."""
_LIMITS = ("memory_mb", "tcp")
_PYTHON = ("python3", "python")
"""They mean the interpreter that runs the tournament."""
_PROGRAMS = (
    "allowed are a name, or a path in the bot's folder without '..', or the absolute path of a"
    " program of the system"
)


def read_manifest(file: Path) -> "Keys":
    """Read a bot.toml into its keys. Raises BotFolderError; nothing in it is checked yet."""
    folder = file.parent
    try:
        if file.is_symlink():
            raise BotFolderError(f"{file} is a link: allowed is a file")
        if file.is_dir():
            raise BotFolderError(f"{file} is a folder: allowed is a file")
        text = read_small(file, _MANIFEST_MOST).decode("utf-8-sig")  # it may begin with a BOM
        return Keys(file, tomllib.loads(text))
    except FileNotFoundError:
        raise BotFolderError(f"{folder} has no {MANIFEST}: a bot is a folder with one") from None
    except OSError as error:
        raise BotFolderError(f"{file} can't be read: {error.strerror}") from error
    except ValueError as error:  # no UTF-8, no TOML, a number of thousands of digits
        raise BotFolderError(f"{file} is not TOML: {error}") from error
    except RecursionError:
        raise BotFolderError(f"{file} is not TOML: it is nested too deeply") from None


def program_problem(program: str, folder: Path) -> str | None:
    """Return why a program that lies in the bot's folder can't be started, if it can't."""
    path = folder / program
    if program.startswith("/"):
        return None
    if "/" not in program:
        is_meant = path.is_file() and program not in _PYTHON and shutil.which(program) is None
        return (
            f"is looked for on the PATH, and not there: write './{program}' for the file in the"
            " bot's folder"
            if is_meant
            else None
        )
    if path.is_dir():
        return "is a folder: allowed is an executable file"
    if not path.is_file():
        return "is not there"
    if not path.stat().st_mode & 0o100:
        return f"is not executable: `chmod +x {program}` makes it so"
    return None


def _path_problem(program: str, folder: Path) -> str | None:
    """Return what is wrong with the path of a program that may yet have to be built."""
    if program.startswith("/"):
        if Path(os.path.realpath(program)).is_relative_to(folder.resolve()):
            return "lies in the bot's folder: write it relative to that, for a copy is played"
        if not Path(program).is_file() or not Path(program).stat().st_mode & 0o111:
            return f"is not an executable file: {_PROGRAMS}"
        return None
    if program in (".", ".."):
        return f"is a folder: {_PROGRAMS}"
    if "/" in program and ".." in program.split("/"):
        return f"leads out of the bot's folder: {_PROGRAMS}"
    return None


class Keys:
    """The keys of one bot.toml, taken out one by one."""

    def __init__(self, file: Path, table: Mapping[str, object]) -> None:
        self._file = file
        self._table = table

    def _wrong(self, key: str, value: object, allowed: str) -> BotFolderError:
        shown = repr(value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        return BotFolderError(f"{self._file}: {key} is {shown}: allowed is {allowed}")

    def _get(self, key: str, allowed: str) -> object:
        if key not in self._table:
            raise BotFolderError(f"{self._file}: {key} is missing: it must be {allowed}")
        return self._table[key]

    def only(self, *allowed: str) -> None:
        """See that there are no other keys."""
        for key in self._table:
            if key not in allowed:
                raise BotFolderError(
                    f"{self._file}: there is no key {key[:_SHOWN]!r}:"
                    f" allowed are {', '.join(allowed)}"
                )

    def name(self) -> str:
        """Return the bot's name."""
        value = self._get("name", NAME_ALLOWED)
        if not isinstance(value, str) or not NAME.fullmatch(value):
            raise self._wrong("name", value, NAME_ALLOWED)
        return value

    def text(self, key: str) -> str:
        """Return a short text for people."""
        allowed = f"a text of 1–{_TEXT_MOST} printable characters, not only blanks"
        value = self._get(key, allowed)
        if (
            not isinstance(value, str)
            or not 1 <= len(value) <= _TEXT_MOST
            or not value.isprintable()
            or not value.strip()
        ):
            raise self._wrong(key, value, allowed)
        return value

    def argv(self, key: str, folder: Path, *, required: bool) -> tuple[str, ...]:
        """Return the program and its arguments; a path of it must lie in the bot's `folder`."""
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
        size = sum(len(word.encode(errors="surrogatepass")) for word in value)
        if size > _ARGV_MOST:
            raise BotFolderError(
                f"{self._file}: {key} has {size} bytes: allowed are {_ARGV_MOST} in all its texts"
            )
        problem = _path_problem(value[0], folder)
        if problem is not None:
            raise BotFolderError(
                f"{self._file}: the program {value[0][:_SHOWN]!r} of {key} {problem}"
            )
        return tuple(value)

    def ignore(self) -> tuple[str, ...]:
        """Return names and patterns of what is no part of the bot."""
        allowed = (
            f"a list of names or patterns such as 'bin' or '*.o', without / and not {MANIFEST},"
            f" {_IGNORE_MOST} of {_TEXT_MOST} characters at most"
        )
        value = self._table.get("ignore", [])
        if not isinstance(value, list) or len(value) > _IGNORE_MOST:
            raise self._wrong("ignore", value, allowed)
        for name in value:
            if not isinstance(name, str) or not name or set(name) & {"/", "\0"}:
                raise self._wrong("ignore", value, allowed)
            if len(name) > _TEXT_MOST or fnmatchcase(MANIFEST, name):
                raise self._wrong("ignore", value, allowed)
        return tuple(value)

    def needs(self) -> tuple[str, ...]:
        """Return names of programs that must be on the PATH."""
        allowed = "a list of names of programs such as 'go'"
        value = self._table.get("needs", [])
        if not isinstance(value, list) or not all(
            isinstance(name, str) and name and not set(name) & {"/", "\0"} for name in value
        ):
            raise self._wrong("needs", value, allowed)
        return tuple(value)

    def memory_mb(self) -> int | None:
        """Return the memory that the bot asks for in MiB, if it does."""
        value = self._limits().get("memory_mb")
        if value is not None and (type(value) is not int or not 64 <= value <= 1_048_576):
            raise self._wrong("limits.memory_mb", value, "a whole number 64–1048576")
        return value

    def tcp(self) -> bool:
        """Return whether the bot asks for a TCP address of the referee."""
        value = self._limits().get("tcp", False)
        if not isinstance(value, bool):
            raise self._wrong("limits.tcp", value, "true or false")
        return value

    def _limits(self) -> Mapping[str, Any]:
        limits = self._table.get("limits", {})
        if not isinstance(limits, dict):
            raise self._wrong("limits", limits, f"a table with {' and '.join(_LIMITS)}")
        for key in limits:
            if key not in _LIMITS:
                raise BotFolderError(
                    f"{self._file}: there is no key {f'limits.{key[:_SHOWN]}'!r}: allowed are"
                    f" {' and '.join(f'limits.{name}' for name in _LIMITS)}"
                )
        return limits
