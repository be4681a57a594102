"""Actions as text and one turn after the draw, for the brute-force reference.

Whether a turn can still be finished is found by plain recursive search (docs/rules.md 4). It
imports the standard library and its sister modules only and never the engine.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.engine.reference_cards import JOKER, RANKS, SUITS, has_meaning, meaning, own_face
from tests.engine.reference_melds import Meld, is_meld, layoffs, new_melds, ordered, swapped
from tests.engine.reference_rules import Rules

_FACE = f"[{RANKS}][{SUITS}]"
_PLACED = f"(?:{_FACE}|{JOKER})(?:={_FACE})?"
_FORMS = (
    re.compile(r"(?P<verb>draw stock|draw discard)"),
    re.compile(rf"(?P<verb>meld)(?P<cards>(?: {_PLACED})+)"),
    re.compile(rf"(?P<verb>lay)(?P<cards>(?: {_PLACED})+) on (?P<meld>0|[1-9][0-9]*)"),
    re.compile(rf"(?P<verb>swap)(?P<cards> (?:{_FACE}|{JOKER})) on (?P<meld>0|[1-9][0-9]*)"),
    re.compile(rf"(?P<verb>discard)(?P<cards> (?:{_FACE}|{JOKER}))"),
)


class RejectedError(Exception):
    """An action that the rules refuse; `reason` is one of docs/vectors.md."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text!r} is rejected: {reason}")
        self.reason = reason


@dataclass(frozen=True)
class Action:
    """One action; equal when verb, multiset of cards and meld number agree (docs/vectors.md)."""

    verb: str
    cards: Meld = ()
    meld: int = 0


def parse(text: str) -> Action | None:
    """Read an action text; None if it is malformed (docs/vectors.md, Actions as text)."""
    for form in _FORMS:
        match = form.fullmatch(text)
        if match:
            parts = match.groupdict()
            digits = parts.get("meld") or "0"
            number = int(digits) if len(digits) < 10 else 10**9
            cards = tuple(sorted((parts.get("cards") or "").split()))
            return Action(parts["verb"], cards, number)
    return None


@dataclass(frozen=True)
class Spot:
    """All that matters inside a turn after the draw: what a search for its end needs."""

    hand: Meld
    table: tuple[Meld, ...]
    taken: str | None
    opened: bool
    melds_made: int

    def after(self, action: Action, rules: Rules) -> "Spot":
        """Return the spot after a meld, layoff or swap that fits (docs/rules.md 4, Play)."""
        hand = Counter(self.hand)
        hand.subtract(own_face(card) for card in action.cards)
        table = list(self.table)
        opened, made = self.opened, self.melds_made
        if action.verb == "meld":
            table.append(ordered(action.cards, action.cards))
            opened, made = True, made + 1
        else:
            at = action.meld - 1
            if action.verb == "lay":
                whole = (*table[at], *action.cards)
                assert is_meld(whole, rules)
                table[at] = ordered(whole, whole)
            else:
                found = swapped(table[at], action.cards[0])
                assert found is not None
                table[at], wild = found
                hand[wild] += 1
        left = tuple(sorted(hand.elements()))
        return Spot(left, tuple(table), self.taken, opened, made)

    def may_discard(self, face: str, rules: Rules) -> bool:
        """Tell whether a card of the hand may be discarded (docs/rules.md 4, Same-card rule)."""
        if face != self.taken:
            return True
        return rules.same_card_discard == "unless_last" and len(self.hand) == 1

    def plays(self, rules: Rules) -> Iterator[Action]:
        """Yield every meld, layoff and swap that fits, stranding aside (docs/rules.md 4, Play)."""
        hand = Counter(self.hand)
        if rules.max_melds_per_turn is None or self.melds_made < rules.max_melds_per_turn:
            for cards in new_melds(hand, rules):
                yield Action("meld", tuple(sorted(cards)))
        if rules.layoff_gate == "own_meld_first" and not self.opened:
            return
        for number, meld in enumerate(self.table, start=1):
            for cards in layoffs(hand, meld, rules):
                yield Action("lay", tuple(sorted(cards)), number)
            if rules.wild_swap:
                for face in sorted({meaning(card) for card in meld if has_meaning(card)}):
                    if hand[face] > 0:
                        yield Action("swap", (face,), number)

    def can_finish(self, rules: Rules) -> bool:
        """Tell by search whether the turn can be finished (docs/rules.md 4, Stranding)."""
        if any(self.may_discard(face, rules) for face in self.hand):
            return True
        return any(self.goes_on(action, rules) for action in self.plays(rules))

    def goes_on(self, action: Action, rules: Rules) -> bool:
        """Tell whether a fitting play ends the deal or lets the turn be finished."""
        spot = self.after(action, rules)
        if not spot.hand:
            return rules.go_out == "any"
        return spot.can_finish(rules)
