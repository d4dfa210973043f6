"""
Linux: what ties a process to its parent, file times, and extended attributes.

Loaded by the supervisor too, so it imports few modules. Where this runs on another system, each function
raises ``OSError`` or does nothing, as the protocol allows.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
# CLOCK_REALTIME_COARSE, for which Python has no name: the kernel stamps files by it.
_FILE_CLOCK = 5
_IS_LINUX = sys.platform == "linux"

SHIFTS_TIME = _IS_LINUX
SHELL_STDIN = "/proc/self/fd/0" if _IS_LINUX else "/dev/fd/0"
# A script's standard input is its own if its parent has another one. The first process of a hook is an
# exception: its parent is the harness, and field 5 of ``stat`` shows that it leads its process group.
SHELL_HAS_OWN_STDIN = (
    """\
has_own_stdin() {
  { read -r status <"/proc/$$/stat"; } 2>/dev/null || return 1
  set -- ${status##*) }
  [ "$3" != "$$" ] && [ -e "/proc/$PPID/fd/0" ] && ! [ /proc/self/fd/0 -ef "/proc/$PPID/fd/0" ]
}
"""
    if _IS_LINUX
    else ""
)

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """
    Raise the error of a call of the C library; zero means success.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _prctl(option: int, value: int, what: str) -> None:
    if not hasattr(libc, "prctl"):
        raise OSError(f"{what}: this system has no prctl")
    check(libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3), what)


def become_subreaper() -> None:
    """
    Make every orphaned descendant a child of this process.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "becoming the reaper of all descendants")


def die_with_parent() -> None:
    """
    Have the kernel kill this process when its parent ends.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, "asking to die with the parent")


def open_process(pid: int) -> int:
    """
    Return a descriptor that becomes readable when a process ends; -1 before Linux 5.3.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def file_clock() -> int:
    """
    Return the time, in nanoseconds, of the clock by which the kernel stamps files.
    """
    return time.clock_gettime_ns(_FILE_CLOCK)


def read_attributes(path: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """
    Return the wanted extended attributes and access lists of a path itself, sorted by name.
    """
    if not _IS_LINUX:
        return {}
    try:
        # Filtered before the values are read: some may be read by the system alone.
        names = filter(wanted, sorted(os.listxattr(path, follow_symlinks=False)))
        return {name: os.getxattr(path, name, follow_symlinks=False) for name in names}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def change_attributes(path: str, removed: Collection[str], changed: Mapping[str, bytes]) -> None:
    """
    Remove and set extended attributes of a path itself.
    """
    for name in removed:
        os.removexattr(path, name, follow_symlinks=False)
    for name, value in changed.items():
        os.setxattr(path, name, value, follow_symlinks=False)
