"""Serves the runner at the other end of stdin and stdout: `python -m tournament.worker`."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable

from referee.service.event_loop import run
from tournament.worker.messages import LINE_LIMIT_BYTES, Message, encode
from tournament.worker.worker import RefereeLike, Worker


async def _serve(make_referee: Callable[[], RefereeLike], output: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT_BYTES)
    pipe, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer
    )

    def send(message: Message) -> None:
        # A runner that is gone does not read; the end of stdin tells the same.
        with contextlib.suppress(BrokenPipeError):
            left = memoryview(encode(message))
            while left:
                left = left[os.write(output, left) :]

    working = asyncio.current_task()
    assert working is not None
    loop.add_signal_handler(signal.SIGTERM, working.cancel)
    try:
        await Worker(make_referee(), reader, send).run()
    finally:
        pipe.close()


def _make_referee() -> RefereeLike:
    # After stdout is out of reach.
    from referee.service.collector import settle_collector  # noqa: PLC0415
    from referee.service.server import Referee  # noqa: PLC0415

    settle_collector()
    return Referee()


def main(make_referee: Callable[[], RefereeLike] = _make_referee) -> None:
    """Serve the runner at the other end of stdin and stdout."""
    # Stdout is for messages alone: whatever else prints goes to the log.
    output = os.dup(1)
    os.dup2(2, 1)
    with contextlib.suppress(asyncio.CancelledError):
        run(_serve(make_referee, output))


if __name__ == "__main__":
    main()
