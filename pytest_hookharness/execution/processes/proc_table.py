"""
The process table: who lives, whose child it is and who holds a file.

Reads /proc; loaded by the supervisor too. A process may end between two looks, so
every look answers "gone" instead of failing.
"""

from __future__ import annotations

import os
import time

_TICK = os.sysconf("SC_CLK_TCK")
_COMMAND_LIMIT = 300


class ProcRow:
    """
    One process as the table shows it.
    """

    __slots__ = ("group", "parent", "pid", "session", "since_boot", "spent", "state")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.session = int(fields[3])
        # Its own seconds of processors, and those of children that it has waited for.
        self.spent = sum(map(int, fields[11:15])) / _TICK
        self.since_boot = int(fields[19]) / _TICK


def read_bytes(path: str) -> bytes:
    """
    Read a small file of /proc; nothing if it is gone or closed to us.
    """
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


def row(pid: int) -> ProcRow | None:
    """
    Look one process up; ``None`` if it is gone.
    """
    text = read_bytes(f"/proc/{pid}/stat")
    end = text.rfind(b")")
    if end < 0:
        return None
    return ProcRow(pid, text[end + 2 :].split())


def everyone() -> list[ProcRow]:
    """
    List all processes that can be seen.
    """
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    return [found for name in names if name.isdecimal() and (found := row(int(name))) is not None]


def children(pid: int) -> list[int]:
    """
    List the children of a process.
    """
    folder = f"/proc/{pid}/task"
    found: list[int] = []
    try:
        # A child hangs below the thread that made it, and programs such as node start theirs from any thread.
        for thread in os.listdir(folder):
            # Not by read_bytes: one read may end early, and a short list would leave processes alive.
            with open(f"{folder}/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except OSError:
        own = "/proc/self/task"
        if os.path.exists(own) and not os.path.exists(f"{own}/{os.getpid()}/children"):
            return [seen.pid for seen in everyone() if seen.parent == pid]  # a kernel without these lists
    return found


def descendants(pid: int) -> list[int]:
    """
    List all that a process started and that still hangs below it, nearest first.
    """
    found: list[int] = []
    level = [pid]
    while level:
        level = [child for parent in level for child in children(parent)]
        found += level
    return found


def command(pid: int) -> str:
    """
    Tell the command line of a process, bounded.
    """
    words = read_bytes(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" ")
    text = words.decode("utf-8", "replace")
    if not text:
        text = read_bytes(f"/proc/{pid}/comm").decode("utf-8", "replace").strip()
    return text if len(text) <= _COMMAND_LIMIT else text[: _COMMAND_LIMIT - 3] + "..."


def boot_clock() -> float:
    """
    Tell the seconds since the machine started, as the table counts them.
    """
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # only Linux has the former
    return time.clock_gettime(clock)


def describe(pid: int, began: float) -> tuple[int, str, float]:
    """
    Describe a process: number, command line, seconds between the beginning of its fire and its own.
    """
    found = row(pid)
    age = 0.0 if found is None else found.since_boot - began
    # The table counts in ticks and rounds down, so a process may seem up to one tick older than it is.
    return pid, command(pid), round(age if age < -2 / _TICK else max(age, 0.0), 3)


def link(pid: int, descriptor: int | str) -> str:
    """
    Tell what is behind a descriptor of a process, as /proc names it; empty if that cannot be known.
    """
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        return ""


def holds(pid: int, names: set[str]) -> bool:
    """
    Tell whether a process has one of these files open, named as /proc names them.
    """
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return False
    return any(link(pid, descriptor) in names for descriptor in descriptors)
