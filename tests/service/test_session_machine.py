"""Anything that bots can say, at any time, in any order: the service keeps its word."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from referee.match.news import News
from referee.match.runner import Match
from referee.match.seat import Seat
from referee.match.seat_player import Decision
from referee.service.bots import Bot, SeatOfBot
from referee.service.session import Session
from tests.scale import ALL_CASES, cases, repeating
from tests.service.session_machine import SessionMachine
from tests.service.session_world import seen

CASES = 16
_SETTINGS = settings(
    max_examples=25,
    stateful_step_count=50,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
    # Making a failure small takes minutes: that is done when it is repeated.
    phases=[Phase.generate, *(() if ALL_CASES else (Phase.shrink,))],
)
_WANTED = {
    *("stream OK", "stream ABORTED", "stream DEADLINE_EXCEEDED", "stream FAILED_PRECONDITION"),
    *("stream INVALID_ARGUMENT", "stream RESOURCE_EXHAUSTED", "stream UNAUTHENTICATED"),
    *("completed", "forfeit", "aborted", "not_started", "called off"),
    *("forfeit none", "forfeit startup", "forfeit time", "forfeit resign"),
    *("forfeit illegal", "forfeit crash"),
}


def run(case: int) -> None:
    """One part of the search, always the same for the same case."""
    part = type(f"Part{case}", (SessionMachine,), {})
    run_state_machine_as_test(seed(case)(part), settings=_SETTINGS)


def run_all(number: int) -> None:
    """The first parts."""
    for case in range(number):
        run(case)


def test_any_bots_on_any_streams() -> None:
    """Streams end in every way that is documented, and so do matches."""
    seen.clear()
    for case in cases(CASES):
        with repeating(__file__, "test_any_bots_on_any_streams", str(case), case):
            run(case)
    if ALL_CASES:
        assert {name for name in _WANTED if not seen[name]} == set(), seen


# --- faults on purpose --------------------------------------------------------------------------

_ASK = Match._ask
_TELL = News.tell
_REJECT = Seat.reject
_ENDED = SeatOfBot.match_ended
_RESUME = Bot.resume
_HANDLE = Session._handle
_CLOSE = Session.close


def _decisions_with_gaps(match: Match, seat: Seat) -> None:
    seat.decision_id += seat.decision_id == 2
    _ASK(match, seat)


def _events_with_gaps(news: News, seat: Seat, decision: Decision | None = None) -> None:
    news._earlier += seat.decision_id == 3
    _TELL(news, seat, decision)


def _strike_for_stale(seat: Seat, reason: str, text: str, **fields: Any) -> None:
    _REJECT(seat, reason, text, **{**fields, "strikes_left": 1})


def _ended_twice(seat: SeatOfBot, result: Any) -> None:
    _ENDED(seat, result)
    seat._send(seat._messages.match_ended(result))


def _not_told(seat: SeatOfBot, result: Any) -> None:
    seat.bot.seats.pop(result.match_id, None)


def _never_ended(seat: SeatOfBot, result: Any) -> None:
    _ENDED(seat, result)
    seat.bot.seats[result.match_id] = seat


def _wrong_match_is_told(bot: Bot) -> None:
    _RESUME(bot)
    for seat in list(bot.seats.values()):
        for other in seat.match.seats:
            bot.session.send(seat._messages.match_starting(other.number))  # type: ignore[union-attr]


def _fails_on_a_choice(session: Session, message: object) -> None:
    _HANDLE(session, message)
    assert not isinstance(message, bytes) or message[:1] != b"\x1a", "a choice"


def _other_status(session: Session, error: Any = None) -> None:
    _CLOSE(session, None if error is not None and error.reason == "MALFORMED_MESSAGE" else error)


@pytest.mark.parametrize(
    ("owner", "name", "faulty"),
    [
        (Match, "_ask", _decisions_with_gaps),
        (News, "tell", _events_with_gaps),
        (Seat, "reject", _strike_for_stale),
        (SeatOfBot, "match_ended", _ended_twice),
        (SeatOfBot, "match_ended", _never_ended),
        (SeatOfBot, "match_ended", _not_told),
        (Bot, "resume", _wrong_match_is_told),
        (Session, "_handle", _fails_on_a_choice),
        (Session, "close", _other_status),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value),
)
def test_planted_fault_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, faulty: object
) -> None:
    monkeypatch.setattr(owner, name, faulty)
    with pytest.raises((AssertionError, ExceptionGroup)):
        run_all(4)
