"""Counting: its partition against brute force, its memory, and what it lays and holds."""

from itertools import combinations
from random import Random

import pytest

from rummy.referee.v1.rummy_pb2 import (
    ACE_HIGH_OR_LOW,
    WILDS_JOKERS,
    Card,
    DealStarted,
    Discarded,
    Drew,
    Event,
    Meld,
    Melded,
    Observation,
    Recycled,
    RuleSet,
)
from sample_bots.cards import fits, points
from sample_bots.cardsets import FACES, Melds, Partition, to_cards, to_set
from sample_bots.counting.bot import CountingBot, Memory
from sample_bots.greedy.bot import GreedyBot
from tests.bots.positions import (
    basic_rules,
    cards,
    draw_decision,
    observed,
    play_decision,
    starting,
    text_of,
)

STOCK, UPCARD = 0, 1


# --- the partition --------------------------------------------------------------------------------


def is_meld(chosen: tuple[int, ...], *, ace_high: bool) -> bool:
    """Say what a meld is in another way than the bots do."""
    ranks = sorted((card - 1) % 13 + 1 for card in chosen)
    suits = {(card - 1) // 13 for card in chosen}
    if len(set(ranks)) == 1:
        return len(chosen) in (3, 4)
    if len(suits) > 1 or len(chosen) < 3:
        return False
    low = ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    if low or not ace_high or ranks[0] != 1:
        return low
    return ranks[1:] == list(range(15 - len(ranks), 14))


def least_deadwood(hand: frozenset[int], rules: RuleSet) -> int:
    """Try every way to take out melds."""
    ace_high = rules.ace == ACE_HIGH_OR_LOW
    best = sum(points(card, rules) for card in hand)
    for size in range(3, len(hand) + 1):
        for chosen in combinations(sorted(hand), size):
            if is_meld(chosen, ace_high=ace_high):
                best = min(best, least_deadwood(hand - set(chosen), rules))
    return best


def dense_hand(random: Random, size: int) -> frozenset[int]:
    """Return a hand from few ranks and suits, so that melds compete for cards."""
    lowest = random.randrange(1, 10)
    faces = [suit * 13 + (lowest + step - 1) % 13 + 1 for suit in range(3) for step in range(5)]
    return frozenset(random.sample(faces, size))


@pytest.mark.parametrize("ace_high", [False, True])
def test_the_partition_is_the_best_there_is(ace_high: bool) -> None:
    rules = basic_rules()
    if ace_high:
        rules.ace = ACE_HIGH_OR_LOW
    melds = Melds(rules)
    weights = {card: points(card, rules) for card in FACES}
    random = Random(1)
    for _ in range(60):
        hand = dense_hand(random, 8)
        partition = Partition(melds, {}, weights)
        expected = least_deadwood(hand, rules)
        after_discard = min(least_deadwood(hand - {card}, rules) for card in hand)
        assert partition.costs(to_set(hand)) == (expected, after_discard), sorted(hand)
        placed, loose = partition.placed(to_set(hand))
        assert sum(weights[card] for card in to_cards(loose)) == expected
        assert sorted(card for meld in placed for card in to_cards(meld)) == sorted(
            hand - set(to_cards(loose))
        )
        for meld in placed:
            assert is_meld(tuple(to_cards(meld)), ace_high=ace_high)


def test_layoffs_are_places_too() -> None:
    rules = basic_rules()
    table = {1: tuple(map(int, cards("9C TC JC"))), 2: tuple(map(int, cards("4C 4D 4H")))}
    partition = Partition(Melds(rules), table, {card: points(card, rules) for card in FACES})
    hand = to_set(cards("7C 8C QC 4S 6D"))
    assert partition.costs(hand) == (6, 0)
    # The seven needs the eight before it.
    assert partition.costs(to_set(cards("7C QC"))) == (7, 0)
    assert partition.fitting == to_set(cards("8C QC 4S"))


def test_chains_are_what_fits_step_by_step() -> None:
    rules = basic_rules()
    rules.ace = ACE_HIGH_OR_LOW
    melds = Melds(rules)
    run = tuple(map(int, cards("3S 4S 5S")))
    chains = melds.chains(run)
    assert to_set(cards("2S AS")) in chains
    assert to_set(cards("6S 7S 8S 9S TS JS QS KS AS")) in chains
    assert all(chain & to_set(run) == 0 for chain in chains)
    singles = [chain for chain in chains if chain.bit_count() == 1]
    assert sorted(card for chain in singles for card in to_cards(chain)) == [
        card for card in FACES if fits(card, run, rules)
    ]


# --- memory ---------------------------------------------------------------------------------------


def deal(upcard: str) -> Event:
    return Event(deal_started=DealStarted(upcard=cards(upcard)[0]))


def drew(seat: int, card: str = "", *, from_discard: bool = False) -> Event:
    named = cards(card)[0] if card else Card.CARD_UNSPECIFIED
    return Event(drew=Drew(seat=seat, card=named, from_discard=from_discard))


def discarded(seat: int, card: str) -> Event:
    return Event(discarded=Discarded(seat=seat, card=cards(card)[0]))


def remembered(*events: Event) -> Memory:
    memory = Memory(2)
    for event in events:
        memory.observe(event)
    return memory


def test_remembers_what_another_seat_took_until_it_is_gone() -> None:
    took = [deal("7H"), drew(1, "7H", from_discard=True), discarded(1, "KC")]
    assert remembered(*took).held[1] == to_set(cards("7H"))
    melded = Event(melded=Melded(seat=1, meld=Meld(meld_id=1, cards=cards("7C 7D 7H"))))
    assert remembered(*took, melded).held[1] == 0
    assert remembered(*took, drew(1), discarded(1, "7H")).held[1] == 0
    assert remembered(*took, deal("2C")).held == [0, 0]


def test_knows_the_stock_after_a_flip() -> None:
    thrown = [deal("7H"), drew(0, "2C"), discarded(0, "KC"), drew(1), discarded(1, "QD")]
    flipped = remembered(*thrown, Event(recycled=Recycled(recycles=1, stock_count=3)))
    assert flipped.stock == cards("7H KC QD")
    flipped.observe(drew(1))
    assert flipped.held[1] == to_set(cards("7H"))
    assert flipped.stock == cards("KC QD")
    kept = remembered(
        *thrown, Event(recycled=Recycled(recycles=1, stock_count=2, upcard=cards("QD")[0]))
    )
    assert kept.stock == cards("7H KC")
    shuffled = Event(recycled=Recycled(recycles=1, stock_count=3, shuffled=True))
    assert remembered(*thrown, shuffled).stock == []


# --- play -----------------------------------------------------------------------------------------


def played(seen: Observation, rules: RuleSet | None = None) -> list[str]:
    chosen = CountingBot(starting(rules)).choose(play_decision(seen))
    assert not isinstance(chosen, int)
    return [text_of(action) for action in chosen]


def test_goes_rummy_as_soon_as_all_cards_have_a_place() -> None:
    hand = "7C 7D 7H 3S 4S 5S 6S TC JC QC KD"
    assert played(observed(hand)) == [
        "meld 7C 7D 7H",
        "meld TC JC QC",
        "meld 3S 4S 5S 6S",
        "discard KD",
    ]


def test_holds_its_melds_back_for_going_rummy() -> None:
    hand = "7C 7D 7H 3S 4S 5S KD 9C 2D QH 8S"
    assert len(played(observed(hand))) == 1


def test_lays_its_melds_when_another_seat_is_near_the_end() -> None:
    hand = "7C 7D 7H 3S 4S 5S KD 9C 2D QH 8S"
    assert played(observed(hand, others=3))[:2] == ["meld 7C 7D 7H", "meld 3S 4S 5S"]


def test_lays_its_melds_when_holding_them_does_not_pay() -> None:
    rules = basic_rules()
    rules.rummy_multiplier = 1
    hand = "7C 7D 7H 3S 4S 5S KD 9C 2D QH 8S"
    assert played(observed(hand), rules)[:2] == ["meld 7C 7D 7H", "meld 3S 4S 5S"]


def test_does_not_discard_the_card_it_took() -> None:
    assert played(observed("KC 2D 3D 5H", taken="KC")) != ["discard KC"]


def test_does_not_throw_what_the_next_seat_waits_for() -> None:
    bot = CountingBot(starting())
    for event in (
        deal("KC"),
        drew(1, "KC", from_discard=True),
        discarded(1, "2C"),
        drew(0, "3H"),
        discarded(0, "KD"),
        drew(1, "KD", from_discard=True),
        discarded(1, "4C"),
    ):
        bot.observe(event)
    seen = observed("KH QS 5D 5S 9H TH", pile="2C 4C")
    chosen = bot.choose(play_decision(seen))
    assert not isinstance(chosen, int)
    assert [text_of(action) for action in chosen] == ["discard QS"]


def test_takes_the_upcard_that_melds_and_leaves_the_useless_one() -> None:
    bot = CountingBot(starting())
    hand = "7C 7D 3S 4S TC JC KD 9H 2D QH"
    assert bot.choose(draw_decision(observed(hand, pile="7H"))) == UPCARD
    assert bot.choose(draw_decision(observed(hand, pile="KS"))) == STOCK


def test_prefers_the_stock_when_it_knows_that_its_card_goes_out() -> None:
    bot = CountingBot(starting())
    for event in (
        deal("7H"),
        discarded(0, "2C"),
        Event(recycled=Recycled(recycles=1, stock_count=2)),
        discarded(0, "9S"),
    ):
        bot.observe(event)
    decision = draw_decision(observed("7C 7D 3S 4S 5S KD", pile="9S 6S"))
    assert bot.choose(decision) == STOCK
    assert CountingBot(starting()).choose(decision) == UPCARD


@pytest.mark.parametrize("kind", ["wilds", "packs"])
def test_plays_as_greedy_where_faces_are_not_unique(kind: str) -> None:
    rules = basic_rules()
    if kind == "wilds":
        rules.wilds = WILDS_JOKERS
    else:
        rules.packs[2] = 2
    seen = observed("7C 7D KS KS 2H", pile="7H")
    decision = draw_decision(seen)
    assert CountingBot(starting(rules)).choose(decision) == GreedyBot(starting(rules)).choose(
        decision
    )


def test_the_same_match_is_played_in_the_same_way() -> None:
    random = Random(5)
    hands = [random.sample(list(FACES), 11) for _ in range(10)]
    for hand in hands:
        seen = Observation(hand_counts=[11, 10], played=[False, False])
        seen.hand.extend(Card.ValueType(card) for card in sorted(hand))
        first, again = (
            CountingBot(starting(randomness=bytes([byte]))).choose(play_decision(seen))
            for byte in (1, 2)
        )
        assert first == again
