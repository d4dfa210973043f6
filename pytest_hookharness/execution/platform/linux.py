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
TICK = 1 / _TICKS  # seconds: the resolution of the times in the process table
MEMORY_UNIT: int = 1024  # bytes: the unit in which the system reports the peak memory of a process
_COMMAND_LIMIT = 300
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
# CLOCK_REALTIME_COARSE, for which Python has no name: the kernel stamps files by it.
_FILE_CLOCK = 5
_RLIMIT_LOCKS, _MARK_TITLE, _LIMITS = 10, b"Max file locks", "/proc/self/limits"
# The devices of a container. All others are the machine's own.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_LISTS = ("system.posix_acl_access", "system.posix_acl_default")

# Whether `file_clock` works. Without it the clock of hooks cannot be moved, for file times must follow.
SHIFTS_TIME: bool = True
SHELL_STDIN: str = "/proc/self/fd/0"  # the path by which a shell reaches its own standard input
# Text of a shell function that returns whether standard input was made for a script; empty where the system
# does not show that. Standard input is a script's own if its parent has another one. The first process of a
# hook is an exception: its parent is the harness, and field 5 of ``stat`` shows that it leads its process
# group.
SHELL_HAS_OWN_STDIN: str = """\
has_own_stdin() {
  { read -r status <"/proc/$$/stat"; } 2>/dev/null || return 1
  set -- ${status##*) }
  [ "$3" != "$$" ] && [ -e "/proc/$PPID/fd/0" ] && ! [ /proc/self/fd/0 -ef "/proc/$PPID/fd/0" ]
}
"""

# Whether Python's own function to start a program returns only when the program runs or cannot run: it uses
# vfork, which stops this process until then.
FORK_WAITS_FOR_PROGRAM: bool = True

libc = ctypes.CDLL(None, use_errno=True)


class ProcessRow:
    """
    One process, as the process table shows it.

    Attributes:
        state: As ``ps`` prints it: ``R`` runs, ``S`` sleeps, ``D`` waits for a device, ``Z`` is dead.
        parent, group, session: The numbers of its parent, its process group and its session.
        cpu_time: Seconds of CPU time, with those of the children that it has waited for.
        started: Its start, in seconds since the machine started.
    """

    __slots__ = ("cpu_time", "group", "parent", "pid", "session", "started", "state")

    def __init__(
        self, pid: int, state: str, parent: int, group: int, session: int, cpu_time: float, started: float
    ) -> None:
        self.pid, self.state, self.parent = pid, state, parent
        self.group, self.session = group, session
        self.cpu_time, self.started = cpu_time, started


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


def row(pid: int) -> ProcessRow | None:
    """Look up one process; ``None`` if it is gone."""
    text = read(f"/proc/{pid}/stat")
    # The name of the command is in parentheses and may hold any character, so the last one counts.
    end = text.rfind(b")")
    if end < 0:
        return None
    state, *numbers = text[end + 2 :].split()
    parent, group, session = map(int, numbers[:3])
    # User and system time of its own, and of the children that it has waited for.
    cpu_time = sum(map(int, numbers[10:14])) / _TICKS
    return ProcessRow(pid, state.decode(), parent, group, session, cpu_time, int(numbers[18]) / _TICKS)


def all_rows() -> list[ProcessRow]:
    """List all processes that can be seen."""
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
    """Return the seconds for which the threads of a process had a CPU, and were kept waiting for one."""
    # Both in nanoseconds; a kernel that does not count them has no such file.
    counts = [read(f"/proc/{pid}/task/{thread}/schedstat").split() for thread in threads(pid)]
    had = sum(int(count[0]) for count in counts if count)
    return had / 1e9, sum(int(count[1]) for count in counts if count) / 1e9


def children(pid: int) -> list[int]:
    """List the children of a process."""
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
    """Return the command line of a process, cut to a bounded length."""
    words = read(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" ")
    text = words.decode("utf-8", "replace") or name(pid)
    return text if len(text) <= _COMMAND_LIMIT else text[: _COMMAND_LIMIT - 3] + "..."


def has_marks() -> bool:
    """Return whether the system has marks."""
    return libc.getrlimit(_RLIMIT_LOCKS, (ctypes.c_ulong * 2)()) == 0 and os.path.exists(_LIMITS)


def mark_children(mark: int) -> None:
    """
    Give this process a mark, or none with 0: a number that all processes inherit that it starts then.

    The mark is the soft limit on file locks, which no kernel since Linux 2.4 applies. It stays when a process
    begins a session or loses its parent. An environment variable would be lost where the environment is
    cleared, and would show where hooks print it. Nothing happens where the system has no marks.
    """
    limit = (ctypes.c_ulong * 2)()
    if libc.getrlimit(_RLIMIT_LOCKS, limit) == 0:
        # A process may set the soft limit to anything up to the hard one.
        limit[0] = mark or limit[1]
        libc.setrlimit(_RLIMIT_LOCKS, limit)


def mark(pid: int) -> int:
    """Return the mark of a process; 0 if it has none, or if that is unknown."""
    start = (text := read(f"/proc/{pid}/limits")).find(_MARK_TITLE)
    words = text[start + len(_MARK_TITLE) :].split(None, 1)
    return int(words[0]) if start >= 0 and words and words[0].isdigit() else 0


def environment(pid: int) -> frozenset[bytes]:
    """Return the entries of the environment with which a process was started; none if unknown."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return frozenset(file.read().split(b"\0"))
    except OSError:
        return frozenset()


def name(pid: int) -> str:
    """Return the short name of a process; empty if it is gone."""
    return read(f"/proc/{pid}/comm").decode("utf-8", "replace").strip()


def boot_clock() -> float:
    """Return the seconds since the machine started, on the clock of `ProcessRow.started`."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def open_files(pid: int) -> Iterator[str]:
    """Yield the names of the files that a process has open, as `link` gives them."""
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for descriptor in descriptors:
        yield link(pid, descriptor)


def link(pid: int, descriptor: int | str) -> str:
    """
    Return the name of the file behind a descriptor of a process; empty if it is unknown.

    Both ends of a pipe have the same name. Another pipe may get this name once the reading end is closed, and
    another socket once a socket is closed.
    """
    return read_link(f"/proc/{pid}/fd/{descriptor}")


def read_link(path: str) -> str:
    """Return the target of a link, such as one in /proc; empty if it is gone or must not be read."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def stream_name(descriptor: int, *, socket: bool) -> str:
    """Return the name that `link` gives to a pipe or a socket of this process; empty if it has none."""
    return f"{'socket' if socket else 'pipe'}:[{os.fstat(descriptor).st_ino}]"


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
    """Make every orphaned descendant a child of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "becoming the reaper of all descendants")


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, "asking to die with the parent")


def allow_dumps(allowed: bool) -> None:
    """
    Decide whether other processes of the user may read and write the memory of this one.

    A program that it starts may be read and written again. Nothing happens where the system cannot.
    """
    _prctl(_PR_SET_DUMPABLE, int(allowed), "deciding who may look into this process")


def give_up_privileges() -> None:
    """Keep programs that this process starts from getting more rights than this process has."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "giving up the privileges of other programs")


def open_process(pid: int) -> int:
    """Return a descriptor that becomes readable when a process ends; -1 if the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # before Linux 5.3
        return -1


def file_clock() -> int:
    """Return the time, in nanoseconds, of the clock by which the kernel stamps files."""
    return time.clock_gettime_ns(_FILE_CLOCK)


def is_kernel_folder(path: str) -> bool:
    """Return whether the files of a folder stand for the kernel's own state, and change with it."""
    return any(path == place or path.startswith(f"{place}/") for place in ("/proc", "/sys"))


def devices() -> tuple[str, ...]:
    """List the devices that programs need and that change nothing on the machine."""
    return tuple(path for name in _DEVICES if os.path.exists(path := f"/dev/{name}"))


def copy_file(source: str, target: str) -> None:
    """Copy a regular file with its times, mode and attributes, without its blocks where that works."""
    import shutil  # not by the supervisor

    shutil.copy2(source, target)


def is_of_a_program(name: str) -> bool:
    """Return whether programs and people set an attribute, and not the system itself."""
    # The others are records of the kernel, as those of an overlay.
    return name in _LISTS or (name.startswith("user.") and not name.startswith("user.overlay."))


def read_attributes(path: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the wanted attributes and access lists of a path itself, sorted; none if it has none."""
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
    """Remove and set extended attributes of a path itself."""
    for name in removed:
        os.removexattr(path, name, follow_symlinks=False)
    for name, value in changed.items():
        os.setxattr(path, name, value, follow_symlinks=False)


def exchange(one: str, other: str) -> None:
    """Exchange two files in one step."""
    if not hasattr(libc, "renameat2"):
        raise OSError(errno.ENOSYS, "this C library has no renameat2")
    check(
        libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE),
        f"exchanging {one} and {other}",
    )
