"""The decision vectors: real decisions, and what the greedy strategy answers to each.

`sample_bots/vectors/greedy.json` is read by the unit tests of every language's greedy bot.
"""

import json
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rummy.referee.v1.play_pb2 import Decision, MatchStarting
from rummy.referee.v1.rummy_pb2 import Action, ActionType, Card, RuleSet
from sample_bots.greedy.bot import GreedyBot

VECTORS = Path(__file__).resolve().parents[2] / "sample_bots" / "vectors" / "greedy.json"


def read_vectors() -> dict[str, Any]:
    """The file as it is."""
    vectors: dict[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))
    return vectors


def rules_of(entry: dict[str, Any]) -> RuleSet:
    """The rules of an entry of `rules`."""
    return RuleSet.FromString(b64decode(entry["rules"]))


def decision_of(entry: dict[str, Any]) -> Decision:
    """The decision of an entry of `decisions`."""
    return Decision.FromString(b64decode(entry["decision"]))


def greedy_answer(rules: RuleSet, decision: Decision) -> Sequence[Action] | int:
    """What the Python bot chooses."""
    return GreedyBot(MatchStarting(rules=rules)).choose(decision)


def answer_entry(answer: Sequence[Action] | int) -> dict[str, Any]:
    """An answer as the file has it; the cards of an action upwards by number."""
    if isinstance(answer, int):
        return {"index": answer}
    return {"actions": [_action_entry(action) for action in answer]}


def _action_entry(action: Action) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": ActionType.Name(action.type).removeprefix("ACTION_TYPE_"),
        "cards": [card_name(card) for card in sorted(action.cards)],
    }
    if action.meld_id:
        entry["meld_id"] = action.meld_id
    return entry


def card_name(card: Card.ValueType) -> str:
    """A card as documents write it, `7H`."""
    return Card.Name(card).removeprefix("CARD_")
