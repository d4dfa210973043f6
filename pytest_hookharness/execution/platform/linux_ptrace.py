"""
Linux: processes that the kernel stops before certain system calls, by ptrace and seccomp.

The interleaving scheduler uses it for calls that write, open and rename. A process installs the filter that
selects the calls before it becomes a command. The process tracer stops no call: it learns of each executed
program and of each end. What else an observed process needs is in ``linux_observing``.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct

from pytest_hookharness.execution.platform import linux_memory
from pytest_hookharness.execution.platform.linux import last_error, libc, link, read_link, row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any

_CONT, _GETEVENTMSG, _SEIZE, _LISTEN, _GET_SYSCALL_INFO = 7, 0x4201, 0x4206, 0x4208, 0x420E
_OPTIONS = 0x2 | 0x4 | 0x8 | 0x80 | 0x100000  # forks, vforks, clones, filtered calls; end all with the tracer
# Forks, vforks, clones, execs, exits; end all with the tracer.
_LIFE = 0x2 | 0x4 | 0x8 | 0x10 | 0x40 | 0x100000
# Events with which a traced task stops: it started another task; it has become another program; it is about
# to end; it is about to make a filtered call; it was stopped by a signal.
FORKS = (1, 2, 3)
EXECUTED, EXITING, FILTERED, STOPPED = 4, 6, 7, 128
ALL_TASKS = 0x40000000  # __WALL, a flag for ``waitpid``: wait for threads too
_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2
# Codes of rules: load a value, compare it, and answer.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
X32 = 0x40000000  # in the number of a call: another architecture of the same processor
# Answers of a filter: let the call pass, stop before it, have it wait for a listener, or make it fail with an
# error number.
ALLOW, TRACE, WAIT, REFUSE = 0x7FFF0000, 0x7FF00000, 0x7FC00000, 0x00050000

# For each call its numbers on x86_64 and on aarch64, and which arguments name what it changes: a descriptor,
# a path, a folder and a path, or one of the last two followed by flags.
FD, PATH, AT, FLAGGED, FLAGGED_AT, HOW_AT = range(6)
_CHANGING = {
    "write": (1, 64, FD, 0), "pwrite64": (18, 68, FD, 0), "writev": (20, 66, FD, 0),
    "pwritev": (296, 70, FD, 0), "pwritev2": (328, 287, FD, 0), "ftruncate": (77, 46, FD, 0),
    "sendfile": (40, 71, FD, 0), "copy_file_range": (326, 285, FD, 2), "open": (2, -1, FLAGGED, 0),
    "creat": (85, -1, PATH, 0), "truncate": (76, 45, PATH, 0), "rename": (82, -1, PATH, 1),
    "link": (86, -1, PATH, 1), "openat": (257, 56, FLAGGED_AT, 0), "openat2": (437, 437, HOW_AT, 0),
    "renameat": (264, 38, AT, 2), "renameat2": (316, 276, AT, 2), "linkat": (265, 37, AT, 2),
}  # fmt: skip
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
MACHINE = os.uname().machine
ARCHITECTURE = ARCHITECTURES.get(MACHINE, 0)
AT_CWD = (1 << 32) - 100


if hasattr(libc, "ptrace"):
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    libc.ptrace.restype = ctypes.c_long
_info = ctypes.create_string_buffer(88)
_info_at = ctypes.addressof(_info)


class SeccompProgram(ctypes.Structure):
    """A seccomp program as the kernel takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def ptrace(request: int, pid: int, address: int, data: object) -> int:
    """Make a request of a tracer; raise `OSError` if the system refuses."""
    done: int = libc.ptrace(request, pid, address, data)
    if done < 0:
        raise last_error("ptrace")
    return done


def memory_file(name: str) -> int:
    """Return a descriptor of a new file that has no path."""
    return os.memfd_create(name)


def filter_calls() -> None:
    """Have the kernel stop this process, and all that it becomes and starts, before calls that write."""
    install_filter(prepare_filter(stops_before(_CHANGING_BY_NUMBER.keys(), {})))


def names_by_number(*tables: Mapping[str, tuple[Any, ...]]) -> dict[int, str]:
    """Return the names of calls by number; each row of a table begins with those of x86_64 and aarch64."""
    if MACHINE not in ARCHITECTURES:
        return {}
    place = [*ARCHITECTURES].index(MACHINE)
    return {row[place]: name for table in tables for name, row in table.items() if row[place] >= 0}


_CHANGING_BY_NUMBER = names_by_number(_CHANGING)


def stops_before(
    calls: AbstractSet[int], cases: Mapping[int, Sequence[tuple[int, int, int, int]]], how: int = TRACE
) -> list[tuple[int, int, int, int]]:
    """
    Return the rules of a filter that stops a task before some calls, and before all of another architecture.

    ``cases`` has other rules for some of the numbers; ``how`` is the answer for the others.
    """
    plain = sorted(calls - cases.keys())
    # The tests come first, then the two answers, then the cases.
    allow = 4 + len(cases) + len(plain)
    rules = [
        (_LOAD, 0, 0, 4), (_EQUAL, 0, allow - 1, ARCHITECTURE),
        (_LOAD, 0, 0, 0), (_AT_LEAST, allow - 3, 0, X32),
    ]  # fmt: skip
    target = allow + 2
    for number, case in cases.items():
        rules.append((_EQUAL, target - len(rules) - 1, 0, number))
        target += len(case)
    rules += [(_EQUAL, len(plain) - place, 0, number) for place, number in enumerate(plain)]
    rules += [(ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, how)]
    return rules + [rule for case in cases.values() for rule in case]


def wait_if(argument: int, values: Collection[int]) -> list[tuple[int, int, int, int]]:
    """Return the case of a call that waits if an argument has one of some values."""
    tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(sorted(values))]
    return [_load(argument), *tests, (ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, WAIT)]


def pass_if_marked(argument: int, mark: int) -> list[tuple[int, int, int, int]]:
    """Return the begin of a case: a call passes if the upper half of an argument is a mark."""
    upper = (_LOAD, 0, 0, 16 + 8 * argument + 4)
    return [upper, (_EQUAL, 0, 1, mark), (ANSWER, 0, 0, ALLOW)]


def wait_unless(argument: int, value: int) -> list[tuple[int, int, int, int]]:
    """Return the case of a call that waits unless an argument has a value."""
    return [_load(argument), (_EQUAL, 0, 1, value), (ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, WAIT)]


def by_bits(argument: int, bits: int, found: int, rest: int) -> list[tuple[int, int, int, int]]:
    """Return the case of a call with one answer if an argument has one of some bits, and another one else."""
    return [_load(argument), (_ANY_BIT, 1, 0, bits), (ANSWER, 0, 0, rest), (ANSWER, 0, 0, found)]


def _load(argument: int) -> tuple[int, int, int, int]:
    # The lower half comes first in memory.
    return _LOAD, 0, 0, 16 + 8 * argument


def prepare_filter(rules: Sequence[tuple[int, int, int, int]]) -> SeccompProgram:
    """Return a seccomp program: of each rule the code, the two jumps and the value."""
    return SeccompProgram(len(rules), b"".join(struct.pack("=HBBI", *rule) for rule in rules))


def install_filter(program: SeccompProgram) -> None:
    """Install a seccomp program in this process."""
    # Who has no rights over the machine must first give up gaining them by programs such as sudo. Others do
    # not, for such a program works differently then.
    if _prctl(_SECCOMP, _FILTER, ctypes.byref(program)) and (
        _prctl(_NO_NEW_PRIVS, 1, ctypes.c_ulong(0)) or _prctl(_SECCOMP, _FILTER, ctypes.byref(program))
    ):
        raise last_error("a filter of system calls")


def _prctl(option: int, value: int, pointer: object) -> int:
    done: int = libc.prctl(option, ctypes.c_ulong(value), pointer, *[ctypes.c_ulong(0)] * 2)
    return done


def try_filter() -> None:
    """Test in a process of its own whether calls can be filtered here; if not, that is an ``OSError``."""
    pid = os.fork()
    if pid == 0:
        try:
            filter_calls()
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(pid, 0)[1]:
        raise OSError("system calls cannot be filtered here")


def seize(pid: int) -> None:
    """Begin to trace a process, and everything that it will start."""
    if not _CHANGING_BY_NUMBER:
        raise OSError(f"the system calls of {MACHINE} are not known")
    ptrace(_SEIZE, pid, 0, _OPTIONS)


def follow(pid: int) -> None:
    """Begin to trace the programs and ends of a process and its descendants; raise `OSError` if refused."""
    ptrace(_SEIZE, pid, 0, _LIFE)


def resume(pid: int, number: int = 0) -> None:
    """Resume a stopped task, with a signal if there was one."""
    # That fails if it was killed meanwhile; its end is reported next.
    libc.ptrace(_CONT, pid, 0, number)


def keep_stopped(pid: int) -> None:
    """Leave a task stopped that a signal stopped, until another signal resumes it."""
    with contextlib.suppress(OSError):
        ptrace(_LISTEN, pid, 0, 0)


def event_message(pid: int) -> int:
    """
    Return what the kernel says of the event at which a task stopped; 0 if that is no longer known.

    It is the number of a task that was started, or the status, as ``waitpid`` gives it, of one that ends.
    """
    number = ctypes.c_ulong()
    with contextlib.suppress(OSError):
        ptrace(_GETEVENTMSG, pid, 0, ctypes.addressof(number))
    return number.value


def call_info(pid: int) -> bytes:
    """Return what the kernel tells of the call at which a task stopped; nothing if the task is gone."""
    return _info.raw if libc.ptrace(_GET_SYSCALL_INFO, pid, len(_info), _info_at) > 0 else b""


def changes(pid: int, paths: Collection[str]) -> bool:
    """
    Return whether the call before which a task stopped changes one of these files.

    It is not known, and counts as no change, where its memory may not be read, as that of a program which
    may only be executed.
    """
    info = call_info(pid) or bytes(80)
    number, *arguments = struct.unpack_from("=7Q", info, 24)
    # Calls of another architecture have other numbers.
    if number not in _CHANGING_BY_NUMBER or struct.unpack_from("=I", info, 4)[0] != ARCHITECTURE:
        return False
    with contextlib.suppress(PermissionError):
        return _changes(pid, number, arguments, paths)
    return False


def _changes(pid: int, number: int, arguments: Sequence[int], paths: Collection[str]) -> bool:
    kind, first = _CHANGING[_CHANGING_BY_NUMBER[number]][2:]
    if kind == FD:
        return link(pid, arguments[first] & 0xFFFFFFFF) in paths
    if kind in (FLAGGED, FLAGGED_AT, HOW_AT):
        flags = arguments[first + 1 if kind == FLAGGED else first + 2]
        if kind == HOW_AT:
            flags = int.from_bytes(linux_memory.read_bytes(pid, flags, 8), "little")
        if not flags & (os.O_TRUNC | os.O_CREAT):
            return False
        empties = bool(flags & os.O_TRUNC)
    else:
        empties = True
    folder = AT_CWD if kind in (PATH, FLAGGED) else arguments[first] & 0xFFFFFFFF
    address = arguments[first if kind in (PATH, FLAGGED) else first + 1]
    path = _match_path(pid, folder, linux_memory.read_text(pid, address), paths)
    # Opening an existing file for writing does not change it yet.
    return bool(path) and (empties or not os.path.lexists(path))


def _match_path(pid: int, folder: int, written: bytes, paths: Collection[str]) -> str:
    """Return the file of ``paths`` that a task means; empty if it means another one."""
    path = os.fsdecode(written)
    if not any(other.rpartition("/")[2] == path.rpartition("/")[2] for other in paths):
        return ""
    base = read_link(f"/proc/{pid}/cwd") if folder == AT_CWD else link(pid, folder)
    head, _, name = os.path.join(base, path).rpartition("/")
    whole = f"{os.path.realpath(head)}/{name}"
    return whole if whole in paths else ""


def relatives(task: int) -> list[int]:
    """List the process that a task belongs to and the parent of that process."""
    found = {}
    try:
        with open(f"/proc/{task}/status", "rb") as status:
            for line in status:
                name, _, value = line.partition(b":")
                found[name] = value
    except OSError:
        return []
    return [int(found[name]) for name in (b"Tgid", b"PPid") if name in found]


def program(pid: int) -> tuple[list[str], dict[str, str], str]:
    """Return arguments, environment and working folder of a process; raise `OSError` if it is gone."""
    parts: list[list[str]] = []
    for name in ("cmdline", "environ"):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            parts.append([os.fsdecode(word) for word in file.read().split(b"\0")[:-1]])
    environment = dict(word.split("=", 1) for word in parts[1] if "=" in word)
    return parts[0], environment, os.readlink(f"/proc/{pid}/cwd")


def written(pid: int) -> int | None:
    """Return how many bytes a process itself has written; ``None`` if the kernel does not count them."""
    try:
        # Only of its first task: the sum of the process includes children that it has waited for.
        with open(f"/proc/{pid}/task/{pid}/io", "rb") as file:
            counters = dict(line.split(b": ") for line in file.read().splitlines())
        return int(counters[b"wchar"])
    except (OSError, KeyError, ValueError):
        return None


def sleeps(task: int) -> bool:
    """Return whether a task sleeps, or is gone."""
    found = row(task)
    return found is None or found.state in "SZ"
