"""The bot beside each attack: it answers whatever the launcher asks, until the connection ends."""

import os
import socket
import time

TOKEN = os.environ["RUMMY_TOKEN"]


def spin(seconds: float) -> float:
    """Compute for a while on the first processor; return the time that it got."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    begin, used = time.monotonic(), time.process_time()
    while time.monotonic() - begin < seconds:
        sum(range(1000))
    return time.process_time() - used


def main() -> None:
    address = os.environ["RUMMY_REFEREE"]
    if address.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address.removeprefix("unix:"))
    else:
        host, _, port = address.rpartition(":")
        connection = socket.create_connection((host, int(port)))
    with connection, connection.makefile("rw") as lines:
        print(f"hello {TOKEN}", file=lines, flush=True)
        for line in lines:
            word, _, rest = line.partition(" ")
            answer = spin(float(rest)) if word == "spin" else rest.strip()
            print(answer, file=lines, flush=True)


main()
