"""Starts a bot's process, keeps its output, notices its end, and leaves nothing of it behind."""

import contextlib
import errno
import importlib.util
import os
import signal
import site
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from tournament.bots.output import LOG_CAP_BYTES, Output
from tournament.bots.sandbox import enter
from tournament.bots.sandbox.wrapped import Wrapped
from tournament.errors import LaunchError

SUCCESS, KILLED = "exit code 0", "signal SIGKILL"
_ALLOWED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "JAVA_HOME")
_FOR_BUILDS = (
    *("GO", "CGO_", "CARGO_", "RUSTUP_", "RUST", "MAVEN_", "NODE_", "NPM_", "npm_config_"),
    *("CC", "CXX", "CFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_", "PKG_CONFIG_", "XDG_CACHE_"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""How variables begin that compilers and package managers read."""
_PYTHONS = ("python3", "python")
_CHUNK = 64 * 1024
_NOT_STARTED = "could not be started"
_MACHINES_FAULTS = (
    errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO,
)  # fmt: skip
_DRAIN_S = 1.0
_KILL_S = 1.0
"""How long a sandbox has to end by the death of what is in it, before it is killed itself."""


def program_argv(argv: Sequence[str]) -> list[str]:
    """Return what to execute: `python3` and `python` mean the interpreter that runs this."""
    return [sys.executable if argv[0] in _PYTHONS else argv[0], *argv[1:]]


def scrubbed_environment(home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the little of `environ` that a bot may see, and what every bot gets."""
    kept = {name: environ[name] for name in _ALLOWED if name in environ}
    kept["HOME"] = str(home)
    # Frozen copies stay as they are, and a crash loses none of the output before it.
    kept |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    paths = import_paths()
    if paths:
        kept["PYTHONPATH"] = os.pathsep.join(paths)
    return kept


def build_environment(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the build of a bot may see.

    Besides what a bot gets: the user's home with the caches of compilers and package managers, the
    variables that they read, and RUMMY_PROTO, the folder of the schema's .proto files.
    """
    kept = {name: value for name, value in environ.items() if name.startswith(_FOR_BUILDS)}
    proto = {"RUMMY_PROTO": str(schema_folder())}
    return kept | scrubbed_environment(folder, environ) | {"HOME": str(Path.home())} | proto


def schema_folder() -> Path:
    """Return the folder that holds rummy/referee/v1/*.proto, installed or in a checkout."""
    found = next((path for path in map(Path, import_paths()) if (path / "rummy").is_dir()), None)
    if found is not None:
        return found
    spec = importlib.util.find_spec("rummy")
    locations = (spec and spec.submodule_search_locations) or ()
    return Path(next(iter(locations))).resolve().parent


def import_paths() -> list[str]:
    """Return the folders of the stubs and the sample bots, where they are not installed."""
    installed = {Path(path).resolve() for path in site.getsitepackages()}
    installed.add(Path(sysconfig.get_path("purelib")).resolve())
    paths = []
    for package in ("rummy", "sample_bots"):
        spec = importlib.util.find_spec(package)
        for location in (spec and spec.submodule_search_locations) or ():
            parent = Path(location).resolve().parent
            if parent not in installed:
                paths.append(str(parent))
    if not any(Path(path, "rummy").is_dir() for path in paths):
        # A checkout that is not installed keeps the stubs one folder deeper.
        proto = Path(__file__).resolve().parents[2] / "proto"
        if (proto / "rummy").is_dir():
            paths.append(str(proto))
    return list(dict.fromkeys(paths))


class BotProcess:
    """One running bot, in a session and process group of its own.

    `on_exit` is called once, from another thread, with words like "exit code 1". Everything the
    process leaves in its group is killed when it ends.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        wrapped: Wrapped,
        log: Path,
        log_cap_bytes: int = LOG_CAP_BYTES,
        key: str = "run",
        on_exit: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start the process as `wrapped` says; `key` is that of bot.toml which has `argv`.

        A sandbox ends with the thread that starts it: that should be the main thread.

        Raises LaunchError if it can't be started through its author's fault, and OSError when it
        is this machine that lacks something: memory, room, processes.
        """
        self._argv = tuple(argv)
        self._key = key
        self._wrapped = wrapped
        self._on_exit = on_exit
        self._lock = threading.Lock()  # held while the process is reaped or signalled
        self._ended = threading.Event()
        self.exit_text: str | None = None
        self.start_problem: str | None = None
        """Why the program itself did not start, where only the sandbox could find that out."""
        try:
            self.output = Output(log, log_cap_bytes)
        except OSError:
            wrapped.close()
            raise
        try:
            self._process = subprocess.Popen(  # noqa: S603 - running a bot is the purpose
                wrapped.argv,
                cwd=wrapped.folder,
                env=wrapped.environment,
                pass_fds=wrapped.pass_fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self.output.close()
            wrapped.close()
            if isinstance(error, OSError) and error.errno in _MACHINES_FAULTS:
                raise
            raise LaunchError(f"{_NOT_STARTED}: {_start_problem(argv, error, key)}") from error
        self.pid = self._process.pid
        assert self._process.stdout is not None
        self._drainer = threading.Thread(
            target=_drain, args=(self._process.stdout, self.output), daemon=True
        )
        self._drainer.start()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended yet."""
        return not self._ended.is_set()

    def stop(self, grace_s: float = 2.0) -> None:
        """Ask the process to end, kill its group if it does not, and wait until it is gone."""
        self._signal(signal.SIGTERM)
        if not self._ended.wait(grace_s):
            self._wrapped.kill()
            if not self._ended.wait(_KILL_S):
                self._signal(signal.SIGKILL)
        self._ended.wait()
        # Somebody who left the group may keep the pipe open: its output is not waited for.
        self._drainer.join(timeout=_DRAIN_S)

    def last_line(self) -> str:
        """Return the last line of the output that is not blank, cut, or an empty text."""
        if not self.is_running:
            self._drainer.join(timeout=_DRAIN_S)  # until the log has it all
        return self.output.last_line()

    def wait(self, timeout_s: float) -> bool:
        """Return whether the process has ended within the time."""
        return self._ended.wait(timeout_s)

    def _signal(self, number: signal.Signals) -> None:
        with self._lock:
            if self._process.returncode is None:
                _signal_group(self.pid, number)

    def _watch(self) -> None:
        self._wrapped.started(self.pid)
        if hasattr(os, "waitid"):
            # Until it is reaped, its number belongs to no other process group.
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            with self._lock:
                _signal_group(self.pid, signal.SIGKILL)
                code = self._process.wait()
        else:  # macOS before Python 3.13
            code = self._process.wait()
            _signal_group(self.pid, signal.SIGKILL)
        self._wrapped.close()
        self.exit_text = _exit_text(self._wrapped.exit_code(code))
        if self._wrapped.reason is not None:
            self.exit_text += f": {self._wrapped.reason}"
        if code in (enter.NOT_FOUND, enter.NOT_STARTED):
            self.start_problem = self._told_by_sandbox()
        self._ended.set()
        self._on_exit(self.exit_text)

    def _told_by_sandbox(self) -> str | None:
        """Return why the program was not started, if its end means that it was not."""
        self._drainer.join(timeout=_DRAIN_S)
        told = enter.told(program_argv(self._argv)[0], self.output.last_line())
        if told is None:
            return None
        return f"{_NOT_STARTED}: the program {self._argv[0]!r} of its `{self._key}` {told}"


def _start_problem(argv: Sequence[str], error: Exception, key: str) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT:
        return (
            f"the program {argv[0]!r} of its `{key}` was not found"
            " (or, if it is a script, the program that its first line names)"
        )
    if number == errno.EACCES:
        return f"the program {argv[0]!r} of its `{key}` is not an executable file"
    if number == errno.ENOEXEC:
        return f"{argv[0]!r} of its `{key}` is no program: a script's first line names one with #!"
    return f"{argv[0]!r} of its `{key}`: {error}"


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _drain(pipe: IO[bytes], output: Output) -> None:
    """Keep a process's output, and read on whatever happens so that it never blocks."""
    fd = pipe.fileno()
    try:
        while chunk := os.read(fd, _CHUNK):
            output.write(chunk)
    finally:
        output.close()
        pipe.close()
