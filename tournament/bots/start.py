"""Starts a frozen bot in a sandbox, with what it needs to find the referee and nothing else."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.launch import (
    BotProcess,
    import_paths,
    program_argv,
    schema_folder,
    scrubbed_environment,
)
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.places import package_folders
from tournament.bots.sandbox.wrapped import Sandbox


@dataclass(frozen=True, slots=True)
class Program:
    """A bot that can be started: `folder` is its frozen copy, `run` its argv."""

    folder: Path
    run: tuple[str, ...]
    limits: Limits


def start_bot(
    sandbox: Sandbox,
    program: Program,
    *,
    address: str,
    token: str,
    home: Path,
    log: Path,
    on_exit: Callable[[str], None] = lambda _: None,
) -> BotProcess:
    """Start a bot that dials the referee at `address`, `unix:PATH`, with its `token`.

    `home` is where it may write in a sandbox without walls. Call it from the main thread. Raises
    LaunchError, SandboxError, OSError as BotProcess and Sandbox.wrap do.
    """
    environment = scrubbed_environment(home, os.environ) | {
        "RUMMY_REFEREE": address,
        "RUMMY_TOKEN": token,
        "RUMMY_PROTO": str(schema_folder()),
    }
    wrapped = sandbox.wrap(
        program_argv(program.run),
        folder=program.folder,
        environment=environment,
        socket=Path(address.removeprefix("unix:")),
        limits=program.limits,
        read_only=package_folders(import_paths()),
    )
    return BotProcess(program.run, wrapped=wrapped, log=log, on_exit=on_exit)
