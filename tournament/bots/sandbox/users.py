"""Users without a name, one for each bot that runs, where the launcher may become anybody."""

import os
import threading
from pathlib import Path

_FIRST = 1_000_000_000
"""Above what systems give to people, services and containers."""
_SLOTS = 64
"""Of each launcher: processes that it has at once, before two of them share a user."""
_LAUNCHERS = 4_194_304
"""Process ids are smaller."""


class Users:
    """Gives out numbers of users: no two at once to one launcher, nor to two launchers."""

    def __init__(self, first: int = _FIRST, count: int = _SLOTS * _LAUNCHERS) -> None:
        self._first = first
        self._count = count
        self._lock = threading.Lock()
        self._taken: set[int] = set()
        self._next = 0

    def take(self) -> int:
        """Return a number that is not in use here."""
        with self._lock:
            for _ in range(_SLOTS):
                slot = self._next
                self._next = (self._next + 1) % _SLOTS
                if slot not in self._taken:
                    break
            self._taken.add(slot)
        return self._first + (os.getpid() * _SLOTS + slot) % self._count

    def give_back(self, user: int) -> None:
        """Let the number be used again."""
        with self._lock:
            self._taken.discard((user - self._first - os.getpid() * _SLOTS) % self._count % _SLOTS)


def find_users(uid_map: Path = Path("/proc/self/uid_map")) -> Users:
    """Return users that this user namespace knows: a container may know few numbers."""
    ranges = [tuple(map(int, line.split())) for line in uid_map.read_text().splitlines()]
    first, count = max(((inside, count) for inside, _, count in ranges), key=lambda one: one[1])
    if first + count >= _FIRST + _SLOTS * _LAUNCHERS:
        return Users()
    half = max(1, count // 2)  # the upper one: the lower numbers are those of people
    return Users(first + count - half, half - half % _SLOTS or half)
