"""Ways to spoil a data folder: a disk with no room, a folder that can't be written."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_CAPBSET_DROP, _OVERRIDE, _READ_SEARCH = 24, 1, 2


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[bool]:
    """Make `folder` a disk of its own, with so much room; False where that is not allowed."""
    folder.mkdir()
    size = f"size={kib}k,mode=700"
    mount = shutil.which("mount")
    mounted = mount is not None and _succeeds([mount, "-t", "tmpfs", "-o", size, "rk", str(folder)])
    try:
        yield mounted
    finally:
        if mounted:
            assert _succeeds(["umount", "-l", str(folder)])


def give_room(folder: Path, kib: int) -> None:
    """Make the disk larger."""
    assert _succeeds(["mount", "-o", f"remount,size={kib}k", str(folder)])


def _succeeds(argv: Sequence[str]) -> bool:
    return subprocess.run(argv, check=False, capture_output=True).returncode == 0


def with_file_limit(kib: int) -> list[str]:
    """Return what to put before a command so that none of its files gets larger than that."""
    return ["sh", "-c", f'ulimit -f {kib * 2}; exec "$@"', "limited"]


def as_ordinary_user() -> list[str]:
    """Return what to put before a command so that permissions of files bind it, even as root."""
    return [sys.executable, __file__]


def main() -> None:
    """Run a command without root's right to pass over permissions of files."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None).prctl
        for capability in (_OVERRIDE, _READ_SEARCH):
            assert prctl(_CAPBSET_DROP, capability, 0, 0, 0) == 0
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
