"""For every reason of rejection a choice that provokes it, and the position that it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from referee.engine.cards import multiset, parse_card
from referee.engine.state import State, TableMeld
from rummy.referee.v1 import rummy_pb2 as pb

DRAW_STOCK = pb.Action(type=pb.ACTION_TYPE_DRAW_STOCK)
DRAW_DISCARD = pb.Action(type=pb.ACTION_TYPE_DRAW_DISCARD)


def cards(text: str) -> list[int]:
    """Cards of the engine."""
    found = []
    for word in text.split():
        card = parse_card(word)
        assert card is not None, text
        found.append(card)
    return found


def action(kind: str, text: str, meld_id: int = 0, meanings: str = "") -> pb.Action:
    """An action on the wire. `meanings` has `-` for none."""
    stands_for = [0 if word == "-" else cards(word)[0] + 1 for word in meanings.split()]
    return pb.Action(
        type=pb.ActionType.Value(f"ACTION_TYPE_{kind}"),
        cards=[pb.Card.ValueType(card + 1) for card in cards(text)],
        meanings=[pb.Card.ValueType(card) for card in stands_for],
        meld_id=meld_id,
    )


def discard(text: str) -> pb.Action:
    """A discard."""
    return action("DISCARD", text)


SEVENS = action("MELD", "7C 7D 7H")


@dataclass(frozen=True)
class Provocation:
    """A plan that is refused, and where. The hand is that before the draw."""

    plan: tuple[pb.Action, ...]
    applied: int = 0
    hand: str = "7C 7D 7H KC"
    stock: str | None = "2S"
    """The card on top; None: the stock is empty."""
    upcard: str | None = "9H"
    table: str = ""
    """A meld on the table."""
    rules: Mapping[str, object] = field(default_factory=dict)

    def rig(self, state: State) -> None:
        """Put the position up for the seat to act."""
        state.hands[state.turn] = multiset(cards(self.hand))
        if self.stock is None:
            state.stock.clear()
        else:
            state.stock[-1] = cards(self.stock)[0]
        if self.upcard is None:
            state.discards.clear()
        else:
            state.discards[-1] = cards(self.upcard)[0]
        if self.table:
            shape = state.tables.shapes[multiset(cards(self.table))]
            state.table.append(TableMeld(1, shape))


PROVOCATIONS: dict[str, Provocation] = {
    "MALFORMED": Provocation((pb.Action(type=pb.ActionType.ValueType(99)),)),
    "WRONG_PHASE": Provocation((discard("KC"),)),
    "CARD_NOT_IN_HAND": Provocation((DRAW_STOCK, discard("KS")), 1),
    "STOCK_EMPTY": Provocation((DRAW_STOCK,), stock=None),
    "NO_UPCARD": Provocation((DRAW_DISCARD,), upcard=None),
    "NO_SUCH_MELD": Provocation((DRAW_STOCK, action("LAY_OFF", "KC", 1)), 1),
    "MELD_LIMIT": Provocation(
        (DRAW_STOCK, SEVENS, action("MELD", "KC KD KH")),
        2,
        hand="7C 7D 7H KC KD KH 3S",
        rules={"max_melds_per_turn": 1},
    ),
    "LAYOFF_GATE": Provocation(
        (DRAW_STOCK, action("LAY_OFF", "7S", 1)),
        1,
        hand="7S KC",
        table="7C 7D 7H",
        rules={"layoff_gate": "own_meld_first"},
    ),
    "BAD_WILD": Provocation((DRAW_STOCK, action("MELD", "7C 7D 7H", 0, "7S - -")), 1),
    "NOT_A_MELD": Provocation((DRAW_STOCK, action("MELD", "7C 7D KC")), 1),
    "DOES_NOT_FIT": Provocation(
        (DRAW_STOCK, action("LAY_OFF", "KC", 1)), 1, hand="7S KC", table="7C 7D 7H"
    ),
    "SAME_CARD": Provocation((DRAW_DISCARD, discard("9H")), 1),
    "MUST_DISCARD": Provocation(
        (DRAW_STOCK, action("MELD", "7C 7D 7H 7S")),
        1,
        hand="7C 7D 7H",
        stock="7S",
        rules={"go_out": "must_discard"},
    ),
    "STRANDS_TURN": Provocation(
        (DRAW_DISCARD, SEVENS), 1, hand="7C 7D 7H", rules={"same_card_discard": "forbidden"}
    ),
    "PLAN_TOO_LONG": Provocation((DRAW_STOCK,) * 33),
}
"""Those of a plan that leave the turn open. What else there is has no need of a position."""
