"""Swiss rounds: the rules of the module, each held against trying everything on small fields."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.schedule.draw import Dice
from tournament.schedule.fixtures import Encounter, Entrant
from tournament.schedule.round_robin import round_robin
from tournament.schedule.swiss import Score, match_count, next_round, rounds_most

Pairing = frozenset[frozenset[str]]
POINTS = (0.0, 0.5, 1.0)


def field(bots: int) -> list[Entrant]:
    return [Entrant(f"bot-{number}", f"{number:064x}") for number in range(bots)]


def plan(
    bots: Sequence[Entrant], scores: Sequence[Score], number: int, encounters: int = 1
) -> list[Encounter]:
    return next_round(
        bots, scores, round=number, encounters=encounters, rules="rules", first_position=0
    )


def pairing(encounters: Sequence[Encounter]) -> Pairing:
    return frozenset(frozenset(encounter.bots) for encounter in encounters)


def played(encounters: Sequence[Encounter], number: int, dice: Dice) -> list[Score]:
    """Make up results."""
    scores = []
    for encounter in encounters:
        value = POINTS[dice.below(3)]
        points = dict(zip(encounter.bots, (value, 1 - value), strict=True))
        scores.append(Score(encounter.encounter_id, number, points))
    return scores


def tournament(
    bots: int, rounds: int, seed: int, encounters: int = 1
) -> Iterator[tuple[int, list[Score], list[Encounter]]]:
    """Yield each round: its number, the scores before it, its encounters."""
    dice, scores = Dice(seed), list[Score]()
    for number in range(rounds):
        encounters_of_round = plan(field(bots), scores, number, encounters)
        yield number, list(scores), encounters_of_round
        scores += played(encounters_of_round, number, dice)


class Past:
    """What the tests themselves work out from scores."""

    def __init__(self, bots: int, scores: Sequence[Score], rounds: int) -> None:
        self.names = [entrant.bot for entrant in field(bots)]
        self.total = dict.fromkeys(self.names, Fraction(0))
        self.byes = dict.fromkeys(self.names, 0)
        self.last_met: dict[frozenset[str], int] = {}
        for number in range(rounds):
            of_round = [score for score in scores if score.round == number]
            for bot in self.names:
                points = [Fraction(s.points[bot]) for s in of_round if bot in s.points]
                self.byes[bot] += not points
                self.total[bot] += sum(points, start=Fraction(0)) / len(points) if points else 1
            self.last_met |= {frozenset(score.points): number for score in of_round}

    def all_pairings(self, left: Sequence[str], before: int) -> Iterator[Pairing]:
        """Every pairing without those who met in round `before` or later; of the rest a bye."""
        if len(left) < 2:
            if all(self.byes[bot] == min(self.byes[name] for name in self.names) for bot in left):
                yield frozenset()
            return
        one, *others = left
        for other in others:
            pair = frozenset((one, other))
            if self.last_met.get(pair, -1) < before:
                rest = [bot for bot in others if bot != other]
                yield from (found | {pair} for found in self.all_pairings(rest, before))
        if len(left) % 2 and self.byes[one] == min(self.byes[name] for name in self.names):
            # All others are to be paired among themselves.
            yield from (
                found
                for found in self.all_pairings(others, before)
                if sum(map(len, found)) == len(others)
            )

    def least_repeated(self) -> int:
        """The least `before` for which there is a pairing: 0 if nobody has to meet again."""
        before = 0
        while next(self.all_pairings(self.names, before), None) is None:
            before += 1
        return before

    def difference(self, pair: frozenset[str]) -> Fraction:
        """How far apart the scores of two are."""
        one, other = pair
        return abs(self.total[one] - self.total[other])


SMALL = st.integers(2, 8).flatmap(lambda bots: st.tuples(st.just(bots), st.integers(0, 10**6)))


@given(SMALL)
def test_nobody_meets_again_while_that_can_be_avoided(case: tuple[int, int]) -> None:
    bots, seed = case
    for number, scores, encounters in tournament(bots, rounds_most(bots), seed):
        past = Past(bots, scores, number)
        before = past.least_repeated()
        pairs = pairing(encounters)
        assert len(pairs) == len(encounters) == bots // 2
        assert all(past.last_met.get(pair, -1) < before for pair in pairs)
        assert before < number or number == 0  # never in two rounds running
        [*waiting] = set(past.names) - {bot for pair in pairs for bot in pair}
        assert len(waiting) == bots % 2
        assert all(past.byes[bot] == min(past.byes.values()) for bot in waiting)


@given(SMALL)
def test_from_the_top_down_everybody_gets_the_nearest_score_that_leaves_a_pairing(
    case: tuple[int, int],
) -> None:
    bots, seed = case
    for number, scores, encounters in tournament(bots, rounds_most(bots), seed):
        past = Past(bots, scores, number)
        before = past.least_repeated()
        if before:
            continue  # there the first aim is to meet somebody new
        pairs = pairing(encounters)
        playing = {bot for pair in pairs for bot in pair}
        possible = [
            found
            for found in past.all_pairings(past.names, before)
            if {bot for pair in found for bot in pair} == playing
        ]
        # The encounters stand in the order of choice.
        for encounter in encounters:
            pair = frozenset(encounter.bots)
            chooser = max(pair, key=past.total.__getitem__)
            choosers = [chooser] if past.difference(pair) else sorted(pair)
            best = {
                bot: min(
                    past.difference(other) for found in possible for other in found if bot in other
                )
                for bot in choosers
            }
            assert past.difference(pair) in best.values()
            possible = [found for found in possible if pair in found]
        totals = [max(past.total[bot] for bot in encounter.bots) for encounter in encounters]
        assert totals == sorted(totals, reverse=True)


@given(SMALL)
def test_the_bye_goes_as_low_as_it_can(case: tuple[int, int]) -> None:
    bots, seed = case
    for number, scores, encounters in tournament(bots, rounds_most(bots), seed):
        past = Past(bots, scores, number)
        before = past.least_repeated()
        everybody = set(past.names)
        waiting = everybody - {bot for pair in pairing(encounters) for bot in pair}
        for bot in waiting:
            lowest = min(
                past.total[name]
                for found in past.all_pairings(past.names, before)
                for name in everybody - {one for pair in found for one in pair}
            )
            assert past.total[bot] == lowest


@given(st.integers(2, 40), st.integers(0, 10**6), st.integers(1, 3))
def test_any_field_can_be_paired_in_every_round(bots: int, seed: int, encounters: int) -> None:
    byes = Counter[str]()
    last: Pairing = frozenset()
    ids: list[str] = []
    numbers: dict[frozenset[str], list[int]] = {}
    matches = 0
    rounds = min(rounds_most(bots), 12)
    for number, _, planned in tournament(bots, rounds, seed, encounters):
        pairs = pairing(planned)
        assert not pairs & last
        last = pairs
        byes.update({e.bot for e in field(bots)} - {bot for pair in pairs for bot in pair})
        assert {encounter.round for encounter in planned} == {number}
        legs = [leg for encounter in planned for leg in encounter.legs]
        assert [leg.position for leg in legs] == list(range(len(legs)))
        matches += len(legs)
        ids += [encounter.encounter_id for encounter in planned]
        for encounter in planned:
            numbers.setdefault(frozenset(encounter.bots), []).append(encounter.number)
    assert matches == match_count(bots, rounds, encounters)
    assert len(set(ids)) == len(ids)
    assert all(found == list(range(len(found))) for found in numbers.values())
    if bots % 2:
        assert max(byes.values()) == 1
    else:
        assert not byes


@pytest.mark.parametrize("bots", [200, 199])
def test_many_bots_are_paired_when_most_have_met(bots: int) -> None:
    # Rounds of a round-robin are the past, so that little is left to choose from.
    by_circle = round_robin(field(bots), seats=2, encounters=1, rules="rules")
    per_round, rounds = bots // 2, rounds_most(bots)
    scores = [
        Score(encounter.encounter_id, position // per_round, dict.fromkeys(encounter.bots, 0.5))
        for position, encounter in enumerate(by_circle)
    ]
    for number in (0, rounds // 2, rounds - 2, rounds - 1):
        before = [score for score in scores if score.round < number]
        met = {frozenset(score.points) for score in before}
        assert not pairing(plan(field(bots), before, number)) & met


def test_it_depends_on_nothing_but_entrants_and_scores() -> None:
    for number, scores, encounters in tournament(7, 5, seed=3):
        assert plan(field(7)[::-1], scores[::-1], number) == encounters
    assert len({pairing(plan(field(8), [], 0)) for _ in range(2)}) == 1


def test_the_lot_is_drawn_anew_each_round() -> None:
    # After draws alone all are equal, and whom the lot puts first stands first in the plan.
    changed = 0
    for variant in range(20):
        bots = [Entrant(name, f"{variant}-{name}") for name in "abcdefgh"]
        first = plan(bots, [], 0)
        scores = [Score(e.encounter_id, 0, dict.fromkeys(e.bots, 0.5)) for e in first]
        changed += plan(bots, scores, 1)[0].bots[0] != first[0].bots[0]
    assert changed > 10


def test_deals_are_those_of_a_round_robin() -> None:
    every = {e.encounter_id for e in round_robin(field(6), seats=2, encounters=2, rules="rules")}
    for _, _, encounters in tournament(6, 5, seed=1, encounters=2):
        assert {encounter.encounter_id for encounter in encounters} <= every


def test_a_second_meeting_has_other_deals_and_sits_the_other_way_round() -> None:
    first = plan(field(2), [], 0)[0]
    again = plan(field(2), played([first], 0, Dice(0)), 1)[0]
    assert (again.number, again.bots) == (1, first.bots[::-1])
    assert again.encounter_id != first.encounter_id


def test_a_round_of_many_encounters_is_worth_one_point_and_so_is_a_bye() -> None:
    bots = field(3)
    first = plan(bots, [], 0, encounters=3)
    [winner, loser] = first[0].bots
    [waiting] = {entrant.bot for entrant in bots} - {winner, loser}
    scores = [Score(encounter.encounter_id, 0, {winner: 1, loser: 0}) for encounter in first]
    # The loser is lowest; had the bye counted less than the round, it would be the one to wait.
    [second] = {frozenset(e.bots) for e in plan(bots, scores, 1, encounters=3)}
    assert second == {winner, waiting}


def won(bot: str, pairs: Pairing, number: int) -> Score:
    """The score of the encounter in which this bot beat its opponent."""
    [pair] = [pair for pair in pairs if bot in pair]
    return Score(f"{number}-{bot}", number, {name: float(name == bot) for name in pair})


@pytest.mark.parametrize("variant", range(20))
def test_who_floated_neither_floats_again_nor_meets_one_that_does(variant: int) -> None:
    bots = [Entrant(name, f"{variant}-{name}") for name in "abcdef"]
    first = pairing(plan(bots, [], 0))
    winners = {min(pair) for pair in first}
    scores = [won(bot, first, 0) for bot in winners]
    second = pairing(plan(bots, scores, 1))
    [floating] = [pair for pair in second if len(pair & winners) == 1]
    [high], [low] = floating & winners, floating - winners
    [(top, third)] = [sorted(pair) for pair in second if pair <= winners]
    [lower] = [pair for pair in second if not pair & winners]
    [fourth, _] = sorted(lower, key=lambda bot: frozenset((bot, top)) in first)
    scores += [won(bot, second, 1) for bot in (low, top, fourth)]
    # One bot has 2 points, one none, and of the four between them high and low have floated. The
    # best floats down to the fourth, and the third is not the one that floats to the last.
    third_round = pairing(plan(bots, scores, 2))
    assert frozenset((top, fourth)) in third_round
    assert third_round & {frozenset((high, third)), frozenset((low, third))}


def test_wrong_scores_are_refused_by_name() -> None:
    bots = field(4)
    good = played(plan(bots, [], 0), 0, Dice(0))
    with pytest.raises(ValueError, match=r"round 0: 2 bots have no score \(bot-\d, bot-\d\)"):
        plan(bots, good[:1], 1)
    with pytest.raises(ValueError, match="a score is of round 1: allowed are 0–0"):
        plan(bots, [*good, Score("x", 1, good[0].points)], 1)
    with pytest.raises(ValueError, match="round 0: a score is of bot-0, ghost: allowed are two"):
        plan(bots, [Score("x", 0, {"bot-0": 1, "ghost": 0})], 1)
    crossed = [Score("x", 0, dict.fromkeys([f"bot-{a}", f"bot-{b}"], 0.5)) for a, b in ("01", "12")]
    with pytest.raises(ValueError, match="round 0: bot-1 has two opponents: allowed is one"):
        plan(bots, crossed, 1)
