"""Reads a bot's folder: its bot.toml, checked key by key, and the hash of its content."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.contents import BUILT, MANIFEST, SOURCE, Bounds, digest_of, file_hashes
from tournament.bots.manifest import program_problem, read_manifest
from tournament.errors import BotFolderError

__all__ = ("MANIFEST", "BotFolder", "changed_files", "content_hash", "read_bot_folder")


@dataclass(frozen=True, slots=True)
class BotFolder:
    """A bot as its author handed it in. `build` is empty when there is nothing to build.

    `ignore` names files and folders that are no part of it: what a build in place left behind.
    `needs` names programs that must be on the PATH to build and run it. `tcp` says that it can't
    dial a unix socket. Who is `is_untrusted` is played in a sandbox with walls, or not at all; that
    is not for the folder to say.
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
    tcp: bool
    content_hash: str
    is_untrusted: bool = False

    @property
    def manifest(self) -> dict[str, object]:
        """What bot.toml says, in plain values."""
        limits: dict[str, object] = {"tcp": True} if self.tcp else {}
        if self.memory_mb is not None:
            limits["memory_mb"] = self.memory_mb
        return {
            "name": self.name,
            "version": self.version,
            "author": self.author,
            "language": self.language,
            "build": list(self.build),
            "run": list(self.run),
            "ignore": list(self.ignore),
            "needs": list(self.needs),
            "limits": limits,
        }


def read_bot_folder(path: Path) -> BotFolder:
    """Read and check a bot's folder. Raises BotFolderError naming file, key, value, allowed.

    A folder that is hostile, or just not fit to be copied and played from, is refused.
    """
    file = path / MANIFEST
    if not path.is_dir():
        raise BotFolderError(f"{path} is not a folder: a bot is a folder with a {MANIFEST}")
    keys = read_manifest(file)
    keys.only("name", "version", "author", "language", "build", "run", "ignore", "needs", "limits")
    ignore = keys.ignore()
    bot = BotFolder(
        path=path.resolve(),
        name=keys.name(),
        version=keys.text("version"),
        author=keys.text("author"),
        language=keys.text("language"),
        build=keys.argv("build", path, required=False),
        run=keys.argv("run", path, required=True),
        ignore=ignore,
        needs=keys.needs(),
        memory_mb=keys.memory_mb(),
        tcp=keys.tcp(),
        content_hash=content_hash(path, ignore),
    )
    for key, argv in (("build", bot.build), ("run", () if bot.build else bot.run)):
        problem = program_problem(argv[0], path) if argv else None
        if problem is not None:
            raise BotFolderError(f"{file}: the program {argv[0]!r} of {key} {problem}")
    return bot


def content_hash(path: Path, ignore: Sequence[str] = (), *, bounds: Bounds = SOURCE) -> str:
    """Return the SHA-256 over all files of a folder: path, kind and bytes, sorted by path.

    What `ignore` and IGNORED name is left out, in all folders of it. Links must stay inside the
    folder, for it is copied to be played from. Raises BotFolderError, also when it exceeds
    `bounds`.
    """
    return digest_of(path, ignore, bounds)


def changed_files(before: Path, now: Path, *, built: bool, ignore: Sequence[str] = ()) -> list[str]:
    """Return what differs between two folders of a bot: `bot.py changed`, `x added`, `y removed`.

    When `before` was `built`, files that only it has may come from there and are not named.
    """
    old, new = (file_hashes(path, ignore, BUILT) for path in (before, now))
    lines = []
    for name in sorted({*old, *new}):
        if name not in old:
            lines.append(f"{name} added")
        elif name not in new:
            lines += [] if built else [f"{name} removed"]
        elif old[name] != new[name]:
            lines.append(f"{name} changed")
    return lines
