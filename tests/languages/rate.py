"""Decisions a second of the referee with each language's greedy bot, the languages in turn.

    PYTHONPATH=.:proto python -m tests.languages.rate [python go …] [--rounds 3] [--matches 128]

32 matches at once, four processes of one language on a socket of their own: fast bots show the
limit of the server.
"""

import argparse
import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from hashlib import sha256
from statistics import median

from referee.engine.presets import make_ruleset
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.collector import settle_collector
from referee.service.logs import configure_logs
from referee.service.server import Referee
from tests.languages.building import BuiltBot, built, python_bot
from tests.languages.languages import LANGUAGES, language
from tests.languages.running import running

AT_ONCE = 32
_PROCESSES = 4
_PATIENT = TimeControl(per_decision_ms=60_000, startup_ms=60_000)


@dataclass(frozen=True, slots=True)
class Rate:
    """What one round measured."""

    per_s: float
    server_us: float
    """Processor time of the serving process for a decision."""


async def rate(bot: BuiltBot, matches: int) -> Rate:
    """Play so many matches of `basic` between processes of a bot, and measure the referee."""
    referee = Referee()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rummy-"))
        [address] = await referee.listen(f"unix:{folder}/referee.sock")
        stack.push_async_callback(referee.close, 0)
        tokens = [referee.issue_token(bot.name, bot.version) for _ in range(_PROCESSES)]
        for token in tokens:
            await stack.enter_async_context(running(bot, address, token))
        for token in tokens:
            await referee.wait_connected(token, 60)
        pairs = itertools.cycle(zip(tokens[::2], tokens[1::2], strict=True))
        numbers = iter(range(matches))
        begin, spent = time.perf_counter(), time.process_time()
        played = await asyncio.gather(
            *(_play(referee, bot, next(pairs), numbers) for _ in range(AT_ONCE))
        )
        decisions = sum(played)
        seconds, spent = time.perf_counter() - begin, time.process_time() - spent
    return Rate(decisions / seconds, spent / decisions * 1e6)


async def _play(
    referee: Referee, bot: BuiltBot, pair: tuple[str, str], numbers: Iterator[int]
) -> int:
    """Play one match after another while there are numbers; return how many decisions it took."""
    decisions = 0
    for number in numbers:
        spec = MatchSpec(
            match_id=sha256(str(number).encode()).hexdigest()[:24],
            rules=make_ruleset("basic"),
            seats=tuple(SeatSpec(bot.name, bot.version, bytes(32)) for _ in pair),
            secret=sha256(str(number).encode()).digest(),
            salt=bytes(32),
            first_dealer=number % 2,
            time_control=_PATIENT,
        )
        result = await referee.play(spec, pair)
        decisions += sum(seat.decisions for seat in result.seats)
    return decisions


def main() -> None:
    """Measure, and print a line for each language."""
    names = ["python", *(row.name for row in LANGUAGES)]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("languages", nargs="*", default=names, metavar="LANGUAGE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--matches", type=int, default=128, help="in each round")
    given = parser.parse_args()
    if unknown := set(given.languages) - set(names):
        parser.error(f"{min(unknown)}: allowed are {', '.join(names)}")
    configure_logs(quiet=True)
    bots = {
        name: python_bot() if name == "python" else built(language(name))
        for name in given.languages
    }
    settle_collector()
    rates: dict[str, list[Rate]] = {name: [] for name in bots}
    for number in range(given.rounds):
        for name, bot in bots.items():
            sys.stderr.write(f"round {number + 1} of {given.rounds}: {name}\n")
            rates[name].append(asyncio.run(rate(bot, given.matches)))
    first = median(one.per_s for one in rates[given.languages[0]])
    sys.stdout.write(f"{'bots':<12}{'decisions/s':>12}{'ratio':>8}{'server us':>11}\n")
    for name, found in rates.items():
        per_s = median(one.per_s for one in found)
        server_us = median(one.server_us for one in found)
        sys.stdout.write(f"{name:<12}{per_s:>12,.0f}{per_s / first:>8.2f}{server_us:>11.0f}\n")


if __name__ == "__main__":
    main()
