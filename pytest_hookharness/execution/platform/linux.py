"""
Linux: the process table, what ties a process to its parent, file times, and extended attributes.

Loaded by the supervisor too, so it imports few modules. A process may end between two reads of /proc, so the
functions of the process table answer "gone" instead of failing. The other modules for Linux import this one
on every system, so it can be imported where its functions cannot be used.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

_TICKS = os.sysconf("SC_CLK_TCK")
TICK = 1 / _TICKS
MEMORY_UNIT: int = 1024
_COMMAND_LIMIT = 300
# The numbers of system calls in which a hook commonly waits, by machine.
_CALLS = {
    "x86_64": {
        0: "read", 1: "write", 7: "poll", 19: "readv", 20: "writev", 23: "select", 34: "pause",
        35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 47: "recvmsg",
        61: "wait4", 72: "fcntl", 73: "flock", 130: "rt_sigsuspend", 202: "futex", 230: "clock_nanosleep",
        232: "epoll_wait", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll",
        281: "epoll_pwait", 288: "accept4", 441: "epoll_pwait2",
    },
    "aarch64": {
        22: "epoll_pwait", 25: "fcntl", 32: "flock", 56: "openat", 63: "read", 64: "write", 65: "readv",
        66: "writev", 72: "pselect6", 73: "ppoll", 95: "waitid", 98: "futex", 101: "nanosleep",
        115: "clock_nanosleep", 133: "rt_sigsuspend", 202: "accept", 203: "connect", 206: "sendto",
        207: "recvfrom", 212: "recvmsg", 242: "accept4", 260: "wait4", 441: "epoll_pwait2",
    },
}  # fmt: skip
_NAMES = _CALLS.get(os.uname().machine, {})
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
# CLOCK_REALTIME_COARSE, for which Python has no name: the kernel stamps files by it.
_FILE_CLOCK = 5
_RLIMIT_LOCKS, _MARK_TITLE, _LIMITS = 10, b"Max file locks", "/proc/self/limits"
# Those that a container has. All others are the machine's own.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_LISTS = ("system.posix_acl_access", "system.posix_acl_default")

SHIFTS_TIME: bool = True
SHELL_STDIN: str = "/proc/self/fd/0"
# A script's standard input is its own if its parent has another one. The first process of a hook is an
# exception: its parent is the harness, and field 5 of ``stat`` shows that it leads its process group.
SHELL_HAS_OWN_STDIN: str = """\
has_own_stdin() {
  { read -r status <"/proc/$$/stat"; } 2>/dev/null || return 1
  set -- ${status##*) }
  [ "$3" != "$$" ] && [ -e "/proc/$PPID/fd/0" ] && ! [ /proc/self/fd/0 -ef "/proc/$PPID/fd/0" ]
}
"""

# By vfork, which stops this process until then.
FORK_WAITS_FOR_PROGRAM: bool = True

libc = ctypes.CDLL(None, use_errno=True)


class LinuxProcessRow:
    """One line of /proc/PID/stat."""

    __slots__ = ("cpu_time", "group", "parent", "pid", "session", "started", "state")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.session = int(fields[3])
        # User and system time of its own, and of the children that it has waited for.
        self.cpu_time = sum(map(int, fields[11:15])) / _TICKS
        self.started = int(fields[19]) / _TICKS


def read(path: str) -> bytes:
    """Read a small file of /proc; nothing if it is gone or closed to us."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def row(pid: int) -> LinuxProcessRow | None:
    text = read(f"/proc/{pid}/stat")
    # The name of the command is in parentheses and may hold any character, so the last one counts.
    end = text.rfind(b")")
    if end < 0:
        return None
    return LinuxProcessRow(pid, text[end + 2 :].split())


def all_rows() -> list[LinuxProcessRow]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    return [found for name in names if name.isdecimal() and (found := row(int(name))) is not None]


def threads(pid: int) -> list[int]:
    """List the threads of a process; none if it is gone."""
    try:
        return [*map(int, os.listdir(f"/proc/{pid}/task"))]
    except OSError:
        return []


def cpu_and_wait(pid: int) -> tuple[float, float]:
    # Both in nanoseconds; a kernel that does not count them has no such file.
    counts = [read(f"/proc/{pid}/task/{thread}/schedstat").split() for thread in threads(pid)]
    had = sum(int(count[0]) for count in counts if count)
    return had / 1e9, sum(int(count[1]) for count in counts if count) / 1e9


def children(pid: int) -> list[int]:
    folder = f"/proc/{pid}/task"
    found: list[int] = []
    try:
        # A child is listed under the thread that started it, and programs such as node start theirs from any.
        for thread in os.listdir(folder):
            # Not by ``_read``: one read may return only a part, and a short list would leave processes alive.
            with open(f"{folder}/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except OSError:
        own = "/proc/self/task"
        if os.path.exists(own) and not os.path.exists(f"{own}/{os.getpid()}/children"):
            return [seen.pid for seen in all_rows() if seen.parent == pid]  # a kernel without these lists
    return found


def command_line(pid: int) -> str:
    words = read(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" ")
    text = words.decode("utf-8", "replace") or name(pid)
    return text if len(text) <= _COMMAND_LIMIT else text[: _COMMAND_LIMIT - 3] + "..."


def has_marks() -> bool:
    return libc.getrlimit(_RLIMIT_LOCKS, (ctypes.c_ulong * 2)()) == 0 and os.path.exists(_LIMITS)


def own_mark() -> int:
    return mark(os.getpid())


def mark_children(mark: int) -> None:
    """
    Give this process a mark, or none with 0.

    The mark is the soft limit on file locks. Every process inherits it, and no kernel since Linux 2.4 applies
    it. An environment variable would be lost with a cleared environment, and hooks print their environment.
    """
    limit = (ctypes.c_ulong * 2)()
    if libc.getrlimit(_RLIMIT_LOCKS, limit) == 0:
        # A process may set the soft limit to anything up to the hard one.
        limit[0] = mark or limit[1]
        libc.setrlimit(_RLIMIT_LOCKS, limit)


def mark(pid: int) -> int:
    start = (text := read(f"/proc/{pid}/limits")).find(_MARK_TITLE)
    words = text[start + len(_MARK_TITLE) :].split(None, 1)
    return int(words[0]) if start >= 0 and words and words[0].isdigit() else 0


def environment(pid: int) -> frozenset[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return frozenset(file.read().split(b"\0"))
    except OSError:
        return frozenset()


def name(pid: int) -> str:
    return read(f"/proc/{pid}/comm").decode("utf-8", "replace").strip()


def boot_clock() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def open_files(pid: int) -> Iterator[str]:
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for descriptor in descriptors:
        yield link(pid, descriptor)


def link(pid: int, descriptor: int | str) -> str:
    return read_link(f"/proc/{pid}/fd/{descriptor}")


def read_link(path: str) -> str:
    """Return the target of a link in /proc; empty if it is gone or closed to us."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def stream_name(descriptor: int, *, socket: bool) -> str:
    return f"{'socket' if socket else 'pipe'}:[{os.fstat(descriptor).st_ino}]"


def blocked_call(pid: int, state: str) -> tuple[str, int | None]:
    call, arguments = blocked_arguments(pid)
    if call:
        return call, arguments[0]
    return ("" if state == "R" else kernel_function(pid)), None


def blocked_arguments(pid: int) -> tuple[str, list[int]]:
    """Return the call in which a process is blocked and its arguments; empty if it runs, or if unknown."""
    number, *words = read(f"/proc/{pid}/syscall").decode().split()[:7] or ("",)
    call = _NAMES.get(int(number), "") if number.isdigit() else ""
    return call, [int(word, 16) for word in words] if call else []


def kernel_function(pid: int) -> str:
    """Return the function of the kernel in which a process waits; empty if that is unknown."""
    function = read(f"/proc/{pid}/wchan").decode()
    return "" if function == "0" else function


def polled_files(pid: int, descriptor: int) -> list[int]:
    lines = read(f"/proc/{pid}/fdinfo/{descriptor}").decode().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("tfd:")]


def last_error(what: str) -> OSError:
    """Return the error of the last call of the C library."""
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def check(result: int, what: str) -> None:
    """Raise the error of a call of the C library; zero means success."""
    if result != 0:
        raise last_error(what)


def _prctl(option: int, value: int, what: str) -> None:
    check(libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3), what)


def become_subreaper() -> None:
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "becoming the reaper of all descendants")


def die_with_parent() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, "asking to die with the parent")


def allow_dumps(allowed: bool) -> None:
    _prctl(_PR_SET_DUMPABLE, int(allowed), "deciding who may look into this process")


def give_up_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "giving up the privileges of other programs")


def open_process(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # before Linux 5.3
        return -1


def file_clock() -> int:
    return time.clock_gettime_ns(_FILE_CLOCK)


def is_kernel_folder(path: str) -> bool:
    """Return whether the files of a folder stand for the kernel's own state, and change with it."""
    return any(path == place or path.startswith(f"{place}/") for place in ("/proc", "/sys"))


def devices() -> tuple[str, ...]:
    return tuple(path for name in _DEVICES if os.path.exists(path := f"/dev/{name}"))


def copy_file(source: str, target: str) -> None:
    import shutil  # not by the supervisor

    shutil.copy2(source, target)


def is_of_a_program(name: str) -> bool:
    # The others are records of the kernel, as those of an overlay.
    return name in _LISTS or (name.startswith("user.") and not name.startswith("user.overlay."))


def read_attributes(path: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    try:
        found = os.listxattr(path, follow_symlinks=False)
        if not found:
            return {}
        # Filtered before the values are read: some may be read by the system alone.
        names = filter(wanted, sorted(found))
        return {name: os.getxattr(path, name, follow_symlinks=False) for name in names}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def change_attributes(path: str, removed: Collection[str], changed: Mapping[str, bytes]) -> None:
    for name in removed:
        os.removexattr(path, name, follow_symlinks=False)
    for name, value in changed.items():
        os.setxattr(path, name, value, follow_symlinks=False)


def exchange(one: str, other: str) -> None:
    if not hasattr(libc, "renameat2"):
        raise OSError(errno.ENOSYS, "this C library has no renameat2")
    check(
        libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE),
        f"exchanging {one} and {other}",
    )
