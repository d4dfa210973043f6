"""
macOS: the process table by libproc, what ties a process to its parent, and files. Not yet run on a Mac.

Loaded by the supervisor too, so it imports few modules. The layouts are those of ``sys/proc_info.h`` and
``sys/resource.h``. A process that has ended, or that belongs to another user, has no row. Namespaces, tracers
and reports of touched files do not exist; the modules for Linux raise ``OSError`` for them. Each function is
described in ``linux``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import sys
import time

from pytest_hookharness.execution.platform.linux import ProcessRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

TICK = 1e-6
MEMORY_UNIT: int = 1
SHIFTS_TIME: bool = False
SHELL_STDIN: str = "/dev/fd/0"
SHELL_HAS_OWN_STDIN: str = ""
FORK_WAITS_FOR_PROGRAM: bool = False

_COMMAND_LIMIT, _NAME_LIMIT = 300, 64
_ALL, _BY_PARENT = 1, 6  # what ``proc_listpids`` lists
_DESCRIPTORS, _PROCESS_AND_TASK, _USAGE_1 = 1, 2, 1
# Types of descriptors, and the question that ``proc_pidfdinfo`` answers for each.
_VNODE, _SOCKET, _PIPE = 1, 2, 6
_QUESTIONS = {_VNODE: 2, _SOCKET: 3, _PIPE: 6}
# proc_taskallinfo: status, parent and group of the process, running threads of its task.
PROCESS = struct.Struct("=4xI8xI80xI120xi4x")
# rusage_info_v1, in units of the clock: user and system time, start, user and system time of the children.
USAGE = struct.Struct("=16xQQ48xQ8xQQ32x")
DESCRIPTOR = struct.Struct("=iI")
# First in proc_fileinfo: the flags with which a file was opened. After it and vinfo_stat: the address of a
# socket, or of this end of a pipe and the other one. After it and vnode_info: a path.
FLAGS, ADDRESSES, PATH = 0, 160, 176
_FOR_READING = 1
_NOBODY_READS = "pipe:[0]"
_ANSWER = 2048  # bytes; more than the largest answer about a descriptor
_STATES = {1: "I", 4: "T", 5: "Z"}
_KERN, _PROCARGS2, _MOST_ARGUMENTS = 1, 49, 1 << 20
_XATTR_NO_FOLLOW, _NO_ATTRIBUTE, _RENAME_SWAP = 1, 93, 2
_DEVICES = ("null", "zero", "random", "urandom", "tty")

libc = ctypes.CDLL(None, use_errno=True)
_queues: list[object] = []  # their descriptors are closed with them


def read_row(pid: int, table: bytes, usage: bytes, session: int, unit: float) -> ProcessRow:
    """Return one process from answers of libproc; ``unit`` is the length of their unit of time in seconds."""
    status, parent, group, running = PROCESS.unpack(table)
    user, system, started, *of_children = USAGE.unpack(usage)
    # The status of a process says only whether it lives; a thread that runs, whether it does.
    state = _STATES.get(status) or ("R" if running else "S")
    cpu_time = sum((user, system, *of_children)) * unit
    return ProcessRow(pid, state, parent, group, session, cpu_time, started * unit)


def _clock_unit() -> float:
    """Return the seconds of one unit of the machine's clock."""
    ratio = (ctypes.c_uint32 * 2)()
    libc.mach_timebase_info(ratio)
    return float(ratio[0] / ratio[1] / 1e9)


def row(pid: int) -> ProcessRow | None:
    table, usage = ctypes.create_string_buffer(PROCESS.size), ctypes.create_string_buffer(USAGE.size)
    if libc.proc_pidinfo(pid, _PROCESS_AND_TASK, ctypes.c_uint64(0), table, len(table)) < len(table):
        return None
    if libc.proc_pid_rusage(pid, _USAGE_1, usage):
        return None
    try:
        return read_row(pid, table.raw, usage.raw, os.getsid(pid), _clock_unit())
    except OSError:
        return None


def _list(kind: int, argument: int) -> list[int]:
    # With room for the processes that start between the two calls.
    size = libc.proc_listpids(kind, argument, None, 0) + 4096
    buffer = ctypes.create_string_buffer(size)
    length = max(0, libc.proc_listpids(kind, argument, buffer, size))
    return [pid for (pid,) in struct.iter_unpack("=i", buffer.raw[: length - length % 4]) if pid]


def all_rows() -> list[ProcessRow]:
    return [found for pid in _list(_ALL, 0) if (found := row(pid)) is not None]


def children(pid: int) -> list[int]:
    return _list(_BY_PARENT, pid)


def split_arguments(data: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return arguments and environment from an answer to KERN_PROCARGS2."""
    if len(data) < struct.calcsize("=i"):
        return [], []
    (count,) = struct.unpack_from("=i", data)
    # The path of the program is filled up with zero bytes.
    _, _, rest = data[4:].partition(b"\0")
    words = rest.lstrip(b"\0").split(b"\0")
    variables = words[count:]
    return words[:count], variables[: variables.index(b"")] if b"" in variables else variables


def _arguments(pid: int) -> tuple[list[bytes], list[bytes]]:
    query = (ctypes.c_int * 3)(_KERN, _PROCARGS2, pid)
    buffer, size = ctypes.create_string_buffer(_MOST_ARGUMENTS), ctypes.c_size_t(_MOST_ARGUMENTS)
    if libc.sysctl(query, 3, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)):
        return [], []
    return split_arguments(buffer.raw[: size.value])


def command_line(pid: int) -> str:
    text = b" ".join(_arguments(pid)[0]).decode("utf-8", "replace") or name(pid)
    return text if len(text) <= _COMMAND_LIMIT else text[: _COMMAND_LIMIT - 3] + "..."


def name(pid: int) -> str:
    buffer = ctypes.create_string_buffer(_NAME_LIMIT)
    libc.proc_name(pid, buffer, _NAME_LIMIT)
    return buffer.value.decode("utf-8", "replace")


def environment(pid: int) -> frozenset[bytes]:
    """
    Return the entries of the environment with which a process was started; none if unknown.

    The system does not tell it for programs of its own, such as /bin/sleep.
    """
    return frozenset(_arguments(pid)[1])


def boot_clock() -> float:
    # The clock of the start in the table, which stands still while the machine sleeps.
    return time.clock_gettime(getattr(time, "CLOCK_UPTIME_RAW", time.CLOCK_MONOTONIC))


def _descriptors(pid: int) -> dict[int, int]:
    """Return the open descriptors of a process with their types."""
    size = libc.proc_pidinfo(pid, _DESCRIPTORS, ctypes.c_uint64(0), None, 0)
    if size <= 0:
        return {}
    buffer = ctypes.create_string_buffer(size)
    length = max(0, libc.proc_pidinfo(pid, _DESCRIPTORS, ctypes.c_uint64(0), buffer, size))
    return dict(DESCRIPTOR.iter_unpack(buffer.raw[: length - length % DESCRIPTOR.size]))


def open_files(pid: int) -> Iterator[str]:
    for number, kind in _descriptors(pid).items():
        yield _link(pid, number, kind)


def link(pid: int, descriptor: int | str) -> str:
    return _link(pid, int(descriptor), _descriptors(pid).get(int(descriptor), 0))


def _link(pid: int, descriptor: int, kind: int) -> str:
    buffer = ctypes.create_string_buffer(_ANSWER)
    question = _QUESTIONS.get(kind, 0)
    if not question or libc.proc_pidfdinfo(pid, descriptor, question, buffer, _ANSWER) <= 0:
        return ""
    return link_name(kind, buffer.raw)


def link_name(kind: int, answer: bytes) -> str:
    """Return the name of the file, socket or pipe behind a descriptor."""
    if kind == _VNODE:
        return os.fsdecode(answer[PATH:].partition(b"\0")[0])
    this_end, other_end = struct.unpack_from("=QQ", answer, ADDRESSES)
    if kind == _SOCKET:
        return f"socket:[{this_end}]"
    # The address of an end that is closed is given to the next pipe. So a pipe has the name of the end that
    # the harness keeps open where the name is evidence: the one that is read from.
    (flags,) = struct.unpack_from("=I", answer, FLAGS)
    return f"pipe:[{this_end if flags & _FOR_READING else other_end}]"


def stream_name(descriptor: int, *, socket: bool) -> str:
    name = _link(os.getpid(), descriptor, _SOCKET if socket else _PIPE)
    return "" if name == _NOBODY_READS else name


def become_subreaper() -> None:
    raise OSError(errno.ENOSYS, "macOS gives orphans to its first process only")


def allow_dumps(allowed: bool) -> None:
    """Do nothing: the system allows debuggers alone."""


def open_process(pid: int) -> int:
    if sys.platform == "linux":
        return -1
    # A queue is not inherited by a fork.
    try:
        queue = select.kqueue()
        event = select.kevent(
            pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD | select.KQ_EV_ONESHOT, select.KQ_NOTE_EXIT
        )
        queue.control([event], 0)
    except OSError:
        return -1
    _queues.append(queue)
    return queue.fileno()


def file_clock() -> int:
    return time.time_ns()


def devices() -> tuple[str, ...]:
    return tuple(path for name in _DEVICES if os.path.exists(path := f"/dev/{name}"))


def copy_file(source: str, target: str) -> None:
    # Shares the blocks of the file until one of the two is written.
    if libc.clonefile(os.fsencode(source), os.fsencode(target), 0):
        import shutil

        shutil.copy2(source, target)
        change_attributes(target, (), read_attributes(source, is_of_a_program))


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        # The error that other systems call ENODATA.
        number = errno.ENODATA if number == _NO_ATTRIBUTE else number
        raise OSError(number, os.strerror(number), what)
    return result


def _read_attribute(path: str, name: bytes | None) -> bytes:
    """Return an extended attribute, or the names of all."""
    place = os.fsencode(path)

    def read(buffer: ctypes.Array[ctypes.c_char] | None, size: int) -> int:
        if name is None:
            return _check(libc.listxattr(place, buffer, ctypes.c_size_t(size), _XATTR_NO_FOLLOW), path)
        return _check(libc.getxattr(place, name, buffer, ctypes.c_size_t(size), 0, _XATTR_NO_FOLLOW), path)

    size = read(None, 0)
    buffer = ctypes.create_string_buffer(size)
    return buffer.raw[: read(buffer, size)] if size else b""


def is_of_a_program(name: str) -> bool:
    # The system notes by itself where a file came from and when it was used, in attributes that nobody else
    # may set. Access lists are no attributes here.
    return not name.startswith("com.apple.")


def read_attributes(path: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    try:
        names = sorted(os.fsdecode(each) for each in _read_attribute(path, None).split(b"\0") if each)
        return {name: _read_attribute(path, os.fsencode(name)) for name in names if wanted(name)}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def change_attributes(path: str, removed: Collection[str], changed: Mapping[str, bytes]) -> None:
    place = os.fsencode(path)
    for name in removed:
        _check(libc.removexattr(place, os.fsencode(name), _XATTR_NO_FOLLOW), path)
    for name, value in changed.items():
        size = ctypes.c_size_t(len(value))
        _check(libc.setxattr(place, os.fsencode(name), value, size, 0, _XATTR_NO_FOLLOW), path)


def exchange(one: str, other: str) -> None:
    _check(libc.renamex_np(os.fsencode(one), os.fsencode(other), _RENAME_SWAP), one)
