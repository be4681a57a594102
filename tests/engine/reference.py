"""A brute-force implementation of docs/rules.md, written for clarity: the oracle of the engine.

Hands are multisets of text faces, every action is tried out, and whether a turn can still be
finished is found by plain recursive search. It imports the standard library and its sister
modules only and never the engine.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count

from tests.engine.reference_cards import (
    JOKER,
    RANKS,
    SUITS,
    deck,
    has_meaning,
    meaning,
    own_face,
    shuffled,
)
from tests.engine.reference_match import (
    DealResult,
    MatchResult,
    OutGroups,
    after_deal,
    card_points,
    hand_points,
    lowest_hand_points,
    won_points,
)
from tests.engine.reference_melds import Meld, is_meld, naturals, ordered, swapped
from tests.engine.reference_rules import Rules
from tests.engine.reference_turn import Action, RejectedError, Spot, parse

# Puts the recycled cards, oldest discard first, in their new order; the number is k of
# `recycle-k`.
Shuffler = Callable[[list[str], int], list[str]]


class Game:
    """One deal of a match; the arguments are those of a position (docs/vectors.md, Position).

    The turn start of docs/rules.md 4 is made at once when the phase is `draw`.
    """

    def __init__(
        self,
        rules: Rules,
        hands: Sequence[Sequence[str]],
        *,
        stock: Sequence[str] = (),
        discard: Sequence[str] = (),
        table: Sequence[Sequence[str]] = (),
        dealer: int = 0,
        deal: int = 1,
        out: OutGroups = (),
        turn: int | None = None,
        phase: str = "draw",
        played: Sequence[bool] | None = None,
        taken: str | None = None,
        recycles: int = 0,
        turns: int = 0,
        totals: Sequence[int] | None = None,
        shuffler: Shuffler | None = None,
    ) -> None:
        self.rules = rules
        self.seats = len(hands)
        self.hands = [Counter(hand) for hand in hands]
        self.stock = list(stock)
        self.discard = list(discard)
        self.table: list[Meld] = [ordered(meld, meld) for meld in table]
        self.dealer = dealer
        self.deal = deal
        self.out = out
        self.turn = self.left_of(dealer) if turn is None else turn
        self.phase = phase
        self.played = [False] * self.seats if played is None else list(played)
        self.taken = taken
        self.recycles = recycles
        self.turns = turns
        self.totals = [0] * self.seats if totals is None else list(totals)
        self.shuffler: Shuffler = shuffler or (lambda cards, _: cards)
        # What the seat on turn has done in this turn.
        self.melds_made = 0
        self.played_now = False
        self.deal_result: DealResult | None = None
        self.match_result: MatchResult | None = None
        if self.phase == "draw":
            self._start_turn()

    def seats_in(self) -> list[int]:
        """Return the seats that are not eliminated (docs/rules.md 1)."""
        gone = {seat for group in self.out for seat in group}
        return [seat for seat in range(self.seats) if seat not in gone]

    def left_of(self, seat: int) -> int:
        """Return the next seat still in (docs/rules.md 1)."""
        still_in = self.seats_in()
        return next(s % self.seats for s in count(seat + 1) if s % self.seats in still_in)

    def legal_actions(self) -> set[str]:
        """Return every legal action of the seat on turn as canonical text (docs/rules.md 8.6)."""
        if self.phase == "over":
            return set()
        if self.phase == "draw":
            draws = ("draw stock", "draw discard")
            return {text for text in draws if self.violation(self.turn, text) is None}
        spot = self._spot()
        texts = {
            self.text(action)
            for action in spot.plays(self.rules)
            if spot.goes_on(action, self.rules)
        }
        faces = set(spot.hand)
        return texts | {f"discard {f}" for f in faces if spot.may_discard(f, self.rules)}

    def text(self, action: Action) -> str:
        """Return the canonical text of an action of this position (docs/vectors.md, Actions)."""
        if action.verb.startswith("draw"):
            return action.verb
        whole = action.cards
        if action.verb == "lay":
            whole = (*self.table[action.meld - 1], *action.cards)
        cards = " ".join(ordered(action.cards, whole) if len(action.cards) > 1 else action.cards)
        target = f" on {action.meld}" if action.verb in ("lay", "swap") else ""
        return f"{action.verb} {cards}{target}"

    def violation(self, seat: int, text: str) -> str | None:
        """Return the first reason against an action, or None (docs/vectors.md, Reasons)."""
        action = parse(text)
        if action is None:
            return "malformed"
        if self.phase == "over":
            return "deal_over"
        if seat != self.turn:
            return "not_your_turn"
        draws = action.verb.startswith("draw")
        if draws != (self.phase == "draw"):
            return "wrong_phase"
        if draws:
            return self._draw_violation(action)
        if not Counter(own_face(card) for card in action.cards) <= self.hands[seat]:
            return "card_not_in_hand"
        if action.verb == "discard":
            fine = self._spot().may_discard(action.cards[0], self.rules)
            return None if fine else "same_card"
        return self._play_violation(action)

    def _draw_violation(self, action: Action) -> str | None:
        if action.verb == "draw stock":
            return None if self.stock or self._recycles_on_draw() else "stock_empty"
        if not self.discard:
            return "no_upcard"
        taken = self.discard[-1]
        hand = (*self.hands[self.turn].elements(), taken)
        spot = Spot(hand, tuple(self.table), taken, self.played[self.turn], 0)
        return None if spot.can_finish(self.rules) else "strands_turn"

    def _play_violation(self, action: Action) -> str | None:
        rules, spot, verb = self.rules, self._spot(), action.verb
        if verb in ("lay", "swap") and not 1 <= action.meld <= len(self.table):
            return "no_such_meld"
        limit = rules.max_melds_per_turn
        if verb == "meld" and limit is not None and self.melds_made >= limit:
            return "meld_limit"
        if verb != "meld" and rules.layoff_gate == "own_meld_first" and not spot.opened:
            return "layoff_gate"
        if self._bad_wild(action):
            return "bad_wild"
        if verb == "meld" and not is_meld(action.cards, rules):
            return "not_a_meld"
        if verb == "lay":
            enlarged = (*self.table[action.meld - 1], *action.cards)
            if not is_meld(enlarged, rules):
                return "does_not_fit"
        if verb == "swap" and swapped(self.table[action.meld - 1], action.cards[0]) is None:
            return "does_not_fit"
        after = spot.after(action, rules)
        if not after.hand:
            return "must_discard" if rules.go_out == "must_discard" else None
        return None if after.can_finish(rules) else "strands_turn"

    def _bad_wild(self, action: Action) -> bool:
        if action.verb == "swap":
            return not self.rules.wild_swap
        for card in action.cards:
            if card == JOKER:
                return True
            if has_meaning(card) and own_face(card) not in self.rules.wild_faces():
                return True
            if has_meaning(card) and own_face(card) == meaning(card):
                return True
        holds_wild = any(has_meaning(card) for card in action.cards)
        return action.verb == "meld" and holds_wild and naturals(action.cards) < 2

    def do(self, seat: int, text: str) -> None:
        """Do an action or raise RejectedError (docs/rules.md 4)."""
        reason = self.violation(seat, text)
        action = parse(text)
        if reason is not None or action is None:
            raise RejectedError(text, reason or "malformed")
        hand = self.hands[seat]
        if action.verb == "draw stock":
            if not self.stock:
                self._recycle()
            hand[self.stock.pop(0)] += 1
            self.phase = "play"
        elif action.verb == "draw discard":
            self.taken = self.discard.pop()
            hand[self.taken] += 1
            self.phase = "play"
        elif action.verb == "discard":
            hand[action.cards[0]] -= 1
            self.discard.append(action.cards[0])
            if not hand.total():
                self._end_won(seat, "discard")
            else:
                self._end_turn()
        else:
            after = self._spot().after(action, self.rules)
            self.hands[seat] = Counter(after.hand)
            self.table = list(after.table)
            self.melds_made = after.melds_made
            self.played_now = True
            if not after.hand:
                self._end_won(seat, action.verb)

    def forced(self) -> str | None:
        """Return the forced action; None when the deal is over (docs/rules.md 7)."""
        legal = self.legal_actions()
        if self.phase == "draw":
            return "draw stock" if "draw stock" in legal else "draw discard"
        discards = [text.split()[1] for text in legal if text.startswith("discard ")]
        if discards:
            return f"discard {max(discards, key=self._forced_rank)}"
        actions = [(action, text) for text in legal if (action := parse(text)) is not None]
        # A deuce as itself comes before a deuce that stands for another card.
        singles = [
            (action.meld, has_meaning(card), RANKS.index(to[0]), SUITS.index(to[1]), text)
            for action, text in actions
            if action.verb == "lay" and len(action.cards) == 1
            for card, to in [(action.cards[0], meaning(action.cards[0]))]
        ]
        if singles:
            return min(singles)[-1]
        swaps = [(act.meld, act.cards, text) for act, text in actions if act.verb == "swap"]
        return min(swaps)[-1] if swaps else None

    def _forced_rank(self, face: str) -> tuple[int, int, int]:
        points = card_points(face, self.rules)
        if face == JOKER:
            return points, 99, 0
        return points, RANKS.index(face[0]), -SUITS.index(face[1])

    def state(self) -> dict[str, object]:
        """Return the state under the keys of a position (docs/vectors.md, Position)."""
        return {
            "deal": self.deal,
            "out": [group[0] if len(group) == 1 else sorted(group) for group in self.out],
            "turn": self.turn,
            "phase": self.phase,
            "hands": [" ".join(sorted(hand.elements())) for hand in self.hands],
            "stock": " ".join(self.stock),
            "discard": " ".join(self.discard),
            "table": [" ".join(meld) for meld in self.table],
            "played": list(self.played),
            "taken": self.taken,
            "recycles": self.recycles,
            "turns": self.turns,
            "totals": list(self.totals),
        }

    def _spot(self) -> Spot:
        seat = self.turn
        opened = self.played[seat] or self.melds_made > 0
        hand = tuple(sorted(self.hands[seat].elements()))
        return Spot(hand, tuple(self.table), self.taken, opened, self.melds_made)

    def _to_recycle(self) -> list[str]:
        return self.discard[:-1] if self.rules.recycle_keeps_upcard else self.discard[:]

    def _recycles_used_up(self) -> bool:
        allowed = self.rules.recycles_allowed
        return allowed is not None and self.recycles >= allowed

    def _recycles_on_draw(self) -> bool:
        if self.rules.recycle_trigger != "on_stock_draw" or self._recycles_used_up():
            return False
        return bool(self._to_recycle())

    def _recycle(self) -> None:
        cards = self._to_recycle()
        self.discard = self.discard[len(cards) :]
        self.recycles += 1
        shuffles = self.rules.recycle == "shuffle"
        self.stock = self.shuffler(cards, self.recycles) if shuffles else cards

    def _start_turn(self) -> None:
        """Make the turn start of docs/rules.md 4, tests a and b."""
        rules = self.rules
        if self.turns >= rules.turn_cap_per_seat * len(self.seats_in()):
            self._end_unwon("turn_cap", rules.cap_result)
            return
        if self.stock:
            return
        if self._recycles_used_up():
            self._end_unwon("exhausted", rules.exhausted_result)
            return
        if rules.recycle_trigger == "turn_start" and self._to_recycle():
            self._recycle()
        if not self.legal_actions():
            self._end_unwon("exhausted", rules.exhausted_result)

    def _end_turn(self) -> None:
        self.played[self.turn] = self.played[self.turn] or self.played_now
        self.turns += 1
        self.turn = self.left_of(self.turn)
        self.phase = "draw"
        self.taken = None
        self.melds_made = 0
        self.played_now = False
        self._start_turn()

    def _end_won(self, seat: int, by: str) -> None:
        rules = self.rules
        rummy = not self.played[seat]
        if rules.rummy_requires_final_discard and by != "discard":
            rummy = False
        factor = rules.rummy_multiplier if rummy else 1
        points = won_points(seat, self._hand_totals(), factor, rules)
        self._end("went_out", seat, by, rummy, points)

    def _end_unwon(self, ended: str, result: str) -> None:
        winner, points = None, [0] * self.seats
        if result == "lowest_hand":
            winner, points = lowest_hand_points(self.seats_in(), self._hand_totals(), self.rules)
        self._end(ended, winner, None, False, points)

    def _hand_totals(self) -> list[int]:
        return [hand_points(hand, self.rules) for hand in self.hands]

    def _end(
        self, ended: str, winner: int | None, by: str | None, rummy: bool, points: list[int]
    ) -> None:
        self.phase = "over"
        self.totals = [old + new for old, new in zip(self.totals, points, strict=True)]
        totals = tuple(self.totals)
        self.deal_result = DealResult(ended, winner, by, rummy, tuple(points), totals)
        self.match_result = after_deal(self.rules, self.deal, self.dealer, self.out, totals)


def deal_cards(
    rules: Rules,
    seats: int,
    seed: bytes,
    *,
    dealer: int = 0,
    deal: int = 1,
    out: OutGroups = (),
    totals: Sequence[int] | None = None,
) -> Game:
    """Deal by the published shuffle; recycles read the same seed (docs/rules.md 4 and 11)."""
    gone = {seat for group in out for seat in group}
    order = [seat % seats for seat in range(dealer + 1, dealer + 1 + seats)]
    order = [seat for seat in order if seat not in gone]
    cards = shuffled(deck(rules.packs[len(order)], rules.jokers), seed, "deal")
    hands: list[list[str]] = [[] for _ in range(seats)]
    for _ in range(rules.hand_size[len(order)]):
        for seat in order:
            hands[seat].append(cards.pop(0))
    return Game(
        rules,
        hands,
        stock=cards[1:],
        discard=cards[:1],
        dealer=dealer,
        deal=deal,
        out=out,
        totals=totals,
        shuffler=lambda left, k: shuffled(left, seed, f"recycle-{k}"),
    )
