"""Who meets whom on a ladder: what is promised, brute force on small fields, and what it is for."""

import math
from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scale import cases, repeatable, repeating
from tournament.rating.environment import BETA, MU, SIGMA, RatedMatch
from tournament.rating.error_bars import covariance
from tournament.rating.order_free import fit
from tournament.schedule.matchmaking import (
    PATIENCE,
    Candidate,
    Chance,
    Skills,
    choose,
    shuffled,
)

NOISE = 2 * BETA**2


def chance(seed: int) -> Chance:
    return Random(seed).randrange


def skills(means: dict[str, float], covariance: list[float]) -> Skills:
    index = {bot: i for i, bot in enumerate(means)}
    return Skills(index, list(means.values()), covariance, MU, SIGMA**2, NOISE)


@st.composite
def fields(draw: st.DrawFn) -> tuple[list[Candidate], Skills, dict[frozenset[str], int]]:
    size = draw(st.integers(0, 9))
    waiting = [
        Candidate(
            f"bot{i}@1",
            f"bot{draw(st.integers(0, 2 * size))}",
            draw(st.integers(0, 5)),
            draw(st.sampled_from([0, 0, 0, 3, 40])),
        )
        for i in range(size)
    ]
    known = draw(st.lists(st.sampled_from(waiting), unique=True)) if waiting else []
    means = {one.bot: draw(st.floats(0, 50)) for one in known}
    count = len(known)
    rows = [[draw(st.floats(-1, 1)) for _ in range(count)] for _ in range(count)]
    # A matrix times itself is the covariance of something.
    full = [sum(a * b for a, b in zip(one, other, strict=True)) for one in rows for other in rows]
    meetings = {
        frozenset((a.bot, b.bot)): draw(st.integers(0, 3)) for a, b in combinations(waiting, 2)
    }
    return waiting, skills(means, full), meetings


@repeatable
@given(field=fields(), seats=st.integers(2, 4), most=st.integers(0, 5), first=st.integers(0, 3))
def test_tables_hold_what_is_promised(
    field: tuple[list[Candidate], Skills, dict[frozenset[str], int]],
    seats: int,
    most: int,
    first: int,
) -> None:
    waiting, known, met = field

    def chosen(order: list[Candidate]) -> list[tuple[str, ...]]:
        return choose(
            order,
            known,
            lambda a, b: met[frozenset((a, b))],
            seats=seats,
            most=most,
            first=first,
            chance=chance(5),
        )

    tables = chosen(waiting)
    assert tables == chosen(list(reversed(waiting)))  # a function of what it is given
    seated = [bot for table in tables for bot in table]
    assert len(set(seated)) == len(seated)
    assert set(seated) <= {one.bot for one in waiting}
    family = {one.bot: one.family for one in waiting}
    assert all(len({family[bot] for bot in table}) == seats == len(table) for table in tables)
    assert len(tables) <= most
    left = Counter(one.family for one in waiting if one.bot not in seated)
    # It ends because enough were chosen, or because nobody is left who could be seated.
    assert len(tables) == most or len(left) < seats


@repeatable
@given(field=fields(), seed=st.integers())
def test_coverage_is_the_neediest_with_the_nearest_of_those_it_met_least(
    field: tuple[list[Candidate], Skills, dict[frozenset[str], int]], seed: int
) -> None:
    given_, known, met = field
    waiting = [Candidate(one.bot, one.family, one.games) for one in given_]
    tables = choose(
        waiting,
        known,
        lambda a, b: met[frozenset((a, b))],
        seats=2,
        most=1,
        first=0,
        chance=chance(seed),
    )
    allowed = [(a, b) for a, b in combinations(waiting, 2) if a.family != b.family]
    if not allowed:
        assert tables == []
        return
    able = {one.bot: one for pair in allowed for one in pair}
    fewest = min(one.games for one in able.values())

    def cost(a: str, b: str) -> tuple[int, float]:
        return met[frozenset((a, b))], abs(known.mean(a) - known.mean(b))

    [(one, other)] = tables
    options = []
    for seed_, partner in ((one, other), (other, one)):
        others = [bot for bot in able if able[bot].family != able[seed_].family]
        best = min(cost(seed_, bot) for bot in others)
        options.append(able[seed_].games == fewest and cost(seed_, partner) == best)
    assert any(options)


@repeatable
@given(field=fields(), seed=st.integers())
def test_the_other_half_is_the_pair_most_in_doubt(
    field: tuple[list[Candidate], Skills, dict[frozenset[str], int]], seed: int
) -> None:
    given_, known, met = field
    waiting = [Candidate(one.bot, one.family, one.games) for one in given_]
    tables = choose(
        waiting,
        known,
        lambda a, b: met[frozenset((a, b))],
        seats=2,
        most=1,
        first=1,
        chance=chance(seed),
    )
    doubts = {
        (a.bot, b.bot): known.doubt(a.bot, b.bot)
        for a, b in combinations(waiting, 2)
        if a.family != b.family
    }
    if doubts:
        [(one, other)] = tables
        assert known.doubt(one, other) == pytest.approx(max(doubts.values()))


def test_doubt_is_largest_for_even_bots_that_are_little_known() -> None:
    known = skills(
        {"a": 25.0, "b": 25.0, "c": 25.0, "d": 31.0, "e": 31.0}, [1.0, 1.0, 16.0, 16.0, 0.0]
    )
    assert known.doubt("a", "b") < known.doubt("a", "c")  # more variance
    assert known.doubt("c", "d") < known.doubt("a", "c")  # sooner told apart
    assert known.doubt("new", "newer") > known.doubt("a", "c")  # the prior is wide
    assert known.doubt("e", "e") == 0.0
    even = known.doubt("a", "b")
    assert even == pytest.approx(0.5 * 2 / (2 + NOISE))


def test_what_bots_share_is_no_doubt_between_them() -> None:
    apart = skills({"a": 25.0, "b": 26.0}, [4.0, 0.0, 0.0, 4.0])
    shared = skills({"a": 25.0, "b": 26.0}, [4.0, 3.9, 3.9, 4.0])
    assert shared.difference("a", "b")[0] == -1.0
    assert shared.difference("a", "b")[1] == pytest.approx(0.2)
    assert shared.doubt("a", "b") < apart.doubt("a", "b")
    assert apart.doubt("a", "b") == skills({"a": 25.0, "b": 26.0}, [4.0, 4.0]).doubt("a", "b")


def test_half_and_half() -> None:
    """Two are in doubt; the others are known well, and have played less."""
    means = {"x": 25.0, "y": 25.0, "p": 10.0, "q": 11.0, "r": 40.0, "s": 41.0}
    known = skills(means, [9.0, 9.0, 1e-6, 1e-6, 1e-6, 1e-6])
    games = {"x": 9, "y": 9, "p": 1, "q": 1, "r": 1, "s": 1}
    waiting = [Candidate(bot, bot, games[bot]) for bot in means]
    kinds = []
    for first in range(8):
        [table] = choose(
            waiting, known, lambda _a, _b: 0, seats=2, most=1, first=first, chance=chance(first)
        )
        kinds.append(set(table) == {"x", "y"})
    assert kinds == [False, True] * 4


@pytest.mark.parametrize("seats", [2, 3])
def test_nobody_who_stays_waits_for_long(seats: int) -> None:
    """A veteran among newcomers that come and go, with few tables, is seated again and again."""
    for case in cases(20):
        with repeating(__file__, f"test_nobody_who_stays_waits_for_long[{seats}]", "starve", case):
            _nobody_starves(seats, Random(f"starve {case}"))


def _nobody_starves(seats: int, random: Random) -> None:
    bots = [f"b{i}" for i in range(random.randint(seats, 25))]
    games = {bot: random.choice([0, 0, 3, 500]) for bot in bots}
    waited = dict.fromkeys(bots, 0)
    busy: dict[str, int] = {}
    met: Counter[frozenset[str]] = Counter()
    known = skills({bot: random.gauss(MU, 8) for bot in bots}, [random.random()] * len(bots))
    # Everybody overdue before it, and what is fair itself.
    bound = PATIENCE * math.ceil(len(bots) / seats) + len(bots)
    for begun in range(40 * len(bots)):
        for bot in [bot for bot, until in busy.items() if until <= begun]:
            del busy[bot]
        if random.random() < 0.2:
            games[f"new{begun}"], waited[f"new{begun}"] = 0, 0
            gone = random.choice([bot for bot in games if bot.startswith("new")])
            if gone not in busy:
                del games[gone], waited[gone]
        waiting = [Candidate(b, b, games[b], waited[b]) for b in games if b not in busy]
        bound = max(bound, PATIENCE * math.ceil(len(waiting) / seats) + len(waiting))
        tables = choose(
            waiting,
            known,
            lambda a, b: met[frozenset((a, b))],
            seats=seats,
            most=1,
            first=begun,
            chance=random.randrange,
        )
        for candidate in waiting:
            waited[candidate.bot] += bool(tables)
        for table in tables:
            met.update(frozenset(pair) for pair in combinations(table, 2))
            for bot in table:
                games[bot] += 1
                waited[bot] = 0
                busy[bot] = begun + random.randint(1, 3)
        assert max(waited[bot] for bot in bots) <= bound


def test_shuffled_gives_every_order() -> None:
    seen = Counter(tuple(shuffled("abc", chance(seed))) for seed in range(300))
    assert len(seen) == 6
    assert min(seen.values()) > 20


# --- what it is for -------------------------------------------------------------------------------


def ordered_right(kinds: tuple[int, ...], seed: int) -> float:
    """Part of pairs in the right order after 8 encounters a bot, refitted after each."""
    random = Random(f"ladder {seed}")
    bots = [f"b{i:02}" for i in range(16)]
    true = {bot: random.gauss(MU, 6) for bot in bots}
    games = dict.fromkeys(bots, 0)
    met: Counter[frozenset[str]] = Counter()
    matches: list[RatedMatch] = []
    found, known = None, skills({}, [])
    for number in range(16 * 8):
        if number % 16 == 0 and matches:
            found = fit(matches, bots, start=found)
            means = {bot: rating.mu for bot, rating in found.ratings.items()}
            together = [value for row in covariance(found) for value in row]
            known = skills(means, together)
        free = random.sample(bots, 11)  # the others are playing
        [table] = choose(
            [Candidate(bot, bot, games[bot]) for bot in free],
            known,
            lambda a, b: met[frozenset((a, b))],
            seats=2,
            most=1,
            first=kinds[number % len(kinds)],
            chance=random.randrange,
        )
        met[frozenset(table)] += 1
        for leg in range(2):
            shown = {bot: random.gauss(true[bot], BETA) for bot in table}
            first, second = sorted(table, key=lambda bot: -shown[bot])
            matches.append(RatedMatch(2 * number + leg, str(number), {first: 1, second: 2}))
        for bot in table:
            games[bot] += 1
    ratings = fit(matches, bots).ratings
    pairs = list(combinations(bots, 2))
    right = sum((true[a] > true[b]) == (ratings[a].mu > ratings[b].mu) for a, b in pairs)
    return right / len(pairs)


def test_a_field_is_ordered_well_by_half_and_half() -> None:
    """About as well as by the better of its halves alone, whichever that is in a small field."""
    seeds = range(4)
    half, covered, doubted = (
        sum(ordered_right(kinds, seed) for seed in seeds) / len(seeds)
        for kinds in ((0, 1), (0,), (1,))
    )
    assert half > 0.85
    assert half > max(covered, doubted) - 0.03
