"""Computes in eight processes, each in a session of its own if it can, on the first processor."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: T201

import contextlib
import os
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for _ in range(8):
    if os.fork() == 0:
        with contextlib.suppress(OSError):
            os.setsid()
        with contextlib.suppress(OSError):
            os.nice(-10)
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            sum(range(1000))
        os._exit(0)
for _ in range(8):
    os.wait()
times = os.times()
print(f"used {times.children_user + times.children_system:.3f}")
