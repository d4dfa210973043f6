"""
Linux: the stops of an observed process, and the start of its programs.

Each new program gets a stack without the address of the vDSO, or a vDSO that makes system calls. The C
library then reads the clock by calls that wait, and not in memory that it shares with the kernel.
"""

from __future__ import annotations

import os
import signal
import stat
import struct

from pytest_hookharness.execution.platform import (
    linux,
    linux_listener,
    linux_memory,
    linux_ptrace,
    linux_vdso,
)
from pytest_hookharness.execution.platform.linux import libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # What a call looks at: the kind of this entry, how it looks, a text, and whether a link at the end of a
    # path is followed. The kinds and their texts:
    # ``path``, ``open``, ``name``, ``socket``: an absolute path that is not resolved. How it is opened: r, w,
    # and a for append, c for create, t for truncate, x for exclusive. How a name changes: ``made``, ``gone``,
    # ``moved`` onto it, ``linked``.
    # ``file``: the resolved path of an open file; the last entry says that it is not a program's output.
    # ``source``: something else than a file, after its kind.
    # ``trouble``: nothing; how says why the call cannot be recorded.
    Seen = tuple[str, str, str, bool]

_SYSCALL, _POKE, _SEIZE = 24, 5, 0x4206
# Forks, vforks, clones, programs, filtered calls; marked results of calls; end all with the tracer.
_OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x100000
_EXEC, _FILTERED, _STOPPED = 4, 7, 128
_RESULT = signal.SIGTRAP | 0x80
_WORD, _PAGE = 8, 4096
_STACK = 1 << 18
_ARGUMENTS = 1 << 16
_VDSO, _IGNORE = 33, 1
_AT_CALL = (1, 3)
# Offsets of the registers of x86_64 with the result and the number of a call. The result of an interrupted
# call says when it starts again: always, or only if the signal has no handler or one that asks for it.
_PEEK_USER, _POKE_USER, _ANSWER, _NUMBER = 3, 6, 80, 120
_UNLESS_HANDLED, _IN_ANY_CASE = -512, -513
# Why a task stopped, its architecture, and the number and the arguments of its call.
_CALL = struct.Struct("=B3xI16x7Q")


def observe(pid: int) -> None:
    """Begin to record a process and all that it starts; raise `OSError` if the system cannot."""
    if linux_ptrace.MACHINE not in linux_ptrace.ARCHITECTURES:
        raise OSError(f"the system calls of {linux_ptrace.MACHINE} are not known")
    linux_ptrace.ptrace(_SEIZE, pid, 0, _OPTIONS)


def stop_of(status: int) -> tuple[str, int]:
    """
    Return why a task stopped, and the signal if one is to be delivered.

    The reason is ``call``, ``result``, ``program`` (it has become another one), ``started`` (it has started
    another task), ``stopped`` (by a signal, until another one), ``signal``, or empty.
    """
    event, number = status >> 16, os.WSTOPSIG(status)
    if event == _FILTERED:
        return "call", 0
    if event == _EXEC:
        return "program", 0
    if event in linux_ptrace.FORKS:
        return "started", 0
    if event == _STOPPED:
        return ("", 0) if number == signal.SIGTRAP else ("stopped", 0)
    if event == 0:
        return ("result", 0) if number == _RESULT else ("signal", number)
    return "", 0


def resume_to_result(task: int) -> None:
    """Resume a task that stopped before a call; it stops again with the result."""
    try:
        linux_ptrace.ptrace(_SYSCALL, task, 0, 0)
    except OSError:
        return


def interrupted_call(task: int) -> int:
    """Return the number of the call that was interrupted by the signal of this stop; -1 if none was."""
    # On other machines the kernel has already decided whether the call starts again.
    if linux_ptrace.MACHINE != "x86_64" or libc.ptrace(_PEEK_USER, task, _ANSWER, 0) != _UNLESS_HANDLED:
        return -1
    return int(libc.ptrace(_PEEK_USER, task, _NUMBER, 0))


def restart_call(task: int) -> None:
    """Have the interrupted call of a task start again, however the signal is handled."""
    libc.ptrace(_POKE_USER, task, _ANSWER, _IN_ANY_CASE)


def succeeded(task: int) -> bool:
    """Return whether the call whose result stopped a task has succeeded."""
    info = linux_ptrace.call_info(task)
    return bool(info) and not info[32]


def stopped_call(task: int) -> tuple[int, tuple[int, ...]] | None:
    """Return number and arguments of the call before which a task stopped; ``None`` if it is at no call."""
    info = linux_ptrace.call_info(task)
    if not info or info[0] not in _AT_CALL:
        return None
    _, architecture, number, *arguments = _CALL.unpack_from(info)
    known = architecture == linux_ptrace.ARCHITECTURE and not number & linux_ptrace.X32
    return (number if known else linux_listener.FOREIGN), tuple(arguments)


def begin_program(task: int, lets: Callable[[str], bool]) -> tuple[str, bytes, str, bool]:
    """
    Prepare a task that has just become another program, before its first instruction.

    Args:
        lets: Returns whether a program with this path may read the monotonic clock without a wait.

    Returns:
        The path of the program, its arguments, why it cannot be recorded (empty if it can), and whether it
        reads the monotonic clock without a wait.

    Raises:
        PermissionError: The system does not allow it.
    """
    path = linux.read_link(f"/proc/{task}/exe")
    info = linux_ptrace.call_info(task)
    if not path or not info:
        return path, b"", "", False
    architecture, _, stack = struct.unpack_from("=IQQ", info, 4)
    if architecture != linux_ptrace.ARCHITECTURE:
        return path, b"", f"{path} is a program of another architecture", False
    arguments, freed = _change_vdso(task, stack, freed=lets(path))
    return path, arguments, _privileges(path), freed


def _change_vdso(task: int, stack: int, *, freed: bool) -> tuple[bytes, bool]:
    """
    Let a new program make system calls instead of those of the vDSO.

    Args:
        freed: Whether calls for the monotonic clock need not wait.

    Returns:
        The arguments of the program, and whether they do not wait.
    """
    # The stack begins with the number of arguments, their addresses and a zero; then come the addresses of
    # the variables and a zero, and then pairs of words that the kernel tells the program.
    size = _PAGE
    while True:
        data = linux_memory.read_bytes(task, stack, size)
        words = struct.unpack_from(f"={len(data) // _WORD}Q", data)
        try:
            variables = words[0] + 2
            place = words.index(0, variables) + 1
            while words[place] not in (0, _VDSO):
                place += 2
            break
        except (IndexError, ValueError):
            if size >= _STACK or len(data) < size:
                raise PermissionError("the start of a program could not be read") from None
            size *= 4
    if words[place] == _VDSO:
        freed = freed and linux_vdso.replace_functions(task, words[place + 1])
        if not freed:
            linux_ptrace.ptrace(_POKE, task, stack + place * _WORD, _IGNORE)
    if not words[0]:
        return b"", freed
    # The texts of arguments and variables follow each other.
    length = words[variables] - words[1] if words[variables] else _PAGE
    return linux_memory.read_bytes(task, words[1], max(0, min(length, _ARGUMENTS))), freed


def _privileges(path: str) -> str:
    """Return why a program with rights of its own cannot be recorded."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    user = found.st_mode & stat.S_ISUID and found.st_uid != os.geteuid()
    group = found.st_mode & stat.S_ISGID and found.st_gid != os.getegid()
    if user or group or (os.geteuid() and _has_capabilities(path)):
        return f"{path} changes its rights when it starts"
    return ""


def _has_capabilities(path: str) -> bool:
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False
