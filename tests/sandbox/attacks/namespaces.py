"""Makes namespaces of its own, in which it would have all capabilities; mounts things."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: T201

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
kinds = {
    "user": 0x10000000, "net": 0x40000000, "mount": 0x20000, "pid": 0x20000000, "ipc": 0x8000000,
}  # fmt: skip
for name, flag in kinds.items():
    for flags in (flag, flag | kinds["user"]):
        if libc.unshare(flags) == 0:
            print(f"broken: unshare {name}")
CLONE, SIGCHLD = 56, 17
if os.uname().machine == "x86_64":
    child = libc.syscall(CLONE, kinds["user"] | SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    print("broken: clone" if child > 0 else "clone held")
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, b"") == 0:
    print("broken: mount")
if libc.mount(None, b"/", None, 0x20 | 0x1000, None) == 0:
    print("broken: remount")
if libc.umount2(b"/bot", 2) == 0:
    print("broken: umount")
print("held")
