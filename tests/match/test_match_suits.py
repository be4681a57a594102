"""Legs whose decks are the same but for their suits, and what a record says of that."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from referee.engine.cards import JOKER
from referee.engine.shuffle import SAME_SUITS, SeededShuffler, own_suits, shuffled
from referee.match.outcome import MatchResult
from referee.match.record_lines import read_record
from referee.match.spec import MatchSpec
from referee.match.verify import verify
from tests.match.fakes import Table, make_spec, secret_of
from tests.scale import repeatable

DECK = [*range(52), *range(52), JOKER, JOKER]


@repeatable
@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_a_deck_with_other_suits_is_the_same_deck(seed: bytes, salt: bytes) -> None:
    suits = own_suits(salt)
    assert sorted(suits) == [0, 1, 2, 3]
    plain = SeededShuffler(seed).deal(DECK)
    other = SeededShuffler(seed, suits).deal(DECK)
    assert Counter(other) == Counter(DECK)
    for before, after in zip(plain, other, strict=True):
        if before == JOKER:
            assert after == JOKER
        else:
            assert (after // 13, after % 13) == (suits[before // 13], before % 13)
    assert SeededShuffler(seed, SAME_SUITS).deal(DECK) == plain
    # Positions are what a recycle shuffles, whatever lies there.
    assert SeededShuffler(seed, suits).recycle(1, other) == shuffled(other, seed, "recycle-1")


def test_all_exchanges_come_up_equally_often() -> None:
    seen = Counter(own_suits(number.to_bytes(32, "big")) for number in range(24 * 200))
    assert len(seen) == 24
    assert max(abs(count - 200) for count in seen.values()) < 80


def leg(salt: int) -> MatchSpec:
    spec = make_spec(overrides={"match_end": "fixed_deals", "deals": 2}, seed=5)
    return replace(spec, salt=secret_of(salt), has_own_suits=True)


def played(spec: MatchSpec) -> MatchResult:
    table = Table(spec).begin()
    while not table.is_over:
        table.play()
    return table.result


def test_legs_with_one_secret_have_one_deck_but_for_suits() -> None:
    specs = [leg(salt) for salt in range(6)]
    hands = {tuple(Table(spec).game.state.hands) for spec in specs}
    assert len(hands) == len({spec.suits for spec in specs}) > 2

    def ranks(spec: MatchSpec) -> list[Counter[int]]:
        found = []
        for hand in Table(spec).game.state.hands:
            cards = [card for card in range(53) if hand >> card & 1]
            found.append(Counter(card % 13 for card in cards))
        return found

    assert all(ranks(spec) == ranks(specs[0]) for spec in specs)


def test_a_record_says_that_suits_are_exchanged_and_is_verified() -> None:
    plain = next(spec for spec in map(leg, range(9)) if spec.suits != SAME_SUITS)
    result = played(plain)
    assert read_record(result.record).header.has_own_suits
    verdict = verify(result.record, result.record_hash.hex())
    assert verdict.problems == ()
    # Without the mark it is another match, and a match without it is none with it.
    unmarked = result.record.replace(b',"own_suits":true', b"", 1)
    assert any("line was changed" in p.text or p.line > 1 for p in verify(unmarked).problems)
    without = played(replace(plain, has_own_suits=False))
    assert b"own_suits" not in without.record
    assert verify(without.record).problems == ()
    first, rest = without.record.split(b"\n", 1)
    marked = first.replace(b',"prev":""}', b',"own_suits":true,"prev":""}') + b"\n" + rest
    assert verify(marked).problems
    false = result.record.replace(b'"own_suits":true', b'"own_suits":false', 1)
    assert "own_suits is false: allowed is true" in verify(false).problems[0].text
