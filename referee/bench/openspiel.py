"""Random play of OpenSpiel's Gin Rummy from Python, as a measure for ours; it may not be installed.

The game is another one: what can be compared is the work for a step of a card game of this kind.
"""

import random
from time import process_time
from typing import Any, Final

try:
    import pyspiel
except ImportError:  # Installed by the extra `oracle`, and not for every machine.
    pyspiel = None

_CHANCE: Final = -1
_OVER: Final = -4
"""What stands for the player to move when it is chance, and when the deal is over."""


class OpenSpielPlay:
    """Counts and processor time of whole deals."""

    def __init__(self, rng: random.Random) -> None:
        """Load the game; all deals begin with a copy of one state that is kept."""
        self.actions = 0
        """Actions of players: draws, discards, knocks, melds, layoffs and passes."""
        self.steps = 0
        """These and the steps of chance: each card dealt or drawn from the stock."""
        self.spent = 0.0
        """Seconds of processor time."""
        self._chance = rng.random
        self._initial: Any = None
        if pyspiel:
            self._initial = pyspiel.load_game("gin_rummy").new_initial_state()

    def rates(self) -> tuple[float, float] | None:
        """Actions and steps per second of processor time; None if nothing could be measured."""
        return (self.actions / self.spent, self.steps / self.spent) if self.spent else None

    def play(self, deals: int) -> None:
        """Play deals at random, legal actions listed at every step; nothing without OpenSpiel."""
        if self._initial is None:
            return
        begin = process_time()
        for _ in range(deals):
            self._play_deal()
        self.spent += process_time() - begin

    def _play_deal(self) -> None:
        state, chance = self._initial.clone(), self._chance
        actions = steps = 0
        while (player := state.current_player()) != _OVER:
            # All cards are equally likely, so chance chooses from the same list as players do.
            legal = state.legal_actions()
            state.apply_action(legal[int(chance() * len(legal))])
            steps += 1
            actions += player != _CHANCE
        self.actions += actions
        self.steps += steps
