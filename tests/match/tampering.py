"""Records to check: honest ones with all kinds of trouble, and what a liar can do to them."""

import json
import random
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from referee.engine.actions import (
    DISCARDS,
    DRAW_DISCARD,
    DRAW_STOCK,
    Action,
    lay_off,
    meld,
    swap,
)
from referee.engine.cards import cards_of, multiset
from referee.match.outcome import Forfeit, MatchResult
from referee.match.policy import Policy
from referee.match.seat_player import Choice
from referee.match.spec import TimeControl
from referee.match.verify import verify
from tests.match.fakes import Table, lines_of, make_spec

ENDS: dict[str, tuple[str, int, dict[str, object]]] = {
    "target": ("basic", 2, {"target": 150}),
    "target, three seats": ("classic", 3, {}),
    "target, five seats": ("standard-wta", 5, {"target": 500}),
    "elimination": ("standard", 4, {"ceiling": 60}),
    "first over, lowest wins": (
        "standard",
        3,
        {"match_end": "first_over_lowest_wins", "ceiling": 80},
    ),
    "fixed deals": ("traditional", 4, {"match_end": "fixed_deals", "deals": 4}),
    "fixed deals, penalty": ("standard", 6, {"match_end": "fixed_deals", "deals": 3}),
    "wild cards": (
        "basic",
        2,
        {"wilds": "jokers_and_deuces", "jokers": 3, "wild_swap": True, "target": 100},
    ),
    "hidden discards": ("traditional", 2, {"target": 100}),
}
"""Each way in which a match ends, each preset: preset, seats, overrides."""


def check_honest(result: MatchResult) -> None:
    """What a match wrote must be found right, with its head."""
    verdict = verify(result.record, result.record_hash.hex())
    assert verdict.problems == ()
    assert verdict.is_anchored
    assert (verdict.match_id, verdict.termination) == (result.match_id, result.termination)
    assert (verdict.deals, verdict.lines) == (result.deals, len(lines_of(result.record)))


CONTROL = TimeControl(per_decision_ms=1_000, bank_ms=500, reconnect_ms=2_000)


def table_of(seats: int, policy: Policy | None = None, **overrides: object) -> Table:
    return Table(make_spec(seats, "basic", overrides, control=CONTROL), policy=policy)


# --- playing --------------------------------------------------------------------------------------


def play_out(table: Table, chance: random.Random, *, faults: bool) -> None:
    """Play at random, mostly going out when it can; with faults, every kind of trouble."""
    seats = len(table.players)
    while not table.is_over:
        dice = chance.random()
        if faults and dice < 0.01:
            table.illegal()
            continue
        if faults and dice < 0.02:
            table.clock.advance(3_000)
            continue
        if faults and dice < 0.021 and seats > 2:
            table.match.forfeit(chance.randrange(seats), Forfeit.RESIGN)
            continue
        table.clock.advance(chance.choice((0, 0, 1, 7)))
        table.plan(some_action(table, chance))


def some_action(table: Table, chance: random.Random) -> Action:
    """A legal action: one that goes out, or comes nearer to it, if there is one."""
    legal = table.player.decision.legal_actions
    plays = [action for action in legal if action.size > 1]
    return chance.choice(plays or legal)


def any_action(chance: random.Random) -> Action:
    """An action as a bot may send it: hardly ever legal."""
    faces = [chance.randrange(53) for _ in range(chance.choice((1, 1, 2, 3, 4, 13)))]
    wilds = [(face, chance.randrange(52)) for face in faces if chance.random() < 0.3]
    naturals = multiset(faces[len(wilds) :])
    meld_id = chance.choice((0, 1, 2, 3, 2**32 - 1))
    return chance.choice(
        (
            DRAW_STOCK,
            DRAW_DISCARD,
            DISCARDS[faces[0]],
            meld(naturals, tuple(sorted(wilds[: len(faces)]))),
            lay_off(meld_id, naturals, tuple(sorted(wilds))),
            swap(meld_id, faces[0]),
        )
    )


class Trouble:
    """A match in which everything goes wrong that can, by chance; `seats` from 2."""

    def __init__(self, table: Table, chance: random.Random) -> None:
        self.table = table
        self.chance = chance
        self.seats = len(table.players)
        self._calm = chance.choice((0, 0.5, 0.9, 0.99))
        """How often nothing goes wrong."""

    def play(self, steps: int) -> MatchResult:
        """To the end, but for at most so many steps: then it is called off."""
        self._start()
        for _ in range(steps):
            if self.table.is_over:
                break
            if self._asked and self.chance.random() < self._calm:
                self.table.plan(some_action(self.table, self.chance))
                continue
            self._surroundings()
            if not self.table.is_over:
                self._answer()
        self.table.match.abort("enough")
        return self.table.result

    def _start(self) -> None:
        table, chance = self.table, self.chance
        match = table.match
        match.start()
        roughness = chance.choice((0, 0, 0, 1, 3))
        for seat in chance.sample(range(self.seats), self.seats):
            dice = chance.random() / roughness if roughness else 1
            if dice < 0.1:
                match.absent(seat, "exit code 1")
            elif dice < 0.2:
                match.forfeit(seat, chance.choice((Forfeit.CRASH, Forfeit.RESIGN)), "gone")
            elif dice < 0.3:
                match.connection_lost(seat)
            if dice > 0.4 or (dice > 0.15 and chance.random() < 0.5):
                match.ready(seat)
        if not self._asked and chance.random() < 0.95:
            table.clock.advance(10_000)

    @property
    def _asked(self) -> bool:
        return any(player.decisions for player in self.table.players)

    def _surroundings(self) -> None:
        """Time, connections and processes."""
        table, chance = self.table, self.chance
        match, clock = table.match, table.clock
        seat = chance.randrange(self.seats)
        match chance.randrange(40):
            case 0 | 1 | 2:
                match.connection_lost(seat)
            case 3 | 4 | 5 | 6 | 7:
                match.connection_back(seat)
            case 8 if chance.random() < 0.2:
                match.protocol_broken(seat, "too much")
            case 9 if chance.random() < 0.1:
                match.forfeit(seat, chance.choice((Forfeit.CRASH, Forfeit.RESIGN)), "gone")
            case 10 | 11 | 12:
                clock.stall(chance.choice((0.5, 5, 60, 200)))
            case 13 | 14:
                clock.oversleep(chance.choice((0.5, 4.999, 5, 5.001, 30, 130)))
            case 15 | 16:
                clock.advance(chance.choice((20, 50, 99.999, 100, 104)))
            case 17:
                self._to_the_edge()
            case 18 if chance.random() < 0.03:
                clock.stall(251)
            case 19 if chance.random() < 0.03:
                match.abort("called off")
            case _:
                clock.advance(chance.choice((0, 0, 0.001, 1, 7)))

    def _to_the_edge(self) -> None:
        """Let the seat to act use all it has, and a little of the time in which it is looked at."""
        table, chance = self.table, self.chance
        seat = table.match.seats[table.turn]
        left_ms = seat.clock.budget_us(with_reconnect=seat.was_away) / 1_000
        if chance.random() < 0.5:
            table.clock.stall(chance.choice((0.5, 2)))
            table.clock.advance(0)
        late_ms = chance.choice((-0.001, 0, 0.001, 4.999, 5, 5.001))
        table.clock.oversleep(max(0, left_ms + late_ms))

    def _answer(self) -> None:
        table, chance = self.table, self.chance
        if not self._asked:
            return
        turn = table.turn
        match chance.randrange(40):
            case 0:
                table.illegal()
            case 1:
                table.choose(Choice(malformed='neither "actions" nor \u2028 ü'))
            case 2:
                table.choose(Choice())
            case 3 if chance.random() < 0.3:
                table.plan(*[DRAW_STOCK] * 33)
            case 4 | 5:
                table.plan(some_action(table, chance), any_action(chance))
            case 6:
                table.plan(any_action(chance))
            case 7:
                table.plan()
            case 8 | 9:
                table.plan(*self._turn_and_more())
            case 10:
                table.match.choose(turn, chance.randrange(9), Choice(index=0))
            case 11 | 12 | 13:
                legal = table.player.decision.legal_actions
                table.choose(Choice(index=chance.randrange(len(legal))))
            case _:
                table.plan(some_action(table, chance))

    def _turn_and_more(self) -> Sequence[Action]:
        """A plan that draws and discards, and perhaps goes on as if it were still its turn."""
        table, chance = self.table, self.chance
        own = self.chance.choice(cards_of(table.game.state.hands[table.turn]))
        legal = table.player.decision.legal_actions
        draw = (DRAW_STOCK,) if DRAW_STOCK in legal else ()
        return (*draw, DISCARDS[own], *(any_action(chance) for _ in range(chance.randrange(3))))


def troubled_table(chance: random.Random) -> Table:
    """Any preset, number of seats and time control; short matches."""
    preset, seats, overrides = chance.choice(list(ENDS.values()))
    seats = chance.randint(2, 4 if preset == "traditional" else 6)
    control = TimeControl(
        per_decision_ms=chance.choice((20, 100)),
        bank_ms=chance.choice((0, 300)),
        reconnect_ms=chance.choice((0, 200)),
        match_cap_ms=chance.choice((400, 300_000)),
    )
    dealer = chance.randrange(seats)
    seed = chance.randrange(2**32)
    spec = make_spec(seats, preset, overrides, seed=seed, control=control, first_dealer=dealer)
    return Table(spec)


# --- lying ----------------------------------------------------------------------------------------


def rechained(lines: Sequence[bytes]) -> bytes:
    """The lines with a chain that fits; a line without a place for it stays as it is."""
    done: list[bytes] = []
    for line in lines:
        body, mark, _ = line.rpartition(b',"prev":"')
        before = sha256(done[-1]).hexdigest().encode() if done else b""
        done.append(body + mark + before + b'"}\n' if mark else line)
    return b"".join(done)


def written(lines: Sequence[dict[str, Any]]) -> bytes:
    """Lines spelled as the referee does, with a chain that fits."""
    return rechained(
        [
            json.dumps(
                {**{key: line[key] for key in line if key != "prev"}, "prev": ""},
                separators=(",", ":"),
                ensure_ascii=False,
            ).encode()
            for line in lines
        ]
    )
