"""Opens the sandbox that a command was asked for, and says once what it holds back."""

from pathlib import Path

from tournament.bots.sandbox.choose import AUTO, BUBBLEWRAP, choose
from tournament.bots.sandbox.wrapped import Sandbox, SandboxError
from tournament.commands.output import say


def open_sandbox(wanted: str, data: Path) -> Sandbox:
    """Return the wanted tier, in which no bot sees the data folder; say on stderr what it is.

    Call it once a command, before anything is stored. Raises SandboxError, saying why a tier does
    not work. Where `auto` can't have bubblewrap, that is said too.
    """
    sandbox = choose(wanted, hidden=[data.resolve()])
    say(sandbox.announcement)
    if wanted == AUTO and sandbox.name != BUBBLEWRAP:
        try:
            choose(BUBBLEWRAP)
        except SandboxError as error:
            say(f"It could be stronger: {error}.")
    return sandbox
