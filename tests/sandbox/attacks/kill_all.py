"""Kills every process that it can, the launcher by its number too."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH208, T201

import json
import os
import signal

hints = json.loads(os.environ["HINTS"])
seen = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
if len(seen) > 8:
    # Nothing is killed where that would do harm.
    print(f"broken: sees {len(seen)} processes")
    raise SystemExit(1)
for pid in (hints["launcher"], hints["honest"], hints["honest"] + 1, hints["honest"] + 2):
    try:
        os.kill(pid, signal.SIGKILL)
        print("broken: reached", pid)
    except OSError:
        pass
print("held so far", flush=True)
os.kill(-1, signal.SIGKILL)
