"""Opens files until it can't."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: T201

import os

opened: list[int] = []
try:
    while len(opened) < 5000:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    text = f"held after {len(opened)}: {error.strerror}"
    os.close(opened.pop())
    print(text)
else:
    print("broken: 5000 open files")
