"""
Linux: a clock that is ahead, for processes that read the time by system calls.

Each call that shows the time, or the times of a file, waits for an answer of this process, which shows later
ones. So every program sees the moved clock, and files that were written under it have times of it. Clocks
that only measure how much time passes stay as they are, because processes also wait by them.
"""

from __future__ import annotations

import ctypes
import os
import posixpath
import stat
import struct
import time

from pytest_hookharness.execution.platform import linux, linux_listener, linux_memory, linux_ptrace
from pytest_hookharness.execution.platform.linux import libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from pytest_hookharness.execution.platform.linux_listener import Call

# Numbers of calls on x86_64 and on aarch64, and the index of the argument with the address of the answer.
_TIMES = {"clock_gettime": (228, 113, 1), "gettimeofday": (96, 169, 0), "time": (201, -1, 0)}
# Then the arguments with flags (one of them asks for an open file), with the folder and with the path.
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
# Offsets of the times in an answer: access, change of content, change of status, and birth.
_IN_STATUS, _IN_STATX = (72, 88, 104), (64, 112, 96, 80)
_MOVED, _OF_ALARMS = (0, 5, 8, 11), 8  # the clocks of the time of day
# Calls by which a program chooses the times of a file: the index of the argument with their address, and
# nanoseconds for each unit of their fraction; 0 if they are whole seconds.
_CHOOSING = {
    "utimensat": (280, 88, 2, 1), "utimes": (235, -1, 1, 1000), "futimesat": (261, -1, 2, 1000),
    "utime": (132, -1, 1, 0),
}  # fmt: skip
_PRESENT = (0x3FFFFFFF, 0x3FFFFFFE)  # in the place of a fraction: the present, or the time that it has
# The sizes of both kinds of status, in bytes, and the calls by which this process asks for them.
_SIZE_OF_STATUS, _SIZE_OF_STATX = (128 if linux_ptrace.MACHINE == "aarch64" else 144), 256
_STATUS_CALL, _STATX_CALL = (
    _STATUSES[name][linux_ptrace.MACHINE == "aarch64"] for name in ("newfstatat", "statx")
)
_AT_CWD = ctypes.c_int(-100)
_WORD, _TWO_WORDS = struct.Struct("=q"), struct.Struct("=qq")
# Seconds, their fraction, and the word after it.
_TIME = struct.Struct("=qIi")
_BILLION = 1_000_000_000

# The kind of a file.
_MODE, _MODE_IN_STATX = (
    struct.Struct("=16xI" if linux_ptrace.MACHINE == "aarch64" else "=24xI"),
    struct.Struct("=28xH"),
)
_NAMES_OF = linux_ptrace.names_by_number(_TIMES, _STATUSES, _CHOOSING, _ROOTS)
# Only some clocks are moved; the first argument of this call names the clock.
_CASES = {
    number: linux_ptrace.wait_if(0, _MOVED) for number, name in _NAMES_OF.items() if name == "clock_gettime"
}
WAITING = frozenset(_NAMES_OF)  # the numbers of the calls that may wait
# Made here, before the process that installs it is forked, to save time there.
_FILTER = linux_ptrace.prepare_filter(linux_ptrace.stops_before(_NAMES_OF.keys(), _CASES, linux_ptrace.WAIT))
# What the calls do: show a status or the time of day, choose times, or change where paths lead.
STATUS, CLOCK, CHOICE, ROOT = "status", "clock", "choice", "root"
KIND_OF = {
    **dict.fromkeys(_STATUSES, STATUS), **dict.fromkeys(_TIMES, CLOCK),
    **dict.fromkeys(_CHOOSING, CHOICE), **dict.fromkeys(_ROOTS, ROOT),
}  # fmt: skip
# The largest status is that of `statx`, with 256 bytes.
_status = ctypes.create_string_buffer(256)
# Links to what belongs to the process that follows them: they lead this process to other files.
_OWN_LINKS = {
    "/dev/stdin": "fd/0",
    "/dev/stdout": "fd/1",
    "/dev/stderr": "fd/2",
    "/dev/fd": "fd",
    "/proc/self": "",
    "/proc/thread-self": "",
}


def listen_for_times() -> int:
    """
    Have the calls that show a time wait, in this process and in all that it becomes and starts.

    Returns the descriptor of the listener that answers them; raises `OSError` if the system refuses.
    """
    return linux_listener.listen(_FILTER)


def name_of(call: Call) -> str:
    """
    Return the name of a call that has a kind; empty for other calls.

    Raises:
        ValueError: It is a call of another architecture.
    """
    if call.number == linux_listener.FOREIGN:
        raise ValueError(linux_listener.ANOTHER_ARCHITECTURE)
    name = _NAMES_OF.get(call.number, "")
    # A call may ask for another clock, which is recorded and not moved.
    return "" if name == "clock_gettime" and call.arguments[0] & 0xFFFFFFFF not in _MOVED else name


class StatusCall:
    """
    A file whose status a call asks for.

    Attributes:
        file: Its path as this process finds it; empty if it cannot.
        is_open: Whether it was named by a descriptor.
    """

    __slots__ = ("_address", "_flags", "_mask", "_task", "_with_mask", "file", "is_open")

    def __init__(self, call: Call, name: str) -> None:
        _, _, place, flagged, folder, path = _STATUSES[name]
        flags = call.arguments[flagged] if flagged >= 0 else 0
        at = call.arguments[folder] & 0xFFFFFFFF if folder >= 0 else linux_ptrace.AT_CWD
        written = b"" if path < 0 else linux_memory.read_text(call.task, call.arguments[path])
        self.is_open = name == "fstat" or bool(flags & _OF_DESCRIPTOR)
        # The path may be a link in /proc to an open file: follow it.
        followed = not written or not (name == "lstat" or flags & _NO_FOLLOW)
        # Without a path or such a flag the call fails.
        self.file = find(call.task, written, at, follow=followed) if written or self.is_open else ""
        self._task, self._address = call.task, call.arguments[place]
        self._with_mask, self._mask = name == "statx", call.arguments[3]
        self._flags = flags & ~(_OF_DESCRIPTOR | _NO_FOLLOW) | (0 if followed else _NO_FOLLOW)

    def is_older(self, since: int) -> bool:
        """Return whether there is no file, or one with no time since a moment, in nanoseconds."""
        # This look is quicker than to show moved times.
        try:
            found = os.stat(self.file, follow_symlinks=not self._flags & _NO_FOLLOW)
        except (OSError, ValueError):
            return True
        return max(found.st_mtime_ns, found.st_ctime_ns, found.st_atime_ns) < since

    def show(
        self, shifts: Sequence[tuple[int, float]], chosen: Container[int] = ()
    ) -> tuple[int, bool] | None:
        """
        Answer the call with moved times; ``None`` if only the kernel can answer it.

        Returns:
            When the file or folder was last changed, in nanoseconds (0 for other kinds), and whether it is
            the working folder of the task.

        Args:
            shifts, chosen: As those of `shown_time`; the last shift is the present one.
        """
        # Another user may not see what this process sees.
        if _status_of(f"/proc/{self._task}", "st_uid") != os.geteuid():
            return None
        path = os.fsencode(self.file)
        if self._with_mask:
            done = libc.syscall(_STATX_CALL, _AT_CWD, path, self._flags, ctypes.c_uint(self._mask), _status)
        else:
            done = libc.syscall(_STATUS_CALL, _AT_CWD, path, _status, self._flags)
        if done < 0:
            return None
        seen = _move_status(shifts, chosen, of_statx=self._with_mask)
        size = _SIZE_OF_STATX if self._with_mask else _SIZE_OF_STATUS
        if not linux_memory.write_bytes(self._task, self._address, _status.raw[:size]):
            return None
        is_own = seen[2] and _status_of(f"/proc/{self._task}/cwd", "st_ino") == seen[1]
        return seen[0], is_own


def find(task: int, written: bytes, folder: int = linux_ptrace.AT_CWD, *, follow: bool = True) -> str:
    """
    Return where this process finds the file that a task names by a path, a folder or both.

    Without ``follow`` a link itself is meant; one that belongs to the task is not found then.
    """
    path = os.fsdecode(written)
    for link, place in _OWN_LINKS.items():
        if path == link and not follow:
            return ""
        if path == link or path.startswith(f"{link}/"):
            return posixpath.join(f"/proc/{task}", place, path[len(link) + 1 :]).rstrip("/")
    if path.startswith("/"):
        return path
    base = f"/proc/{task}/{'cwd' if folder == linux_ptrace.AT_CWD else f'fd/{folder}'}"
    return f"{base}/{path}" if path else base


def path_of(place: str) -> str:
    """Return the path of a file that was found."""
    if not place.startswith("/proc/"):
        return place
    # The path of an open file has no links; to look for some takes ten times as long as to ask for it.
    is_open = place.count("/") == _SLASHES and "/fd/" in place
    return linux.read_link(place) if is_open else os.path.realpath(place)


def choose_times(call: Call, name: str) -> Iterator[int]:
    """Yield the times, in nanoseconds, that a program gives a file by a call."""
    _, _, place, unit = _CHOOSING[name]
    address = call.arguments[place]
    data = linux_memory.read_bytes(call.task, address, 32 if unit else 16) if address else b""
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
        shifts: The moves of the clock: the machine's time, and the seconds by which it is ahead since then.
        chosen: Times that programs chose before the present.
    """
    if at <= now and at not in chosen:
        for since, seconds in reversed(shifts):
            if since <= at:
                return min(at + round(seconds * _BILLION), now + round(shifts[-1][1] * _BILLION))
    return at


def show_time(call: Call, name: str, seconds: float) -> int | None:
    """
    Show a task the time of a clock that is some seconds ahead.

    Returns what the call answers, or ``None`` if only the kernel can answer it.
    """
    address = call.arguments[_TIMES[name][2]]
    clock = call.arguments[0] & 0xFFFFFFFF if name == "clock_gettime" else time.CLOCK_REALTIME
    if clock == _OF_ALARMS:  # the same clock, which only a machine with a battery has
        clock = time.CLOCK_REALTIME
    now = time.clock_gettime_ns(clock) + round(seconds * _BILLION)
    whole, fraction = divmod(now, _BILLION)
    if name == "time":
        shown, answer = _WORD.pack(whole), whole
    else:
        shown, answer = _TWO_WORDS.pack(whole, fraction // 1000 if name == "gettimeofday" else fraction), 0
    if name == "gettimeofday" and (zone := call.arguments[1]):
        # The time zone of the kernel, which is not used any more.
        linux_memory.write_bytes(call.task, zone, bytes(8))
    if not address:
        return None if name == "clock_gettime" else answer
    return answer if linux_memory.write_bytes(call.task, address, shown) else None


def _move_status(
    shifts: Sequence[tuple[int, float]], chosen: Container[int], *, of_statx: bool
) -> tuple[int, int, bool]:
    """
    Move the times in the status that was asked for.

    Returns when that file or folder was last changed (0 for other kinds), its inode, and if it is a folder.
    """
    now, changed = time.time_ns(), 0
    places = _IN_STATX if of_statx else _IN_STATUS
    for place in places:
        # In statx, the last four bytes are no part of the time.
        second, fraction, rest = _TIME.unpack_from(_status, place)
        at = second * _BILLION + fraction
        if (shown := shown_time(at, now, shifts, chosen)) != at:
            _TIME.pack_into(_status, place, *divmod(shown, _BILLION), rest)
        # The time of the last access does not count: most file systems do not keep it.
        if place != places[0]:
            changed = max(changed, at)
    (mode,) = (_MODE_IN_STATX if of_statx else _MODE).unpack_from(_status)
    (inode,) = struct.unpack_from("=Q", _status, 32 if of_statx else 8)
    is_folder = stat.S_ISDIR(mode)
    return (changed if stat.S_ISREG(mode) or is_folder else 0), inode, is_folder


def _status_of(path: str, name: str) -> int:
    try:
        return int(getattr(os.stat(path), name))
    except OSError:
        return -1
