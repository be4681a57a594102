"""What greedy chooses, clause by clause of its README."""

import pytest

from rummy.referee.v1.rummy_pb2 import (
    ACE_HIGH_OR_LOW,
    ACTION_TYPE_DISCARD,
    ACTION_TYPE_LAY_OFF,
    ACTION_TYPE_MELD,
    CARD_UNSPECIFIED,
    GO_OUT_MUST_DISCARD,
    LAYOFF_GATE_OWN_MELD_FIRST,
    SAME_CARD_DISCARD_FORBIDDEN,
    SET_SUITS_ANY,
    WILDS_JOKERS,
    Action,
    Observation,
    RuleSet,
)
from sample_bots.greedy.bot import GreedyBot
from tests.bots.positions import (
    basic_rules,
    cards,
    draw_decision,
    observed,
    play_decision,
    starting,
    text_of,
)

STOCK, UPCARD = 0, 1


def drawn(seen: Observation, rules: RuleSet | None = None) -> int:
    chosen = GreedyBot(starting(rules)).choose(draw_decision(seen))
    assert isinstance(chosen, int)
    return chosen


def played(seen: Observation, rules: RuleSet | None = None) -> list[str]:
    chosen = GreedyBot(starting(rules)).choose(play_decision(seen))
    assert not isinstance(chosen, int)
    return [text_of(action) for action in chosen]


@pytest.mark.parametrize(
    ("hand", "upcard", "table", "expected"),
    [
        ("7C 7D KS 2H", "7H", (), UPCARD),  # a set
        ("5H 6H KS 2D", "7H", (), UPCARD),  # a run, at its end
        ("6H 8H KS 2D", "7H", (), UPCARD),  # a run, in its middle
        ("7C KS 2D", "7H", (), STOCK),  # a pair is not enough
        ("2C 3D", "7H", ("4H 5H 6H",), UPCARD),  # a layoff
        ("2C 3D", "7H", ("7C 7D 7S",), UPCARD),
        ("2C 3D", "7H", ("5H 6H 7D",), STOCK),
        ("QS KS 4D", "AS", (), STOCK),  # the ace is low
        ("2S 3S 9D", "AS", (), UPCARD),
    ],
)
def test_takes_the_upcard_only_for_a_meld_or_a_layoff(
    hand: str, upcard: str, table: tuple[str, ...], expected: int
) -> None:
    assert drawn(observed(hand, pile=f"2S {upcard}", table=table)) == expected


def test_draws_what_there_is() -> None:
    assert drawn(observed("7C 7D", pile="")) == STOCK
    assert drawn(observed("2C 9D", pile="7H", stock_count=0)) == 0  # the only legal action


def test_an_ace_goes_on_a_king_where_the_rules_say_so() -> None:
    rules = basic_rules()
    rules.ace = ACE_HIGH_OR_LOW
    assert drawn(observed("QS KS 4D", pile="AS"), rules) == UPCARD
    assert drawn(observed("2D 4D", pile="AS", table=["JS QS KS"]), rules) == UPCARD
    assert drawn(observed("2D 4D", pile="2S", table=["QS KS AS"]), rules) == STOCK
    assert played(observed("AS QS KS 4D 9H"), rules) == ["meld AS QS KS", "discard 9H"]


def test_lays_every_meld_and_layoff_and_discards_in_one_plan() -> None:
    seen = observed("7C 7D 7H 3S 4S 5S 6S KD 9C KC 2D", table=["TC JC QC", "2S 2H 2C"])
    assert played(seen) == [
        "meld 7C 7D 7H",
        "meld 3S 4S 5S 6S",
        "lay 9C on 1",
        "lay KC on 1",
        "lay 2D on 2",
        "discard KD",
    ]


def test_prefers_the_meld_with_the_most_points() -> None:
    # Either the nines or the run: 27 points against 30.
    assert played(observed("9C 9D 9H TH JH 3S"))[0] == "meld 9H TH JH"


def test_can_lay_off_on_its_own_new_meld() -> None:
    rules = basic_rules()
    rules.max_melds_per_turn = 1
    assert played(observed("7C 7D 7H 3S 4S 5S KD 9H"), rules) == ["meld 7C 7D 7H", "discard KD"]
    rules.layoff_gate = LAYOFF_GATE_OWN_MELD_FIRST
    seen = observed("7C 7D 7H 9C KD 4D", table=["TC JC QC"])
    assert played(seen, rules) == ["meld 7C 7D 7H", "lay 9C on 1", "discard KD"]
    closed = observed("7C 7D 9C KD 4D", table=["TC JC QC"])
    assert played(closed, rules) == ["discard KD"]


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("KC QC 2D 9H", "discard 9H"),  # K and Q are connected
        ("KC JC 2D 3H", "discard 3H"),  # so are K and J
        ("KC TC 2D 3H", "discard KC"),  # K and T are not; of equals the higher number
        ("KC KD 2D 3H", "discard 3H"),
        ("KC KD QC QD", "discard KD"),  # all connected: the dearest, then the highest number
        ("TC KD 4H", "discard KD"),
        ("KC TS 4H", "discard TS"),
        ("AC 2C", "discard 2C"),
    ],
)
def test_discards_the_dearest_loose_card(hand: str, expected: str) -> None:
    assert played(observed(hand)) == [expected]


def test_the_card_taken_is_not_discarded_unless_it_is_the_last() -> None:
    assert played(observed("KC 2D 5H", taken="KC")) == ["discard 5H"]
    last = observed("7C 7D 7H KC", taken="KC")
    assert played(last) == ["meld 7C 7D 7H", "discard KC"]
    rules = basic_rules()
    rules.same_card_discard = SAME_CARD_DISCARD_FORBIDDEN
    # The meld would leave only the card that may not go.
    assert played(last, rules) == ["discard 7H"]


def test_goes_out_without_a_discard_where_that_is_allowed() -> None:
    seen = observed("7C 7D 7H 9C", table=["TC JC QC"])
    assert played(seen) == ["meld 7C 7D 7H", "lay 9C on 1"]
    rules = basic_rules()
    rules.go_out = GO_OUT_MUST_DISCARD
    assert played(seen, rules) == ["meld 7C 7D 7H", "discard 9C"]


def test_sets_of_two_packs_follow_the_rule_for_suits() -> None:
    rules = basic_rules()
    rules.packs[2] = 2
    assert played(observed("7C 7H 7H KD"), rules) == ["discard KD"]
    rules.set_suits = SET_SUITS_ANY
    assert played(observed("7C 7H 7H KD"), rules) == ["meld 7C 7H 7H", "discard KD"]


def test_with_wild_cards_it_answers_with_an_index() -> None:
    rules = basic_rules()
    rules.wilds = WILDS_JOKERS
    rules.jokers = 2
    bot = GreedyBot(starting(rules))
    discards = [Action(type=ACTION_TYPE_DISCARD, cards=[card]) for card in cards("5H KC XX")]
    layoff = Action(type=ACTION_TYPE_LAY_OFF, cards=cards("5H"), meld_id=1)
    small = Action(type=ACTION_TYPE_MELD, cards=cards("5H 6H 7H"))
    great = Action(
        type=ACTION_TYPE_MELD,
        cards=cards("5H 6H XX"),
        meanings=[CARD_UNSPECIFIED, CARD_UNSPECIFIED, *cards("7H")],
    )
    seen = observed("5H 6H 7H KC XX")
    assert bot.choose(play_decision(seen, [small, great, layoff, *discards])) == 1
    assert bot.choose(play_decision(seen, [layoff, *discards])) == 0
    # The king is loose and the joker is kept.
    assert bot.choose(play_decision(seen, discards)) == 1
    assert bot.choose(draw_decision(observed("2C 9D", pile="XX"))) == UPCARD
