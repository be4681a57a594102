"""The brute-force reference: its vectors, the counts (docs/rules.md 10), random play."""

import json
import random
from collections import Counter
from itertools import chain, combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest

from tests.engine.reference import Game, deal_cards
from tests.engine.reference_cards import FACES, commitment, deal_seed, deck, own_face, shuffled
from tests.engine.reference_melds import all_melds, is_meld, is_run, is_set
from tests.engine.reference_rules import PRESETS, make_rules
from tests.engine.reference_turn import parse
from tests.engine.reference_vectors import run_vector

VECTORS = Path(__file__).parent.parent / "vectors"
ZERO = bytes(32)


def _load() -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    for path in sorted(VECTORS.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        vectors = content if isinstance(content, list) else [content]
        found.extend((path.stem, vector) for vector in vectors)
    return found


ALL = _load()


@pytest.mark.parametrize("vector", [pytest.param(v, id=f"{f}: {v['name']}") for f, v in ALL])
def test_vector(vector: dict[str, Any]) -> None:
    assert run_vector(vector) is None


def test_vector_names_are_unique() -> None:
    assert [name for name, n in Counter(v["name"] for _, v in ALL).items() if n > 1] == []


def test_every_reason_and_deal_end_is_covered() -> None:
    steps = [step for _, vector in ALL for step in vector.get("steps", [])]
    reasons = (
        "malformed deal_over not_your_turn wrong_phase card_not_in_hand stock_empty no_upcard "
        "no_such_meld meld_limit layoff_gate bad_wild not_a_meld does_not_fit same_card "
        "must_discard strands_turn"
    )
    assert {step["rejected"] for step in steps if "try" in step} == set(reasons.split())
    ends = {vector["deal"].get("ended") for _, vector in ALL if "deal" in vector}
    assert ends >= {"went_out", "exhausted", "turn_cap", "playing"}
    assert {vector["rules"]["preset"] for _, vector in ALL} >= set(PRESETS)


def test_a_wrong_expectation_fails() -> None:
    """Each vector of play fails once one thing that it expects is changed."""
    changed = 0
    for _, vector in ALL:
        for key, wrong in (
            ("steps", [*vector.get("steps", []), {"do": "pass"}]),
            ("steps", [*vector.get("steps", []), {"state": {"recycles": 99}}]),
            ("steps", [*vector.get("steps", []), {"forced": "discard KC"}, {"legal": []}]),
            ("deal", {"ended": "lost"}),
            ("match", {"next_dealer": 9}),
        ):
            if "rules_error" not in vector:
                assert run_vector({**vector, key: wrong}) is not None
                changed += 1
    assert changed > 500


@pytest.mark.parametrize(
    "change",
    [
        {"position": {"hands": ["8C KC", ""]}},
        {"position": {"hands": ["8C KC"]}},
        {"position": {"hands": ["8C KC", "8C 2S"]}},
        {"position": {"hands": ["8C KC", "XX 2S"]}},
        {"position": {"hands": ["8C KC", "10S 2S"]}},
        {"position": {"hands": ["8C KC", "2S"], "table": ["3D 4D 6D"]}},
        {"position": {"hands": ["8C KC", "2S"], "table": ["3D XX 5D"]}},
        {"position": {"hands": ["8C KC", "2S"], "table": ["3D 2H=4D 5D"]}},
        {"position": {"hands": ["8C KC", "2S"], "taken": "8C"}},
        {"position": {"hands": ["8C KC", "2S"], "phase": "play", "taken": "9C"}},
        {"position": {"hands": ["8C KC", "2S"], "turn": 5}},
        {"position": {"hands": ["8C KC", "2S"], "deck": "3S"}},
        {"position": {"hands": ["8C KC", "2S"], "discard": "3S 4S"}, "reshuffles": ["3S 5S"]},
        {"position": {"hands": ["8C KC", "2S"]}, "seats": 7},
        {"position": 5},
        {"from": {"seed": "00"}},
        {"steps": [{"seat": 0, "play": "draw stock"}]},
        {"deal": {"length": 3}},
    ],
)
def test_a_wrong_vector_fails_without_a_crash(change: dict[str, Any]) -> None:
    position = {"hands": ["8C KC", "2S 3S"], "stock": "7H", "discard": "5C"}
    rules = {"preset": "traditional"}
    good = {"name": "good", "rules": rules, "seats": 2, "dealer": 1, "position": position}
    assert run_vector(good) is None
    assert run_vector({**good, **change}) is not None


def test_counts_of_one_pack_by_trying_all_combinations() -> None:
    """docs/rules.md 10: 65 sets, 264 runs by length, 329 melds."""
    sets = [c for n in (3, 4) for c in combinations(FACES, n) if is_set(c, "distinct")]
    assert Counter(map(len, sets)) == {3: 52, 4: 13}
    # A run has one suit, so trying all choices of ranks of each suit tries all that can be runs.
    suits = [[face for face in FACES if face[1] == suit] for suit in "CDHS"]
    choices = [c for suit in suits for n in range(1, 14) for c in combinations(suit, n)]
    low = Counter(len(c) for c in choices if is_run(c, "low"))
    assert [low[n] for n in range(3, 14)] == [44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4]
    assert low.total() == 264
    assert 65 + sum(low[n] for n in (3, 4, 5)) == 185
    high = [c for c in choices if is_run(c, "high_or_low")]
    assert len(high) == 304
    # As sequences 308: the 13 cards of a suit may be written from the ace or to the ace.
    assert len(high) + sum(1 for c in high if len(c) == 13) == 308
    # No mixture of ranks and suits is a meld.
    rules = make_rules("basic")
    assert sum(1 for c in combinations(FACES, 3) if is_meld(c, rules)) == 52 + 44


def test_counts_of_two_packs() -> None:
    """docs/rules.md 10: as faces, 65 sets if distinct, 455 if any."""
    rules = {"distinct": 0, "any": 0}
    for rank in "A23456789TJQK":
        faces = [rank + suit for suit in "CDHS"]
        for size in range(1, 6):
            for chosen in combinations_with_replacement(faces, size):
                if max(Counter(chosen).values()) <= 2:
                    for suits in rules:
                        rules[suits] += is_set(chosen, suits)
    assert rules == {"distinct": 65, "any": 455}


def test_the_list_of_melds_is_all_of_them() -> None:
    for ace, suits, number in (
        ("low", "distinct", 65 + 264),
        ("high_or_low", "distinct", 65 + 304),
        # With wilds a face may repeat: 13 · (20 + 35) sets.
        ("low", "any", 715 + 264),
        ("high_or_low", "any", 715 + 304),
    ):
        melds = all_melds(ace, suits)
        assert len(melds) == len(set(map(frozenset, map(Counter, melds)))) or suits == "any"
        assert len(melds) == number
    twice = [m for m in all_melds("low", "any") if max(Counter(m).values()) <= 2]
    assert len(twice) == 455 + 264


@pytest.mark.parametrize(
    ("preset", "counts"),
    [("basic", [95, 92, 71, 65, 47]), ("traditional", [63, 61, 47])],
)
def test_stock_only_play_lasts(preset: str, counts: list[int]) -> None:
    """docs/rules.md 10: stock-only play without melds, by playing it."""
    for seats, turns in enumerate(counts, start=2):
        game = deal_cards(make_rules(preset), seats, deal_seed(ZERO, seats))
        while game.phase != "over":
            card = game.stock[0]
            game.do(game.turn, "draw stock")
            game.do(game.turn, f"discard {card}")
        assert game.deal_result is not None
        assert (game.deal_result.ended, game.turns) == ("exhausted", turns)


def test_the_published_shuffle() -> None:
    """docs/rules.md 11: the test value, and the derived values by their definitions."""
    cards = shuffled(deck(1, 0), ZERO, "deal")
    assert " ".join(cards[:12]) == "TD 6H 5H 5D 2S TH KC 7H 6D AS 9S 7C"
    assert " ".join(cards[-4:]) == "5C 9C 2C AC"
    assert Counter(cards) == Counter(FACES)
    # SHA-256 of 32 zero bytes, `rummy-deal` and the number 1; and of 64 zero bytes.
    seed = "1cdf6f655861b444da4307f9f4f48d82307e7011955b54c52dffff39dee58142"
    assert deal_seed(ZERO, 1).hex() == seed
    zeros = "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"
    assert commitment(ZERO, ZERO).hex() == zeros


def test_elimination_uses_the_row_of_fewer_seats() -> None:
    """docs/rules.md 9: two of six seats left under standard play one pack and 10 cards each."""
    game = deal_cards(make_rules("standard"), 6, ZERO, dealer=5, out=((1,), (2, 4), (0,)))
    assert [hand.total() for hand in game.hands] == [0, 0, 0, 10, 0, 10]
    assert len(game.stock) == 52 - 20 - 1
    assert game.turn == 3


RANDOM_RULES: list[tuple[str, dict[str, object], int]] = [
    ("basic", {}, 2),
    ("basic", {}, 6),
    ("standard", {}, 3),
    ("standard", {"recycle_trigger": "on_stock_draw"}, 5),
    ("standard-wta", {"packs": {"2": 2}, "hand_size": {"2": 3}}, 2),
    ("traditional", {"ace": "high_or_low", "ace_points": 15}, 4),
    ("classic", {"go_out": "must_discard", "layoff_gate": "own_meld_first"}, 3),
    ("classic", {"max_melds_per_turn": 1, "packs": {"3": 2}, "go_out": "must_discard"}, 3),
    ("classic", {"jokers": 2, "wilds": "jokers", "wild_swap": True}, 3),
    ("standard", {"wilds": "deuces", "hand_size": {"3": 3}, "wild_swap": True}, 3),
    ("basic", {"jokers": 1, "wilds": "jokers_and_deuces", "hand_size": {"2": 5}}, 2),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", range(len(RANDOM_RULES)))
def test_random_play_keeps_the_invariants(number: int, seed: int) -> None:
    """docs/rules.md 8: 1 to 7, and 6 also for actions that are nearly legal."""
    preset, overrides, seats = RANDOM_RULES[number]
    rules = make_rules(preset, overrides)
    chance = random.Random(f"{number}/{seed}")
    game = deal_cards(rules, seats, deal_seed(ZERO, 100 * number + seed))
    everything = Counter(deck(rules.packs[seats], rules.jokers))
    for _ in range(400):
        _check_invariants(game, everything)
        legal = game.legal_actions()
        if game.phase == "over":
            break
        assert legal
        assert game.forced() in legal
        actions = {parse(text) for text in legal}
        assert len(actions) == len(legal)
        for text in _near_misses(game, chance):
            accepted = game.violation(game.turn, text) is None
            assert accepted == (parse(text) in actions), text
        plays = sorted(text for text in legal if not text.startswith("discard"))
        rest = sorted(legal)
        game.do(game.turn, chance.choice(plays if plays and chance.random() < 0.6 else rest))


def _check_invariants(game: Game, everything: Counter[str]) -> None:
    table = [own_face(card) for meld in game.table for card in meld]
    hands = chain.from_iterable(hand.elements() for hand in game.hands)
    assert Counter([*hands, *game.stock, *game.discard, *table]) == everything
    assert all(is_meld(meld, game.rules) for meld in game.table)
    allowed = game.rules.recycles_allowed
    assert allowed is None or game.recycles <= allowed
    if game.phase == "draw":
        assert all(hand.total() for hand in game.hands)
        seats = len(game.hands)
        dealt = seats * game.rules.hand_size[seats]
        assert len(game.stock) + len(game.discard) == everything.total() - dealt


def _near_misses(game: Game, chance: random.Random) -> list[str]:
    """Make random actions of cards in hand, most of them illegal."""
    hand = sorted(game.hands[game.turn].elements())
    made = ["draw stock", "draw discard", f"discard {chance.choice(hand)}"]
    for _ in range(12):
        cards = chance.sample(hand, min(len(hand), chance.randint(1, 5)))
        named = [_with_meaning(card, chance) for card in cards]
        target = chance.randint(0, len(game.table) + 1)
        made.append(f"meld {' '.join(named)}")
        made.append(f"lay {' '.join(named)} on {target}")
        made.append(f"lay {named[0]} on {target}")
        made.append(f"swap {cards[0]} on {target}")
    return made


def _with_meaning(card: str, chance: random.Random) -> str:
    if card == "XX" or (card[0] == "2" and chance.random() < 0.4):
        return f"{card}={chance.choice(FACES)}"
    return card
