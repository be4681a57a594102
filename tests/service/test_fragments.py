"""Bytes by the identity of objects: made once, never those of another, and not kept for ever."""

from referee.service.fragments import Fragments


class Fragile:
    """An object whose bytes tell how often they were made."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.made = 0


def _write(one: Fragile) -> bytes:
    one.made += 1
    return f"{one.name}{one.made}".encode()


def test_bytes_are_made_once_for_each_object() -> None:
    fragments = Fragments[Fragile](_write, 10)
    a, b, twin = Fragile("a"), Fragile("b"), Fragile("a")
    assert fragments.of([a, b, a, twin]) == [b"a1", b"b1", b"a1", b"a1"]
    assert fragments.one(b) == b"b1"
    assert fragments.of([]) == []
    assert (a.made, b.made, twin.made) == (1, 1, 1)


def test_when_there_are_too_many_all_are_made_anew() -> None:
    fragments = Fragments[Fragile](_write, 3)
    many = [Fragile(name) for name in "abcd"]
    assert fragments.of(many) == [b"a1", b"b1", b"c1", b"d1"]
    assert fragments.of(many) == [b"a2", b"b2", b"c2", b"d2"]
    assert len(fragments._kept) <= 3


def test_an_object_that_is_gone_leaves_its_bytes_to_nobody() -> None:
    fragments = Fragments[Fragile](_write, 1_000)
    for number in range(500):  # with ids given away again, were the objects not kept
        assert fragments.one(Fragile(f"{number}-")) == f"{number}-1".encode()
