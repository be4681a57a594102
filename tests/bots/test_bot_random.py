"""The random bot: legal, and repeatable from the referee's bytes."""

from rummy.referee.v1.rummy_pb2 import ACTION_TYPE_DISCARD, Action, Observation
from sample_bots.random.bot import RandomBot
from tests.bots.positions import play_decision, starting


def indices(randomness: bytes, count: int = 60) -> list[int]:
    bot = RandomBot(starting(randomness=randomness))
    decision = play_decision(Observation(), [Action(type=ACTION_TYPE_DISCARD)] * 7)
    return [bot.choose(decision) for _ in range(count)]


def test_the_same_bytes_give_the_same_choices() -> None:
    assert indices(b"\x01" * 32) == indices(b"\x01" * 32)
    assert indices(b"\x01" * 32) != indices(b"\x02" * 32)


def test_every_legal_action_is_chosen_some_time() -> None:
    assert set(indices(b"\x03" * 32, 500)) == set(range(7))
