"""What goes wrong in the referee itself is nobody's loss: the match is aborted and told once."""

from collections.abc import Callable

import pytest

from referee.engine.game import RummyGame
from referee.match.outcome import Forfeit
from referee.match.seat_player import Choice
from referee.match.spec import TimeControl
from referee.match.verify import verify
from tests.match.fakes import ScriptedPlayer, Table, lines_of, make_spec

CONTROL = TimeControl(per_decision_ms=1_000, bank_ms=0, reconnect_ms=0)


class OwnError(Exception):
    """An error of the referee's own."""


def fail(*_: object, **__: object) -> None:
    raise OwnError


def answer(table: Table) -> None:
    table.match.choose(table.turn, 1, _choice(table))


def _choice(table: Table) -> Choice:
    return Choice(plan=[table.player.decision.legal_actions[0]])


def be_late(table: Table) -> None:
    table.clock.advance(1_000)


def wait(table: Table) -> None:
    table.clock.advance(60)


def resign(table: Table) -> None:
    table.match.forfeit(table.turn, Forfeit.RESIGN)


def come_back(table: Table) -> None:
    table.match.connection_lost(table.turn)
    table.match.connection_back(table.turn)


FAULTS: dict[str, tuple[type, str, Callable[[Table], None]]] = {
    "an action": (RummyGame, "apply", answer),
    "text of an action": (RummyGame, "text_of", answer),
    "the next observation": (RummyGame, "observe", answer),
    "a forced action": (RummyGame, "forced_action", be_late),
    "telling of events": (ScriptedPlayer, "update", wait),
    "telling of a rejection": (ScriptedPlayer, "rejected", be_late),
    "playing for who left": (RummyGame, "forced_action", resign),
    "telling again": (ScriptedPlayer, "match_starting", come_back),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_own_fault_aborts_the_match(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, method, trigger = FAULTS[fault]
    table = Table(make_spec(3, control=CONTROL)).begin()
    table.may_fault = True
    with monkeypatch.context() as patched:
        patched.setattr(owner, method, fail)
        trigger(table)
    assert len(table.results) == 1
    result = table.results[0]
    assert result.termination == "aborted"
    assert not result.has_result
    assert [type(error) for error in table.faults][:1] == [OwnError]
    assert [seat.forfeit for seat in result.seats if seat.forfeit is not None] == (
        [Forfeit.RESIGN] if trigger is resign else []
    )
    assert lines_of(result.record)[-1]["termination"] == "aborted"
    # And nothing comes after it.
    table.clock.advance(1_000_000)
    assert len(table.results) == 1
    assert table.clock.pending == 0


def test_own_fault_at_the_first_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table()
    table.may_fault = True
    monkeypatch.setattr(RummyGame, "some_legal_actions", fail)
    table.match.start()
    for seat in range(2):
        table.match.ready(seat)
    assert [result.termination.value for result in table.results] == ["aborted"]


def test_result_comes_whatever_the_telling_of_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table().begin()
    table.may_fault = True
    monkeypatch.setattr(ScriptedPlayer, "match_ended", fail)
    table.match.abort("enough")
    assert [result.text for result in table.results] == ["enough"]


def test_aborted_before_it_began() -> None:
    table = Table()
    table.match.abort("changed our mind")
    table.match.start()
    assert [player.starts for player in table.players] == [0, 0]
    assert verify(table.result.record, table.result.record_hash.hex()).problems == ()
