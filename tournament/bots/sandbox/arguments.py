"""The command line of bubblewrap, and what a program finds in its environment inside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.places import Kind, Place, folders_above, in_order, nearest

BOT = "/bot"
"""The bot's folder inside, when it plays and when it is built: built paths stay true."""
HOME = "/tmp/home"  # noqa: S108 - inside, /tmp is private
ENTER, SOCKET = "/run/rummy/enter.py", "/run/rummy/referee.sock"
SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108 - inside, in memory, private
USER = 1000
"""Who a bot is inside, where it has no user of its own."""
_ROOT_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID")
_MIB = 1024 * 1024
_SHELL = (
    'trap "" TERM; while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
)
"""Joins control groups, and leaves SIGTERM to the program: bubblewrap would die of it and kill it.

`enter.py` gives SIGTERM back its meaning.
"""


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Numbers of open files that bubblewrap reads (the first three) and writes to (`info`)."""

    arguments: int
    filter: int
    files: Mapping[str, int]
    """By where each is to appear inside."""
    info: int


def command(
    bubblewrap: str,
    argv: Sequence[str],
    *,
    interpreter: str,
    descriptors: Descriptors,
    groups: Sequence[Path],
    limits: Limits,
    user: int | None,
    has_socket: bool,
) -> list[str]:
    """Return what to start: nothing in it tells where a bot's folder or the socket is outside.

    `groups` are the files cgroup.procs to join.
    """
    words = ["/bin/sh", "-c", _SHELL, "sh", *map(str, groups), "--"]
    words += [bubblewrap, "--args", str(descriptors.arguments), "--"]
    words += [interpreter, "-I", "-S", "-B", ENTER, *settings(limits)]
    words += [] if user is None else [f"user={user}"]
    words += forwarding(limits, SOCKET if has_socket else None)
    return [*words, "--", *argv]


def options(
    *,
    places: Sequence[Place],
    descriptors: Descriptors,
    limits: Limits,
    user: int | None,
    has_network: bool = False,
    socket: str | None = None,
) -> list[str]:
    """Return bubblewrap's options. A bot with a `user` gets that number, no user namespace.

    `socket` is the path of the referee's socket outside.
    """
    words = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup"]
    words += [] if has_network else ["--unshare-net"]
    words += ["--hostname", "bot", "--die-with-parent", "--cap-drop", "ALL"]
    if user is None:
        words += ["--unshare-user", "--disable-userns", "--uid", str(USER), "--gid", str(USER)]
    else:
        for capability in _ROOT_CAPABILITIES:  # until it has become the user
            words += ["--cap-add", capability]
    words += ["--info-fd", str(descriptors.info), "--seccomp", str(descriptors.filter)]
    words += ["--proc", "/proc", "--dev", "/dev"]
    scratch = [Place(path, Kind.SCRATCH) for path in SCRATCH]
    ordered = in_order([*scratch, *places])
    done = {"/dev", "/proc"}
    for place in ordered.values():
        words += _parents(place.inside, ordered, done)
        words += _mount(place, limits)
        if place.inside == SCRATCH[0]:
            words += ["--perms", "0777", "--dir", HOME]
    for inside, number in descriptors.files.items():
        words += _parents(inside, ordered, done)
        words += ["--perms", "0444", "--ro-bind-data", str(number), inside]
    if socket is not None:
        words += _parents(SOCKET, ordered, done)
        words += ["--ro-bind", socket, SOCKET]
    closed = [
        "/dev",
        "/",
        *(place.inside for place in ordered.values() if place.kind is Kind.HIDDEN),
    ]
    for inside in closed:
        words += ["--remount-ro", inside]
    return [*words, "--chdir", BOT]


def _parents(inside: str, places: Mapping[str, Place], done: set[str]) -> list[str]:
    """Make the folders above a place that all may enter: bubblewrap's own are for root alone."""
    words = []
    for name in reversed(folders_above(inside)):
        above = nearest(name, places)
        is_ours = above is None or above.kind in (Kind.HIDDEN, Kind.SCRATCH)
        if is_ours and name not in places and name not in done:
            done.add(name)
            words += ["--perms", "0755", "--dir", name]
    return words


def _mount(place: Place, limits: Limits) -> list[str]:
    match place.kind:
        case Kind.SCRATCH:
            size = str(limits.disk_mb * _MIB)
            return ["--perms", "1777", "--size", size, "--tmpfs", place.inside]
        case Kind.HIDDEN:
            return ["--perms", "0755", "--size", "65536", "--tmpfs", place.inside]
        case Kind.READ_ONLY | Kind.WRITABLE | Kind.LINK:
            return [place.kind.value, place.shows, place.inside]


def settings(limits: Limits) -> list[str]:
    """Return the limits for enter.py: for each process, and `nproc` for each user."""
    return [
        f"data={limits.memory_mb * _MIB}",
        f"nproc={limits.processes}",
        f"nofile={limits.open_files}",
        f"fsize={limits.file_mb * _MIB}",
        "core=0",
        "msgqueue=0",
        f"memlock={_MIB}",
    ]


def forwarding(limits: Limits, socket: str | None) -> list[str]:
    """Return what enter.py is to forward to, where that is asked for."""
    return [f"forward={socket}"] if limits.tcp and socket is not None else []


def inside_environment(
    environment: Mapping[str, str], *, home: str, has_socket: bool
) -> dict[str, str]:
    """Return the environment inside: that of outside with the paths that are true there."""
    kept = {name: value for name, value in environment.items() if name not in ("TMPDIR", "PWD")}
    kept |= {"HOME": home, "USER": "bot", "LOGNAME": "bot"}
    if has_socket:
        kept["RUMMY_REFEREE"] = f"unix:{SOCKET}"  # or what enter.py says, where it forwards
    return kept


def own_files(user: int, home: str) -> dict[str, str]:
    """Return small files that runtimes look for, by their path."""
    return {
        "/etc/passwd": f"bot:x:{user}:{user}:bot:{home}:/bin/sh\n",
        "/etc/group": f"bot:x:{user}:\n",
        "/etc/hosts": "127.0.0.1 localhost bot\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    }
