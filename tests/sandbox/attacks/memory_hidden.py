"""Takes memory that no process has mapped: files without a name, segments, queues of messages."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: T201

import ctypes
import os
from collections.abc import Callable

libc = ctypes.CDLL(None, use_errno=True)
IPC_PRIVATE, CREATE = 0, 0o1600
tries: dict[str, Callable[[], int]] = {
    "memfd_create": lambda: os.memfd_create("x"),
    "shmget": lambda: libc.shmget(IPC_PRIVATE, 1 << 20, CREATE),
    "msgget": lambda: libc.msgget(IPC_PRIVATE, CREATE),
    "semget": lambda: libc.semget(IPC_PRIVATE, 1, CREATE),
}
for name, attempt in tries.items():
    try:
        result = attempt()
    except OSError:
        result = -1
    print(f"{name} held" if result == -1 else f"broken: {name}")
