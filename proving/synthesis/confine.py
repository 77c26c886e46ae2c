"""Walls around a process of this machine: limits of memory and files, no network, few system calls.

What cannot be had here (another kernel, no rights) is left out; `confine_calls` says whether its wall stands.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import pwd
import resource
import signal
import struct
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUSER = 0x4000_0000, 0x0800_0000, 0x1000_0000
CLONE_THREAD = 0x1_0000
UNPRIVILEGED = "nobody"
OPEN_FILES = 32

LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16

ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
CALLS = {
    # name: (x86_64, aarch64); what a computation needs that has its files already
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "writev": (20, 66),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "fcntl": (72, 25),
    "ftruncate": (77, 46),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "set_robust_list": (273, 99),
    "getrandom": (318, 278),
    "memfd_create": (319, 279),
    "membarrier": (324, 283),
    "rseq": (334, 293),
}
CLONE, CLONE3 = (56, 220), (435, 435)

_libc = ctypes.CDLL(None, use_errno=True)


def leave_the_network() -> bool:
    """Put this process where there is no network, with what rights it has."""
    if _libc.unshare(CLONE_NEWNET | CLONE_NEWIPC) == 0:
        return True
    return bool(_libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0)


def become_nobody() -> None:
    """Let go of root's rights, where this process has them; nobody may trace it or read its memory."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    if os.geteuid() == 0:
        entry = pwd.getpwnam(UNPRIVILEGED)
        os.setgroups([])
        os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
        os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
    _libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def die_with(parent: int) -> None:
    """Have the kernel end this process when the one that forked it ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def limit(memory_bytes: int, file_bytes: int, seconds: int) -> None:
    """Bound what this process may take from now on: so many bytes of memory more, of a file, of the CPU."""
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_DATA: _data_bytes() + memory_bytes,
        resource.RLIMIT_CPU: seconds,
    }
    for what, bound in bounds.items():
        hard = resource.getrlimit(what)[1]
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (least, least))


def confine_calls() -> bool:
    """Refuse every system call but those of a computation, for good. False where this kernel cannot."""
    machine = platform.machine()
    if machine not in ARCHITECTURES or platform.system() != "Linux":
        return False
    program = _filter(ARCHITECTURES[machine], list(ARCHITECTURES).index(machine))
    code = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    given = Program(len(program) // 8, ctypes.addressof(code))
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0) == 0)


def _filter(architecture: int, column: int) -> bytes:
    """The filter: a list of allowed numbers, threads but no processes, EPERM for the rest."""
    allowed = [numbers[column] for numbers in CALLS.values()]
    steps = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_EQUAL, 0, 1, CLONE3[column]),
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),  # the C library tries clone then
        (JUMP_EQUAL, 0, 3, CLONE[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (JUMP_SET, len(allowed) + 2, 0, CLONE_THREAD),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
    ]
    steps += [(JUMP_EQUAL, len(allowed) - place, 0, number) for place, number in enumerate(allowed)]
    steps += [(RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _data_bytes() -> int:
    """What the kernel counts of this process's memory that it may write to."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0
