"""Mirrored encounters of a greedy bot with the one in Python: both legs must come out equal.

`python -m tests.languages.encounters LANGUAGE… [--encounters 200]` plays as many over all presets
and 2 to 6 seats. In each encounter the two bots sit in turns around the table; in the second leg,
with the same decks, each sits where the other sat. As both follow the same strategy, every action
and every result must be the same in both legs.
"""

import argparse
import asyncio
import json
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Final

import pytest
import structlog

from referee.engine.presets import PRESETS, make_ruleset
from referee.engine.ruleset import RuleSet
from referee.match.outcome import MatchResult, Termination
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.server import Referee
from tests.languages.building import BuiltBot, built, python_bot
from tests.languages.languages import language
from tests.languages.running import PATIENCE_S, running

_AT_ONCE: Final = 4
"""Matches played at the same time, on the same processes."""
_WILD: Final = {"wilds": "jokers_and_deuces", "jokers": 2, "wild_swap": True}
_ATTEMPTS: Final = 3
"""How often a leg is played that is aborted because the machine stood still."""


@dataclass(frozen=True, slots=True)
class Table:
    """An encounter to play."""

    rules: RuleSet
    seats: int
    number: int

    @property
    def name(self) -> str:
        """For texts."""
        wild = f" {self.rules.wilds}" if self.rules.wilds != "none" else ""
        return f"{self.rules.preset}{wild}, {self.seats} seats, encounter {self.number}"


def tables(most_seats: int = 6) -> Iterator[Table]:
    """Yield encounters without end: preset by preset, each with its numbers of seats in turn."""
    every: list[tuple[RuleSet, range]] = []
    for preset, rules in PRESETS.items():
        seats = range(rules.seats_min, min(rules.seats_max, most_seats) + 1)
        every.append((make_ruleset(preset), seats))
    every.append((make_ruleset("basic", _WILD), range(2, most_seats + 1)))
    number = 0
    while True:
        for rules, seats in every:
            yield Table(rules, seats[number % len(seats)], number)
        number += 1


async def play(bot: BuiltBot, wanted: Sequence[Table]) -> int:
    """Play the encounters and return the number of decisions. Raises AssertionError."""
    most = max(table.seats for table in wanted)
    mirror = python_bot()
    referee = Referee()
    decisions = 0
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rummy-"))
        [address] = await referee.listen(f"unix:{folder}/r.sock")
        stack.push_async_callback(referee.close, 0)
        tokens = []
        for seat in range(most + most % 2):
            sitting = (bot, mirror)[seat % 2]
            token = referee.issue_token(sitting.name, sitting.version)
            await stack.enter_async_context(running(sitting, address, token))
            tokens.append(token)
        for token in tokens:
            await referee.wait_connected(token, PATIENCE_S)
        waiting = iter(wanted)

        async def worker() -> None:
            nonlocal decisions
            for table in waiting:
                played = await _encounter(referee, tokens, table)
                decisions += played  # not across an await: the workers share it

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(worker())
    return decisions


async def _encounter(referee: Referee, tokens: Sequence[str], table: Table) -> int:
    pairs = range(0, len(tokens), 2)
    swapped = [tokens[seat] for pair in pairs for seat in (pair + 1, pair)]
    legs = [await _leg(referee, seated[: table.seats], table) for seated in (tokens, swapped)]
    first, second = ([line for line in map(_told, leg.record.splitlines()) if line] for leg in legs)
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        assert one == other, f"{table.name}: line {number} of the play:\n{one}\n{other}"
    assert len(first) == len(second), table.name
    return sum(line[0] == "decision" for line in first + second)


async def _leg(referee: Referee, tokens: Sequence[str], table: Table) -> MatchResult:
    label = f"{table.name} {sorted(table.rules.to_dict().items())}"
    secret = sha256(label.encode()).digest()
    bots = [referee.bot(token) for token in tokens]
    for attempt in range(_ATTEMPTS):
        spec = MatchSpec(
            match_id=sha256(f"{label} {tokens} {attempt}".encode()).hexdigest()[:24],
            rules=table.rules,
            seats=tuple(SeatSpec(bot.name, bot.version, bytes(32)) for bot in bots),
            secret=secret,
            salt=bytes(32),
            first_dealer=table.number % table.seats,
            time_control=TimeControl(per_decision_ms=60_000, startup_ms=60_000),
        )
        result = await referee.play(spec, tokens)
        if result.termination is not Termination.ABORTED:
            break
    else:
        pytest.fail(f"{table.name}: aborted {_ATTEMPTS} times: {result.text}")
    faults = [seat.forfeit for seat in result.seats if seat.forfeit]
    assert not faults, f"{table.name}: {result.text}: {result.record.decode()[-2000:]}"
    assert b'"rejected"' not in result.record, f"{table.name}: a choice was rejected"
    return result


def _told(line: bytes) -> tuple[object, ...]:
    """What a line of a record says about the play, nothing of who sat there and of time."""
    told = json.loads(line)
    if told["kind"] == "decision":
        return ("decision", told["seat"], told["id"], told["deal"], told["actions"])
    if told["kind"] == "deal_ended":
        return ("deal_ended", told["ended"], told["winner"], told["points"], told["totals"])
    if told["kind"] == "match_ended":
        return ("match_ended", told["termination"], told["places"], told["totals"])
    return ()


def main() -> None:
    """Play what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="+", metavar="LANGUAGE")
    parser.add_argument("--encounters", type=int, default=200)
    options = parser.parse_args()
    # Of the referee's log only what is wrong; a line a match would hide the answer.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    for name in options.languages:
        wanted = list(islice(tables(), options.encounters))
        decisions = asyncio.run(play(built(language(name)), wanted))
        print(  # noqa: T201
            f"{name}: {len(wanted)} mirrored encounters, {decisions} decisions, legs all equal"
        )


if __name__ == "__main__":
    main()
