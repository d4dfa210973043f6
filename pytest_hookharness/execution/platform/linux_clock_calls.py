"""
Linux: a clock that is ahead, for processes that read the time by system calls.

The kernel stops a process before each call that shows the time, or the times of a file, and again with the
result, which is then changed in its memory. So every program sees the moved clock, and files that were
written under it have times of it. Clocks that only measure how much time passes stay as they are, because
processes also wait by them.
"""

from __future__ import annotations

import os
import stat
import struct
import time

from pytest_hookharness.execution.platform import linux, linux_memory, linux_observing, linux_ptrace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

CHOSEN = "chosen times"  # what a call shows that gives a file its times
# Calls by their numbers on x86_64 and on aarch64, and the argument that says where the answer is stored.
_TIMES = {"clock_gettime": (228, 113, 1), "gettimeofday": (96, 169, 0), "time": (201, -1, 0)}
# And the one with flags, of which one says that the status of an open file is asked, and those of the folder
# and of the path.
_STATUSES = {
    "stat": (4, -1, 1, -1, -1, 0), "fstat": (5, 80, 1, -1, 0, -1), "lstat": (6, -1, 1, -1, -1, 0),
    "newfstatat": (262, 79, 2, 3, 0, 1), "statx": (332, 291, 4, 2, 0, 1),
}  # fmt: skip
_SLASHES = 4  # in the place of an open file: /proc/1234/fd/5
_OF_DESCRIPTOR, _NO_FOLLOW = 0x1000, 0x100
# Calls after which a path may lead elsewhere than in this process.
_ROOTS = {
    "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40), "move_mount": (429, 429),
    "umount2": (166, 39), "setns": (308, 268),
}  # fmt: skip
# Where the seconds of the times of an answer are: access, change of content, change of status, and birth.
_IN_STATUS, _IN_STATX = (72, 88, 104), (64, 112, 96, 80)
_MOVED = (0, 5, 8, 11)  # the clocks of the time of day
# Calls by which a program chooses the times of a file; the argument that says where these are, and what one
# second is divided into: nothing where there is one word for each time.
_CHOOSING = {
    "utimensat": (280, 88, 2, 1), "utimes": (235, -1, 1, 1000), "futimesat": (261, -1, 2, 1000),
    "utime": (132, -1, 1, 0),
}  # fmt: skip
_PRESENT = (0x3FFFFFFF, 0x3FFFFFFE)  # in the place of a fraction: the present, or the time that it has
_POKE, _POKE_USER, _RESULT = 5, 6, 80
_WORD = struct.Struct("=q")
# Seconds, their fraction, and what follows it.
_TIME = struct.Struct("=qIi")
_BILLION = 1_000_000_000

# The kind of a file.
_MODE, _MODE_IN_STATX = (
    struct.Struct("=16xI" if linux_ptrace.MACHINE == "aarch64" else "=24xI"),
    struct.Struct("=28xH"),
)
_NAMES_OF = linux_ptrace.names_by_number(_TIMES, _STATUSES, _CHOOSING, _ROOTS)
# Of this call only some clocks are moved: its first argument says which it asks.
_CASES = {
    number: linux_ptrace.stop_if(0, _MOVED) for number, name in _NAMES_OF.items() if name == "clock_gettime"
}
# Before a process is forked that installs it, which then does so sooner.
_FILTER = linux_ptrace.prepare_filter(linux_ptrace.stops_before(_NAMES_OF.keys(), _CASES))


def filter_times() -> None:
    """
    Have the kernel stop this process, and all that it becomes and starts, at calls that show a time.

    Raises:
        OSError: The system refuses the filter.
    """
    linux_ptrace.install_filter(_FILTER)


def asked(task: int, since: int) -> tuple[str, int, str, str]:
    """
    Return the call before which a task stopped, where its answer will be, what that shows, and the file.

    The third is ``realtime``, ``times of a file`` or ``times of an open file``. The first is empty for a file
    whose times are all before ``since``, because the answer stays as it is. It is empty too for a call after
    which paths may lead elsewhere (the third is ``another root``), and for a call that chooses the times of a
    file (the third is ``CHOSEN``, and the name of the call stands in place of the file).

    Raises:
        ValueError: It is a call of another architecture.
    """
    call = linux_observing.stopped_call(task)
    if call is None:
        return "", 0, "", ""
    number, arguments = call
    if number == linux_observing.FOREIGN:
        raise ValueError(linux_observing.ANOTHER_ARCHITECTURE)
    name = _NAMES_OF.get(number, "")
    # A process may be stopped where it reads another clock, which is recorded and not moved.
    if name == "clock_gettime" and arguments[0] & 0xFFFFFFFF not in _MOVED:
        return "", 0, "", ""
    if not name or name in _ROOTS:
        return "", 0, "another root" if name else "", ""
    if name in _TIMES:
        return name, arguments[_TIMES[name][2]], "realtime", ""
    if name in _CHOOSING:
        return "", arguments[_CHOOSING[name][2]], CHOSEN, name
    _, _, place, flagged, folder, path = _STATUSES[name]
    flags = arguments[flagged] if flagged >= 0 else 0
    is_open = name == "fstat" or bool(flags & _OF_DESCRIPTOR)
    at = arguments[folder] & 0xFFFFFFFF if folder >= 0 else linux_ptrace.AT_CWD
    written = b"" if path < 0 else linux_memory.read_text(task, arguments[path])
    file = find(task, written, at)
    if since and _is_older(file, since, follow=name != "lstat" and not flags & _NO_FOLLOW):
        return "", 0, "", file
    return name, arguments[place], "times of an open file" if is_open else "times of a file", file


def find(task: int, written: bytes, folder: int = linux_ptrace.AT_CWD) -> str:
    """Return where this process finds the file that a task names by a path, a folder or both."""
    path = os.fsdecode(written)
    if path.startswith("/"):
        return "" if path.startswith("/proc") else path
    base = f"/proc/{task}/{'cwd' if folder == linux_ptrace.AT_CWD else f'fd/{folder}'}"
    return f"{base}/{path}" if path else base


def path_of(place: str) -> str:
    """Return the path of a file that was found."""
    if not place.startswith("/proc/"):
        return place
    # The path of an open file has no links; to look for some takes ten times as long as to ask for it.
    is_open = place.count("/") == _SLASHES and "/fd/" in place
    return linux.read_link(place) if is_open else os.path.realpath(place)


def _is_older(place: str, since: int, *, follow: bool) -> bool:
    """Return whether there is no file, or one with no time since a moment."""
    # A second stop and the search for times in its answer cost more than this look. Between both only another
    # process could write the file.
    try:
        found = os.stat(place, follow_symlinks=follow)
    except (FileNotFoundError, NotADirectoryError):
        return bool(place)
    except (OSError, ValueError):
        return False
    return max(found.st_mtime_ns, found.st_ctime_ns, found.st_atime_ns) < since


def chosen_times(task: int, name: str, address: int) -> Iterator[int]:
    """Yield the times, in nanoseconds, that a program gives a file by a call with its times at an address."""
    unit = _CHOOSING[name][3]
    data = linux_memory.read_bytes(task, address, 32 if unit else 16) if address else b""
    words = struct.unpack(f"={len(data) // 8}q", data[: len(data) // 8 * 8])
    if not unit:
        yield from (second * _BILLION for second in words)
        return
    for second, fraction in zip(words[::2], words[1::2], strict=False):
        if fraction not in _PRESENT:
            yield second * _BILLION + fraction * unit


def shown_time(at: int, now: int, shifts: Sequence[tuple[int, float]], chosen: Container[int] = ()) -> int:
    """
    Return the time, by a moved clock, that a time of a file stands for; both in nanoseconds.

    Args:
        at: The file's own time. One after the present was chosen by a program, by the moved clock.
        now: The present by the machine's clock.
        shifts: Since when, by the machine's clock, the other one is by how many seconds ahead.
        chosen: Times that programs chose before the present.
    """
    if at <= now and at not in chosen:
        for since, seconds in reversed(shifts):
            if since <= at:
                return min(at + round(seconds * _BILLION), now + round(shifts[-1][1] * _BILLION))
    return at


def move(
    task: int, name: str, address: int, shifts: Sequence[tuple[int, float]], chosen: Container[int] = ()
) -> tuple[int, bool]:
    """
    Move the times in the answer to a call ahead.

    Returns:
        Of the status of a file or folder when that was last changed, in nanoseconds, else 0; and whether it
        is the working folder of the task.

    Args:
        task: The task, which stopped with the result.
        name: The call.
        address: Where its answer is.
        shifts, chosen: As those of `shown_time`; the last shift is the present one.
    """
    if not linux_observing.succeeded(task):
        return 0, False
    seconds = shifts[-1][1]
    if name in _STATUSES:
        return _move_status(task, address, shifts, chosen, of_statx=name == "statx")
    if name == "time":
        # The fraction of the present second counts too: a time must not come before one that was shown.
        now = int(time.time() + seconds)
        linux_ptrace.ptrace(_POKE_USER, task, _RESULT, now)
        if address:
            linux_ptrace.ptrace(_POKE, task, address, now)
    elif address:
        _move_time(task, address, seconds, 1000 if name == "gettimeofday" else 1)
    return 0, False


def _move_time(task: int, address: int, seconds: float, unit: int) -> None:
    """Move a time ahead, in seconds and a number of units of ``unit`` nanoseconds."""
    data = linux_memory.read_bytes(task, address, _TIME.size)
    if len(data) == _TIME.size:
        _store(task, address, _TIME.unpack(data), seconds, unit)


def _store(task: int, address: int, found: tuple[int, ...], seconds: float, unit: int = 1) -> None:
    # The rest of the second word of a time in statx is no part of it.
    whole, fraction, rest = found
    whole, fraction = divmod(whole * _BILLION + fraction * unit + round(seconds * _BILLION), _BILLION)
    linux_ptrace.ptrace(_POKE, task, address, whole)
    second = int.from_bytes(struct.pack("=Ii", fraction // unit, rest), "little")
    linux_ptrace.ptrace(_POKE, task, address + 8, second)


def _move_status(
    task: int, address: int, shifts: Sequence[tuple[int, float]], chosen: Container[int], *, of_statx: bool
) -> tuple[int, bool]:
    now = time.time_ns()
    places = _IN_STATX if of_statx else _IN_STATUS
    data = linux_memory.read_bytes(task, address, max(places) + _TIME.size)
    if len(data) < max(places) + _TIME.size:
        return 0, False
    changed = 0
    for place in places:
        found = _TIME.unpack_from(data, place)
        at = found[0] * _BILLION + found[1]
        if (shown := shown_time(at, now, shifts, chosen)) != at:
            _store(task, address + place, found, (shown - at) / _BILLION)
        # Not when it was last read, which most file systems do not keep.
        if place != places[0]:
            changed = max(changed, at)
    (mode,) = (_MODE_IN_STATX if of_statx else _MODE).unpack_from(data)
    (inode,) = struct.unpack_from("=Q", data, 32 if of_statx else 8)
    own = stat.S_ISDIR(mode) and _inode(f"/proc/{task}/cwd") == inode
    return (changed if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else 0), own


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return -1
