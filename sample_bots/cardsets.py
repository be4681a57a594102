"""Sets of cards of one pack as integers, one bit a card, and the exact best partition of a hand.

Bit `number - 1` stands for the card with that number on the wire. Only for rules with one pack and
no wild cards: then no face can be there twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from rummy.referee.v1.rummy_pb2 import RuleSet
from sample_bots.cards import extended, fits, melds_within

FACES = range(1, 53)


def bit(card: int) -> int:
    """Return the set of this one card."""
    return 1 << (card - 1)


def to_set(cards: Iterable[int]) -> int:
    """Return the set of these cards."""
    result = 0
    for card in cards:
        result |= 1 << (card - 1)
    return result


def to_cards(cards: int) -> list[int]:
    """Return the numbers of the cards in the set, upwards."""
    numbers = []
    while cards:
        lowest = cards & -cards
        numbers.append(lowest.bit_length())
        cards ^= lowest
    return numbers


class Melds:
    """The melds that one pack can make under the given rules, and what fits them."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        every = melds_within(FACES, rules)
        # A run of six or more falls into runs of three to five, so these partition just as well.
        short = {to_set(meld): meld for meld in every if len(meld) <= 5}
        self._upwards = short  # An ace on a king stands last, not first.
        self.by_lowest: dict[int, list[int]] = {bit(card): [] for card in FACES}
        for cards in sorted(short):
            self.by_lowest[cards & -cards].append(cards)
        # For each card the pairs that make a meld of three with it, and the other way round.
        self.pairs: dict[int, list[int]] = {card: [] for card in FACES}
        self._thirds: dict[int, int] = {}
        for meld in every:
            if len(meld) == 3:
                for card in meld:
                    pair = to_set(meld) ^ bit(card)
                    self.pairs[card].append(pair)
                    self._thirds[pair] = self._thirds.get(pair, 0) | bit(card)
        self._chains: dict[tuple[int, ...], list[int]] = {}

    def upwards(self, cards: int) -> tuple[int, ...]:
        """Return the cards of a meld of at most five in their order, nothing if they are none."""
        return self._upwards.get(cards, ())

    def thirds(self, hand: int) -> int:
        """Return the cards outside the hand that would make a meld with cards of the hand."""
        singles = [1 << (card - 1) for card in to_cards(hand)]
        result = 0
        for one, other in combinations(singles, 2):
            result |= self._thirds.get(one | other, 0)
        return result & ~hand

    def chains(self, meld: tuple[int, ...]) -> list[int]:
        """Return the sets of cards that could be laid off, one after another, on one end."""
        known = self._chains.get(meld)
        if known is None:
            known = self._chains[meld] = []
            ends = [card for card in FACES if fits(card, meld, self._rules)]
            for end in ends:
                card: int | None = end
                grown, chain = meld, 0
                while card is not None:
                    grown, chain = extended(grown, card), chain | bit(card)
                    known.append(chain)
                    # What fits now and did not before goes on where the last card was laid.
                    card = next(
                        (
                            after
                            for after in FACES
                            if after not in ends
                            and after not in grown
                            and fits(after, grown, self._rules)
                        ),
                        None,
                    )
        return known


class Partition:
    """The cheapest way to place a hand in melds and layoffs, for any hand on the same table.

    `weights` says what each card costs that finds no place. Results are kept, and those of hands
    that differ by a card share most of their work.
    """

    def __init__(
        self, melds: Melds, table: Mapping[int, tuple[int, ...]], weights: Mapping[int, int]
    ) -> None:
        self._melds = melds
        self._weights = {bit(card): weight for card, weight in weights.items()}
        self.layoffs: dict[int, list[int]] = {}
        self.fitting = 0
        for meld in table.values():
            for chain in melds.chains(meld):
                self.layoffs.setdefault(chain & -chain, []).append(chain)
                if chain & (chain - 1) == 0:
                    self.fitting |= chain
        self._kept: dict[int, tuple[int, int]] = {0: (0, 0)}

    def costs(self, hand: int) -> tuple[int, int]:
        """Return the least weight of unplaced cards, of the hand as it is and after one discard."""
        known = self._kept.get(hand)
        if known is not None:
            return known
        lowest = hand & -hand
        whole, thrown = self.costs(hand ^ lowest)
        weight = self._weights[lowest]
        thrown = min(whole, thrown + weight)
        whole += weight
        for cards in self._places(lowest):
            if cards & hand == cards:
                rest_whole, rest_thrown = self.costs(hand ^ cards)
                whole = min(whole, rest_whole)
                thrown = min(thrown, rest_thrown)
        self._kept[hand] = whole, thrown
        return whole, thrown

    def placed(self, hand: int) -> tuple[list[int], int]:
        """Return the melds of a cheapest partition, and the cards that find no place in them."""
        melds: list[int] = []
        loose = 0
        while hand:
            lowest = hand & -hand
            whole, _ = self.costs(hand)
            for cards in self._places(lowest):
                if cards & hand == cards and self.costs(hand ^ cards)[0] == whole:
                    melds.append(cards)
                    hand ^= cards
                    break
            else:
                loose |= lowest
                hand ^= lowest
        return melds, loose

    def _places(self, lowest: int) -> Sequence[int]:
        melds = self._melds.by_lowest[lowest]
        chains = self.layoffs.get(lowest)
        return [*melds, *chains] if chains else melds
