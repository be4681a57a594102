"""Counts cards, keeps the best partition of its hand, holds its melds back for a doubled win.

README.md says what it weighs and why. Under rules with wild cards or two packs it plays as greedy
does: the sets of cards that it reckons with have room for each face once.
"""

from collections.abc import Iterable, Sequence

from rummy.referee.v1.play_pb2 import Decision, MatchStarting
from rummy.referee.v1.rummy_pb2 import (
    ACTION_TYPE_DRAW_DISCARD,
    ACTION_TYPE_DRAW_STOCK,
    GO_OUT_MUST_DISCARD,
    PHASE_DRAW,
    Action,
    Event,
    Observation,
)
from sample_bots.cards import Turn, fits, has_wilds, points
from sample_bots.cardsets import FACES, Melds, Partition, bit, to_cards, to_set
from sample_bots.client import Strategy, run
from sample_bots.greedy.bot import GreedyBot

# All weights are in points. They were found by playing against greedy and against itself.
LOOSE_CARD = (
    8  # A card without a place costs this beside its points: it stands in the way of going out.
)
DRAWS_AHEAD = 2  # Improvements are worth as if this many more cards could be drawn.
DANGER = 15  # What it costs to throw a card that the next seat can use for certain.
NEAR_THE_END = 3  # Melds are laid at once when another seat holds this few cards.

PACK = to_set(FACES)


class Memory:
    """What the events of this deal told: who took which card, the order of a flipped stock."""

    def __init__(self, seats: int) -> None:
        self.held = [0] * seats  # by seat: cards known to be in its hand
        self.stock: list[int] = []  # the next cards of the stock, as far as known
        self._pile: list[int] = []

    def observe(self, event: Event) -> None:
        """Take note of an event."""
        match event.WhichOneof("event"):
            case "deal_started":
                self.held = [0] * len(self.held)
                self.stock = []
                self._pile = [event.deal_started.upcard]
            case "drew":
                self._drew(event.drew.seat, event.drew.card, event.drew.from_discard)
            case "melded":
                self._parted(event.melded.seat, event.melded.meld.cards)
            case "laid_off":
                self._parted(event.laid_off.seat, event.laid_off.cards)
            case "discarded":
                card = event.discarded.card
                if card:
                    self._parted(event.discarded.seat, [card])
                    self._pile.append(card)
            case "recycled":
                kept: list[int] = [event.recycled.upcard] if event.recycled.upcard else []
                turned = self._pile[: len(self._pile) - len(kept)]
                self.stock = [] if event.recycled.shuffled else turned
                self._pile = kept

    def _drew(self, seat: int, card: int, from_discard: bool) -> None:
        if from_discard:
            self._pile = self._pile[:-1]
        elif self.stock:
            card = self.stock.pop(0)
        if card:
            self.held[seat] |= bit(card)

    def _parted(self, seat: int, cards: Iterable[int]) -> None:
        self.held[seat] &= ~to_set(cards)


class Prospect:
    """One decision's reckoning: what is where, and what a hand is worth on this table."""

    def __init__(
        self, seen: Observation, memory: Memory, melds: Melds, partition: Partition
    ) -> None:
        self._melds = melds
        self._partition = partition
        counts = seen.hand_counts
        others = [seat for seat in range(len(counts)) if counts[seat] and seat != seen.seat]
        following = min(others, key=lambda seat: (seat - seen.seat) % len(counts))
        elsewhere = to_set(seen.hand) | to_set(seen.discard_pile) | to_set(memory.stock)
        for meld in seen.table:
            elsewhere |= to_set(meld.cards)
        for seat in others:
            elsewhere |= memory.held[seat]
        self._unseen = PACK & ~elsewhere
        self._unseen_count = max(1, self._unseen.bit_count())
        self._next_holds = memory.held[following]
        unknown = counts[following] - self._next_holds.bit_count()
        self._next_may_hold = min(1.0, max(0.0, unknown / self._unseen_count))

    def cost(self, hand: int) -> float:
        """Return the weight of what has no place, less what the next draws may improve."""
        whole, _ = self._partition.costs(hand)
        outs = (self._melds.thirds(hand) | self._partition.fitting) & self._unseen
        gain = 0
        while outs:
            card = outs & -outs
            outs ^= card
            gain += max(0, whole - self._partition.costs(hand | card)[1])
        return whole - DRAWS_AHEAD * gain / self._unseen_count

    def danger(self, card: int) -> float:
        """Return what it costs to throw the card: DANGER times the chance that it is of use.

        The next seat lays it off on the table for certain, or melds it with two that it holds.
        """
        if self._partition.fitting & bit(card):
            return DANGER
        chance = 0.0
        for pair in self._melds.pairs[card]:
            unknown = pair & ~self._next_holds
            if unknown & ~self._unseen == 0:
                chance += self._next_may_hold ** unknown.bit_count()
        return DANGER * min(1.0, chance)

    def best_discard(self, hand: int, allowed: Iterable[int]) -> tuple[float, int]:
        """Return the least cost of the hand after one of the allowed discards, and that card."""
        return min((self.cost(hand ^ bit(card)) + self.danger(card), card) for card in allowed)

    def can_go_out(self, hand: int) -> bool:
        """Tell whether all cards, or all but a discard, have a place."""
        return self._partition.costs(hand)[1] == 0


class CountingBot(Strategy):
    """One seat of one match. It uses no chance: the same match is played in the same way again."""

    def __init__(self, starting: MatchStarting) -> None:
        self._rules = starting.rules
        self._greedy = GreedyBot(starting)
        self._memory = Memory(starting.seats)
        self._melds = Melds(starting.rules)
        self._weights = {card: LOOSE_CARD + points(card, self._rules) for card in FACES}

    def observe(self, event: Event) -> None:
        """Remember who took and threw what."""
        self._memory.observe(event)

    def choose(self, decision: Decision) -> Sequence[Action] | int:
        """Draw by expected cost; then go out, or lay or hold the melds, and discard."""
        seen = decision.observation
        seats = sum(count > 0 for count in seen.hand_counts)
        if has_wilds(self._rules) or self._rules.packs.get(seats, 1) > 1:
            return self._greedy.choose(decision)
        if seen.phase == PHASE_DRAW:
            return self._draw(decision)
        return self._play(seen)

    def _partition(self, turn: Turn) -> Partition:
        return Partition(self._melds, turn.table, self._weights)

    def _draw(self, decision: Decision) -> int:
        seen = decision.observation
        types = [action.type for action in decision.legal_actions]
        if ACTION_TYPE_DRAW_DISCARD not in types:
            return types.index(ACTION_TYPE_DRAW_STOCK)
        if ACTION_TYPE_DRAW_STOCK not in types or self._prefers_upcard(seen):
            return types.index(ACTION_TYPE_DRAW_DISCARD)
        return types.index(ACTION_TYPE_DRAW_STOCK)

    def _prefers_upcard(self, seen: Observation) -> bool:
        partition = self._partition(Turn(seen, self._rules))
        prospect = Prospect(seen, self._memory, self._melds, partition)
        hand = to_set(seen.hand)
        with_upcard = hand | bit(seen.discard_pile[-1])
        if prospect.can_go_out(with_upcard):
            return True
        # The upcard may not go back in this turn.
        upcard_cost, _ = prospect.best_discard(with_upcard, seen.hand)
        if self._memory.stock:
            with_stock = hand | bit(self._memory.stock[0])
            if prospect.can_go_out(with_stock):
                return False
            return upcard_cost < prospect.best_discard(with_stock, to_cards(with_stock))[0]
        # A draw from the stock is one more chance of what the hand is waiting for.
        whole, _ = partition.costs(hand)
        expected = prospect.cost(hand)
        return upcard_cost < expected - (whole - expected) / DRAWS_AHEAD

    def _play(self, seen: Observation) -> Sequence[Action]:
        turn = Turn(seen, self._rules)
        partition = self._partition(turn)
        hand = to_set(seen.hand)
        if partition.costs(hand)[1] == 0:
            last = self._last_card(turn, partition)
            self._lay(turn, partition, hand & ~last)
        elif not self._holds_back(seen):
            self._lay(turn, partition, hand)
        if turn.hand:
            if turn.actions:
                partition = self._partition(turn)
            prospect = Prospect(seen, self._memory, self._melds, partition)
            allowed = [card for card in turn.hand if turn.may_discard(card, turn.hand)]
            turn.discard(prospect.best_discard(to_set(turn.hand), allowed)[1])
        return turn.actions

    def _holds_back(self, seen: Observation) -> bool:
        """Tell whether the melds stay in hand for going rummy.

        It costs nothing in speed, shows nothing, and gives nobody a meld to lay off on; but all of
        it counts if another seat goes out first. So only while that pays and nobody is near it.
        """
        rules = self._rules
        if rules.rummy_multiplier < 2 or seen.played[seen.seat]:
            return False
        if rules.HasField("max_melds_per_turn"):
            return False
        others = [
            count for seat, count in enumerate(seen.hand_counts) if count and seat != seen.seat
        ]
        return min(others) > NEAR_THE_END

    def _last_card(self, turn: Turn, partition: Partition) -> int:
        """Return the card to keep for the discard that goes out, as a set; empty for none."""
        hand = to_set(turn.hand)
        needs_discard = (
            self._rules.go_out == GO_OUT_MUST_DISCARD or self._rules.rummy_requires_final_discard
        )
        if partition.costs(hand)[0] == 0 and not needs_discard:
            return 0
        for card in turn.hand:
            if turn.may_discard(card, [card]) and partition.costs(hand ^ bit(card))[0] == 0:
                return bit(card)
        return 0

    def _lay(self, turn: Turn, partition: Partition, cards: int) -> None:
        """Plan the melds and layoffs of a cheapest partition of the cards, as far as legal."""
        placed, _ = partition.placed(cards)
        # The card that may not be discarded goes first: it must not be left over on the way.
        placed.sort(key=lambda meld: turn.taken not in to_cards(meld))
        for meld in placed:
            run_or_set = self._melds.upwards(meld)
            if run_or_set and turn.may_meld and turn.leaves_an_end(run_or_set):
                turn.meld(run_or_set)
        waiting = [card for meld in placed for card in to_cards(meld) if card in turn.hand]
        while turn.is_open:
            layoff = next(
                (
                    (card, meld_id)
                    for card in waiting
                    for meld_id, meld in turn.table.items()
                    if fits(card, meld, self._rules) and turn.leaves_an_end([card])
                ),
                None,
            )
            if layoff is None:
                break
            turn.lay_off(*layoff)
            waiting.remove(layoff[0])


if __name__ == "__main__":
    run("counting", "1.0.0", CountingBot)
