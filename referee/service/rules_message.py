"""The message RuleSet of rules."""

from collections.abc import Mapping
from typing import Final

from referee.engine.rule_fields import BY_SEATS, FIELDS
from referee.engine.ruleset import RuleSet
from rummy.referee.v1 import rummy_pb2 as pb

_ENUMS: Final[Mapping[str, str]] = {
    "wilds": "WILDS",
    "ace": "ACE",
    "set_suits": "SET_SUITS",
    "same_card_discard": "SAME_CARD_DISCARD",
    "layoff_gate": "LAYOFF_GATE",
    "go_out": "GO_OUT",
    "recycle": "RECYCLE",
    "recycle_trigger": "RECYCLE_TRIGGER",
    "exhausted_result": "DEAL_RESULT",
    "cap_result": "DEAL_RESULT",
    "scoring": "SCORING",
    "match_end": "MATCH_END",
}


def rules_message(rules: RuleSet) -> pb.RuleSet:
    """Every field under its own name; enum values are the field's values in capitals."""
    message = pb.RuleSet(preset=rules.preset)
    for name in FIELDS:
        value = getattr(rules, name)
        if name in BY_SEATS:
            getattr(message, name).update(
                {seats: entry for seats, entry in enumerate(value) if entry}
            )
        elif name in _ENUMS:
            setattr(message, name, getattr(pb, f"{_ENUMS[name]}_{value.upper()}"))
        elif value is not None:
            setattr(message, name, value)
    return message
