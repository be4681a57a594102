"""Frozen copies: every bot plays from DATA/bots/HASH, which never changes once it is there."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tournament.bots.folder import IGNORED, BotFolder, content_hash
from tournament.bots.launch import program_argv, scrubbed_environment
from tournament.errors import FreezeError, UsageError

BUILD_LIMIT_S = 600
_TAIL = 2_000


def frozen_folder(data_dir: Path, hash_of_content: str) -> Path:
    """Return where the copy of a content is, or would be."""
    return data_dir.resolve() / "bots" / hash_of_content


def freeze(bot: BotFolder, data_dir: Path) -> Path:
    """Copy a bot's folder under its hash, build it there, and return the copy.

    The copy appears whole or not at all; one that is there already is used as it is.
    """
    target = frozen_folder(data_dir, bot.content_hash)
    if target.is_dir():
        return target
    data = data_dir.resolve()
    if data.is_relative_to(bot.path) and data.name not in IGNORED:
        raise UsageError(
            f"the data folder {data} lies inside the bot's folder {bot.path}:"
            " give another one with --data"
        )
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    except OSError as error:
        raise FreezeError(f"{target.parent} can't be written: {error.strerror}") from error
    try:
        copy = scratch / "bot"
        shutil.copytree(bot.path, copy, symlinks=True, ignore=shutil.ignore_patterns(*IGNORED))
        if content_hash(copy) != bot.content_hash:
            raise FreezeError(f"{bot.path} changed while it was copied: run again")
        if bot.build:
            _build(bot.build, copy, bot.path)
        try:
            copy.rename(target)
        except OSError:
            # Somebody else was faster with the same content.
            if not target.is_dir():
                raise
    except (OSError, shutil.Error) as error:
        raise FreezeError(f"{bot.path} can't be copied to {target}: {error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _build(argv: Sequence[str], folder: Path, source: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - building a bot is the purpose
            program_argv(argv),
            cwd=folder,
            env=scrubbed_environment(folder, os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BUILD_LIMIT_S,
            check=False,
            start_new_session=True,
        )
    except OSError as error:
        raise FreezeError(f"{source}: build {list(argv)} can't start: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise FreezeError(
            f"{source}: build {list(argv)} took more than {BUILD_LIMIT_S} s"
        ) from error
    if done.returncode:
        tail = done.stdout[-_TAIL:].decode(errors="replace").strip()
        raise FreezeError(
            f"{source}: build {list(argv)} ended with exit code {done.returncode}:\n{tail}"
        )
