"""Exact counts that must come out of the engine (docs/rules.md 10), and the published values."""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

import pytest

from referee.engine import shuffle
from referee.engine.actions import DRAW_STOCK, discard
from referee.engine.cards import FACES, LAYER, cards_text, full_deck, multiset
from referee.engine.melds import MeldTables, Shape, meld_tables
from referee.engine.presets import make_ruleset
from referee.engine.shuffle import SeededShuffler, commitment, deal_seed, shuffled
from referee.engine.state import DealTermination, Phase
from referee.engine.transition import apply, start_deal

ZERO = bytes(32)
ONE_PACK = multiset(range(52))
TWO_PACKS = multiset([*range(52), *range(52)])
RUN_COUNTS = [44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4]
"""Runs of 3, 4, … 13 cards with the ace low."""


def _by_length(shapes: list[Shape]) -> list[int]:
    lengths = Counter(len(shape.cards) for shape in shapes)
    return [lengths[length] for length in range(min(lengths), max(lengths) + 1)]


def _split(tables: MeldTables, cards: int) -> tuple[list[Shape], list[Shape]]:
    """Sets and runs that can be made of these cards."""
    found = tables.all_in(cards)
    assert len({shape.mask for shape in found}) == len(found)
    return [s for s in found if s.is_set], [s for s in found if not s.is_set]


def test_one_pack_with_the_ace_low_has_65_sets_and_264_runs() -> None:
    tables = meld_tables(ace_high=False, any_suits=False)
    sets, runs = _split(tables, ONE_PACK)
    assert _by_length(sets) == [52, 13]
    assert _by_length(runs) == RUN_COUNTS
    assert (len(sets), len(runs), len(tables.shapes)) == (65, 264, 329)


def test_185_melds_have_runs_of_at_most_five() -> None:
    found = meld_tables(ace_high=False, any_suits=False).shapes.values()
    assert sum(1 for shape in found if len(shape.cards) <= 5) == 185


def test_one_pack_where_suits_do_not_matter_has_the_same_melds() -> None:
    sets, runs = _split(meld_tables(ace_high=False, any_suits=True), ONE_PACK)
    assert (_by_length(sets), _by_length(runs)) == ([52, 13], RUN_COUNTS)


def test_an_ace_high_or_low_gives_308_runs_of_304_card_sets() -> None:
    tables = meld_tables(ace_high=True, any_suits=False)
    sets, runs = _split(tables, ONE_PACK)
    assert _by_length(sets) == [52, 13]
    # One more of each length up to 12 in each suit; A…K and 2…A are the same 13 cards.
    assert _by_length(runs) == [*(count + 4 for count in RUN_COUNTS[:-1]), 4]
    assert len(runs) == 304
    assert len(runs) + sum(1 for shape in runs if len(shape.cards) == 13) == 308


@pytest.mark.parametrize(("any_suits", "count"), [(False, 65), (True, 455)])
def test_two_packs_have_455_sets_as_faces_and_no_more_runs(any_suits: bool, count: int) -> None:
    sets, runs = _split(meld_tables(ace_high=False, any_suits=any_suits), TWO_PACKS)
    assert len(sets) == count
    assert _by_length(runs) == RUN_COUNTS


def test_meanings_of_wild_cards_may_repeat_a_face_up_to_four_times() -> None:
    tables = meld_tables(ace_high=False, any_suits=True)
    sets = [shape for shape in tables.shapes.values() if shape.is_set]
    assert _by_length(sets) == [13 * 20, 13 * 35]
    assert all(shape.mask.bit_count() == len(shape.cards) for shape in tables.shapes.values())


@pytest.mark.parametrize("any_suits", [False, True])
@pytest.mark.parametrize("ace_high", [False, True])
def test_each_meld_names_all_that_may_be_laid_off_on_it(ace_high: bool, any_suits: bool) -> None:
    tables = meld_tables(ace_high=ace_high, any_suits=any_suits)
    by_counts = {shape.mask: Counter(shape.cards) for shape in tables.shapes.values()}
    for shape in list(tables.shapes.values())[::7]:
        own = by_counts[shape.mask]
        wanted = Counter(
            frozenset((bigger - own).items())
            for mask, bigger in by_counts.items()
            if mask != shape.mask and own <= bigger
        )
        came = Counter(
            frozenset(Counter(_cards(extension)).items()) for extension in shape.extensions
        )
        assert came == wanted
        singles = {extension for extension in shape.extensions if extension.bit_count() == 1}
        assert shape.adjacent == sum(singles)


def _cards(mask: int) -> Iterator[int]:
    while mask:
        layer = mask & FACES
        yield from (face for face in range(53) if layer >> face & 1)
        mask >>= LAYER


@pytest.mark.parametrize(
    ("preset", "counts"), [("basic", [95, 92, 71, 65, 47]), ("traditional", [63, 61, 47])]
)
def test_stock_only_play_without_melds_lasts(preset: str, counts: list[int]) -> None:
    rules = make_ruleset(preset)
    for seats, turns in enumerate(counts, start=2):
        shuffler = SeededShuffler(deal_seed(ZERO, seats))
        state, _ = start_deal(rules, [0] * seats, shuffler)
        while state.phase is not Phase.OVER:
            card = state.stock[-1]
            apply(state, DRAW_STOCK)
            apply(state, discard(card))
        assert (state.ended, state.turns) == (DealTermination.EXHAUSTED, turns)


def test_two_of_six_seats_left_get_the_deal_of_two() -> None:
    """docs/rules.md 9: under `standard` one pack and ten cards each."""
    out = ((1,), (2, 4), (0,))
    shuffler = SeededShuffler(ZERO)
    state, _ = start_deal(make_ruleset("standard"), [0] * 6, shuffler, dealer=5, out=out)
    assert [hand.bit_count() for hand in state.hands] == [0, 0, 0, 10, 0, 10]
    assert (len(state.stock), len(state.discards), state.turn) == (52 - 20 - 1, 1, 3)


def test_the_published_shuffle_gives_its_test_value() -> None:
    cards = cards_text(shuffled(full_deck(1, 0), ZERO, "deal")).split()
    assert " ".join(cards[:12]) == "TD 6H 5H 5D 2S TH KC 7H 6D AS 9S 7C"
    assert " ".join(cards[-4:]) == "5C 9C 2C AC"


def test_the_deck_is_pack_after_pack_and_the_jokers_last() -> None:
    deck = cards_text(full_deck(2, 3)).split()
    assert len(deck) == 107
    assert deck[:14] == [*(rank + "C" for rank in "A23456789TJQK"), "AD"]
    assert deck[:52] == deck[52:104]
    assert deck[104:] == ["XX"] * 3


def _independent_shuffle(count: int, seed: bytes, label: bytes) -> list[int]:
    """The published shuffle of 0 … count-1, written once more."""
    data = b"".join(sha256(seed + label + i.to_bytes(8, "big")).digest() for i in range(99))
    numbers = iter([int.from_bytes(data[at : at + 4], "big") for at in range(0, len(data), 4)])
    order = list(range(count))
    for last in reversed(range(1, count)):
        number = next(n for n in numbers if n < 2**32 - 2**32 % (last + 1))
        other = number % (last + 1)
        order[last], order[other] = order[other], order[last]
    return order


@pytest.mark.parametrize("number", range(20))
def test_shuffles_equal_an_independent_computation(number: int) -> None:
    seed = sha256(b"%d" % number).digest()
    shuffler = SeededShuffler(seed)
    deck = full_deck(2, 4)
    wanted = [deck[place] for place in _independent_shuffle(len(deck), seed, b"deal")]
    assert shuffler.deal(deck) == wanted
    for recycle in (1, 2, 13):
        label = b"recycle-%d" % recycle
        assert shuffler.recycle(recycle, deck[:30]) == _independent_shuffle(30, seed, label)


def test_unfair_numbers_are_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three cards, 2³²−1 would prefer the first: it is read over."""
    numbers = [2**32 - 1, 2**32 - 1, 2**32 - 2, 1]
    monkeypatch.setattr(shuffle, "_numbers", lambda _seed, _label: iter(numbers))
    assert shuffled([0, 1, 2], ZERO, "deal") == [0, 1, 2]
    assert shuffled([5], ZERO, "deal") == [5]
    assert shuffled([], ZERO, "deal") == []


def test_seeds_of_deals_and_commitments_equal_an_independent_computation() -> None:
    secret, salt = bytes(range(32)), bytes(range(32, 64))
    for deal in (1, 2, 200, 2**40):
        eight = bytes(deal >> 8 * place & 255 for place in (7, 6, 5, 4, 3, 2, 1, 0))
        assert deal_seed(secret, deal) == sha256(secret + b"rummy-deal" + eight).digest()
    assert commitment(salt, secret) == sha256(salt + secret).digest()
    published = "1cdf6f655861b444da4307f9f4f48d82307e7011955b54c52dffff39dee58142"
    assert deal_seed(ZERO, 1).hex() == published


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_seed_has_32_bytes(length: int) -> None:
    with pytest.raises(ValueError, match=f"{length} bytes: it must have 32"):
        SeededShuffler(bytes(length))
    with pytest.raises(ValueError, match="must have 32"):
        shuffled([1, 2], bytes(length), "deal")
