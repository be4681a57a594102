"""Kill for long, or play for long: `python -m tests.crashes.soak --kills 300` or `--matches 1000`.

A failure names the command that repeats it.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count

from tests.crashes.chains import CHAINS, Outcome, play_chain, play_random
from tests.crashes.leaks import Growth, watch_matches

_AT_RANDOM = 5


def main() -> int:
    """Do what the options say; exit code 1 if something was not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.crashes.soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=0, help="kill so often, or a little more")
    parser.add_argument("--seed", type=int, default=0, help="where kills at random begin")
    parser.add_argument("--chain", choices=list(CHAINS), help="play this chain of kills alone")
    parser.add_argument("--matches", type=int, default=0, help="play so many and look for leaks")
    options = parser.parse_args()
    good = True
    if options.chain:
        good &= _is_good(
            partial(play_chain, options.chain), f"--chain {options.chain!r}", Counter()
        )
    if options.kills:
        good &= _kill(options.kills, options.seed)
    if options.matches:
        growth = watch_matches(options.matches)
        _say(_described(growth))
        good &= growth.is_bounded
    return 0 if good else 1


def _kill(kills: int, seed: int) -> bool:
    """Chains and kills at random in turn, until there were enough."""
    began = time.monotonic()
    phases: Counter[str] = Counter()
    good = True
    for number in count():
        at_random = min(_AT_RANDOM, kills - phases.total())
        now = seed + number
        repeat = f"--seed {now} --kills {at_random}"
        good &= _is_good(partial(play_random, now, at_random), repeat, phases)
        if phases.total() < kills and kills > _AT_RANDOM:
            name = list(CHAINS)[number % len(CHAINS)]
            good &= _is_good(partial(play_chain, name), f"--chain {name!r}", phases)
        if phases.total() >= kills:
            break
    _say(f"{phases.total()} kills in {time.monotonic() - began:.0f} s")
    for phase, times in sorted(phases.items()):
        _say(f"  {times:4} {phase}")
    return good


def _is_good(play: Callable[[], Outcome], repeat: str, phases: "Counter[str]") -> bool:
    try:
        outcome = play()
    except AssertionError as error:
        _say(f"FAILED, repeat with: python -m tests.crashes.soak {repeat}\n{error}")
        return False
    phases.update(outcome.phases)
    kills = ", ".join(f"{times} {phase}" for phase, times in outcome.phases.items())
    _say(f"{phases.total():4} kills; {repeat}: {kills}, in {outcome.seconds:.1f} s")
    for difference in outcome.differences:
        _say(f"FAILED, repeat with: python -m tests.crashes.soak {repeat}\n{difference}")
    return not outcome.differences


def _described(growth: Growth) -> str:
    lines = [
        f"{growth.matches} matches in {growth.seconds:.0f} s",
        f"{'process':10} {'':>9} {'early':>10} {'late':>10}",
    ]
    lines += [
        f"{kind:10} {figure:>9} {early:>10} {late:>10}"
        for kind, figure, early, late in growth.rows()
    ]
    lines.append(f"sockets at most {growth.sockets}, bots' processes at most {growth.bots}")
    lines.append("nothing is left" if growth.is_bounded else "NOT BOUNDED")
    return "\n".join(lines)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
