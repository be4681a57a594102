"""What `run` and `plan` are asked for: the file, the options put over it, and the bots."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tournament.bots.find import find_bots
from tournament.bots.folder import BotFolder
from tournament.commands.options import file_and_bots, rules_of
from tournament.commands.output import say
from tournament.commands.submitted import SubmittedBots
from tournament.config import Config, Overrides, load_config


@dataclass(frozen=True, slots=True)
class Asked:
    """A checked configuration, and the bots that it means."""

    config: Config
    bots: list[BotFolder]
    file: Path | None
    names_bots: bool
    """Whether the command line named the bots: what is none was left out, and that was said."""
    texts: tuple[str, ...]
    """What names these very bots in a file that lies anywhere."""


def read_asked(
    arguments: Sequence[Path] | None,
    bots: Sequence[str] | None,
    changes: Sequence[str] | None,
    options: Overrides,
    *,
    submitted: SubmittedBots,
    all_submitted: bool = False,
) -> Asked:
    """Read file and bots, `changes` of rules and `options` put over them. Raises UsageError.

    With `all_submitted`, the newest versions of all bots that were submitted come after `bots`.
    """
    file, texts = file_and_bots(arguments or [], bots)
    texts += submitted.all() if all_submitted else []
    config = load_config(file, replace(options, rules=rules_of(changes or []), bots=texts))
    source = "" if file is None or texts else str(file)
    found = find_bots(config.bots, source, submitted=submitted, leave_out=say if texts else None)
    named = tuple(submitted.text_of(bot) or str(bot.path) for bot in found)
    return Asked(config, found, file, bool(texts), named)
