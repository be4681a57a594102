"""Forks until it can't, 600 times at most, and keeps all of them."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: T201

import os
import time

count = 0
try:
    while count < 600:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
except OSError:
    pass
print("broken: forked as often as it liked" if count >= 600 else f"held after {count}")
