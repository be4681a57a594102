"""When writes begin: together, but not too many."""

import asyncio
from functools import partial

from referee.service.outbox import Outbox, Writes

TOGETHER = 16


class Stream:
    """Takes messages down in the order in which their writes began."""

    def __init__(self, begun: list[bytes]) -> None:
        self._begun = begun

    async def write(self, message: bytes) -> None:
        """Note it."""
        self._begun.append(message)
        await asyncio.sleep(0)


async def test_writes_begin_in_the_next_round_in_their_order() -> None:
    writes = Writes()
    begun: list[int] = []
    for number in range(TOGETHER - 1):
        writes.begin_soon(partial(begun.append, number))
    assert not begun
    await asyncio.sleep(0)
    assert begun == list(range(TOGETHER - 1))


async def test_those_of_many_do_not_wait_for_the_rest() -> None:
    writes = Writes()
    begun: list[int] = []
    for number in range(2 * TOGETHER + 3):
        writes.begin_soon(partial(begun.append, number))
    assert begun == list(range(2 * TOGETHER))
    await asyncio.sleep(0)
    assert begun == list(range(2 * TOGETHER + 3))
    for _ in range(3):
        await asyncio.sleep(0)
    assert len(begun) == 2 * TOGETHER + 3, "each once"


async def test_who_asks_while_others_begin_has_its_turn_too() -> None:
    writes = Writes()
    begun: list[str] = []

    def first() -> None:
        begun.append("first")
        writes.begin_soon(lambda: begun.append("second"))

    writes.begin_soon(first)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert begun == ["first", "second"]


async def test_messages_of_many_streams_all_go_out_in_order() -> None:
    writes = Writes()
    begun: list[bytes] = []
    boxes = [Outbox(Stream(begun), writes) for _ in range(3 * TOGETHER)]
    for part in range(4):
        for number, box in enumerate(boxes):
            box.put(b"%d.%d" % (number, part))
    for box in boxes:
        assert await box.empty(timeout_s=5)
    for number in range(len(boxes)):
        own = [message for message in begun if message.startswith(b"%d." % number)]
        assert own == [b"%d.%d" % (number, part) for part in range(4)]
