"""What a match needs of a game: nothing here knows what a phase or a meld is."""

from collections.abc import Hashable, Sequence
from typing import Protocol

from referee.engine.actions import Action, Reason
from referee.engine.events import Event
from referee.engine.observation import Observation
from referee.engine.scoring import DealScore, MatchStanding


class Game(Protocol):
    """All deals of one match. `RummyGame` is one."""

    @property
    def to_act(self) -> int | None:
        """The seat that must act; None when the deal is over."""
        ...

    @property
    def allowance(self) -> Hashable:
        """Names the part of a turn that has time of its own."""
        ...

    @property
    def deal(self) -> int:
        """Number of the current deal, from 1."""
        ...

    def start(self) -> Sequence[Event]:
        """What happened when the first deal was dealt."""
        ...

    def some_legal_actions(self, most_wild: int) -> tuple[Sequence[Action], bool]:
        """Legal actions of the seat to act, and whether these are all.

        Of those that use wild cards at most so many are listed; of others, all.
        """
        ...

    def violation(self, seat: int, action: Action) -> Reason | None:
        """Why a seat may not do this now, or None."""
        ...

    def apply(self, action: Action) -> Sequence[Event]:
        """Play an action of the seat to act."""
        ...

    def forced_action(self) -> Action:
        """What is played for a seat that cannot act."""
        ...

    def observe(self, seat: int | None) -> Observation:
        """What a seat (None: a spectator) may know."""
        ...

    def text_of(self, action: Action) -> str:
        """An action as text."""
        ...

    def deal_score(self) -> DealScore:
        """The score of a deal that is over."""
        ...

    def standing(self) -> MatchStanding:
        """Where the match stands after a deal that is over."""
        ...

    def next_deal(self) -> Sequence[Event]:
        """Deal again; the deal must be over and the match not."""
        ...
