"""Plays a random legal action: the simplest bot that finishes its matches."""

from random import Random

from rummy.referee.v1.play_pb2 import Decision, MatchStarting
from sample_bots.client import Strategy, run


class RandomBot(Strategy):
    """Answers each decision with the index of one of its legal actions, all equally likely."""

    def __init__(self, starting: MatchStarting) -> None:
        # The referee's bytes make the match repeatable.
        self._random = Random(starting.randomness)

    def choose(self, decision: Decision) -> int:
        """Return any index."""
        return self._random.randrange(len(decision.legal_actions))


if __name__ == "__main__":
    run("random", "1.0.0", RandomBot)
