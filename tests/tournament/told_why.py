"""Matches between two bots in memory, misbehaving as a test says, and stored to be asked about."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from referee.engine.actions import DRAW_STOCK, discard
from referee.engine.cards import cards_of
from referee.match.outcome import Forfeit, MatchResult
from referee.match.seat_player import Choice
from referee.match.spec import TimeControl
from tests.match.fakes import Table, make_spec
from tests.tournament.fakes import store_plan
from tournament.runner.run import log_folder
from tournament.store.store import Store

CONTROL = TimeControl(per_decision_ms=1_000, bank_ms=500, startup_ms=4_000, reconnect_ms=2_000)
RULES: Mapping[str, object] = {"match_end": "fixed_deals", "deals": 3}
BOTS = ("bot0", "bot1")
"""As tests/match/fakes.py names them, by seat."""


def new_table(*, seats: int = 2, preset: str = "basic", **overrides: object) -> Table:
    """Return a match that has not begun."""
    return Table(make_spec(seats, preset, {**RULES, **overrides}, control=CONTROL, seed=3))


def draw_and_discard(table: Table) -> None:
    """Play a turn that melds nothing, and thinks for 3 ms."""
    table.clock.advance(3)
    table.plan(DRAW_STOCK)
    table.clock.advance(2)
    table.plan(discard(table.own_card()))


def absent_card(table: Table) -> int:
    """Return a card that the seat to act does not hold."""
    own = cards_of(table.game.state.hands[table.turn])
    return next(card for card in range(51, -1, -1) if card not in own)


def illegal(table: Table) -> None:
    """Seat 0 gives four answers of four kinds that are refused."""
    table.begin().play_until_turn_of(0)
    table.choose(Choice(index=10_000))
    table.clock.advance(40)
    table.plan(discard(table.own_card()))
    table.choose(Choice(plan=[DRAW_STOCK] * 33))
    table.clock.advance(7)
    table.plan(DRAW_STOCK, discard(absent_card(table)))


def late(table: Table) -> None:
    """Seat 0 never answers in time."""
    table.begin()
    for _ in range(3):
        table.play_until_turn_of(0)
        table.clock.advance(2_000)


def crash(table: Table) -> None:
    """The process of seat 0 ends when it is asked to play after its draw."""
    table.begin().play_until_turn_of(0)
    table.plan(DRAW_STOCK)
    table.match.forfeit(0, Forfeit.CRASH, "no process is left")


def crash_at_once(table: Table) -> None:
    """The process of the seat that is to act first ends before its first answer."""
    table.begin()
    table.match.forfeit(table.turn, Forfeit.CRASH, "no process is left")


def disconnect(table: Table) -> None:
    """Seat 0 loses its connection while it is asked, and stays away."""
    table.begin().play_until_turn_of(0)
    table.clock.advance(250)
    table.match.connection_lost(0)
    table.clock.advance(10_000)


def startup(table: Table) -> None:
    """Seat 0 is never ready."""
    table.match.start()
    table.match.ready(1)
    table.clock.advance(5_000)


def nobody(table: Table) -> None:
    """No seat is ever ready."""
    table.match.start()
    table.clock.advance(5_000)


def resign(table: Table) -> None:
    """Seat 0 says goodbye while the other one is to act."""
    table.begin().play_until_turn_of(0)
    draw_and_discard(table)
    table.match.forfeit(0, Forfeit.RESIGN)


def protocol(table: Table) -> None:
    """Seat 0 has its stream closed twice for what it sent."""
    table.begin().play_until_turn_of(0)
    for _ in range(2):
        table.match.protocol_broken(0, "hello came twice")
        table.match.connection_back(0)


def points(table: Table) -> None:
    """Seat 0 melds nothing, and thinks longer; seat 1 melds by chance, and wins by points."""
    chance = random.Random(1)
    table.begin()
    while not table.is_over:
        legal = table.player.decision.legal_actions
        if table.turn == 0:
            table.clock.advance(30 + table.player.decision.decision_id)
            table.plan(chance.choice([one for one in legal if one.size < 2]))
        else:
            melds = [one for one in legal if one.size > 1]
            table.plan(chance.choice(melds or legal))


ENDINGS: Mapping[str, Callable[[Table], None]] = {
    "illegal": illegal,
    "time": late,
    "crash": crash,
    "crash at once": crash_at_once,
    "disconnect": disconnect,
    "startup": startup,
    "not started": nobody,
    "resign": resign,
    "protocol": protocol,
    "points": points,
}


def played(ending: str) -> MatchResult:
    """Return the result of a match that ended so."""
    table = new_table()
    ENDINGS[ending](table)
    return table.result


def stored(
    data: Path,
    result: MatchResult,
    *,
    reasons: str = "",
    legs: int | None = None,
    names: Sequence[str] = BOTS,
) -> None:
    """Store it as the result of the first leg of an encounter, and of so many (None: all) legs."""
    with Store.open(data) as store:
        [encounter] = store_plan(store, names, seats=len(names))
        for number, leg in enumerate(encounter.legs[:legs]):
            one = result if number == 0 else replace(result, match_id=f"other-{number}")
            store.save_result("t1", leg.fixture_id, one, reasons=reasons)


def log_of(data: Path, bot: str, match_id: str = "m-1") -> Path:
    """Return where the launcher keeps what a bot wrote in a match of the stored tournament."""
    folder = log_folder(data, "t1") / "bots" / bot
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{match_id}.log"
