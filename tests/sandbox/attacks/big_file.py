"""Writes one file of 64 MiB where it may write."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: T201

import os
import tempfile

count = 0
with tempfile.NamedTemporaryFile(buffering=0) as file:
    try:
        while count < 64:
            count += file.write(bytes(1 << 20)) >> 20
    except OSError as error:
        print(f"held after {count} MiB: {os.strerror(error.errno or 0)}")
    else:
        print("broken: a file of 64 MiB")
