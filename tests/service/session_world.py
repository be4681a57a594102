"""A real play service around fake streams, and what always holds whatever bots say to it."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

import grpc
import structlog
from hypothesis.stateful import RuleBasedStateMachine, invariant

from referee.match.outcome import MatchResult
from referee.match.verify import verify
from referee.service.server import Referee
from referee.service.session import Limits
from rummy.referee.v1 import play_pb2 as pb
from tests.match.fakes import FakeClock
from tests.service.fake_stream import Aborted, FakeStream, settle
from tests.service.session_model import CARD, Account, Line

MOST_MESSAGES: Final = 300
"""Of one stream, in ten seconds."""
LIMITS: Final = Limits(max_messages_per_second=MOST_MESSAGES // 10, max_backlog_bytes=40_000)
seen: Counter[str] = Counter()
"""What has come up, over all runs."""
_T = TypeVar("_T")


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time can be moved on."""

    ahead_s = 0.0

    def time(self) -> float:
        """Monotonic, and ahead by what it was moved."""
        return super().time() + self.ahead_s


class SessionWorld(RuleBasedStateMachine):
    """The referee, its streams, and the checks; the rules are in session_machine.py."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = MovedLoop()
        self.clock = FakeClock()
        self.log: list[dict[str, Any]] = []
        self.lines: list[Line] = []
        self.calls: dict[Line, asyncio.Task[None]] = {}
        self.matches: dict[str, asyncio.Task[MatchResult]] = {}
        self.seats: dict[str, list[Account]] = {}
        self.checked: set[str] = set()
        self.secret: set[str] = set()
        """What must not stand in any text."""
        self.log_read = 0
        self.ended: set[Line] = set()
        self.accounts: list[Account] = []
        self.referee: Referee
        self._capture = structlog.testing.capture_logs()

    def run(self, doing: Coroutine[Any, Any, _T]) -> _T:
        """Let the event loop do something, and all that follows from it at once."""

        async def do() -> _T:
            found = await doing
            await settle(40)
            return found

        return self.loop.run_until_complete(do())

    async def _nothing(self) -> None:
        pass

    def _issue(self, name: str) -> None:
        token = self.referee.issue_token(name, "1")
        self.secret.add(token)
        self.accounts.append(Account(name, token))

    def _account(self, pick: int) -> Account:
        return self.accounts[pick % len(self.accounts)]

    def _line(self, pick: int) -> Line:
        """A stream: mostly one that is open and welcome."""
        some = self._open_lines()
        greeted = [line for line in some if line.is_welcome]
        found = greeted if pick % 10 > 1 and greeted else some if pick % 10 and some else self.lines
        return found[pick // 10 % len(found)]

    def _match_id(self, pick: int) -> str:
        known = [*self.matches, "nonsense", "", "x" * 500]
        return known[pick % len(known)]

    def _say(self, line: Line, *messages: pb.PlayRequest | bytes) -> None:
        self._put(line, *messages)
        if not line.said_hello:
            line.may_end.add(grpc.StatusCode.FAILED_PRECONDITION)
        self.run(self._nothing())

    def _put(self, line: Line, *messages: pb.PlayRequest | bytes) -> None:
        line.stream.put(*messages)
        line.sent += len(messages)
        if line.sent > MOST_MESSAGES:
            line.may_end.add(grpc.StatusCode.RESOURCE_EXHAUSTED)

    def _open_lines(self) -> list[Line]:
        return [line for line in self.lines if not self.calls[line].done() and not line.is_closed]

    def _dial(self, account: Account | None, header: str) -> Line:
        stream = FakeStream("t")
        stream._metadata = (("authorization", header),) if header else ()
        line = Line(account, stream)
        if account is not None and account.is_revoked:
            line.may_end.add(grpc.StatusCode.UNAUTHENTICATED)
        if len(self.referee._play._sessions) >= self.referee._play._max_sessions:
            line.may_end.add(grpc.StatusCode.RESOURCE_EXHAUSTED)
        call = self.referee._play._play(None, stream)  # type: ignore[arg-type]
        self.lines.append(line)
        self.calls[line] = self.loop.create_task(call)
        self.run(self._nothing())
        return line

    def hello_on(self, line: Line, bot: str, version: str) -> None:
        """Say hello on a stream; it takes over from others of the same bot."""
        if line.said_hello:
            line.may_end.add(grpc.StatusCode.FAILED_PRECONDITION)
        if len(bot) > 64:
            line.may_end.add(grpc.StatusCode.INVALID_ARGUMENT)
        if line.account is not None and line.account.is_revoked:
            line.may_end.add(grpc.StatusCode.UNAUTHENTICATED)
        for other in self.lines:
            if other is not line and other.account is line.account:
                other.may_end.add(grpc.StatusCode.ABORTED)
        line.said_hello = True
        self._say(line, pb.PlayRequest(hello=pb.Hello(bot=bot, version=version)))

    def _answer_all(self, line: Line, pick: int) -> bool:
        """Answer what is asked on a stream; whether anything was."""
        said = line.sent
        for match_id, known, told in line.running():
            decision = known.decision
            if not told.is_ready:
                told.is_ready = True
                self._put(line, pb.PlayRequest(ready=pb.Ready(match_id=match_id)))
            elif known.is_asked and decision is not None:
                known.is_asked = False
                choice = pb.Choice(match_id=match_id, decision_id=decision.decision_id)
                index = (pick + decision.decision_id * 7) % len(decision.legal_actions)
                if pick % 3:
                    choice.legal_action_index = index
                else:
                    choice.actions.append(decision.legal_actions[index])
                self._put(line, pb.PlayRequest(choice=choice))
        return line.sent > said

    def _pass(self, ms: int, loop_s: float) -> None:
        """Time of the matches, and of the event loop."""
        for line in self.lines:
            if not line.said_hello:
                line.may_end.add(grpc.StatusCode.DEADLINE_EXCEEDED)
        self.loop.ahead_s += loop_s
        self.clock.advance(ms)
        self.run(self._nothing())

    # --- what always holds ----------------------------------------------------------------------

    @invariant()
    def read_all(self) -> None:
        """Every message is one that the contract allows."""
        for line in self.lines:
            line.read()

    @invariant()
    def log_is_calm_and_tells_nothing(self) -> None:
        """The referee never fails, and what it logs names cards only of who was refused."""
        for line in self.log[self.log_read :]:
            assert line["log_level"] not in ("error", "critical"), line
            text = repr(line)
            self._check_text(text)
            assert line["event"] == "rejected" or not CARD.search(text), text
        self.log_read = len(self.log)

    def _check_text(self, text: str) -> None:
        told = [secret for secret in self.secret if secret in text]
        assert not told, f"{told} in {text}"

    @invariant()
    def streams_end_as_documented(self) -> None:
        """With a status that something gave rise to."""
        for line, call in self.calls.items():
            if call.done() and line not in self.ended:
                self.ended.add(line)
                error = call.exception()
                assert error is None or isinstance(error, Aborted), error
                code = error.code if error is not None else None
                self._check_text(f"{error} {getattr(error, 'metadata', '')}")
                assert code in line.may_end, f"ended with {code}, not {line.may_end}"
                seen[f"stream {code.name if code else 'OK'}"] += 1

    @invariant()
    def results_are_right(self) -> None:
        """The record says what happened, and every bot that was there was told so."""
        self.read_all()
        for match_id, task in self.matches.items():
            if not task.done() or match_id in self.checked:
                continue
            self.checked.add(match_id)
            if task.cancelled():
                seen["called off"] += 1
                self._all_were_told(match_id)
                continue
            result = task.result()
            assert verify(result.record, result.record_hash.hex()).problems == ()
            seen[result.termination.value] += 1
            self._all_were_told(match_id)
            for seat, account in enumerate(self.seats[match_id]):
                account.matches[match_id].match_ended(result)
                seen[f"forfeit {result.seats[seat].forfeit or 'none'}"] += 1

    def _all_were_told(self, match_id: str) -> None:
        """Whoever was told that it began, and is still there and reads, knows that it is over."""
        for line in self._open_lines():
            if line.stream.may_write.is_set():
                assert match_id not in [name for name, _, _ in line.running()]

    def teardown(self) -> None:
        """All matches are called off and all streams end: nothing is left."""
        if not hasattr(self, "referee"):
            return
        try:
            self._end()
        finally:
            self._capture.__exit__(None, None, None)
            for call in self.calls.values():
                if call.done() and not call.cancelled():
                    call.exception()  # Looked at: nothing complains of it later.
            self.loop.close()

    def _end(self) -> None:
        for task in self.matches.values():
            task.cancel()
        for line in self.lines:
            line.stream.may_write.set()
            line.may_end.add(None)
            line.stream.end()
        for _ in range(3):
            self.run(settle(100))
            self.loop.ahead_s += 2
        self.read_all()
        self.streams_end_as_documented()
        self.results_are_right()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.run(settle(10))
        assert not left, f"tasks are left: {left}"
        assert self.clock.pending == 0, "timers are left"
        assert not self.referee.running
