"""All steps in order. A new one is one entry."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tournament.check.report import Verdict
from tournament.check.room import Room
from tournament.check.steps import begin, regular, resources, trouble


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `key` names it in data, `title` for people."""

    key: str
    title: str
    run: Callable[[Room], Awaitable[Verdict]]
    needs_bot: bool = True
    """The bot must be connected before it."""
    needs_process: bool = False
    """It looks at the bot's process, which must be on this machine."""


STEPS: Final[Sequence[Step]] = (
    Step("start", "starts in time", begin.start, needs_bot=False),
    Step("handshake", "says who it is", begin.handshake),
    Step("presets", "plays every preset", regular.presets),
    Step("six_seats", "plays at a table of six", regular.six_seats),
    Step("two_packs", "plays with two packs", regular.two_packs),
    Step("wild_cards", "plays with wild cards", regular.wild_cards),
    Step("answers", "answers legally, in time", regular.answers, needs_bot=False),
    Step("rejection", "goes on after a rejection", trouble.rejection),
    Step("reconnect", "comes back when cut off", trouble.reconnect),
    Step("unknown", "skips what it does not know", trouble.unknown),
    Step("at_once", "plays two matches at once", trouble.at_once),
    Step("time", "thinks in time", resources.time_use, needs_bot=False),
    Step("memory", "keeps its limits", resources.memory, needs_bot=False, needs_process=True),
    Step("stop", "ends on SIGTERM", resources.stop, needs_process=True),
    Step("output", "prints little", resources.output, needs_bot=False, needs_process=True),
)
