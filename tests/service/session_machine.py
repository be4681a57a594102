"""Bots that say anything at any time to a real play service, with time that is moved by hand."""

import random
from dataclasses import replace
from hashlib import sha256
from typing import Final
from unittest.mock import MagicMock, patch

import grpc
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from referee.match.spec import TimeControl
from referee.service.server import Referee
from rummy.referee.v1 import play_pb2 as pb
from rummy.referee.v1 import rummy_pb2 as cards
from tests.match.fakes import make_spec
from tests.service.fake_stream import settle
from tests.service.session_model import Account, Seen, secrets_of
from tests.service.session_world import LIMITS, MOST_MESSAGES, SessionWorld, seen

CONTROL: Final = TimeControl(
    per_decision_ms=1_000, bank_ms=1_500, startup_ms=5_000, reconnect_ms=3_000
)
RULES: Final = (
    ("basic", {"match_end": "fixed_deals", "deals": 1, "turn_cap_per_seat": 20}),
    ("standard", {"match_end": "fixed_deals", "deals": 2, "hand_size": {"2": 3, "3": 3}}),
    ("traditional", {"turn_cap_per_seat": 20}),
)
UNKNOWN_CASE: Final = b"\xfa\x01\x03abc"
GARBAGE: Final = (b"\xff", b"\x0a\x05a", b"\x1a\x7f\x00", b"\x08", b"\x1a\x03\x0a\x01\xff")
TROUBLES: Final = (
    *("garbage", "flood", "exit", "revoke", "call off", "goodbye"),
    *("end", "break", "end", "break", "stuck", "reads", "reads"),
)
HEADERS: Final = ("", "Bearer", "Bearer ", "Basic abc", "Bearer x\udcff", "Bearer y")
"""None of them names a token of ours."""
_any = st.integers(0, 999)


class SessionMachine(SessionWorld):
    """Every rule is something that a bot, its launcher or an organiser does."""

    @initialize(is_open=st.booleans(), most=st.sampled_from([4, 100]))
    def begin(self, is_open: bool, most: int) -> None:
        """A referee that listens nowhere, and four bots that it knows."""
        self.log = self._capture.__enter__()  # type: ignore[assignment]

        async def make() -> Referee:
            with patch("grpc.aio.server", MagicMock()):
                return Referee(limits=LIMITS, is_open=is_open, max_sessions=most)

        self.referee = self.run(make())
        self.referee.clock = self.clock  # type: ignore[assignment]
        for number in range(4):
            self._issue(f"bot{number}")
        self.gather()

    # --- streams --------------------------------------------------------------------------------

    @rule(pick=_any)
    def open(self, pick: int) -> None:
        """A bot dials, and says hello: a newer stream takes over from an older one."""
        account = self._account(pick // 4)
        if pick % 4 and account in {line.account for line in self._open_lines()}:
            return
        line = self._dial(account, f"Bearer {account.token}")
        self.hello_on(line, "bot", "1")

    @rule()
    def gather(self) -> None:
        """Every bot that is not there dials, and reads what comes."""
        here = {line.account for line in self._open_lines() if line.is_welcome}
        for account in self.accounts:
            if account not in here and not account.is_revoked:
                self.hello_on(self._dial(account, f"Bearer {account.token}"), "bot", "1")
        for line in self._open_lines():
            line.stream.may_write.set()

    @rule(pick=_any)
    def dial(self, pick: int) -> None:
        """A bot dials and says nothing yet."""
        self._dial(self._account(pick), f"bearer {self._account(pick).token}")

    @rule(
        header=st.sampled_from(["", "Bearer", "Bearer ", "Basic abc", "Bearer x\udcff", "Bearer y"])
    )
    def dial_unknown(self, header: str) -> None:
        """Somebody dials with no token of ours."""
        line = self._dial(Account("", header) if self.referee.tokens.is_open else None, header)
        # Who is let in without a name can meet another of the same token.
        line.may_end |= {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.ABORTED}

    @precondition(lambda self: self.lines)
    @rule(pick=_any, bot=st.sampled_from(["bot", "", "y", "z", "ü" * 64, "x" * 65]))
    def hello(self, pick: int, bot: str) -> None:
        """Says hello, for the first time or once more."""
        silent = [line for line in self._open_lines() if not line.said_hello]
        self.hello_on(silent[0] if silent and pick % 10 else self._line(pick), bot, "1")

    @precondition(lambda self: self.lines)
    @rule(pick=_any, trouble=st.sampled_from(TROUBLES), how=st.integers(0, 999))
    def trouble(self, pick: int, trouble: str, how: int) -> None:
        """One of the things that end streams, bots or matches."""
        seen[trouble] += 1
        if trouble == "garbage":
            self.garbage(pick, random.Random(how).randbytes(how % 20))
        elif trouble in ("exit", "revoke", "call off", "flood"):
            getattr(self, trouble.replace(" ", "_"))(pick)
        else:
            self.leave(pick, trouble)

    def leave(self, pick: int, how: str) -> None:
        """Closes its stream, is cut off, says goodbye, stops reading or reads again."""
        line = self._line(pick)
        if how == "goodbye":
            line.may_end.add(None)
            self._say(line, pb.PlayRequest(goodbye=pb.Goodbye(reason="tired")))
        elif how in ("stuck", "reads"):
            getattr(line.stream.may_write, "clear" if how == "stuck" else "set")()
            line.may_end.add(grpc.StatusCode.RESOURCE_EXHAUSTED)
            if line.account is not None and how == "stuck":
                line.account.has_been_stuck = True
            self.run(self._nothing())
        elif not line.is_closed:
            line.is_closed = True
            line.may_end.add(None)
            if how == "end":
                line.stream.end()
            else:
                line.stream.break_off(grpc.aio.UsageError("cut off"))
            self.run(self._nothing())

    # --- messages -------------------------------------------------------------------------------

    @precondition(lambda self: self.lines)
    @rule(pick=_any, match=_any)
    def ready(self, pick: int, match: int) -> None:
        """Is ready for some match, its own or not."""
        match_id = self._match_id(match)
        self._say(self._line(pick), pb.PlayRequest(ready=pb.Ready(match_id=match_id)))

    @precondition(lambda self: self.lines)
    @rule(
        pick=_any,
        match=_any,
        what=st.integers(0, 7),
        number=st.sampled_from([0, 1, 33, 2**32 - 1]),
        times=st.sampled_from([1, 1, 8]),
    )
    def wrong_choice(self, pick: int, match: int, what: int, number: int, times: int) -> None:
        """Answers a match, its own or not, with something that is hardly right."""
        for _ in range(times):
            self._choose_wrongly(pick, match, what, number)
            self.read_all()

    def _choose_wrongly(self, pick: int, match: int, what: int, number: int) -> None:
        line, match_id = self._line(pick), self._match_id(match)
        asked = [
            (one, name)
            for one in self._open_lines()
            for name, known, _ in one.running()
            if known.is_asked
        ]
        if asked and match % 4:
            line, match_id = asked[pick % len(asked)]
        known = line.account.matches.get(match_id) if line.account else None
        decision_id = known.last_decision if known and match % 8 else number
        draw = cards.Action(type=cards.ACTION_TYPE_DRAW_STOCK)
        choice = pb.Choice(match_id=match_id, decision_id=decision_id)
        if what in (0, 1, 2):
            choice.legal_action_index = number
        if what in (2, 3):
            choice.actions.extend([draw] * (number % 40))
        if what in (4, 5):
            choice.actions.extend([draw, cards.Action(type=cards.ActionType.ValueType(number % 9))])
        if what == 6:
            choice.actions.extend([draw] * 1_200)
        self._say(line, pb.PlayRequest(choice=choice))

    @rule(rounds=st.sampled_from([1, 2, 150]), pick=_any)
    def play(self, rounds: int, pick: int) -> None:
        """Everybody who can is ready, and answers what is asked, for some rounds."""
        for _ in range(rounds):
            said = [self._answer_all(line, pick) for line in self._open_lines()]
            self.run(self._nothing())
            self.read_all()
            self._pass(1, 0.04)
            if not any(said):
                break

    @precondition(lambda self: self.lines)
    @rule(pick=_any, nonce=st.sampled_from([0, 1, 2**64 - 1]))
    def ping(self, pick: int, nonce: int) -> None:
        """Asks whether anybody is there; and answers what was not asked."""
        line = self._line(pick)
        line.pings.append(nonce)
        pong = pb.PlayRequest(pong=pb.Pong(nonce=nonce))
        self._say(line, pb.PlayRequest(ping=pb.Ping(nonce=nonce)), pong)

    @precondition(lambda self: self.lines)
    @rule(pick=_any, raw=st.sampled_from([UNKNOWN_CASE, b""]))
    def newer(self, pick: int, raw: bytes) -> None:
        """Sends a message of a newer protocol."""
        self._say(self._line(pick), raw)

    def garbage(self, pick: int, raw: bytes) -> None:
        """Sends bytes that are hardly a message."""
        raw = GARBAGE[pick % len(GARBAGE)] if len(raw) < 5 else raw
        try:
            if pb.PlayRequest.FromString(raw).WhichOneof("message") is not None:
                return
        except Exception:  # noqa: BLE001 - whatever it is, it is no message
            self._line(pick).may_end.add(grpc.StatusCode.INVALID_ARGUMENT)
        self._say(self._line(pick), raw)

    def flood(self, pick: int) -> None:
        """Sends more than is allowed."""
        self._say(self._line(pick), *[pb.PlayRequest(pong=pb.Pong())] * (MOST_MESSAGES + 10))
        self.run(settle(MOST_MESSAGES))

    # --- organisers and time --------------------------------------------------------------------

    @precondition(lambda self: len(self.matches) < 8)
    @rule(pick=_any, seats=st.integers(2, 3), rules=st.sampled_from(RULES), at_once=st.booleans())
    def start(
        self, pick: int, seats: int, rules: tuple[str, dict[str, object]], *, at_once: bool
    ) -> None:
        """A match begins, mostly of bots that are there."""
        alive = [one for one in self.accounts if not one.is_revoked]
        here = [line.account for line in self._open_lines() if line.is_welcome]
        first = pick // 8 % len(alive)
        table = alive[first:] + alive[:first]
        if pick % 8:
            table.sort(key=lambda account: account not in here)
        table = table[:seats]
        number = len(self.matches) + 1
        match_id = f"m-{number}"
        spec = make_spec(seats, *rules, seed=number, control=CONTROL, match_id=match_id)
        own = tuple(
            replace(one, randomness=sha256(f"{match_id} {seat}".encode()).digest())
            for seat, one in enumerate(spec.seats)
        )
        spec = replace(spec, seats=own)
        for spellings in secrets_of(spec).values():
            self.secret.update(spellings)
        for seat, account in enumerate(table):
            account.matches[match_id] = Seen(spec, seat)
        self.seats[match_id] = table
        tokens = [account.token for account in table]
        self.matches[match_id] = self.loop.create_task(self.referee.play(spec, tokens))
        self.run(self._nothing())
        if at_once:
            self.read_all()
            self.play(2, pick)

    @rule(ms=st.sampled_from([1, 60, 400, 1_100, 3_000, 11_000]))
    def time_passes(self, ms: int) -> None:
        """Nobody does anything."""
        self._pass(ms, ms / 1_000)

    @rule(ms=st.sampled_from([20, 100, 300]))
    def stand_still(self, ms: int) -> None:
        """The referee itself loses time."""
        self.clock.stall(ms)

    def exit(self, pick: int) -> None:
        """The launcher tells that a process has ended."""
        account = self._account(pick)
        if not account.is_revoked:
            self.referee.report_exit(account.token, "exit code 1")
            self.run(self._nothing())

    def revoke(self, pick: int) -> None:
        """A token is revoked; the bot gets a new one."""
        account = self._account(pick)
        if account.is_revoked:
            return
        account.is_revoked = True
        for line in self.lines:
            if line.account is account:
                line.may_end |= {None, grpc.StatusCode.UNAUTHENTICATED}
        self.referee.revoke_token(account.token)
        self._issue(account.name)
        self.run(self._nothing())

    def call_off(self, pick: int) -> None:
        """A match is called off."""
        if not self.matches:
            return
        list(self.matches.values())[pick % len(self.matches)].cancel()
        self.run(self._nothing())
