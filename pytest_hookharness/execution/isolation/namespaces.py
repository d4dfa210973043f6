"""
Namespaces: a process table, a file view and a network of an item's own.

Linux only; loaded by the supervisor too. What the kernel refuses is an ``OSError``.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct

from pytest_hookharness.execution.isolation import mounts

_NEWUTS = 0x4000000  # or a hook could rename the machine
_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int, what: str) -> None:
    if not hasattr(_libc, "prctl"):
        raise OSError(f"{what}: this system has no prctl")
    mounts.check(_libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3), what)


def become_subreaper() -> None:
    """
    Let every orphaned descendant become a child of this process.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "becoming the reaper of all descendants")


def die_with_parent() -> None:
    """
    Let the kernel kill this process when its parent ends.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, "asking to die with the parent")


def enter(network: bool) -> bool:
    """
    Leave the machine's namespaces; the next child is the first process of the new ones.

    Returns:
        Whether a namespace of users was needed, which gives no rights over the machine.
    """
    if not hasattr(_libc, "unshare"):
        raise OSError("this system has no namespaces")
    flags = _NEWNS | _NEWPID | _NEWIPC | _NEWUTS | (0 if network else _NEWNET)
    if os.geteuid() == 0 and _libc.unshare(flags) == 0:
        return False
    # Without the right to do so directly (any other user, or root inside a container) a user namespace
    # grants it. Numbers are mapped onto themselves, so the hook sees the user it would see otherwise.
    uid, gid = os.geteuid(), os.getegid()
    mounts.check(_libc.unshare(flags | _NEWUSER), "unshare")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    return True


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def arrange(network: bool) -> None:
    """
    Furnish the namespaces from their first process, but for the view of the files.

    Args:
        network: Whether the machine's network was kept.
    """
    mounts.make_all_private()
    mounts.mount_proc()
    if not network:
        _raise_loopback()


def _raise_loopback() -> None:
    """
    Bring the loopback device of a new network up, as programs expect it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
