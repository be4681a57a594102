"""Changes its own folder, which other legs are played from too, and the system's."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH101, PTH102, PTH104, PTH108, PTH123, T201

import os
import sys
from collections.abc import Callable

tries: dict[str, Callable[[], object]] = {
    "append": lambda: open("bot.py", "a").close(),
    "new file": lambda: open("memory.txt", "w").close(),
    "chmod": lambda: os.chmod("bot.py", 0o777),
    "rename": lambda: os.rename("bot.py", "other.py"),
    "unlink": lambda: os.unlink("bot.py"),
    "root": lambda: os.mkdir("/new"),
    "etc": lambda: open("/etc/passwd", "a").close(),
    "usr": lambda: open("/usr/bin/new", "w").close(),
    "python": lambda: open(sys.executable, "r+b").close(),
    "socket": lambda: os.unlink("/run/rummy/referee.sock"),
    "time": lambda: os.utime("bot.py"),
}
for name, attempt in tries.items():
    try:
        attempt()
        print(f"broken: {name}")
    except OSError as error:
        print(f"{name} held: {error.strerror}")
