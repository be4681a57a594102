"""Known numbers of TrueSkill match by match, and no dependence on the order of arrival."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.rating.environment import RatedMatch, Rating, make_environment
from tournament.rating.sequential import rate

CLASSIC = make_environment(draw_probability=0.10, tau=25 / 300)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((1, 2), [(29.396, 7.171), (20.604, 7.171)]),
        ((1, 1), [(25.0, 6.458), (25.0, 6.458)]),
        ((1, 2, 3), [(31.675, 6.656), (25.0, 6.208), (18.325, 6.656)]),
        ((1, 2, 3, 4), [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]),
    ],
)
def test_known_numbers(places: tuple[int, ...], expected: list[tuple[float, float]]) -> None:
    match = RatedMatch(0, "e", {f"bot-{index}": place for index, place in enumerate(places)})
    ratings = rate([match], environment=CLASSIC)
    assert [(round(r.mu, 3), round(r.sigma, 3)) for r in ratings.values()] == expected


def test_eight_seats_known_numbers() -> None:
    match = RatedMatch(0, "e", {f"bot-{place}": place for place in range(1, 9)})
    means = [round(r.mu, 3) for r in rate([match], environment=CLASSIC).values()]
    assert means == [36.771, 32.242, 29.074, 26.322, 23.678, 20.926, 17.758, 13.229]


def test_the_environment_in_use_has_no_drift_and_few_draws() -> None:
    environment = make_environment()
    assert (environment.mu, environment.sigma, environment.beta) == (25, 25 / 3, 25 / 6)
    assert (environment.tau, environment.draw_probability) == (0, 0.01)


def test_a_bot_without_matches_has_the_prior() -> None:
    assert rate([], ["b", "a"]) == {"a": Rating(), "b": Rating()}
    assert Rating().conservative == 0


@given(st.lists(st.permutations([1, 2, 3]), min_size=1, max_size=12), st.randoms())
def test_the_order_of_arrival_changes_nothing(
    results: list[list[int]], shuffler: random.Random
) -> None:
    matches = [
        RatedMatch(position, "e", dict(zip("abc", places, strict=True)))
        for position, places in enumerate(results)
    ]
    shuffled = [
        RatedMatch(m.position, "e", dict(shuffler.sample(list(m.places.items()), 3)))
        for m in matches
    ]
    shuffler.shuffle(shuffled)
    assert rate(shuffled) == rate(matches)  # to the last bit


def test_a_hundred_to_nothing_and_a_draw_after_it_can_be_rated() -> None:
    matches = [RatedMatch(position, "e", {"a": 1, "b": 2}) for position in range(500)]
    matches.append(RatedMatch(500, "e", {"a": 1, "b": 1}))
    ratings = rate(matches)
    assert ratings["a"].mu > ratings["b"].mu
    assert 0 < ratings["a"].sigma < 25 / 3
