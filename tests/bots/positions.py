"""Hand-made positions as a bot would receive them. Cards are written as in documents: `7H TC`."""

from collections.abc import Sequence

from rummy.referee.v1.play_pb2 import Decision, MatchStarting
from rummy.referee.v1.rummy_pb2 import (
    ACE_LOW,
    ACTION_TYPE_DRAW_DISCARD,
    ACTION_TYPE_DRAW_STOCK,
    GO_OUT_ANY,
    LAYOFF_GATE_NONE,
    PHASE_DRAW,
    PHASE_PLAY,
    SAME_CARD_DISCARD_UNLESS_LAST,
    SET_SUITS_DISTINCT,
    WILDS_NONE,
    Action,
    Card,
    Meld,
    Observation,
    RuleSet,
)


def cards(text: str) -> list[Card.ValueType]:
    """Return the cards of a text."""
    return [Card.Value(f"CARD_{name}") for name in text.split()]


def text_of(action: Action) -> str:
    """Return an action as a test writes it: `meld 7C 7D 7H`, `lay 8C on 1`, `discard KC`."""
    verbs = {1: "draw stock", 2: "draw discard", 3: "meld", 4: "lay", 5: "swap", 6: "discard"}
    names = [Card.Name(card).removeprefix("CARD_") for card in sorted(action.cards)]
    target = [f"on {action.meld_id}"] if action.meld_id else []
    return " ".join([verbs[action.type], *names, *target])


def basic_rules() -> RuleSet:
    """Return what a bot looks at of the preset `basic`."""
    return RuleSet(
        packs=dict.fromkeys(range(2, 7), 1),
        wilds=WILDS_NONE,
        ace=ACE_LOW,
        ace_points=1,
        set_suits=SET_SUITS_DISTINCT,
        same_card_discard=SAME_CARD_DISCARD_UNLESS_LAST,
        layoff_gate=LAYOFF_GATE_NONE,
        go_out=GO_OUT_ANY,
        rummy_multiplier=2,
    )


def starting(rules: RuleSet | None = None, randomness: bytes = b"") -> MatchStarting:
    """Return the start of a match of two seats, for seat 0."""
    return MatchStarting(match_id="m", seats=2, rules=rules or basic_rules(), randomness=randomness)


def observed(
    hand: str,
    *,
    pile: str = "2C",
    table: Sequence[str] = (),
    taken: str = "",
    others: int = 10,
    **more: object,
) -> Observation:
    """Return what seat 0 of two sees."""
    held = cards(hand)
    seen = Observation(
        hand=sorted(held),
        hand_counts=[len(held), others],
        stock_count=20,
        discard_pile=cards(pile),
        table=[
            Meld(meld_id=number, cards=cards(meld)) for number, meld in enumerate(table, start=1)
        ],
        played=[False, False],
    )
    if taken:
        (seen.taken,) = cards(taken)
    for name, value in more.items():
        setattr(seen, name, value)
    return seen


def draw_decision(seen: Observation) -> Decision:
    """Return the decision at the draw: stock or upcard."""
    seen.phase = PHASE_DRAW
    types = [ACTION_TYPE_DRAW_STOCK] if seen.stock_count else []
    if seen.discard_pile:
        types.append(ACTION_TYPE_DRAW_DISCARD)
    return Decision(observation=seen, legal_actions=[Action(type=kind) for kind in types])


def play_decision(seen: Observation, legal: Sequence[Action] = ()) -> Decision:
    """Return the decision after the draw."""
    seen.phase = PHASE_PLAY
    return Decision(observation=seen, legal_actions=legal)
