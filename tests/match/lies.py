"""Records to tell lies about, and the ways to lie about them."""

import random
from collections.abc import Callable
from typing import Any

from referee.engine.actions import DISCARDS, DRAW_STOCK
from referee.match.outcome import Forfeit, MatchResult
from referee.match.verify import verify
from tests.match.fakes import Table, lines_of
from tests.match.tampering import some_action, table_of, written


def rich_table() -> Table:
    """Three seats, every kind of line, a match that is played to its end."""
    table = table_of(3, target=50).begin()
    first = table.turn
    table.illegal()
    table.plan(DISCARDS[table.own_card()])
    table.clock.advance(1_600)
    table.match.connection_lost(table.turn)
    table.clock.advance(1_700)
    table.match.connection_back(table.turn)
    table.play_turn()
    table.plan(DRAW_STOCK, DRAW_STOCK)
    table.play_turn()
    assert table.turn == first
    table.plan(DRAW_STOCK, DISCARDS[table.own_card()], DRAW_STOCK)
    table.match.forfeit((first + 1) % 3, Forfeit.RESIGN)
    chance = random.Random(249)
    while not table.is_over:
        table.clock.advance(3)
        table.plan(some_action(table, chance))
    return table


def short_table() -> Table:
    """Two seats, a few turns, called off."""
    table = table_of(2).begin()
    for _ in range(4):
        table.play_turn()
    table.match.abort("enough")
    return table


def lost_table() -> Table:
    """Two seats; the first to act loses its connection and does not come back."""
    table = table_of(2).begin()
    table.match.connection_lost(table.turn)
    table.clock.advance(3_500)
    return table


def forfeited_table() -> Table:
    """Two seats; the first to act makes nothing but illegal choices."""
    table = table_of(2).begin()
    while not table.is_over:
        table.illegal()
    return table


RICH = rich_table().result
SHORT = short_table().result
LOST = lost_table().result
FORFEITED = forfeited_table().result

Lines = list[dict[str, Any]]
Lie = Callable[[Lines], object]

# The numbers of the lines in which `rich_table` begins, and of some later ones.
HEADER = 1
BAD_INDEX = 2
WRONG_PHASE = 3
TIME_UP = 4
AWAY = 5
DISCARDED = 6
STOPPED_SHORT = 7
PAST_TURN = 9
RESIGNED = 10
FORCED = 11
DEAL_ENDED = next(
    number for number, line in enumerate(lines_of(RICH.record), 1) if line["kind"] == "deal_ended"
)
LAST = len(lines_of(RICH.record))


def put(line: int, **new: object) -> Lie:
    """Give keys of a line new values (or what a function makes of the old ones)."""

    def lie(lines: Lines) -> None:
        for key, value in new.items():
            old = lines[line - 1].get(key)
            lines[line - 1][key] = value(old) if callable(value) else value

    return lie


def inside(line: int, *path: str | int, new: object) -> Lie:
    """Give something inside of a line another value."""

    def lie(lines: Lines) -> None:
        inner: Any = lines[line - 1]
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = new

    return lie


def take(line: int, *keys: str) -> Lie:
    """Leave keys out."""
    return lambda lines: [lines[line - 1].pop(key) for key in keys]


def reordered(line: int, *path: str | int) -> Lie:
    """Put the first key last."""

    def lie(lines: Lines) -> None:
        inner: Any = lines[line - 1]
        for step in path:
            inner = inner[step]
        first = next(iter(inner))
        inner[first] = inner.pop(first)

    return lie


def drop(line: int) -> Lie:
    """Leave a line out."""
    return lambda lines: lines.pop(line - 1)


def insert(line: int, **values: object) -> Lie:
    """Put a line before another one."""
    return lambda lines: lines.insert(line - 1, values)


def cut(line: int, **last: object) -> Lie:
    """Leave out everything from a line to the last one, and change that."""

    def lie(lines: Lines) -> None:
        del lines[line - 1 : -1]
        lines[-1].update(last)

    return lie


def both(*lies: Lie) -> Lie:
    """One lie after the other."""
    return lambda lines: [lie(lines) for lie in lies]


def more(*actions: str) -> Callable[[list[str]], list[str]]:
    """The old actions and some more."""
    return lambda old: [*old, *actions]


def flipped(digits: str) -> str:
    """Other hexadecimal digits."""
    return ("0" if digits[0] != "0" else "1") + digits[1:]


def one_more(values: list[int]) -> list[int]:
    """The last number is one more."""
    return [*values[:-1], values[-1] + 1]


def backwards(values: list[int]) -> list[int]:
    """The other way round."""
    return values[::-1]


def check_found_alone(result: MatchResult, lie: Lie, line: int, word: str) -> None:
    """A record with this lie and a chain that fits has just one problem, there, with this word."""
    lines = lines_of(result.record)
    lie(lines)
    problems = verify(written(lines)).problems
    assert [problem.line for problem in problems] == [line], problems
    assert word in problems[0].text, problems
