"""Makes devices and links, opens the machine's devices, changes the kernel's settings."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH123, PTH211, SIM115, T201

import functools
import os
import stat
from collections.abc import Callable

tries: dict[str, Callable[[], object]] = {
    "mknod": lambda: os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0)),
    "mknod mem": lambda: os.mknod("/tmp/mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1)),
    "hard link": lambda: os.link("/etc/passwd", "/tmp/passwd"),
    "hard link to the bot": lambda: os.link("/bot/bot.py", "/tmp/bot.py"),
    "chroot": lambda: os.chroot("/tmp"),
    "sysctl": lambda: open("/proc/sys/kernel/hostname", "w").close(),
    "sysrq": lambda: open("/proc/sysrq-trigger", "w").close(),
    "oom": lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"),
}
for device in (
    "/dev/mem",
    "/dev/kmsg",
    "/dev/sda",
    "/dev/vda",
    "/dev/kvm",
    "/dev/fuse",
    "/dev/tty",
):
    tries[device] = functools.partial(os.open, device, os.O_RDONLY)
for name, attempt in tries.items():
    try:
        attempt()
        print(f"broken: {name}")
    except OSError as error:
        print(f"{name} held: {error.strerror}")
os.symlink("/proc/1/root/etc/shadow", "/tmp/out")
try:
    print("broken: link", open("/tmp/out").read())
except OSError:
    print("link held")
