"""Results as a multiset: which kinds of result there were and how often. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tournament.rating.environment import RatedMatch


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """A result without time: bots by place, then name, and their dense ranks from 0."""

    bots: tuple[str, ...]
    ranks: tuple[int, ...]


def kind_of(places: Mapping[str, int]) -> Kind:
    """Return the kind of a result; shared places have equal ranks, gaps in places close."""
    bots = tuple(sorted(places, key=lambda bot: (places[bot], bot)))
    dense = {place: rank for rank, place in enumerate(sorted(set(places.values())))}
    return Kind(bots, tuple(dense[places[bot]] for bot in bots))


def count_kinds(matches: Iterable[RatedMatch]) -> dict[Kind, int]:
    """Return how often each kind of result was, in sorted order: arrival leaves no trace.

    A match of one bot alone says nothing and is left out.
    """
    raw = Counter(tuple(match.places.items()) for match in matches if len(match.places) > 1)
    counts: Counter[Kind] = Counter()
    for places, number in raw.items():
        counts[kind_of(dict(places))] += number
    return dict(sorted(counts.items(), key=lambda item: (item[0].bots, item[0].ranks)))


def connected(bots: Iterable[str], kinds: Iterable[Kind]) -> dict[str, str]:
    """Return for every bot the first name of those that a chain of results ties it to."""
    parent = {bot: bot for bot in sorted(bots)}

    def root(bot: str) -> str:
        while parent[bot] != bot:
            parent[bot] = parent[parent[bot]]
            bot = parent[bot]
        return bot

    for kind in kinds:
        first = root(kind.bots[0])
        for bot in kind.bots[1:]:
            other = root(bot)
            first, later = min(first, other), max(first, other)
            parent[later] = first
    return {bot: root(bot) for bot in parent}
