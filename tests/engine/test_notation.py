"""Actions and melds as text: what is printed is read back, and nothing else is read."""

import random
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.engine.actions import (
    DRAW_DISCARD,
    DRAW_STOCK,
    Action,
    MalformedAction,
    Verb,
    discard,
    lay_off,
    meld,
    swap,
)
from referee.engine.cards import CARD_TEXTS, JOKER, multiset, parse_card
from referee.engine.game import RummyGame
from referee.engine.legality import legal_actions
from referee.engine.melds import meld_tables
from referee.engine.notation import action_text, meld_text, parse_action, parse_cards
from referee.engine.vector_position import load_position
from tests.engine.random_positions import random_position
from tests.engine.random_rules import TABLES, random_rules
from tests.scale import ALL_CASES, cases, repeatable, repeating

FILE = __file__
TABLES_HIGH = meld_tables(ace_high=True, any_suits=True)


def cards(text: str) -> int:
    return multiset(parse_card(word) for word in text.split())


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("draw stock", DRAW_STOCK),
        ("draw discard", DRAW_DISCARD),
        ("discard KC", discard(parse_card("KC"))),
        ("discard XX", discard(JOKER)),
        ("meld 8D 8H 8S", meld(cards("8S 8H 8D"))),
        ("meld 7H 7H 7S", meld(cards("7S 7H 7H"))),
        ("meld QS KS AS", meld(cards("AS KS QS"))),
        ("meld XX=4H 5H 6H", meld(cards("6H 5H"), ((JOKER, parse_card("4H")),))),
        ("meld 2H 2C=3H 4H", meld(cards("4H 2H"), ((parse_card("2C"), parse_card("3H")),))),
        ("lay 8C on 1", lay_off(1, cards("8C"))),
        ("lay 7H XX=8H on 12", lay_off(12, cards("7H"), ((JOKER, parse_card("8H")),))),
        ("swap 4H on 2", swap(2, parse_card("4H"))),
    ],
)
def test_texts_and_actions_belong_together(text: str, action: Action) -> None:
    assert parse_action(text) == action
    assert action_text(action, TABLES_HIGH) == text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("meld 8S 8D 8H", "meld 8D 8H 8S"),
        ("meld 6H XX=4H 5H", "meld XX=4H 5H 6H"),
        ("lay TH 9H on 3", "lay 9H TH on 3"),
        ("lay XX=8H 7H on 3", "lay 7H XX=8H on 3"),
        ("meld KS AS QS", "meld QS KS AS"),
        ("meld 9H 9C XX=9H", "meld 9C 9H XX=9H"),
        ("meld 2C=9H 9C XX=9H 9C", "meld 9C 9C XX=9H 2C=9H"),
    ],
)
def test_the_order_of_cards_makes_no_difference_and_is_printed_in_one_way(
    text: str, same: str
) -> None:
    assert parse_action(text) == parse_action(same)
    assert action_text(parse_action(text), TABLES_HIGH) == same


def test_different_meanings_are_different_actions() -> None:
    texts = ("lay 2C on 1", "lay 2C=3C on 1", "lay XX=3C on 1", "lay 3C on 1", "lay 3C on 2")
    assert len({parse_action(text) for text in texts}) == len(texts)


MALFORMED = (
    "", " ", "draw", "draw ", "draw stock ", " draw stock", "Draw stock", "DRAW STOCK", "pass",
    "draw  stock", "draw stock discard", "stock", "draw stock\n", "discard", "discard ",
    "discard kc", "discard 10H", "discard K", "discard KCC", "discard 1H", "discard XX=4H",
    "discard KC QC", "discard KC on 1", "discard  KC", "discard KC ", "discard KC\n",
    "discard ♥7", "discard X", "discard xx", "meld", "meld ", "meld 8S  8H 8D", "meld 8S,8H,8D",
    "meld 8s 8h 8d", "meld 8S 8H 8D ", "meld 8S 8H 8D on 1", "meld XX= 5H 6H", "meld =4H 5H 6H",
    "meld XX=XX 5H 6H", "meld XX=4H=4H 5H 6H", "meld 4H=XX 5H 6H", "meld XX=4h 5H 6H",
    "meld\t8S 8H 8D", "lay", "lay 8C", "lay 8C on", "lay 8C on ", "lay on 1", "lay  on 1",
    "lay 8C on -1", "lay 8C on +1", "lay 8C on 1.0", "lay 8C on one", "lay 8C on 1 2",
    "lay 8C  on 1", "lay 8C on  1", "lay 8C on 1 ", "lay 8C on 1\n", "lay 8C On 1",
    "lay 8C on \N{SUPERSCRIPT ONE}", "lay 8C on \N{ARABIC-INDIC DIGIT ONE}", "lay 8C on 1 on 1",
    "lay 8C to 1", "swap", "swap 8C", "swap on 1", "swap 8C 9C on 1", "swap XX=8C on 1",
    "swap 8C on", "swap 8C on -1",
)  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_texts_are_refused_and_shown_what_is_allowed(text: str) -> None:
    with pytest.raises(MalformedAction) as raised:
        parse_action(text)
    assert repr(text)[1:-1] in str(raised.value)
    assert "XX=6H" in str(raised.value) or "a wild card stands for" in str(raised.value)


@repeatable
@given(st.text(alphabet="drawstockmeldlaypinC8XH=4 \n1290", max_size=24))
def test_any_text_is_an_action_or_malformed(text: str) -> None:
    try:
        action = parse_action(text)
    except MalformedAction:
        return
    assert parse_action(action_text(action, TABLES_HIGH)) == action


@repeatable
@given(
    st.lists(st.integers(0, 52), min_size=1, max_size=13),
    st.lists(st.tuples(st.integers(0, 52), st.integers(0, 51)), max_size=13),
    st.integers(0, 10**9 - 1),
)
def test_any_layoff_and_meld_is_read_back(
    naturals: list[int], wilds: list[tuple[int, int]], meld_id: int
) -> None:
    words = [CARD_TEXTS[face] for face in naturals]
    words += [f"{CARD_TEXTS[face]}={CARD_TEXTS[to]}" for face, to in wilds]
    for text in (f"meld {' '.join(words)}", f"lay {' '.join(words)} on {meld_id}"):
        action = parse_action(text)
        assert parse_action(action_text(action, TABLES_HIGH)) == action
        printed = action_text(action, TABLES_HIGH).split()
        assert sorted(printed) == sorted(text.split())


@pytest.mark.parametrize(("preset", "seats"), TABLES)
def test_every_legal_action_in_random_play_is_read_back(preset: str, seats: int) -> None:
    test = f"test_every_legal_action_in_random_play_is_read_back[{preset}-{seats}]"
    for case in cases(2):
        seed = f"notation/{preset}/{seats}/{case}"
        with repeating(FILE, test, seed, case):
            _read_back_a_deal(preset, seats, seed)


def _read_back_a_deal(preset: str, seats: int, seed: str) -> None:
    chance = random.Random(seed)
    rules, _ = random_rules(chance, preset, seats)
    game = RummyGame(rules, seats, sha256(seed.encode()).digest())
    for _ in range(80):
        legal = game.legal_actions()
        if not legal:
            break
        texts = {game.text_of(action) for action in legal}
        assert len(texts) == len(legal)
        for action in legal:
            text = game.text_of(action)
            assert parse_action(text) == action, text
        plays = [action for action in legal if action.verb is not Verb.DISCARD]
        game.apply(chance.choice(plays if plays and chance.random() < 0.5 else list(legal)))
        for laid in game.state.table:
            naturals, wilds = parse_cards(meld_text(laid))
            stands_for = multiset([*naturals, *(to for _, to in wilds)])
            assert game.state.tables.shapes[stands_for] is laid.shape
            assert tuple(sorted(wilds)) == laid.wilds


def test_every_legal_action_with_wild_cards_is_read_back() -> None:
    seen = 0
    for case in cases(300):
        seed = f"notation/wild/{case}"
        chance = random.Random(seed)
        preset, seats = chance.choice(TABLES)
        rules, overrides = random_rules(chance, preset, seats)
        if rules.wilds == "none":
            continue
        vector: dict[str, Any] = random_position(chance, rules, overrides, seats)
        test = "test_every_legal_action_with_wild_cards_is_read_back"
        with repeating(FILE, test, seed, case):
            state = load_position(rules, vector)
            for action in legal_actions(state):
                seen += bool(action.wilds)
                text = action_text(action, state.tables)
                assert parse_action(text) == action, text
    assert seen or not ALL_CASES
