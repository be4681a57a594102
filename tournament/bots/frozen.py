"""Frozen copies: every bot plays from DATA/bots/HASH, which never changes once it is there."""

import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from tournament.bots.folder import IGNORED, SEAL, BotFolder, content_hash
from tournament.bots.guard import Guard
from tournament.bots.launch import SUCCESS, BotProcess, build_environment
from tournament.bots.leftovers import process_mark
from tournament.bots.scratch import scratch_folder
from tournament.errors import BotFolderError, FreezeError, LaunchError, UsageError

BUILD_LIMIT_S = 1_800
_OUTPUT_CAP_BYTES = 16 * 1024 * 1024
_TAIL = 2_000


def frozen_folder(data_dir: Path, hash_of_content: str) -> Path:
    """Return where the copy of a content is, or would be."""
    return data_dir.resolve() / "bots" / hash_of_content


def freeze(bot: BotFolder, data_dir: Path, *, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Copy a bot's folder under its hash, build it there, and return the copy.

    The copy appears whole or not at all. One that is there already is used, if nothing in it has
    changed; else it is made again. `tell` hears of a build, which may take minutes.
    """
    target = frozen_folder(data_dir, bot.content_hash)
    if is_intact(target):
        return target
    data = data_dir.resolve()
    if data.is_relative_to(bot.path) and data.name not in IGNORED:
        raise UsageError(
            f"the data folder {data} lies inside the bot's folder {bot.path}:"
            " give another one with --data"
        )
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise FreezeError(f"{target.parent} can't be written: {error.strerror}") from error
    try:
        with scratch_folder(target.parent, ".new-") as scratch:
            copy = scratch / "bot"
            left_out = shutil.ignore_patterns(*IGNORED, *bot.ignore)
            shutil.copytree(bot.path, copy, symlinks=True, ignore=left_out)
            if content_hash(copy) != bot.content_hash:
                raise FreezeError(f"{bot.path} changed while it was copied: run again")
            if bot.build:
                tell(f"building {bot.name}: {shlex.join(bot.build)} …")
                _build(bot.build, copy, bot.path, scratch / "build.log")
            _put(copy, target)
    except (OSError, shutil.Error) as error:
        raise FreezeError(f"{bot.path} can't be copied to {target}: {error}") from error
    return target


def _put(copy: Path, target: Path) -> None:
    """Seal a copy and give it its name, unless somebody else was faster with the same content."""
    (copy / SEAL).write_text(content_hash(copy), encoding="ascii")
    if is_intact(target):
        return
    if target.is_dir():
        shutil.rmtree(target)  # changed, or half of it lost
    copy.rename(target)


def is_intact(copy: Path) -> bool:
    """Whether a frozen copy is there, as it was when it was made."""
    try:
        return (copy / SEAL).read_text(encoding="ascii") == content_hash(copy)
    except (OSError, ValueError, BotFolderError):
        return False


def _build(argv: Sequence[str], folder: Path, source: Path, log: Path) -> None:
    """Run a build to its end. Interrupted, late or left alone, all its processes are killed."""
    try:
        with Guard(log.parent) as guard:
            process = BotProcess(
                argv,
                folder=folder,
                environment=build_environment(folder, os.environ),
                log=log,
                log_cap_bytes=_OUTPUT_CAP_BYTES,
                key="build",
            )
            guard.watch(process.pid, process_mark(process.pid))
            try:
                has_ended = process.wait(BUILD_LIMIT_S)
            finally:
                process.stop(grace_s=0)
                guard.forget(process.pid)
    except LaunchError as error:
        raise FreezeError(f"{source} {error}") from error
    if not has_ended:
        raise FreezeError(f"{source}: build {list(argv)} took more than {BUILD_LIMIT_S} s")
    if process.exit_text != SUCCESS:
        tail = log.read_bytes()[-_TAIL:].decode(errors="replace").strip()
        raise FreezeError(f"{source}: build {list(argv)} ended with {process.exit_text}:\n{tail}")
