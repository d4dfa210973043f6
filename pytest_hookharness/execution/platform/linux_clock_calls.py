"""
Linux: a clock that is ahead, for processes that read the time by system calls.

The kernel stops a process before each call that shows the time, or the times of a file, and again with the
result, which is then changed in its memory. So every program sees the moved clock, and files that were
written under it have times of it. Clocks that only measure how much time passes stay as they are, because
processes also wait by them.
"""

from __future__ import annotations

import os
import struct
import time

from pytest_hookharness.execution.platform import linux_observing, linux_ptrace

# Calls by their numbers on x86_64 and on aarch64, and the argument that says where the answer is stored.
_TIMES = {"clock_gettime": (228, 113, 1), "gettimeofday": (96, 169, 0), "time": (201, -1, 0)}
_STATUSES = {
    "stat": (4, -1, 1), "fstat": (5, 80, 1), "lstat": (6, -1, 1), "newfstatat": (262, 79, 2),
    "statx": (332, 291, 4),
}  # fmt: skip
# Where the seconds of the times of an answer are: access, change of content, change of status, and birth.
_IN_STATUS, _IN_STATX = (72, 88, 104), (64, 112, 96, 80)
_MOVED = (0, 5, 8, 11)  # the clocks of the time of day
_X32, _POKE, _POKE_USER, _RESULT = 0x40000000, 5, 6, 80
_WORD = struct.Struct("=q")
# Seconds, their fraction, and what follows it.
_TIME = struct.Struct("=qIi")
_BILLION = 1_000_000_000

_machine = os.uname().machine
_place = ("x86_64", "aarch64").index(_machine) if _machine in linux_ptrace.ARCHITECTURES else -1
_NAMES_OF = {
    values[_place]: name
    for name, values in {**_TIMES, **_STATUSES}.items()
    if _place >= 0 and values[_place] >= 0
}


def filter_times() -> None:
    """
    Have the kernel stop this process, and all that it becomes and starts, before each call that shows a time.

    Raises:
        OSError: The kernel refuses.
    """
    if not _NAMES_OF:
        raise OSError(f"the system calls of {_machine} are not known")
    clock = _TIMES["clock_gettime"][_place]
    numbers = sorted(_NAMES_OF.keys() - {clock})
    asked = 6 + len(numbers)
    trace = asked + 2 + len(_MOVED)
    test, at_least = 0x15, 0x35

    def jump(kind: int, value: int, here: int, target: int) -> tuple[int, int, int, int]:
        return kind, target - here - 1, 0, value

    linux_ptrace.install_filter([
        (0x20, 0, 0, 4), (test, 0, trace - 2, linux_ptrace.ARCHITECTURES[_machine]),
        (0x20, 0, 0, 0), jump(at_least, _X32, 3, trace), jump(test, clock, 4, asked),
        *(jump(test, number, 5 + place, trace) for place, number in enumerate(numbers)),
        (0x06, 0, 0, linux_ptrace.ALLOW),
        # Of this call only some clocks are moved: its first argument says which it asks.
        (0x20, 0, 0, 16),
        *(jump(test, number, asked + 1 + place, trace) for place, number in enumerate(_MOVED)),
        (0x06, 0, 0, linux_ptrace.ALLOW), (0x06, 0, 0, linux_ptrace.TRACE),
    ])  # fmt: skip


def asked(task: int) -> tuple[str, int]:
    """
    Return the call before which a task stopped, by its name, and where it stores its answer.

    Raises:
        ValueError: It is a call of another architecture.
    """
    call = linux_observing.stopped_call(task)
    if call is None:
        return "", 0
    architecture, number, arguments = call
    if architecture != linux_ptrace.ARCHITECTURES[_machine] or number & _X32:
        raise ValueError("a program of another architecture (32 bit) was run")
    name = _NAMES_OF.get(number, "")
    return name, arguments[{**_TIMES, **_STATUSES}[name][2]] if name else 0


def move(task: int, name: str, address: int, seconds: float, since: int) -> None:
    """
    Move the times in the answer to a call ahead.

    Args:
        task: The task, which stopped with the result.
        name: The call.
        address: Where its answer is.
        seconds: By how much.
        since: Files that were written at this time of the machine or later, in nanoseconds, get later times.
    """
    info = linux_ptrace.call_info(task)
    if not info or info[32]:
        return
    if name in _STATUSES:
        _move_status(task, address, seconds, since, _IN_STATX if name == "statx" else _IN_STATUS)
        return
    if name == "time":
        now = int(_WORD.unpack_from(info, 24)[0] + seconds)
        linux_ptrace.ptrace(_POKE_USER, task, _RESULT, now)
        if address:
            linux_ptrace.ptrace(_POKE, task, address, now)
    elif address:
        _move_time(task, address, seconds, 1000 if name == "gettimeofday" else 1)


def _move_time(task: int, address: int, seconds: float, unit: int) -> None:
    """Move a time ahead, in seconds and a number of units (of so many nanoseconds)."""
    data = linux_observing.read_bytes(task, address, _TIME.size)
    if len(data) == _TIME.size:
        _store(task, address, _TIME.unpack(data), seconds, unit)


def _store(task: int, address: int, found: tuple[int, ...], seconds: float, unit: int = 1) -> None:
    # The rest of the second word of a time in statx is no part of it.
    whole, fraction, rest = found
    whole, fraction = divmod(whole * _BILLION + fraction * unit + round(seconds * _BILLION), _BILLION)
    linux_ptrace.ptrace(_POKE, task, address, whole)
    second = int.from_bytes(struct.pack("=Ii", fraction // unit, rest), "little")
    linux_ptrace.ptrace(_POKE, task, address + 8, second)


def _move_status(task: int, address: int, seconds: float, since: int, places: tuple[int, ...]) -> None:
    # A time after the present was chosen by the writer of the file, by this clock.
    until = time.time_ns()
    data = linux_observing.read_bytes(task, address, max(places) + _TIME.size)
    for place in places:
        if len(data) < place + _TIME.size:
            return
        found = _TIME.unpack_from(data, place)
        if since <= found[0] * _BILLION + found[1] <= until:
            _store(task, address + place, found, seconds)
