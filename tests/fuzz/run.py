"""Feeds mutated messages to what reads them: `python -m tests.fuzz.run --seconds 600`."""

import argparse
import random
import sys
import time

from tests.fuzz.mutation import corpus, mutated
from tests.fuzz.targets import TARGETS, start_anew

BATCH = 200
"""Inputs that are made from one seed, and repeated together."""


def feed(name: str, seed: str) -> int:
    """One batch; how many inputs. Any failure names the input."""
    target, kind, folder = TARGETS[name]
    chance = random.Random(seed)
    seeds = corpus(folder)
    start_anew()
    for raw in [*seeds, *(mutated(chance, seeds, kind) for _ in range(BATCH))]:
        try:
            target(raw)
        except BaseException as error:
            error.add_note(f"target {name}, seed {seed!r}, input {raw[:2_000].hex()}")
            raise
    return BATCH + len(seeds)


def main() -> None:
    """Go on until the time is over; the first failure ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", choices=sorted(TARGETS), help="one of them; all by default")
    parser.add_argument("--seed", help="one batch of this seed, to repeat a failure")
    given = parser.parse_args()
    names = [given.target] if given.target else list(TARGETS)
    if given.seed is not None:
        for name in names:
            feed(name, given.seed)
        return
    end = time.monotonic() + given.seconds
    start = time.time_ns()
    number = inputs = 0
    while time.monotonic() < end:
        seed = f"{start}/{number}"
        for name in names:
            try:
                inputs += feed(name, seed)
            except BaseException:
                command = f"python -m tests.fuzz.run --target {name} --seed {seed}"
                sys.stderr.write(f"repeat with: {command}\n")
                raise
        number += 1
    sys.stdout.write(f"{inputs} inputs, no failure\n")


if __name__ == "__main__":
    main()
