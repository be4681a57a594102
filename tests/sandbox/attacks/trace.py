"""Traces, reads and writes other processes."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH123, T201

import ctypes
import json
import os

hints = json.loads(os.environ["HINTS"])
libc = ctypes.CDLL(None, use_errno=True)
ATTACH, SEIZE = 16, 0x4206
for name, pid in (("honest", hints["honest"]), ("launcher", hints["launcher"])):
    for request in (ATTACH, SEIZE):
        if libc.ptrace(request, pid, 0, 0) == 0:
            print(f"broken: traces {name}")
    for path in ("mem", "environ", "exe", "cwd"):
        try:
            with open(f"/proc/{pid}/{path}", "r+b") as file:
                file.seek(4096)
            print(f"broken: opened {path} of {name} to write")
        except OSError:
            pass
print("held")
