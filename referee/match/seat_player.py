"""The two sides of a match: what it tells a seat, and what a seat answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from referee.engine.actions import Action
from referee.engine.events import Event
from referee.engine.observation import Observation
from referee.match.clock import SeatClock
from referee.match.outcome import MatchResult


@dataclass(slots=True)
class Decision:
    """A request for actions, as it is told to a seat. It takes exactly one choice."""

    decision_id: int
    """From 1 for each seat in a match."""
    observation: Observation
    legal_actions: Sequence[Action]
    is_complete: bool
    """Whether the list holds all of them."""
    clock: SeatClock
    spent_us: int = 0
    """What it had taken already when it was told again."""


@dataclass(slots=True)  # Freezing it would double the time that one takes to make.
class Choice:
    """An answer: a plan of actions, or an index into the legal actions; both None is malformed."""

    plan: Sequence[Action] | None = None
    index: int | None = None
    malformed: str = ""
    """Why the answer could not be read; empty if it could."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer, or the rest of one, is not accepted."""

    reason: str
    """A `Reason` value of the engine, or one of the protocol's own."""
    tried: str
    """What was sent: the action, or words for what is none."""
    text: str
    """For the author: what was sent and what was allowed."""


def plan_of(
    choice: Choice, legal: Sequence[Action], most: int
) -> tuple[Sequence[Action], Refusal | None]:
    """The actions of a choice, at most `most`; or none, and why."""
    if choice.malformed:
        return (), Refusal("malformed", choice.malformed, choice.malformed)
    if choice.plan is not None:
        if len(choice.plan) > most:
            tried = f"{len(choice.plan)} actions"
            return (), Refusal("plan_too_long", tried, f"{tried}: at most {most} are allowed")
        return choice.plan, None
    if choice.index is None:
        allowed = "a choice has actions or a legal_action_index"
        return (), Refusal("malformed", "neither actions nor an index", allowed)
    if not 0 <= choice.index < len(legal):
        tried = f"index {choice.index}"
        return (), Refusal("bad_index", tried, f"{tried}: allowed are 0–{len(legal) - 1}")
    return (legal[choice.index],), None


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer that was not accepted, or not wholly."""

    decision_id: int
    reason: str
    """A `Reason` value of the engine, or one of the protocol's own."""
    text: str
    applied: int = 0
    """Actions of the plan that were applied before it."""
    strikes_left: int | None = None
    """None: it was no strike."""


class SeatPlayer(Protocol):
    """Whatever plays a seat. The match calls it and never waits for it."""

    def match_starting(self) -> None:
        """The match begins; `Match.ready` is the answer."""
        ...

    def update(
        self, first_event_number: int, events: Sequence[Event], decision: Decision | None
    ) -> None:
        """Whole events, to be shown as `observation.view` allows, and perhaps a decision."""
        ...

    def rejected(self, rejected: Rejected) -> None:
        """The last answer was not accepted."""
        ...

    def match_ended(self, result: MatchResult) -> None:
        """The match is over."""
        ...
