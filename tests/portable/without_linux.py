"""
Run a command on a kernel that answers as if it had nothing that only Linux has.

    python tests/portable/without_linux.py pytest tests/execution

A seccomp filter makes the calls below fail for the command and for all that it starts, so process groups
isolate hooks, as on a Mac. The process table in /proc and /dev/fd stay, for ``ps`` and shells need them. The
limit on file locks, a mark that only Linux has, is refused. Control groups are hidden, where that is allowed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from pytest_hookharness.execution.platform.linux import check, libc
from pytest_hookharness.execution.platform.linux_ptrace import ARCHITECTURES, install_filter, prepare_filter

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_ARCHITECTURE, _ARGUMENTS = 4, 16
_NEW_NAMESPACES = 0x7E020000  # all CLONE_NEW* flags
_NEW_MOUNTS, _RECURSIVE, _PRIVATE = 0x20000, 0x4000, 0x40000
_CONTROL_GROUPS = "/sys/fs/cgroup"
_LOCKS = 10  # RLIMIT_LOCKS
# Numbers of x86-64, by the error with which they fail.
REFUSED = {
    errno.ENOSYS: {
        "inotify_init": 253, "inotify_add_watch": 254, "inotify_rm_watch": 255, "inotify_init1": 294,
        "fanotify_init": 300, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
        "seccomp": 317, "memfd_create": 319, "pidfd_send_signal": 424, "pidfd_open": 434, "clone3": 435,
        "close_range": 436, "pidfd_getfd": 438,
    },
    errno.EPERM: {
        "pivot_root": 155, "chroot": 161, "mount": 165, "umount2": 166, "unshare": 272, "setns": 308,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432,
    },
}  # fmt: skip
# Calls that fail with some arguments: number, place of the argument, how it is compared, and with what.
PARTLY = (
    (56, 0, _ANY_BIT, _NEW_NAMESPACES, errno.EPERM),  # clone
    *((157, 0, _EQUAL, option, errno.EINVAL) for option in (1, 22, 36)),  # prctl: death, seccomp, subreaper
    *((number, place, _EQUAL, _LOCKS, errno.EINVAL) for number, place in ((97, 0), (160, 0), (302, 1))),
)


def rules() -> Iterator[tuple[int, int, int, int]]:
    """Yield the instructions of the filter: code, the two jumps, and the value."""
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, ARCHITECTURES["x86_64"]
    yield _RETURN, 0, 0, _REFUSE | errno.ENOSYS  # of another architecture
    yield _LOAD, 0, 0, 0
    for number, calls in REFUSED.items():
        for call in calls.values():
            yield _EQUAL, 0, 1, call
            yield _RETURN, 0, 0, _REFUSE | number
    for call, place, comparison, value, number in PARTLY:
        yield _EQUAL, 0, 4, call
        yield _LOAD, 0, 0, _ARGUMENTS + 8 * place
        yield comparison, 0, 1, value
        yield _RETURN, 0, 0, _REFUSE | number
        yield _LOAD, 0, 0, 0
    yield _RETURN, 0, 0, _ALLOW


def _hide_control_groups() -> None:
    """Hide the control groups of this machine, where this user may make such groups and may hide them."""
    if os.geteuid() != 0:
        return
    check(libc.unshare(_NEW_MOUNTS), "mounts of one's own")
    check(libc.mount(b"none", b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None), "private mounts")
    if Path(_CONTROL_GROUPS).is_dir():
        check(
            libc.mount(b"none", _CONTROL_GROUPS.encode(), b"tmpfs", ctypes.c_ulong(0), None), _CONTROL_GROUPS
        )


def main(*command: str) -> None:
    """Become a command under the filter; never returns."""
    if not command or os.uname().machine != "x86_64":
        raise SystemExit("usage, on Linux with an x86-64 processor: without_linux.py COMMAND [ARGUMENT ...]")
    _hide_control_groups()
    install_filter(prepare_filter([*rules()]))
    os.execvp(command[0], command)  # noqa: S606  # any command


if __name__ == "__main__":
    main(*sys.argv[1:])
