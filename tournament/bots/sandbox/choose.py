"""Finds the tier that a user wants, or the best one, by starting a program in it."""

import functools
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tournament.bots.sandbox.bubblewrap import Bubblewrap, find_program
from tournament.bots.sandbox.groups import find_groups
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.plain import Plain
from tournament.bots.sandbox.users import find_users
from tournament.bots.sandbox.watch import MemoryWatch
from tournament.bots.sandbox.wrapped import Sandbox, SandboxError
from tournament.bots.scratch import scratch_folder

AUTO, BUBBLEWRAP = "auto", "bubblewrap"
CHOICES = (AUTO, BUBBLEWRAP, "rlimits", "none")
_TRIAL_S = 20.0
_MOST = 300
_WORDS = "it worked"
_HINT = (
    "what it needs is a user namespace, which a container, AppArmor"
    " (kernel.apparmor_restrict_unprivileged_userns) or user.max_user_namespaces=0 may forbid,"
    " and bubblewrap 0.8 or newer"
)


def choose(wanted: str, *, hidden: Sequence[Path] = ()) -> Sandbox:
    """Return the wanted tier, or for `auto` the best one that works here.

    `hidden` are folders that no bot may see, such as the data folder; the launcher's home always
    is. Raises SandboxError when the wanted tier does not work, saying why and what to do.
    """
    match wanted:
        case "none":
            return Plain(has_limits=False)
        case "rlimits":
            return Plain(has_limits=True)
        case "bubblewrap":
            return _hiding(hidden)
        case "auto":
            try:
                return _hiding(hidden)
            except SandboxError:
                return Plain(has_limits=True)
    raise SandboxError(f"sandbox is {wanted!r}: allowed are {', '.join(CHOICES)}")


def _hiding(hidden: Sequence[Path]) -> Sandbox:
    found = _bubblewrap()
    return Bubblewrap(
        found.program,
        found.users,
        found.groups,
        found.watch,
        (_home(), *hidden),
    )


def _home() -> Path:
    """Return the launcher's home; some users have none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _bubblewrap() -> Bubblewrap:
    """Return the tier, or raise what was wrong with it the first time."""
    found = _tried(os.geteuid())
    if isinstance(found, str):
        raise SandboxError(found)
    return found


@functools.cache
def _tried(user: int) -> Bubblewrap | str:
    """Return the tier for this user, or in words what is wrong with it here."""
    try:
        program = find_program()
    except SandboxError as error:
        return str(error)
    users = find_users() if user == 0 else None
    sandbox = Bubblewrap(program, users, find_groups(), MemoryWatch())
    problem = trial(sandbox)
    if problem is not None and sandbox.groups is not None:
        sandbox = Bubblewrap(program, users, None, sandbox.watch)
        problem = trial(sandbox)
    if problem is None:
        return sandbox
    return f"the sandbox 'bubblewrap' does not work here: {problem}; {_HINT}"


def trial(sandbox: Sandbox) -> str | None:
    """Start a program in a sandbox; return in words what went wrong, if anything did."""
    try:
        with scratch_folder(Path(tempfile.gettempdir()), "rummy-trial-") as folder:
            folder.chmod(0o755)
            wrapped = sandbox.wrap(
                ["/bin/sh", "-c", f"echo {_WORDS}"],
                folder=folder,
                environment={"PATH": os.defpath},
                socket=None,
                limits=Limits(),
            )
            try:
                process = subprocess.Popen(  # noqa: S603
                    wrapped.argv,
                    env=wrapped.environment,
                    cwd=wrapped.folder,
                    pass_fds=wrapped.pass_fds,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                with process:
                    wrapped.started(process.pid)
                    try:
                        output, _ = process.communicate(timeout=_TRIAL_S)
                    finally:
                        process.kill()
            finally:
                wrapped.close()
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    text = output.decode(errors="replace").strip()
    if process.returncode == 0 and text == _WORDS:
        return None
    return text[:_MOST] or f"exit code {process.returncode}"
