"""
This module is concerned with namespaces: a process table, a file view and a network of an item's own.

Middle floor: execution. Linux only; loaded by the supervisor too. What the kernel refuses is an ``OSError``.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_MS_NOSUID_NODEV_NOEXEC = 2 | 4 | 8
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    """
    Raise what the kernel said about a call.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _prctl(option: int, value: int, what: str) -> None:
    if not hasattr(_libc, "prctl"):
        raise OSError(f"{what}: this system has no prctl")
    _check(_libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3), what)


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


def enter(network: bool) -> None:
    """
    Leave the machine's namespaces; the next child is the first process of the new ones.
    """
    if not hasattr(_libc, "unshare"):
        raise OSError("this system has no namespaces")
    flags = _NEWNS | _NEWPID | _NEWIPC | (0 if network else _NEWNET)
    if os.geteuid() == 0 and _libc.unshare(flags) == 0:
        return
    # Without the right to do so directly (any other user, or root inside a container) a user namespace
    # grants it. Numbers are mapped onto themselves, so the hook sees the user it would see otherwise.
    uid, gid = os.geteuid(), os.getegid()
    _check(_libc.unshare(flags | _NEWUSER), "unshare")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _mount(source: str, target: str, kind: str | None, flags: int, what: str) -> None:
    name = None if kind is None else kind.encode()
    result = _libc.mount(os.fsencode(source), os.fsencode(target), name, ctypes.c_ulong(flags), None)
    _check(result, what)


def arrange(network: bool, private: list[tuple[str, str]], visible: list[str]) -> list[str]:
    """
    Furnish the namespaces from their first process and return the stubs that were made for mount points.

    Args:
        network: Whether the machine's network was kept.
        private: Mount points and the folders that are bound over them.
        visible: Paths that stay at their own place although they lie below such a mount point.
    """
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE, "making mounts private")
    _mount("proc", "/proc", "proc", _MS_NOSUID_NODEV_NOEXEC, "mounting /proc")
    if not network:
        _raise_loopback()
    points = {os.path.realpath(point): folder for point, folder in private if os.path.isdir(point)}
    wanted = _hidden_by(points, visible)
    # Sources are opened before the first mount, for the mounts cover them: both folders and visible paths
    # commonly lie below /tmp themselves.
    folders = [(point, _hold(folder)) for point, folder in sorted(points.items())]
    sources = [(path, _hold(path)) for path in wanted]
    stubs = [made for path in wanted for made in _make_stubs(path, points)]
    for target, held in folders + sources:
        flags = _MS_BIND | _MS_REC
        _mount(f"/proc/self/fd/{held}", target, None, flags, f"binding over {target}")
        os.close(held)
    return stubs


def _raise_loopback() -> None:
    """
    Bring the loopback device of a new network up, as programs expect it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _hold(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")


def _hidden_by(points: dict[str, str], visible: list[str]) -> list[str]:
    """
    Choose the paths that need a bind of their own: below a mount point, and not below another such path.
    """
    # The real path is wanted as well as the given one: either may lead through a folder that gets covered.
    names = {name for path in visible for name in (os.path.normpath(path), os.path.realpath(path))}
    hidden = {name for name in names if any(_below(name, point) for point in points)}
    chosen: list[str] = []
    for name in sorted(hidden):
        covering = max((point for point in points if _below(name, point)), key=len)
        if not any(_below(name, other) and not _below(covering, other) for other in chosen):
            chosen.append(name)
    return chosen


def _make_stubs(path: str, points: dict[str, str]) -> list[str]:
    """
    Make the mount point for a visible path inside the private folder; return what had to be made.
    """
    point = max((point for point in points if _below(path, point)), key=len)
    parts = path[len(point) + 1 :].split("/")
    place, made = points[point], []
    for index, part in enumerate(parts):
        place = f"{place}/{part}"
        if os.path.lexists(place):
            continue
        if index == len(parts) - 1 and not os.path.isdir(path):
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        else:
            os.mkdir(place, 0o755)
        made.append(place)
    return made
