"""Makes the decision vectors: `python -m tests.languages.make_vectors [--check]`.

Matches of greedy bots are played by the engine, in most of them with seats that wander off the
strategy, so that strange positions come up too. Of the decisions, a few of each kind are kept for
each set of rules. The same engine makes the same file every time.
"""

import json
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any, Final

from referee.engine.game import RummyGame
from referee.engine.presets import PRESETS, make_ruleset
from referee.engine.ruleset import RuleSet
from referee.match.clock import SeatClock
from referee.match.policy import Policy
from referee.match.seat_player import Decision as EngineDecision
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.codec import decode_action
from referee.service.messages import MatchMessages
from referee.service.rules_message import rules_message
from rummy.referee.v1.play_pb2 import Decision, PlayResponse
from rummy.referee.v1.rummy_pb2 import (
    ACE_HIGH_OR_LOW,
    ACTION_TYPE_DISCARD,
    ACTION_TYPE_DRAW_DISCARD,
    ACTION_TYPE_LAY_OFF,
    ACTION_TYPE_MELD,
    LAYOFF_GATE_OWN_MELD_FIRST,
    PHASE_DRAW,
    Action,
)
from rummy.referee.v1.rummy_pb2 import RuleSet as RulesMessage
from sample_bots.cards import ACE, KING, fits, has_wilds, is_wild, melds_within, rank
from tests.languages.vectors import VECTORS, answer_entry, card_name, greedy_answer

_ABOUT: Final = (
    "Decisions out of real play and what the greedy strategy answers to each. `rules` and "
    "`decision` are messages of rummy.proto and play.proto (RuleSet, Decision), serialised and "
    "written in base64. An answer is an index into the legal actions, or a plan of actions in "
    "this order; the cards within an action may come in any order. Written by "
    "tests/languages/make_vectors.py."
)
_MANY_CARDS: Final = {"packs": {"2": 2}, "hand_size": {"2": 13}}
_HOUSE_RULES: Final[Sequence[tuple[str, int, dict[str, object]]]] = (
    ("basic", 2, {"ace": "high_or_low", "ace_points": 15}),
    ("basic", 3, {"ace": "high_or_low", "set_suits": "any"}),
    ("basic", 2, {"layoff_gate": "own_meld_first", "max_melds_per_turn": 1, **_MANY_CARDS}),
    ("basic", 4, {"layoff_gate": "own_meld_first", "go_out": "must_discard"}),
    ("basic", 5, {"packs": {"5": 2}}),
    ("classic", 2, {"max_melds_per_turn": 1, "go_out": "must_discard", **_MANY_CARDS}),
    ("classic", 3, {"same_card_discard": "unless_last", "packs": {"3": 2}, "set_suits": "any"}),
    ("basic", 2, {"wilds": "jokers", "jokers": 2, "wild_swap": True}),
    ("standard", 3, {"wilds": "deuces", "ace": "high_or_low", "ace_points": 15}),
    ("basic", 4, {"wilds": "jokers_and_deuces", "jokers": 4, "layoff_gate": "own_meld_first"}),
    # So many wild cards that lists of legal actions are cut.
    ("standard", 2, {"wilds": "jokers_and_deuces", "jokers": 4, **_MANY_CARDS}),
)
_MATCHES: Final = 8
"""Matches played for each set of rules; how often seats wander grows from one to the next."""
_DECISIONS: Final = 220
"""Decisions after which a match is left."""
_KEPT: Final = 2
"""Decisions kept of each kind for each set of rules."""
_MOST_LEGAL: Final = 120
"""Of decisions with more legal actions than this, which take much room, one is kept of a kind."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """A decision of a match, and what the strategy answers to it."""

    decision: Decision
    answer: Sequence[Action] | int

    @property
    def actions(self) -> Sequence[Action]:
        """The answer as actions."""
        if isinstance(self.answer, int):
            return [self.decision.legal_actions[self.answer]]
        return self.answer


def make() -> dict[str, Any]:
    """The whole content of the file."""
    tables = [
        *(
            (make_ruleset(preset), seats)
            for preset, rules in PRESETS.items()
            for seats in range(rules.seats_min, rules.seats_max + 1)
        ),
        *((make_ruleset(preset, more), seats) for preset, seats, more in _HOUSE_RULES),
    ]
    rules_entries = []
    decisions = []
    for number, (rules, seats) in enumerate(tables):
        message = rules_message(rules)
        rules_entries.append(
            {"preset": rules.preset, "seats": seats, "rules": _base64(message.SerializeToString())}
        )
        decisions += [
            {
                "rules": number,
                "decision": _base64(moment.decision.SerializeToString(deterministic=True)),
                "about": _about(moment),
                "answer": answer_entry(moment.answer),
            }
            for moment in _chosen(rules, message, seats)
        ]
    return {"about": _ABOUT, "rules": rules_entries, "decisions": decisions}


def _chosen(rules: RuleSet, message: RulesMessage, seats: int) -> Iterator[_Moment]:
    """Yield some moments of each kind."""
    seen: Counter[tuple[object, ...]] = Counter()
    for number in range(_MATCHES):
        for moment in _played(rules, message, seats, number):
            kind = _kind(moment, message)
            seen[kind] += 1
            is_large = len(moment.decision.legal_actions) > _MOST_LEGAL
            if seen[kind] <= (1 if is_large else _KEPT):
                yield moment


def _played(rules: RuleSet, message: RulesMessage, seats: int, number: int) -> Iterator[_Moment]:
    """Play a match and yield its decisions."""
    label = f"{sorted(rules.to_dict().items())} {seats} {number}"
    chance = Random(label)
    wandering = 0.12 * number
    secret = sha256(label.encode()).digest()
    game = RummyGame(rules, seats, secret)
    spec = MatchSpec(
        match_id="m",
        rules=rules,
        seats=tuple(SeatSpec("greedy", "1", bytes(32)) for _ in range(seats)),
        secret=secret,
        salt=bytes(32),
        time_control=TimeControl(),
    )
    messages = MatchMessages(spec, Policy())
    clock = SeatClock(spec.time_control)
    for count in range(1, _DECISIONS + 1):
        if game.to_act is None:
            if game.standing().next_dealer is None:
                return
            game.next_deal()
            continue
        legal, is_complete = game.some_legal_actions(Policy().most_wild_actions)
        told = EngineDecision(count, game.observe(game.to_act), legal, is_complete, clock)
        update = PlayResponse.FromString(messages.update(game.to_act, 1, [], told)).update
        moment = _Moment(update.decision, greedy_answer(message, update.decision))
        yield moment
        if chance.random() < wandering:
            game.apply(legal[chance.randrange(len(legal))])
            continue
        # A seat that wanders also stops in the middle of its plans.
        stop = chance.randint(1, 3) if chance.random() < wandering else len(moment.actions)
        for action in moment.actions[:stop]:
            game.apply(decode_action(action))


def _kind(moment: _Moment, rules: RulesMessage) -> tuple[object, ...]:
    """What is special about a decision and its answer: some of each kind are kept."""
    seen, actions = moment.decision.observation, moment.actions
    if seen.phase == PHASE_DRAW:
        if not seen.discard_pile:
            return ("draw", "no upcard")
        upcard = seen.discard_pile[-1]
        melds = melds_within([*seen.hand, upcard], rules)
        return (
            "draw",
            actions[0].type == ACTION_TYPE_DRAW_DISCARD,
            is_wild(upcard, rules),
            any(upcard in meld for meld in melds),
            any(fits(upcard, meld.cards, rules) for meld in seen.table if not meld.meanings),
            any(meld.meanings for meld in seen.table),
            rank(upcard) == ACE,
        )
    types = Counter(action.type for action in actions)
    used = [card for action in actions for card in action.cards]
    common = (
        tuple(min(types[kind], 2) for kind in (ACTION_TYPE_MELD, ACTION_TYPE_LAY_OFF)),
        types[ACTION_TYPE_DISCARD],
        seen.taken > 0,
        seen.taken in used,
        seen.melds_this_turn > 0,
    )
    if has_wilds(rules):
        uses_wild = any(is_wild(card, rules) for card in used)
        return ("wild", *common, uses_wild, moment.decision.legal_actions_cut)
    ids = {meld.meld_id for meld in seen.table}
    return (
        "play",
        *common,
        any(action.meld_id and action.meld_id not in ids for action in actions),
        rules.ace == ACE_HIGH_OR_LOW and any(_is_ace_high(action) for action in actions),
        len(set(seen.hand)) < len(seen.hand),
        any(len(set(action.cards)) < len(action.cards) for action in actions),
        # The last card may be the one taken; a limit may keep further melds in the hand.
        seen.taken > 0 and used[-1] == seen.taken,
        rules.HasField("max_melds_per_turn") and bool(melds_within(seen.hand, rules)),
        rules.layoff_gate == LAYOFF_GATE_OWN_MELD_FIRST
        and any(fits(card, meld.cards, rules) for card in seen.hand for meld in seen.table),
    )


def _is_ace_high(action: Action) -> bool:
    ranks = sorted(rank(card) for card in action.cards)
    is_run = action.type == ACTION_TYPE_MELD and len(set(ranks)) == len(ranks)
    return is_run and ranks[0] == ACE and ranks[-1] == KING


def _about(moment: _Moment) -> str:
    seen = moment.decision.observation
    parts = ["draw" if seen.phase == PHASE_DRAW else "play"]
    parts.append("hand " + " ".join(card_name(card) for card in seen.hand))
    if seen.discard_pile:
        parts.append(f"upcard {card_name(seen.discard_pile[-1])}")
    if seen.taken:
        parts.append(f"taken {card_name(seen.taken)}")
    if seen.melds_this_turn:
        parts.append(f"melds this turn {seen.melds_this_turn}")
    if seen.table:
        parts.append(
            "table "
            + ", ".join(" ".join(card_name(card) for card in meld.cards) for meld in seen.table)
        )
    return "; ".join(parts)


def _base64(content: bytes) -> str:
    return b64encode(content).decode("ascii")


def text_of(vectors: dict[str, Any]) -> str:
    """The file's text: one entry a line, so that differences can be read."""
    lists = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(entry) for entry in vectors[name]) + "\n]"
        for name in ("rules", "decisions")
    )
    return f'{{\n"about": {json.dumps(vectors["about"])},\n{lists}\n}}\n'


def main(arguments: Sequence[str]) -> int:
    """Write the file, or with --check only tell whether it is as it should be."""
    text = text_of(make())
    if "--check" in arguments:
        same = VECTORS.exists() and VECTORS.read_text(encoding="utf-8") == text
        if not same:
            sys.stderr.write(f"{VECTORS} is not what this program makes: run it without --check\n")
        return 0 if same else 1
    VECTORS.parent.mkdir(exist_ok=True)
    VECTORS.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
