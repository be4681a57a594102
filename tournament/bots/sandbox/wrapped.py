"""What every tier answers: how to start a program inside, and what to do when it has ended."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tournament.bots.sandbox.limits import Limits
from tournament.errors import UsageError


class SandboxError(UsageError):
    """The wanted sandbox does not work on this machine, or is too weak for a bot."""


class Wrapped:
    """One program, ready to be started once.

    ::

        process = Popen(wrapped.argv, env=wrapped.environment, cwd=wrapped.folder,
                        pass_fds=wrapped.pass_fds, start_new_session=True)   # else close()
        wrapped.started(process.pid)     # blocks for some milliseconds
        wrapped.kill()                   # the whole tree; any thread, any number of times
        code = wrapped.exit_code(process.wait())
        wrapped.close()                  # when it has ended, however it did

    `on_start` gets the process id; `on_kill` and `on_close` may come without it. No hook raises.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        *,
        pass_fds: Sequence[int] = (),
        is_turned: bool = False,
        on_start: Callable[[int], None] = lambda _: None,
        on_kill: Callable[[], None] = lambda: None,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        """`is_turned`: a death by signal N comes out as exit code 128 + N."""
        self.argv = tuple(argv)
        self.environment = dict(environment)
        self.folder = folder
        self.pass_fds = tuple(pass_fds)
        self._open = list(pass_fds)
        self._is_turned = is_turned
        self._on_start = on_start
        self._on_kill = on_kill
        self.reason: str | None = None
        """In words, why the sandbox or the kernel killed it, if one of them did."""
        self._on_close: Callable[[], None] | None = on_close

    def started(self, pid: int) -> None:
        """Take note that Popen has started it as `pid`."""
        self._let_go()
        self._on_start(pid)

    def kill(self) -> None:
        """Kill all its processes, as far as the tier knows them; the caller kills the group too."""
        self._on_kill()

    def exit_code(self, code: int) -> int:
        """Return the program's own exit code, negative for a signal, from that of Popen."""
        return 128 - code if self._is_turned and 128 < code < 128 + 65 else code

    def close(self) -> None:
        """Wait until the tree is gone, two seconds at most, and remove what was made for it."""
        self._let_go()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()

    def _let_go(self) -> None:
        while self._open:
            with contextlib.suppress(OSError):
                os.close(self._open.pop())


class Sandbox(Protocol):
    """A tier that was found to work."""

    @property
    def name(self) -> str:
        """`bubblewrap`, `rlimits` or `none`."""

    @property
    def announcement(self) -> str:
        """One sentence about what it holds back, for whoever starts a tournament."""

    @property
    def is_for_untrusted(self) -> bool:
        """Whether it may hold bots whose authors nobody vouches for."""

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
        """Return how to start a bot in its `folder`. Raises OSError, SandboxError.

        Inside, the referee's `socket`, if there is one, is what RUMMY_REFEREE names. `writable` is
        one more folder that it may write, `read_only` are more files and folders to read.
        """

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
        """Return how to start a bot's build, which writes to `folder` and `caches`.

        Raises OSError, SandboxError.
        """


def check_trust(sandbox: Sandbox, untrusted: Sequence[str]) -> None:
    """Refuse to start bots of these names in a sandbox that is too weak. Raises SandboxError."""
    if untrusted and not sandbox.is_for_untrusted:
        raise SandboxError(
            f"the sandbox {sandbox.name!r} does not hold bots that are marked untrusted"
            f" ({', '.join(sorted(untrusted))}): allowed is 'bubblewrap'"
        )
