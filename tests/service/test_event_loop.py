"""The loop of a process that serves: what gRPC woke it with is taken at once, none is lost."""

import asyncio
import socket
from functools import partial

import grpc
import pytest

from referee.service.event_loop import ServingLoop, run

PATIENCE_S = 30.0


class Reader:
    """Reads a byte each time, as gRPC does."""

    def __init__(self) -> None:
        self.mine, self.other = socket.socketpair()
        self.mine.setblocking(False)
        self.called = 0
        self.read = b""

    def on_wake(self, _loop: object = None) -> None:
        """There is something."""
        self.called += 1
        self.read += self.mine.recv(1)

    def close(self) -> None:
        """Both ends."""
        self.mine.close()
        self.other.close()


class GrpcReader(Reader):
    """One that counts as gRPC's."""

    __module__ = "grpc._cython.cygrpc"


def loop_of_test() -> ServingLoop:
    """The running loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ServingLoop)
    return loop


async def woken(reader: Reader, number: int, *, merges: bool = True) -> None:
    """Wake it so many times at once, and let the loop go round."""
    loop = loop_of_test()
    loop.merges_wakes = merges
    loop.add_reader(reader.mine, partial(reader.on_wake, loop))
    try:
        reader.other.send(bytes(range(1, number + 1)))
        for _ in range(number + 3):
            await asyncio.sleep(0)
    finally:
        loop.remove_reader(reader.mine)
        reader.close()


@pytest.mark.parametrize("number", [1, 2, 200])
def test_grpcs_reader_is_called_once_and_finds_the_last_byte(number: int) -> None:
    reader = GrpcReader()
    run(woken(reader, number))
    assert (reader.called, reader.read) == (1, bytes([number]))


def test_switched_off_it_is_called_for_each_byte() -> None:
    reader = GrpcReader()
    run(woken(reader, 5, merges=False))
    assert (reader.called, reader.read) == (5, b"\1\2\3\4\5")


def test_other_readers_get_all_that_is_theirs() -> None:
    reader = Reader()
    run(woken(reader, 5))
    assert (reader.called, reader.read) == (5, b"\1\2\3\4\5")


def test_more_bytes_than_one_look_sees_are_taken_by_the_next() -> None:
    async def flooded(reader: Reader) -> None:
        loop = loop_of_test()
        loop.add_reader(reader.mine, reader.on_wake)
        reader.other.send(bytes(10_000))
        for _ in range(10):
            await asyncio.sleep(0)
        loop.remove_reader(reader.mine)
        with pytest.raises(BlockingIOError):
            reader.mine.recv(1)
        reader.close()

    reader = GrpcReader()
    run(flooded(reader))
    assert reader.called == 3


async def echoes(calls: int) -> list[bytes]:
    """What a server says to so many calls at the same time."""

    async def echo(request: bytes, _context: object) -> bytes:
        return request

    server = grpc.aio.server()
    method: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(echo)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("Test", {"Echo": method}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/Test/Echo")
            asked = [call(b"%d" % number, timeout=PATIENCE_S) for number in range(calls)]
            return [await one for one in asked]
    finally:
        await server.stop(0)


def test_grpc_itself_is_woken_by_such_a_reader_and_all_calls_are_answered() -> None:
    """If gRPC wakes the loop in another way one day, this says so."""
    woke: list[object] = []

    class Counting(ServingLoop):
        def _on_wakes(self, wakes: socket.socket, take_events: object) -> None:
            woke.append(wakes)
            super()._on_wakes(wakes, take_events)  # type: ignore[arg-type] # it is what came

    with asyncio.Runner(loop_factory=Counting) as runner:
        assert runner.run(echoes(500)) == [b"%d" % number for number in range(500)]
    assert woke
    assert len(set(map(id, woke))) == 1
