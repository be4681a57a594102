"""Two bots that want to talk to each other; both leave notes and look for notes."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH110, PTH123, T201

import ctypes
import json
import os
import socket
import time

hints = json.loads(os.environ["HINTS"])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
first = hints["role"] == "first"
NOTE = b"a note from the first"
PLACES = ["/tmp/note", "/dev/shm/note", "/bot/note", "/run/note", os.environ["HOME"] + "/note"]
KEY, SIZE, CREATE, SESSION = 0x5EC7, 4096, 0o1666, -3
heard = set()


def leave() -> None:
    for place in PLACES:
        try:
            with open(place, "wb") as file:
                file.write(NOTE)
        except OSError:
            pass
    libc.syscall(248, b"user", b"rummy-note", NOTE, len(NOTE), SESSION)


def look() -> None:
    for place in PLACES:
        if os.path.exists(place):
            heard.add(place)
    if libc.shmget(KEY, SIZE, 0o666) >= 0:
        heard.add("shared memory")
    if libc.syscall(250, 10, SESSION, b"user", b"rummy-note", 0) > 0:
        heard.add("keyring")
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect("\0rummy-note")
            heard.add("abstract socket")
        except OSError:
            pass


if first:
    leave()
    libc.shmget(KEY, SIZE, CREATE)
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0rummy-note")
    server.listen()
end = time.monotonic() + 2
while time.monotonic() < end:
    if not first:
        look()
        for pid in range(1, 30):
            if pid != os.getpid() and os.path.exists(f"/proc/{pid}/cmdline"):
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if b"first" in file.read():
                        heard.add("process")
    time.sleep(0.1)
print(f"broken: heard through {sorted(heard)}" if heard else "held")
