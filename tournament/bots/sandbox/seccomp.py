"""A filter of system calls for bubblewrap: ways out and around limits that no bot needs.

The format is classic BPF: 8 bytes an instruction (code, jump if true, jump if false, operand), as
<linux/filter.h> and <linux/seccomp.h> define it.
"""

import errno
import struct
from collections.abc import Iterable
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in struct seccomp_data; the first argument's lower half (both machines are little)."""

_X32 = 0x40000000
"""Calls of x86-64's third kind have this bit in their number."""
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEW*: user, pid, net, ipc, uts, cgroup, mount, time."""
FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Others, such as AF_VSOCK, know no network namespace."""


@dataclass(frozen=True, slots=True)
class _Machine:
    audit: int
    column: int


MACHINES = {"x86_64": _Machine(0xC000003E, 0), "aarch64": _Machine(0xC00000B7, 1)}
"""The machines whose numbers are known, by the name that uname gives them."""

_CLONE, _SOCKET, _SETSID = (56, 220), (41, 198), (112, 157)
_REFUSED = {
    # Namespaces and mounts: a user namespace of its own would bring capabilities.
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fspick": (433, 433), "mount_setattr": (442, 442),
    # Keyrings are shared with whoever started the bot.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # Much of the kernel behind little use.
    "ptrace": (101, 117), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
}  # fmt: skip
_ABSENT = {
    # Its flags lie in memory, where a filter can't look: libraries fall back to clone.
    "clone3": (435, 435), "io_uring_setup": (425, 425),
    # Memory that no process has mapped, and so none is seen to use.
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
}  # fmt: skip


def program(machine: str, *, may_lead_sessions: bool) -> bytes:
    """Return the filter for a machine of MACHINES.

    A session has its own share of the processor (sched_autogroup): whoever `may_lead_sessions`
    can take many.
    """
    known = MACHINES[machine]
    code = [_load(_MACHINE), _jump(_EQUAL, known.audit, 1, 0), _return(_KILL_PROCESS)]
    code += [_load(_NUMBER)]
    if known.column == 0:
        code += [_jump(_AT_LEAST, _X32, 0, 1), _return(_ERRNO | errno.ENOSYS)]
    refused = [numbers[known.column] for numbers in _REFUSED.values()]
    if not may_lead_sessions:
        refused.append(_SETSID[known.column])
    code += _each(refused, errno.EPERM)
    code += _each((numbers[known.column] for numbers in _ABSENT.values()), errno.ENOSYS)
    code += [
        _jump(_EQUAL, _CLONE[known.column], 0, 4),
        _load(_FIRST_ARGUMENT),
        _jump(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        _return(_ERRNO | errno.EPERM),
        _return(_ALLOW),
    ]
    code += [_jump(_EQUAL, _SOCKET[known.column], 0, len(FAMILIES) + 2), _load(_FIRST_ARGUMENT)]
    code += [
        _jump(_EQUAL, family, len(FAMILIES) - place, 0) for place, family in enumerate(FAMILIES)
    ]
    code += [_return(_ERRNO | errno.EAFNOSUPPORT), _return(_ALLOW)]
    return b"".join(code)


def _each(numbers: Iterable[int], error: int) -> list[bytes]:
    """Answer each of these calls with an error."""
    code = []
    for number in numbers:
        code += [_jump(_EQUAL, number, 0, 1), _return(_ERRNO | error)]
    return code


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _jump(code: int, operand: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _return(value: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, value)
