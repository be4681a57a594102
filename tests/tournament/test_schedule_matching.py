"""Pairs that leave nobody over: found whenever there are any, and the best in order of choice."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tournament.schedule.draw import Dice
from tournament.schedule.matching import pairs_by_preference

Pairs = list[tuple[int, int]]


def all_pairings(left: Sequence[int], choices: Sequence[Sequence[int]]) -> Iterator[Pairs]:
    """Every way to pair those left, each taking its partners in its own order."""
    if not left:
        yield []
        return
    one, *others = left
    for partner in choices[one]:
        if partner in others:
            rest = [other for other in others if other != partner]
            for pairs in all_pairings(rest, choices):
                yield [(one, partner), *pairs]


def choices_of(vertices: int, edges: Sequence[tuple[int, int]], dice: Dice) -> list[list[int]]:
    """Neighbours of each vertex in an order of chance."""
    choices: list[list[int]] = [[] for _ in range(vertices)]
    for one, other in edges:
        for here, there in ((one, other), (other, one)):
            choices[here].insert(dice.below(len(choices[here]) + 1), there)
    return choices


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """A small graph with everybody's choices, and an order of choosing."""
    vertices = draw(st.integers(0, 8))
    possible = list(combinations(range(vertices), 2))
    edges = [edge for edge in possible if draw(st.booleans())]
    order = draw(st.permutations(range(vertices)))
    return list(order), choices_of(vertices, edges, Dice(draw(st.integers(0, 1000))))


@given(graphs())
def test_it_is_what_trying_everything_finds_first(graph: tuple[list[int], list[list[int]]]) -> None:
    # The first of all pairings in the order of choices is the best one, choice by choice.
    order, choices = graph
    assert pairs_by_preference(order, choices) == next(all_pairings(order, choices), None)


@given(st.integers(1, 30), st.integers(0, 60), st.integers(0, 10**6))
def test_a_hidden_pairing_among_many_edges_is_found(half: int, more: int, seed: int) -> None:
    dice = Dice(seed)
    hidden = list(range(2 * half))
    for at in range(len(hidden)):  # a shuffle
        other = at + dice.below(len(hidden) - at)
        hidden[at], hidden[other] = hidden[other], hidden[at]
    edges = {(min(pair), max(pair)) for pair in zip(hidden[::2], hidden[1::2], strict=True)}
    for _ in range(more):
        one, other = dice.below(2 * half), dice.below(2 * half)
        if one != other:
            edges.add((min(one, other), max(one, other)))
    choices = choices_of(2 * half, sorted(edges), dice)
    pairs = pairs_by_preference(range(2 * half), choices)
    assert pairs is not None
    assert sorted(bot for pair in pairs for bot in pair) == list(range(2 * half))
    assert {(min(pair), max(pair)) for pair in pairs} <= edges


@given(st.integers(1, 6), st.integers(1, 6))
def test_two_odd_groups_without_a_bridge_cannot_be_paired(one: int, other: int) -> None:
    sizes = (2 * one - 1, 2 * other - 1)
    edges = list(combinations(range(sizes[0]), 2))
    edges += list(combinations(range(sizes[0], sum(sizes)), 2))
    assert pairs_by_preference(range(sum(sizes)), choices_of(sum(sizes), edges, Dice(0))) is None
    bridged = choices_of(sum(sizes), [*edges, (0, sum(sizes) - 1)], Dice(0))
    assert pairs_by_preference(range(sum(sizes)), bridged) is not None
