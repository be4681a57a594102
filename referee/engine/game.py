"""A match of Rummy as the few functions that match, service and training need of any game."""

from collections.abc import Sequence

from referee.engine.actions import Action, Reason
from referee.engine.events import Event
from referee.engine.legality import legal_actions, some_legal_actions, violation
from referee.engine.notation import action_text
from referee.engine.observation import Observation, observe
from referee.engine.ruleset import RuleSet
from referee.engine.scoring import DealScore, MatchStanding, score, standing
from referee.engine.shuffle import SAME_SUITS, SeededShuffler, Suits, deal_seed
from referee.engine.state import Phase, State
from referee.engine.transition import apply, forced_action, start_deal


class RummyGame:
    """All deals of one match, one after another, from one secret (32 bytes)."""

    __slots__ = ("_opening", "_secret", "_suits", "rules", "state")

    def __init__(
        self,
        rules: RuleSet,
        seats: int,
        secret: bytes,
        first_dealer: int = 0,
        suits: Suits = SAME_SUITS,
    ) -> None:
        """Raise RuleSetError for a wrong number of seats, ValueError for another wrong value."""
        self.rules = rules
        self._secret = secret
        self._suits = suits
        self.state: State
        self.state, self._opening = self._deal(1, first_dealer, [0] * seats, ())

    def _deal(
        self, deal: int, dealer: int, totals: Sequence[int], out: tuple[tuple[int, ...], ...]
    ) -> tuple[State, list[Event]]:
        shuffler = SeededShuffler(deal_seed(self._secret, deal), self._suits)
        return start_deal(self.rules, totals, shuffler, deal=deal, dealer=dealer, out=out)

    def start(self) -> list[Event]:
        """What happened when the first deal was dealt."""
        return self._opening

    @property
    def to_act(self) -> int | None:
        """The seat that must act; None when the deal is over."""
        return None if self.state.phase is Phase.OVER else self.state.turn

    @property
    def allowance(self) -> tuple[int, int, bool]:
        """Names the part of a turn that has time of its own: the draw, or everything after it."""
        state = self.state
        return state.deal, state.turns, state.phase is Phase.DRAW

    @property
    def deal(self) -> int:
        """Number of the current deal, from 1."""
        return self.state.deal

    def legal_actions(self) -> Sequence[Action]:
        """All legal actions of the seat to act."""
        return legal_actions(self.state)

    def some_legal_actions(self, most_wild: int) -> tuple[Sequence[Action], bool]:
        """Legal actions of the seat to act, at most so many with wild cards; and whether all."""
        return some_legal_actions(self.state, most_wild)

    def violation(self, seat: int, action: Action) -> Reason | None:
        """Why a seat may not do this now, or None."""
        return violation(self.state, seat, action)

    def apply(self, action: Action) -> list[Event]:
        """Play an action of the seat to act. Raises IllegalAction."""
        return apply(self.state, action)

    def forced_action(self) -> Action:
        """What is played for a seat that cannot act."""
        return forced_action(self.state)

    def observe(self, seat: int | None) -> Observation:
        """What a seat (None: a spectator) may know."""
        return observe(self.state, seat)

    def text_of(self, action: Action) -> str:
        """An action as text."""
        return action_text(action, self.state.tables)

    def deal_score(self) -> DealScore:
        """The score of a deal that is over."""
        return score(self.state)

    def standing(self) -> MatchStanding:
        """Where the match stands after a deal that is over."""
        return standing(self.state)

    def next_deal(self) -> list[Event]:
        """Deal again; the deal must be over and the match not."""
        now, totals = self.standing(), self.deal_score().totals
        if now.next_dealer is None:
            raise ValueError("the deal is being played or the match is over: there is no next deal")
        self.state, events = self._deal(self.state.deal + 1, now.next_dealer, totals, now.out)
        return events
