"""A stream without a network: what the bot sends is put in, what the referee sends is taken out."""

import asyncio
from typing import NoReturn

import grpc

from referee.match.seat_player import Choice
from referee.service.session import Session
from rummy.referee.v1 import play_pb2 as pb


class Aborted(Exception):
    """The call was ended with a status."""

    def __init__(
        self, code: grpc.StatusCode, details: str, metadata: tuple[tuple[str, bytes], ...]
    ) -> None:
        super().__init__(f"{code}: {details}")
        self.code = code
        self.details = details
        self.metadata = metadata


class FakeStream:
    """The servicer's side of a call."""

    def __init__(self, token: str | None = None) -> None:
        self._incoming: asyncio.Queue[object] = asyncio.Queue()
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self.written: list[bytes] = []
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.reads = 0
        """Reads that wait now; never more than one is allowed."""

    # --- the bot's side -------------------------------------------------------------------------

    def put(self, *requests: pb.PlayRequest | bytes) -> None:
        """Send messages."""
        for request in requests:
            raw = request if isinstance(request, bytes) else request.SerializeToString()
            self._incoming.put_nowait(raw)

    def end(self) -> None:
        """Close the stream politely, or be killed: that looks the same."""
        self._incoming.put_nowait(grpc.aio.EOF)

    def break_off(self, error: BaseException) -> None:
        """Let the next read fail."""
        self._incoming.put_nowait(error)

    @property
    def responses(self) -> list[pb.PlayResponse]:
        """What the bot has been sent."""
        return [pb.PlayResponse.FromString(raw) for raw in self.written]

    @property
    def kinds(self) -> list[str | None]:
        """The kinds of what it has been sent."""
        return [response.WhichOneof("message") for response in self.responses]

    # --- the referee's side ---------------------------------------------------------------------

    async def read(self) -> object:
        """The next message."""
        self.reads += 1
        assert self.reads == 1, "two reads at once"
        found = await self._incoming.get()
        self.reads -= 1
        if isinstance(found, BaseException):
            raise found
        return found

    async def write(self, message: bytes) -> None:
        """Take a message, once `may_write` is set."""
        await self.may_write.wait()
        self.written.append(message)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """The token."""
        return self._metadata

    def peer(self) -> str:
        """As gRPC says it of a socket."""
        return "unix:"

    async def abort(
        self,
        code: grpc.StatusCode,
        details: str = "",
        trailing_metadata: tuple[tuple[str, bytes], ...] = (),
    ) -> NoReturn:
        """End the call."""
        raise Aborted(code, details, trailing_metadata)


class Owner:
    """Takes note of what a session passes on."""

    def __init__(self) -> None:
        self.hellos: list[pb.Hello] = []
        self.readies: list[str] = []
        self.choices: list[tuple[str, int, Choice]] = []

    def hello(self, session: Session, hello: pb.Hello) -> None:
        """Welcome it."""
        self.hellos.append(hello)
        welcome = pb.Welcome(session_id=session.name)
        session.send(pb.PlayResponse(welcome=welcome).SerializeToString())

    def ready(self, session: Session, match_id: str) -> None:  # noqa: ARG002
        """Take note."""
        self.readies.append(match_id)

    def choice(
        self,
        session: Session,  # noqa: ARG002
        match_id: str,
        decision_id: int,
        choice: Choice,
    ) -> None:
        """Take note."""
        self.choices.append((match_id, decision_id, choice))


HELLO = pb.PlayRequest(hello=pb.Hello(bot="b", version="1", max_concurrent_matches=4))


async def settle(rounds: int = 30) -> None:
    """Let everything run that can run."""
    for _ in range(rounds):
        await asyncio.sleep(0)
