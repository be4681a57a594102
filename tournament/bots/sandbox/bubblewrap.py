"""The tier `bubblewrap`: namespaces, a filter of system calls, limits, and a user of its own."""

import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.sandbox import arguments as inside
from tournament.bots.sandbox import enter, seccomp
from tournament.bots.sandbox.groups import Group, Groups
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.ownership import give, make_readable
from tournament.bots.sandbox.places import (
    Kind,
    Place,
    hidden_places,
    interpreter_places,
    shown,
    system_places,
)
from tournament.bots.sandbox.tree import Tree, tree_of
from tournament.bots.sandbox.users import Users
from tournament.bots.sandbox.watch import MemoryWatch
from tournament.bots.sandbox.wrapped import SandboxError, Wrapped

NAME = "bubblewrap"
_SOCKET_MOST = 107
"""Bytes of a unix socket's path."""
_MIB = 1024 * 1024
_GONE_S = 2.0


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A sandbox. `users` is there when the launcher is root, `groups` where any can be made.

    `hidden` are folders that no bot may see, even if they lie within what is shown to all.
    """

    program: str
    users: Users | None
    groups: Groups | None
    watch: MemoryWatch
    hidden: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """The tier's name."""
        return NAME

    @property
    def is_for_untrusted(self) -> bool:
        """It is."""
        return True

    @property
    def announcement(self) -> str:
        """One sentence about what it holds back."""
        bounds = "a control group" if self.groups is not None else "a watch"
        user = ", each as a user of its own" if self.users is not None else ""
        return (
            f"Bots run in bubblewrap{user}: no network, no files but their own,"
            f" memory bounded by {bounds}."
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
        """Return how to start a bot, as Sandbox.wrap says.

        With a user of its own it can read only what all users may, in `folder` too, and the socket
        is opened to all users: its folder should not be.
        """
        if socket is not None and len(os.fsencode(socket)) > _SOCKET_MOST:
            raise SandboxError(
                f"the socket's path {socket} is too long: allowed are {_SOCKET_MOST} bytes"
            )
        user = self.users.take() if self.users is not None else None
        if user is not None and socket is not None:
            socket.chmod(0o666)
        places = [Place(inside.BOT, Kind.READ_ONLY, os.path.realpath(folder))]
        if writable is not None:
            places.append(Place(str(writable), Kind.WRITABLE, os.path.realpath(writable)))
        return self._wrapped(
            argv,
            environment=inside.inside_environment(
                environment, home=inside.HOME, has_socket=socket is not None
            ),
            home=inside.HOME,
            places=places,
            read_only=read_only,
            limits=limits,
            user=user,
            socket=socket,
        )

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
        """Return how to start a build, as Sandbox.wrap_build says.

        A build that may write to the launcher's caches runs as the launcher. Another one has a user
        of its own where bots have: `folder` is that user's until it ends, then root's again and
        readable by all.
        """
        home = environment.get("HOME", inside.HOME)
        places = [Place(inside.BOT, Kind.WRITABLE, os.path.realpath(folder))]
        places += [Place(str(path), Kind.WRITABLE, os.path.realpath(path)) for path in caches]
        if home != inside.HOME:
            places.append(Place(home, Kind.SCRATCH))
        user = self.users.take() if self.users is not None and not caches else None
        return self._wrapped(
            argv,
            environment=inside.inside_environment(environment, home=home, has_socket=False),
            home=home,
            places=places,
            read_only=read_only,
            limits=limits,
            user=user,
            has_network=has_network,
            owned=folder if user is not None else None,
            may_lead_sessions=True,
        )

    def _wrapped(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str],
        home: str,
        places: Sequence[Place],
        read_only: Sequence[Path],
        limits: Limits,
        user: int | None,
        socket: Path | None = None,
        has_network: bool = False,
        owned: Path | None = None,
        may_lead_sessions: bool = False,
    ) -> Wrapped:
        system = [*system_places(has_network=has_network), *interpreter_places()]
        asked = [place for path in read_only for place in shown(path)]
        hidden = hidden_places(self.hidden, [*system, *asked])
        run = _Run(self, user, owned, limits)
        try:
            if owned is not None and user is not None:
                give(owned, user)
            number = user if user is not None else inside.USER
            files = {
                path: run.file(text.encode())
                for path, text in inside.own_files(number, home).items()
            }
            files[inside.ENTER] = run.file(Path(enter.__file__).read_bytes())
            filter_ = seccomp.program(platform.machine(), may_lead_sessions=may_lead_sessions)
            descriptors = inside.Descriptors(
                arguments=run.file(b""),
                filter=run.file(filter_),
                files=files,
                info=run.info_writer(),
            )
            words = inside.options(
                places=[*places, *asked, *hidden, *system],
                descriptors=descriptors,
                limits=limits,
                user=user,
                has_network=has_network,
                socket=os.path.realpath(socket) if socket is not None else None,
            )
            _fill(descriptors.arguments, b"".join(os.fsencode(word) + b"\0" for word in words))
            if self.groups is not None:
                run.group = self.groups.create(limits)
        except BaseException:
            run.close()
            raise
        run.wrapped = Wrapped(
            inside.command(
                self.program,
                argv,
                interpreter=os.path.realpath(sys.executable),
                descriptors=descriptors,
                groups=run.group.doors if run.group is not None else [],
                limits=limits,
                user=user,
                has_socket=socket is not None,
            ),
            environment,
            Path("/"),
            pass_fds=run.let_go(),
            is_turned=True,
            on_start=run.start,
            on_kill=run.kill,
            on_close=run.close,
        )
        return run.wrapped


class _Run:
    """What one program needs outside, from before its start to after its end."""

    def __init__(
        self, sandbox: Bubblewrap, user: int | None, owned: Path | None, limits: Limits
    ) -> None:
        self._sandbox = sandbox
        self._user = user
        self._owned = owned
        self._limits = limits
        self._open: list[int] = []
        self._info = -1
        self._tree: Tree | None = None
        self.group: Group | None = None
        self.wrapped: Wrapped | None = None

    def file(self, content: bytes) -> int:
        """Return a descriptor to read the content from."""
        number = os.memfd_create("sandbox")
        self._open.append(number)
        _fill(number, content)
        return number

    def info_writer(self) -> int:
        """Return the descriptor in which bubblewrap tells about itself."""
        self._info, writer = os.pipe()
        self._open.append(writer)
        return writer

    def let_go(self) -> list[int]:
        """Return the open descriptors: they are the caller's now."""
        numbers, self._open = self._open, []
        return numbers

    def start(self, pid: int) -> None:
        """Find the tree, which bubblewrap tells of; `pid` is bubblewrap's own."""
        del pid
        self._tree = tree_of(self._info)
        if self._tree is not None:
            most = self._limits.memory_mb * _MIB
            self._sandbox.watch.add(self._tree, most, self._tell)

    def kill(self) -> None:
        """Kill all processes inside: bubblewrap follows when they are gone."""
        if self.group is not None:
            self.group.kill()
        if self._tree is not None:
            self._tree.kill()

    def close(self) -> None:
        """Wait for the end of the tree, and leave nothing."""
        for number in self.let_go():
            os.close(number)
        if self._info >= 0:
            os.close(self._info)
            self._info = -1
        if self._tree is not None:
            self._sandbox.watch.remove(self._tree)
            self._tree.kill()
            self._tree.has_ended(_GONE_S)
            self._tree.close()
        if self.group is not None:
            reason = self.group.reason()
            if reason is not None:
                self._tell(reason)
            self.group.remove()
        if self._user is not None:
            if self._owned is not None:
                make_readable(self._owned)
            if self._sandbox.users is not None:
                self._sandbox.users.give_back(self._user)

    def _tell(self, reason: str) -> None:
        if self.wrapped is not None:
            self.wrapped.reason = reason


def find_program() -> str:
    """Return where bubblewrap is. Raises SandboxError."""
    if platform.machine() not in seccomp.MACHINES:
        raise SandboxError(
            f"the sandbox 'bubblewrap' knows no machine {platform.machine()!r}:"
            f" allowed are {', '.join(seccomp.MACHINES)}"
        )
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError(
            "the sandbox 'bubblewrap' needs the program bwrap, which is not installed:"
            " install the package bubblewrap, version 0.8 or newer"
        )
    return program


def _fill(number: int, content: bytes) -> None:
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
