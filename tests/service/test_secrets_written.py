"""What is put in words: no log, error text or printed object tells a card, secret or token.

Logs and texts of all that bots can do are looked at in session_machine.py.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock, patch

import pytest
import structlog

from referee.match.outcome import Forfeit
from referee.match.policy import Policy
from referee.match.spec import MatchSpec
from referee.service.logs import configure_logs
from referee.service.messages import MatchMessages
from referee.service.outbox import Writes
from referee.service.server import Referee
from referee.service.session import Limits, Session
from tests.match.fakes import Table, make_spec
from tests.service.fake_stream import FakeStream, Owner
from tests.service.hidden_pair import BAD_CHOICES
from tests.service.session_model import CARD, secrets_of

SPEC = make_spec(3)


def betrayed(text: str, spec: MatchSpec) -> list[str]:
    """Names of the secrets of a match that stand in a text, in any spelling."""
    return [
        name for name, spellings in secrets_of(spec).items() if any(s in text for s in spellings)
    ]


def test_secrets_are_found_in_any_spelling() -> None:
    spec = SPEC
    for told in (spec.secret.hex(), repr(spec.salt), str({"a": spec.seats[1].randomness})):
        assert len(betrayed(f"x{told}y", spec)) == 1
    assert betrayed(spec.secret.hex().upper(), spec) == ["secret"]
    assert not betrayed("nothing", spec)


def _finished(spec: MatchSpec) -> Table:
    table = Table(spec).begin()
    table.play_turn()
    table.illegal()
    for seat in (0, 1):
        table.match.forfeit(seat, Forfeit.RESIGN, "tired")
    return table


_PRINTED: dict[str, Callable[[], object]] = {
    "the match": lambda: Table(SPEC).begin().match,
    "a match that is over": lambda: _finished(SPEC).match,
    "the game": lambda: Table(SPEC).begin().game,
    "the shuffler": lambda: Table(SPEC).game.state.shuffler,
    "the clock of a seat": lambda: Table(SPEC).begin().match.seats[0].clock,
    "the messages": lambda: MatchMessages(SPEC, Policy()),
    "the policy": Policy,
    "the record": lambda: _finished(SPEC).match._record,
    "the spec": lambda: SPEC,
    "a seat of the spec": lambda: SPEC.seats[0],
    "the result": lambda: _finished(SPEC).results[0],
}


@pytest.mark.parametrize("name", _PRINTED)
def test_printed_objects_tell_no_secret(name: str) -> None:
    printed = _PRINTED[name]()
    assert not betrayed(f"{printed!r} {printed}", SPEC)


async def test_printed_service_tells_no_token() -> None:
    with patch("grpc.aio.server", MagicMock()):
        referee = Referee(is_open=True)
    token = referee.issue_token("bot", "1")
    bot = referee.bot(token)
    session = Session(FakeStream(token), Owner(), Limits(), Writes(), "s1")
    for printed in (referee, referee.tokens, referee._play, bot, bot.identity, session):
        assert token not in f"{printed!r} {printed}"


def test_texts_of_rejections_name_only_what_was_tried() -> None:
    """That they do not depend on hidden cards is tested with all else that a seat is sent."""
    table = Table(SPEC).begin()
    for choice in BAD_CHOICES[:3]:
        table.choose(choice)
    told = [rejected.text for player in table.players for rejected in player.rejections]
    assert len(told) == 3
    assert not any(CARD.search(text) or betrayed(text, SPEC) for text in told)


# --- logs ---------------------------------------------------------------------------------------


def _logged(monkeypatch: pytest.MonkeyPatch, folder: Path, *, is_terminal: bool) -> str:
    """What is logged when the referee itself fails in the middle of a match."""
    written = os.open(folder / "log", os.O_WRONLY | os.O_CREAT)
    monkeypatch.setattr(os, "isatty", lambda _: is_terminal)
    before = structlog.get_config()
    try:
        configure_logs(to=written)
        log = structlog.get_logger()
        table = Table(SPEC).begin()
        table.may_fault = True

        def on_fault(error: Exception) -> None:
            log.error("the referee failed", match_id=SPEC.match_id, exc_info=error)

        table.match._on_fault = on_fault
        table.game.state.stock = [99]  # No such card.
        monkeypatch.setattr("referee.engine.game.apply", _failing(table))
        table.play()
        assert table.is_over
    finally:
        structlog.configure(**before)
        os.close(written)
    text = re.sub(r"\x1b\[[0-9;]*m", "", (folder / "log").read_text())
    hands = [str(hand) for hand in table.game.state.hands]
    assert "the referee failed" in text
    return "; ".join([*betrayed(text, SPEC), *(f"hand {hand}" for hand in hands if hand in text)])


def _failing(table: Table) -> Callable[..., None]:
    def apply(state: object, action: object) -> None:
        hands = table.game.state.hands
        raise RuntimeError(f"{len(hands)} hands, {type(state).__name__}, {type(action).__name__}")

    return apply


def test_failure_is_logged_without_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not _logged(monkeypatch, tmp_path, is_terminal=False)


def test_failure_is_shown_on_a_terminal_without_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert not _logged(monkeypatch, tmp_path, is_terminal=True)
