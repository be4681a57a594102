"""The tiers without walls: `rlimits`, with limits for each process, and `none`."""

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tournament.bots.sandbox import enter
from tournament.bots.sandbox.arguments import forwarding, settings
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.wrapped import Wrapped

_BOTS = 16
"""How many bots' processes one user may have at once, where no bot has a user of its own."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A sandbox that keeps processes where they are. With `has_limits` each one is bounded."""

    has_limits: bool

    @property
    def name(self) -> str:
        """The tier's name."""
        return "rlimits" if self.has_limits else "none"

    @property
    def is_for_untrusted(self) -> bool:
        """It is not."""
        return False

    @property
    def announcement(self) -> str:
        """One sentence about what it does not hold back."""
        seen = "they can read this user's files and reach the network"
        if not self.has_limits:
            return f"WARNING: bots run without a sandbox and without limits: {seen}."
        return (
            "WARNING: bots run without a sandbox, with limits on each process alone:"
            f" {seen}; run only bots that you trust."
        )

    def wrap(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        socket: Path | None,
        limits: Limits,
        writable: Path | None = None,
        read_only: Sequence[Path] = (),
    ) -> Wrapped:
        """Return how to start a bot, as Sandbox.wrap says."""
        del writable, read_only  # all files are seen as they are
        environment = dict(environment)
        if socket is not None:
            environment["RUMMY_REFEREE"] = f"unix:{socket}"
        return self._wrapped(argv, folder, environment, limits, socket)

    def wrap_build(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        limits: Limits,
        has_network: bool,
        caches: Sequence[Path] = (),
        read_only: Sequence[Path] = (),
    ) -> Wrapped:
        """Return how to start a build, as Sandbox.wrap_build says; the network is there always."""
        del has_network, caches, read_only
        return self._wrapped(argv, folder, environment, limits)

    def _wrapped(
        self,
        argv: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        limits: Limits,
        socket: Path | None = None,
    ) -> Wrapped:
        forward = forwarding(limits, str(socket) if socket is not None else None)
        words = [*(_limits(limits) if self.has_limits else ()), *forward]
        if not words:
            return Wrapped(argv, environment, folder)
        program = [sys.executable, "-I", "-S", "-B", enter.__file__]
        return Wrapped(
            [*program, *words, "--", *argv], environment, folder, is_turned=bool(forward)
        )


def _limits(limits: Limits) -> list[str]:
    """Return the words for enter.py.

    The kernel counts the processes of a user, not those of a bot: the launcher's own and those of
    all bots must fit, and a fork bomb must end while the machine still works.
    """
    most = tasks_of_user() + _BOTS * limits.processes
    return settings(replace(limits, processes=most))


def tasks_of_user() -> int:
    """Return how many processes and threads this user has, as far as this system tells."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            if folder.stat().st_uid == os.geteuid():
                count += (folder / "task").stat().st_nlink - 2
    return count
