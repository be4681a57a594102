"""Bytes of objects that appear in many messages, made once for each object."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Fragments(Generic[_T]):
    """What `write` makes of objects that do not change, by their identity.

    The objects are kept beside their bytes, so that no id is reused. When there are more than
    `most` all are forgotten.
    """

    __slots__ = ("_bytes", "_kept", "_most", "_write")

    def __init__(self, write: Callable[[_T], bytes], most: int) -> None:
        self._write = write
        self._most = most
        self._bytes: dict[int, bytes] = {}
        self._kept: list[_T] = []

    def of(self, objects: Iterable[_T]) -> list[bytes]:
        """The bytes of each, in order."""
        known = self._bytes
        try:
            return [known[id(one)] for one in objects]
        except KeyError:
            return [self.one(one) for one in objects]

    def one(self, one: _T) -> bytes:
        """The bytes of one object."""
        found = self._bytes.get(id(one))
        if found is None:
            if len(self._kept) >= self._most:
                self._bytes.clear()
                self._kept.clear()
            found = self._bytes[id(one)] = self._write(one)
            self._kept.append(one)
        return found
