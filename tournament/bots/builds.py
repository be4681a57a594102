"""Runs a bot's build in the sandbox: what it may see, reach and leave behind."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.find import sample_bot_folders
from tournament.bots.folder import BotFolder
from tournament.bots.guard import Guard
from tournament.bots.launch import (
    SUCCESS,
    BotProcess,
    build_environment,
    import_paths,
    program_argv,
    schema_folder,
)
from tournament.bots.leftovers import process_mark
from tournament.bots.output import plain_lines
from tournament.bots.sandbox.limits import BUILD
from tournament.bots.sandbox.places import package_folders
from tournament.bots.sandbox.wrapped import Sandbox
from tournament.errors import FreezeError, LaunchError

BUILD_LIMIT_S = 1_800
_OUTPUT_CAP_BYTES = 16 * 1024 * 1024
_TAIL = 2_000

_TOOLCHAINS = (
    ".cargo/bin", ".rustup", ".local/bin", ".nvm/versions", ".volta", ".sdkman/candidates",
    ".pyenv/versions", ".asdf/installs", ".local/share/mise/installs", "go/bin", "sdk",
)  # fmt: skip
"""Where compilers are installed in a home: programs, and nothing that is secret."""
_TOOLCHAIN_VARIABLES = ("CARGO_HOME/bin", "RUSTUP_HOME", "JAVA_HOME", "GOROOT")
_CACHES = (
    ".cache/go-build", "go/pkg/mod", ".npm", ".m2/repository", ".cargo/registry", ".cargo/git",
)  # fmt: skip
"""Where compilers and package managers keep what they have fetched and made."""
_CACHE_VARIABLES = (
    "GOCACHE", "GOMODCACHE", "GOPATH/pkg/mod", "CARGO_HOME/registry", "CARGO_HOME/git",
    "npm_config_cache", "XDG_CACHE_HOME/go-build",
)  # fmt: skip
_SETTINGS = (
    ".npmrc", ".m2/settings.xml", ".cargo/config.toml", ".config/go/env", ".config/pip/pip.conf",
)  # fmt: skip
"""What goes with the caches: which mirrors there are. It may hold passwords for them."""


@dataclass(frozen=True, slots=True)
class BuildRights:
    """What the build of a bot may reach beyond its folder."""

    has_network: bool
    has_caches: bool


def build_rights(
    bot: BotFolder, *, is_untrusted: bool, network: bool | None = None, caches: bool | None = None
) -> BuildRights:
    """Return what a bot's build may do: what the organiser says, or what its author is trusted.

    The caches are left to sample bots alone, for another build will believe what lies there.
    Untrusted bots get nothing.
    """
    is_sample = any(bot.path == folder.resolve() for folder in sample_bot_folders().values())
    return BuildRights(
        has_network=not is_untrusted if network is None else network,
        has_caches=is_sample and not is_untrusted if caches is None else caches,
    )


def run_build(bot: BotFolder, copy: Path, log: Path, sandbox: Sandbox, rights: BuildRights) -> None:
    """Run a bot's build in its copy. Interrupted or late, all its processes are killed.

    `log` gets its output. Call it from the main thread. Raises FreezeError, SandboxError, OSError.
    """
    home = _home()
    read_only = [*package_folders(import_paths()), schema_folder() / "rummy"]
    read_only += _there(home, _TOOLCHAINS, _TOOLCHAIN_VARIABLES)
    caches: list[Path] = []
    if rights.has_caches:
        caches = _there(home, _CACHES, _CACHE_VARIABLES)
        read_only += _there(home, _SETTINGS, ())
    what = f"{bot.path}: build `{shlex.join(bot.build)}`"
    try:
        with Guard(log.parent) as guard:
            wrapped = sandbox.wrap_build(
                program_argv(bot.build),
                folder=copy,
                environment=build_environment(home, os.environ),
                limits=BUILD,
                has_network=rights.has_network,
                caches=caches,
                read_only=read_only,
            )
            process = BotProcess(
                bot.build,
                wrapped=wrapped,
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
        raise FreezeError(f"{bot.path} {error}") from error
    if not has_ended:
        raise FreezeError(f"{what} took more than {BUILD_LIMIT_S} s")
    if process.start_problem is not None:
        raise FreezeError(f"{bot.path} {process.start_problem}")
    if process.exit_text != SUCCESS:
        tail = plain_lines(log.read_bytes()[-_TAIL:])
        hint = "" if rights.has_network else "\n(it ran without network: --build-network gives it)"
        raise FreezeError(f"{what} ended with {process.exit_text}:\n{tail}{hint}")


def _home() -> Path:
    """Return the launcher's home, or for a user without one where a bot has its own."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _there(home: Path, names: Sequence[str], variables: Sequence[str]) -> list[Path]:
    """Return those folders and files that are there, of the home and of what variables name."""
    found = [home / name for name in names] + list(_named(variables, os.environ))
    return [path for path in dict.fromkeys(found) if path.exists()]


def _named(variables: Sequence[str], environ: Mapping[str, str]) -> Sequence[Path]:
    paths = []
    for text in variables:
        variable, _, below = text.partition("/")
        value = environ.get(variable, "")
        if value.startswith("/") and value != "/":
            paths.append(Path(value) / below)
    return paths
