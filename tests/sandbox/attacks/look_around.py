"""Tells all that a process can know about where it runs."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH123, PTH208, T201

import json
import os
import re

hints = json.loads(os.environ["HINTS"])
known = {
    "PATH", "RUMMY_TOKEN", "RUMMY_REFEREE", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "HINTS",
    "HOME", "USER", "LOGNAME", "PWD", "LC_CTYPE",
}  # fmt: skip
extra = set(os.environ) - known
print(f"broken: variables {sorted(extra)}" if extra else "variables held")
for name in os.listdir("/proc"):
    if name.isdecimal():
        with open(f"/proc/{name}/cmdline", "rb") as file:
            words = file.read()
        token = os.environ["RUMMY_TOKEN"].encode()
        if token in words or hints["base"].encode() in words.replace(
            os.environ["HINTS"].encode(), b""
        ):
            print("broken: command line", words)
with open("/proc/self/status") as file:
    status = file.read()
for name in ("CapPrm", "CapEff", "CapAmb"):
    value = int(status.split(f"{name}:")[1].split()[0], 16)
    print(f"broken: {name} is {value:x}" if value else f"{name} held")
if not re.search(r"^NoNewPrivs:\s*1", status, re.MULTILINE):
    print("broken: new privileges")
if not re.search(r"^Seccomp:\s*2", status, re.MULTILINE):
    print("broken: no filter")
if os.getuid() == 0 or os.getgid() == 0:
    print("broken: root")
if hints["machine"] == os.uname().nodename:
    print("broken: the machine's name")
descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd"))
print("descriptors held" if descriptors[3:-1] == [] else f"broken: descriptors {descriptors}")
