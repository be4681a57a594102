"""Looks for the organiser's secrets: data folder, home, keys, everything below the folders."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH118, PTH123, T201

import contextlib
import json
import os

hints = json.loads(os.environ["HINTS"])
paths = [
    f"{hints['home']}/.ssh/id_ed25519",
    f"{hints['data']}/rummy.sqlite3",
    "/etc/shadow",
    "/root/.ssh/id_rsa",
    "../rummy.sqlite3",
    "../../rummy.sqlite3",
    f"/proc/{hints['launcher']}/environ",
    f"/proc/{hints['launcher']}/root{hints['data']}/rummy.sqlite3",
    f"/proc/1/root{hints['data']}/rummy.sqlite3",
]
found = False
for path in paths:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        print("broken:", path, file.read(300))
        found = True
if found:
    raise SystemExit(1)
for top in (hints["base"], "/home", "/root", "/var", "/srv", "/mnt", "/run", "/tmp"):
    for folder, folders, files in os.walk(top):
        if folder.count("/") > 5:  # the interpreter's own libraries are not looked through
            folders.clear()
        for name in files:
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError), open(path, "rb") as file:
                print(path, file.read(100))
print("held, if no secret was told")
