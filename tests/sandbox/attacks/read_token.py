"""Looks for other bots' tokens: in the environment, words, files and memory of other processes."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH123, PTH207, T201

import contextlib
import ctypes
import glob
import json
import os

hints = json.loads(os.environ["HINTS"])
own = os.environ["RUMMY_TOKEN"].encode()
found = False
for pattern in ("environ", "cmdline", "root/proc/*/environ", "cwd/bot.py", "maps"):
    for path in glob.glob(f"/proc/[0-9]*/{pattern}"):
        if f"/{os.getpid()}/" in path:
            continue
        with contextlib.suppress(OSError), open(path, "rb") as file:
            data = file.read(20_000)
            print(path, data)
            token = data.partition(b"RUMMY_TOKEN=")[2].partition(b"\0")[0]
            found |= path.endswith("environ") and token not in (b"", own)
if found:
    print("broken: another bot's token")
    raise SystemExit(1)
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH = 16
for name in ("honest", "launcher"):
    if libc.ptrace(PTRACE_ATTACH, hints[name], 0, 0) == 0:
        print(f"broken: traces {name}")
with contextlib.suppress(OSError):
    os.kill(hints["honest"], 0)
    print("broken: sees the honest bot")
print("held, if no token was told")
