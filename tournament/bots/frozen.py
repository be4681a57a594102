"""Frozen copies: every bot plays from DATA/bots/HASH, which never changes once it is there."""

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

from tournament.bots.builds import BuildRights, run_build
from tournament.bots.contents import BUILT, IGNORED, SEAL
from tournament.bots.folder import BotFolder, content_hash
from tournament.bots.manifest import program_problem
from tournament.bots.sandbox.ownership import make_readable
from tournament.bots.sandbox.wrapped import Sandbox
from tournament.bots.scratch import scratch_folder
from tournament.errors import BotFolderError, FreezeError, UsageError


def frozen_folder(data_dir: Path, hash_of_content: str) -> Path:
    """Return where the copy of a content is, or would be."""
    return data_dir.resolve() / "bots" / hash_of_content


def freeze(
    bot: BotFolder,
    data_dir: Path,
    *,
    sandbox: Sandbox,
    build_network: bool,
    build_caches: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Path:
    """Copy a bot's folder under its hash, build it there in the sandbox, and return the copy.

    The copy appears whole or not at all. One that is there already is used, if nothing in it has
    changed; else it is made again. All users may read it, as each bot may be one of its own; the
    folder above lets only the launcher in. `tell` hears of a build, which may take minutes.

    Call it from the main thread. Raises FreezeError, UsageError.
    """
    target = frozen_folder(data_dir, bot.content_hash)
    if is_intact(target):
        return target
    if bot.path == target:
        raise FreezeError(
            f"the copy of {bot.name} {bot.version} that was submitted was changed or lost:"
            f" {target}; submit it again"
        )
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
                rights = BuildRights(build_network, build_caches)
                run_build(bot, copy, scratch / "build.log", sandbox, rights)
            _check_program(bot, copy)
            make_readable(copy)
            _put(copy, target)
    except OSError as error:
        raise FreezeError(f"{bot.path} can't be copied to {target}: {_reason(error)}") from error
    return target


def _reason(error: OSError) -> str:
    """Return what went wrong in words; of a whole folder, what did first."""
    if not isinstance(error, shutil.Error):
        return str(error)
    # A list of (from, to, reason), or the one reason of a single copy.
    [what, *_] = error.args or [""]
    return str(what[0][-1]) if isinstance(what, list) and what else str(what)


def _check_program(bot: BotFolder, copy: Path) -> None:
    problem = program_problem(bot.run[0], copy)
    if problem is not None:
        when = "after its `build`" if bot.build else "in the copy without what it ignores"
        raise FreezeError(f"{bot.path}: the program {bot.run[0]!r} of run {problem} {when}")


def _put(copy: Path, target: Path) -> None:
    """Seal a copy and give it its name, unless somebody else was faster with the same content."""
    (copy / SEAL).write_text(content_hash(copy, bounds=BUILT), encoding="ascii")
    if is_intact(target):
        return
    if target.is_dir():
        shutil.rmtree(target)  # changed, or half of it lost
    copy.rename(target)


def is_intact(copy: Path) -> bool:
    """Whether a frozen copy is there, as it was when it was made."""
    try:
        seal = (copy / SEAL).read_text(encoding="ascii")
        return seal == content_hash(copy, bounds=BUILT)
    except (OSError, ValueError, BotFolderError):
        return False
