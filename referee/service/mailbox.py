"""What stands in for a stream where there is none: messages wait until they are taken."""

import asyncio
import contextlib
from collections import deque

import grpc

from referee.service.errors import refuse
from rummy.referee.v1 import play_pb2 as pb

_MOST_BYTES = 1 << 20
"""Messages that wait for a bot. More are held back, and count as its backlog."""


class Mailbox:
    """The stream of a session whose bot comes by: `read` and `write` are the session's side."""

    def __init__(self) -> None:
        self._incoming: asyncio.Queue[object] = asyncio.Queue()
        self._messages: deque[bytes] = deque()
        self._bytes = 0
        self._taken = 0
        """Messages that the bot has taken in."""
        self._sent = 0
        """Messages that have been handed out, those included that were taken."""
        self._changed = asyncio.Event()
        """A message has come, or none will come any more."""
        self._has_room = asyncio.Event()
        self._has_room.set()
        self.is_closed = False

    # --- the session's side ---------------------------------------------------------------------

    async def read(self) -> object:
        """The next message from the bot as bytes, or grpc.aio.EOF."""
        return await self._incoming.get()

    async def write(self, message: bytes) -> None:
        """Keep a message for the bot; waits while too much is kept."""
        await self._has_room.wait()
        if self.is_closed:
            raise BrokenPipeError
        self._messages.append(message)
        self._bytes += len(message)
        if self._bytes > _MOST_BYTES:
            self._has_room.clear()
        self._changed.set()

    def close(self) -> None:
        """The session is over: no message comes any more, and none is read."""
        self.is_closed = True
        self.end()
        self._has_room.set()
        self._changed.set()

    # --- the bot's side -------------------------------------------------------------------------

    def deliver(self, request: pb.PlayRequest) -> None:
        """Hand the session a message from the bot; one that is over gets none."""
        if not self.is_closed:
            self._incoming.put_nowait(request.SerializeToString())

    def end(self) -> None:
        """The bot is gone."""
        self._incoming.put_nowait(grpc.aio.EOF)

    def take(self, number: int) -> None:
        """Forget the messages up to this number; a match that starts among them is `ready`.

        Raises CallError if not as many have been handed out.
        """
        if number > self._sent:
            raise refuse(
                "BAD_TAKEN", f"taken is {number}: allowed are 0–{self._sent}, as were sent"
            )
        while self._taken < number:
            message = self._messages.popleft()
            self._taken += 1
            self._bytes -= len(message)
            response = pb.PlayResponse.FromString(message)
            if response.HasField("match_starting"):
                match_id = response.match_starting.match_id
                self.deliver(pb.PlayRequest(ready=pb.Ready(match_id=match_id)))
        if self._bytes <= _MOST_BYTES:
            self._has_room.set()
        if not self._messages and not self.is_closed:
            self._changed.clear()

    async def wait(self, timeout_s: float) -> None:
        """Wait until there is a message, or none will come any more, or the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()

    @property
    def has_news(self) -> bool:
        """Whether a message waits that has never been handed out."""
        return self._taken + len(self._messages) > self._sent

    def hand_out(self) -> tuple[list[pb.PlayResponse], int]:
        """The messages that were not taken, and the number of the last one."""
        messages = [pb.PlayResponse.FromString(message) for message in self._messages]
        self._sent = self._taken + len(messages)
        return messages, self._sent
