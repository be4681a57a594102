"""Multisets of cards as integers, against counters; and no action names more than there is."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.engine.cards import (
    CARD_TEXTS,
    FACES,
    JOKER,
    MalformedCard,
    add_all,
    add_card,
    cards_of,
    count_of,
    faces_of,
    full_deck,
    multiset,
    parse_card,
    remove_all,
    remove_card,
)
from referee.engine.vectors import run_vector
from tests.scale import repeatable

few_faces = st.sampled_from([0, 12, 13, 51, JOKER])
hands = st.lists(few_faces | st.integers(0, 52), max_size=14).filter(
    lambda cards: all(count <= 4 for count in Counter(cards).values())
)


@repeatable
@given(hands)
def test_a_multiset_holds_each_card_as_often_as_it_was_put_in(cards: list[int]) -> None:
    whole = multiset(cards)
    assert whole == multiset(reversed(cards))
    assert whole.bit_count() == len(cards)
    assert cards_of(whole) == sorted(cards)
    assert list(faces_of(whole)) == sorted(set(cards))
    assert whole & FACES == sum(1 << face for face in set(cards))
    counts = Counter(cards)
    assert all(count_of(whole, face) == counts[face] for face in range(53))


@repeatable
@given(hands, hands)
def test_adding_and_taking_away_are_those_of_counters(first: list[int], second: list[int]) -> None:
    both = Counter(first) + Counter(second)
    if max(both.values(), default=0) <= 4:
        whole = add_all(multiset(first), multiset(second))
        assert whole == multiset(both.elements())
        assert remove_all(whole, multiset(second)) == multiset(first)
        assert multiset(first) & whole == multiset(first)
    contained = Counter(first) <= Counter(second)
    assert (multiset(first) & multiset(second) == multiset(first)) == contained


@repeatable
@given(hands.filter(bool))
def test_one_card_more_and_less(cards: list[int]) -> None:
    card, rest = cards[0], cards[1:]
    assert add_card(multiset(rest), card) == multiset(cards)
    assert remove_card(multiset(cards), card) == multiset(rest)


def test_cards_have_the_order_of_the_deck() -> None:
    texts = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
    assert [CARD_TEXTS[card] for card in full_deck(1, 1)] == [*texts, "XX"]
    assert [parse_card(text) for text in (*texts, "XX")] == list(range(53))


@pytest.mark.parametrize("text", ["", "7", "H7", "7h", "10H", "1H", "xx", "X", "7H ", "0C", "7HH"])
def test_what_is_no_card_is_not_read(text: str) -> None:
    with pytest.raises(MalformedCard, match=f"{text!r} is no card: cards are written as 7H"):
        parse_card(text)


FIVE_SEATS = ["2S 3S", "4S", "5S", "6S"]


def _refused(
    seats: int, hand: str, table: list[str], text: str, reason: str
) -> list[dict[str, Any]]:
    others = FIVE_SEATS[: seats - 1]
    position = {"turn": 0, "phase": "play", "hands": [hand, *others], "table": table}
    rules = {"preset": "standard", "set": {"jokers": 4, "wilds": "jokers_and_deuces"}}
    tried = [{"try": text, "rejected": reason}, {"legal_lacks": [text]}]
    return [
        {"rules": rules, "seats": seats, "position": position | {"stock": "AD"}, "steps": [step]}
        for step in tried
    ]


@pytest.mark.parametrize(
    ("seats", "hand", "table", "text", "reason"),
    [
        # Two seats have one pack, five have two.
        (2, "XX XX XX XX KD", ["8C 9C TC"], "lay XX=7C XX=6C XX=5C XX=4C XX=3C on 1",
         "card_not_in_hand"),
        (2, "XX XX XX XX KD KH", [], "meld KD KH XX=KC XX=KS XX=KD XX=KH XX=KC",
         "card_not_in_hand"),
        (5, "XX KD KH", ["8S 8S XX=8S XX=8S"], "lay XX=8S on 1", "does_not_fit"),
        (5, "XX XX XX KD", ["8S 8S XX=8S"], "lay XX=8S XX=8S on 1", "does_not_fit"),
        (5, "XX XX XX XX KD", ["8S 8S 2C=8S"], "lay XX=8S XX=8S XX=8S XX=8S on 1", "does_not_fit"),
        (5, "XX XX XX XX KD", ["8S 8S 8H"], "lay XX=8S XX=8S XX=8S XX=8S on 1", "does_not_fit"),
        (5, "8S 8S XX XX XX KD", [], "meld 8S 8S XX=8S XX=8S XX=8S", "not_a_meld"),
        (5, "8S 8S XX XX 2C 2C KD", [], "meld 8S 8S XX=8S XX=8S 2C=8S 2C=8S", "not_a_meld"),
        (5, "8S 8S KD", [], "meld 8S 8S 8S", "card_not_in_hand"),
        (5, "8S 8S KD", [], "meld 8S 8S 8S 8S 8S", "card_not_in_hand"),
        (5, "8S 8S KD", ["8S 8S 8H"], "lay 8S 8S 8S 8S 8S 8S on 1", "card_not_in_hand"),
    ],
)  # fmt: skip
def test_no_action_uses_a_card_more_often_than_it_is_held_or_makes_a_fifth(
    seats: int, hand: str, table: list[str], text: str, reason: str
) -> None:
    if "8S 8S 8H" in table:
        hand = hand.replace("8S 8S", "8C 8D")
    for vector in _refused(seats, hand, table, text, reason):
        assert run_vector(vector) is None
