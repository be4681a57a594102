"""Pairs that leave nobody over: perfect matchings in a graph, by augmenting paths with blossoms.

The method is Edmonds's: from somebody without a partner a tree of alternating paths grows; where
two of its even branches meet, the odd cycle is shrunk to a point. One search takes at most time
proportional to vertices times edges.
"""

from collections import deque
from collections.abc import Iterable, Sequence


def pairs_by_preference(
    order: Sequence[int], preferences: Sequence[Sequence[int]]
) -> list[tuple[int, int]] | None:
    """Pair everybody, or return None if no choice of pairs leaves nobody over.

    `preferences[v]` are the possible partners of v, best first, and possible both ways. Taken in
    `order`, everybody who has no partner yet gets the best one with whom the rest can be paired.
    """
    matching = _Matching(preferences)
    if not matching.complete(order):
        return None
    pairs = []
    for one in order:
        if matching.is_present(one):
            partner = next(other for other in preferences[one] if matching.settle(one, other))
            pairs.append((one, partner))
    return pairs


class _Matching:
    """A matching in a graph whose settled pairs are taken out one by one."""

    def __init__(self, neighbours: Sequence[Sequence[int]]) -> None:
        self._neighbours = neighbours
        self._mate: list[int | None] = [None] * len(neighbours)
        self._present = [True] * len(neighbours)

    def is_present(self, vertex: int) -> bool:
        return self._present[vertex]

    def complete(self, order: Iterable[int]) -> bool:
        """Give everybody a mate, those first in order their first choice. Tell whether it works."""
        mate = self._mate
        waiting = []
        for one in order:
            if mate[one] is None:
                free = (other for other in self._neighbours[one] if mate[other] is None)
                other = next(free, None)
                if other is None:
                    waiting.append(one)
                else:
                    mate[one], mate[other] = other, one
        # Who has a mate keeps one in every later step; who can't get one now never will.
        return all(mate[one] is not None or self._augment(one) for one in waiting)

    def settle(self, one: int, other: int) -> bool:
        """Take this pair out if the rest can still be paired; else change nothing."""
        if not self._present[other]:
            return False
        mate = self._mate
        left, right = mate[one], mate[other]
        assert left is not None
        assert right is not None
        self._present[one] = self._present[other] = False
        if left == other:
            return True
        mate[left] = mate[right] = None
        if self._augment(left):
            return True
        self._present[one] = self._present[other] = True
        mate[one], mate[left], mate[other], mate[right] = left, one, right, other
        return False

    def _augment(self, root: int) -> bool:
        """Give `root` a mate by changing mates along a path to another who has none."""
        search = _Search(root, self._mate)
        while search.queue:
            here = search.queue.popleft()
            for there in self._neighbours[here]:
                if self._present[there] and search.visit(here, there):
                    search.flip(there)
                    return True
        return False


class _Search:
    """The tree of alternating paths from one vertex. Even vertices stand in the queue once."""

    def __init__(self, root: int, mate: list[int | None]) -> None:
        count = len(mate)
        self._root = root
        self._mate = mate
        self._parent: list[int | None] = [None] * count  # of odd vertices, and inside blossoms
        self._base = list(range(count))  # the vertex that a blossom has shrunk to
        self._is_even = [False] * count
        self._is_even[root] = True
        self.queue = deque([root])

    def visit(self, here: int, there: int) -> bool:
        """Follow an edge from an even vertex; tell whether a path to a free vertex is found."""
        mate = self._mate[there]
        if self._base[here] == self._base[there] or self._mate[here] == there:
            return False
        if self._is_even[there]:
            self._shrink(here, there)
        elif self._parent[there] is None:
            self._parent[there] = here
            if mate is None:
                return True
            self._is_even[mate] = True
            self.queue.append(mate)
        return False

    def flip(self, free: int) -> None:
        """Change mates along the path from the root to `free`."""
        end: int | None = free
        while end is not None:
            before = self._parent[end]
            assert before is not None
            further = self._mate[before]
            self._mate[end], self._mate[before] = before, end
            end = further

    def _shrink(self, one: int, other: int) -> None:
        common = self._common_base(one, other)
        inside: set[int] = set()
        self._mark(one, other, common, inside)
        self._mark(other, one, common, inside)
        for vertex, base in enumerate(self._base):
            if base in inside:
                self._base[vertex] = common
                if not self._is_even[vertex]:
                    self._is_even[vertex] = True
                    self.queue.append(vertex)

    def _common_base(self, one: int, other: int) -> int:
        """Return where the paths from two even vertices to the root first meet."""
        on_path = set()
        for base in self._bases_up(one):
            on_path.add(base)
        return next(base for base in self._bases_up(other) if base in on_path)

    def _bases_up(self, vertex: int) -> Iterable[int]:
        base = self._base[vertex]
        while base != self._base[self._root]:
            yield base
            base = self._base[self._up(base)]
        yield base

    def _up(self, even: int) -> int:
        """Return the even vertex before this one, which is not the root."""
        odd = self._mate[even]
        assert odd is not None
        parent = self._parent[odd]
        assert parent is not None
        return parent

    def _mark(self, vertex: int, across: int, common: int, inside: set[int]) -> None:
        """Collect the blossom's side from `vertex` to its base, and lead it over the new edge."""
        while self._base[vertex] != common:
            odd = self._mate[vertex]
            assert odd is not None
            inside.update((self._base[vertex], self._base[odd]))
            self._parent[vertex] = across
            across = odd
            vertex = self._up(vertex)
