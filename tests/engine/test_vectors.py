"""Every conformance vector through the engine; wrong vectors fail with a text and never crash."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from referee.engine.vectors import run_vector, vector_name
from tests.scale import ALL_CASES, cases, repeat

VECTORS = Path(__file__).parent.parent / "vectors"


def _load() -> list[tuple[str, Any]]:
    found = []
    for path in sorted(VECTORS.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        vectors = content if isinstance(content, list) else [content]
        found += [(f"{path.stem}: {vector['name']}", vector) for vector in vectors]
    return found


ALL = _load()
GOOD: dict[str, Any] = {
    "name": "good",
    "rules": {"preset": "traditional"},
    "seats": 2,
    "dealer": 1,
    "position": {"hands": ["8C KC", "2S 3S"], "stock": "7H TD", "discard": "5C"},
    "steps": [
        {"legal": ["draw stock", "draw discard"]},
        {"do": "draw stock"},
        {"try": "discard QH", "rejected": "card_not_in_hand"},
        {"forced": "discard KC"},
        {"do": "discard KC"},
        {"state": {"turn": 1, "phase": "draw"}},
    ],
    "deal": {"ended": "playing"},
}


@pytest.mark.parametrize("vector", [pytest.param(vector, id=name) for name, vector in ALL])
def test_vector(vector: dict[str, Any]) -> None:
    assert run_vector(vector) is None


def test_there_are_hundreds_of_vectors() -> None:
    assert len(ALL) >= 350


def test_the_name_is_read_even_from_what_is_no_vector() -> None:
    assert vector_name(GOOD) == "good"
    others: tuple[object, ...] = (None, 5, [], {}, {"name": 7}, {"name": ""})
    for wrong in others:
        assert vector_name(wrong) == ""


@pytest.mark.parametrize("wrong", [None, 5, "x", [], {}, {"name": "x"}, {"steps": []}])
def test_what_is_no_vector_fails(wrong: object) -> None:
    assert run_vector(wrong)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": None}, "rules"),
        ({"rules": {"preset": "gin"}}, "basic, standard"),
        ({"rules": {"preset": "basic", "sets": {}}}, "sets"),
        ({"rules": {"preset": ["basic"]}}, "preset"),
        ({"rules_error": "target"}, "target"),
        ({"rules": {"preset": "gin"}, "rules_error": "target"}, "it names preset"),
        ({"seats": 7}, "7"),
        ({"seats": 5}, "2–4"),
        ({"seats": True}, "True"),
        ({"dealer": 2}, "dealer"),
        ({"position": 5}, "position"),
        ({"from": {"seed": "00" * 32}}, "either a position or from"),
        ({"steps": "draw stock"}, "steps"),
        ({"steps": ["draw stock"]}, "step 1"),
        ({"steps": [{}]}, "step 1"),
        ({"steps": [{"seat": 0, "play": "draw stock"}]}, "play"),
        ({"steps": [{"do": "discard KC"}]}, "wrong_phase"),
        ({"steps": [{"do": 5}]}, "malformed"),
        ({"steps": [{"seat": 9, "do": "draw stock"}]}, "seat is 9"),
        ({"steps": [{"try": "draw stock", "rejected": "stock_empty"}]}, "accepted"),
        ({"steps": [{"try": "discard KC", "rejected": "no_reason"}]}, "no_reason"),
        ({"steps": [{"try": "discard KC"}]}, "rejected"),
        ({"steps": [{"legal": ["draw stock"]}]}, "draw discard"),
        ({"steps": [{"legal": ["draw stock", "discard KC"]}]}, "discard KC"),
        ({"steps": [{"legal": "draw stock"}]}, "list"),
        ({"steps": [{"legal_has": ["pass"]}]}, "pass"),
        ({"steps": [{"legal_lacks": ["draw stock"]}]}, "draw stock"),
        ({"steps": [{"forced": "draw discard"}]}, "draw stock"),
        ({"steps": [{"forced": None}]}, "draw stock"),
        ({"steps": [{"state": {"recycles": 1}}]}, "recycles"),
        ({"steps": [{"state": {"cards": 1}}]}, "cards"),
        ({"steps": [{"state": []}]}, "state"),
        ({"deal": {"ended": "went_out"}}, "playing"),
        ({"deal": {"length": 3}}, "length"),
        ({"deal": 3}, "deal"),
        ({"match": {"over": True}}, "match.over"),
        ({"match": {"winner": 1}}, "winner"),
    ],
)
def test_a_wrong_vector_says_what_is_wrong(change: dict[str, Any], said: str) -> None:
    assert run_vector(GOOD) is None
    text = run_vector({**GOOD, **change})
    assert text is not None
    assert said in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hands": ["8C KC"]}, "hands"),
        ({"hands": ["8C KC", ""]}, "seat 1"),
        ({"hands": ["8C KC", "8C 2S"]}, "8C is named 2 times"),
        ({"hands": ["8C KC", "XX 2S"]}, "XX is named 1 times"),
        ({"hands": ["8C KC", "10S 2S"]}, "'10S' is no card"),
        ({"hands": ["8C KC", "8D=2S"]}, "meaning"),
        ({"hands": ["8C KC", 7]}, "7"),
        ({"table": ["3D 4D 6D"]}, "not valid"),
        ({"table": ["3D XX 5D"]}, "not valid"),
        ({"table": ["3D 2H=4D 5D"]}, "not valid"),
        ({"table": "3D 4D 5D"}, "table"),
        ({"taken": "8C"}, "taken"),
        ({"phase": "play", "taken": "9C"}, "taken"),
        ({"phase": "over"}, "phase"),
        ({"turn": 5}, "turn"),
        ({"turn": "0"}, "turn"),
        ({"out": [0]}, "two seats"),
        ({"out": [4]}, "out"),
        ({"out": [[0, 0]]}, "out"),
        ({"out": 1}, "out"),
        ({"played": [1, 0]}, "played"),
        ({"totals": [-1, 0]}, "totals"),
        ({"deal": 201}, "deal"),
        ({"recycles": -1}, "recycles"),
        ({"turns": 1.5}, "turns"),
        ({"deck": ""}, "deck"),
    ],
)
def test_a_wrong_position_says_what_is_wrong(change: dict[str, Any], said: str) -> None:
    text = run_vector({**GOOD, "position": {**GOOD["position"], **change}})
    assert text is not None
    assert said in text


def test_reshuffles_must_be_the_recycled_cards() -> None:
    position = {"hands": ["8C KC", "2S"], "stock": "", "discard": "3S 4S"}
    vector = {**GOOD, "position": position, "steps": [{"state": {"stock": "4S 3S"}}]}
    assert run_vector({**vector, "reshuffles": ["4S 3S"]}) is None
    for wrong in (["3S 5S"], ["3S"], ["3S 4S 4S"], "3S 4S", [["3S", "4S"]], [7]):
        text = run_vector({**vector, "reshuffles": wrong})
        assert text is not None
        assert "reshuffles" in text
    dealt = {key: GOOD[key] for key in ("rules", "seats", "deal")} | {"from": {"seed": "0" * 64}}
    assert run_vector(dealt) is None
    assert run_vector({**dealt, "reshuffles": []}) is not None
    for seed in ("0" * 63, "0" * 62, "x" * 64, None, 5):
        assert run_vector({**dealt, "from": {"seed": seed}}) is not None
    assert run_vector({**dealt, "from": "0" * 64}) is not None


_STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 99, 1.5, "", "x", "8C", "XX=4H", "8C 8C 8C 8C 8C", "meld 8C",
    "lay 8C on 99", [], [None], ["8C"], [[0]], [0, 1], {}, {"2": 1}, {"seed": "00"},
)  # fmt: skip


def _alter(chance: random.Random, vector: dict[str, Any]) -> dict[str, Any]:
    """The vector with one to three entries, at any depth, deleted or made strange."""
    altered = copy.deepcopy(vector)
    for _ in range(chance.randint(1, 3)):
        place: Any = altered
        while place:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = chance.choice(keys)
            if isinstance(place[key], dict | list) and chance.random() < 0.8:
                place = place[key]
                continue
            if chance.random() < 0.3:
                del place[key]
            else:
                place[key] = chance.choice(_STRANGE)
            break
    return altered


def test_altered_vectors_never_crash() -> None:
    failed = 0
    for case in cases(4000):
        seed = f"altered/{case}"
        chance = random.Random(seed)
        altered = _alter(chance, chance.choice(ALL)[1])
        test = repeat(__file__, "test_altered_vectors_never_crash", seed, case)
        try:
            text = run_vector(altered)
        except Exception as error:
            raise AssertionError(f"{error!r} from {json.dumps(altered)}; {test}") from error
        assert text is None or text, f"no text for {json.dumps(altered)}; {test}"
        failed += text is not None
    assert failed or not ALL_CASES
