"""
Linux: a control group of one's own, which no descendant leaves by itself unless it has the right to.

Loaded by the supervisor too. Only version 2 is used: users have such a group where the system gives them one.
"""

from __future__ import annotations

import contextlib
import os

_PREFIX = "hookharness-"
_PROCESSES = "cgroup.procs"


def enter() -> str:
    """Put this process, and all that it starts, into a new group; return its folder, or raise `OSError`."""
    parent = _own_folder()
    with os.scandir(parent) as listing:
        left = [each.path for each in listing if each.name.startswith(_PREFIX)]
    for folder in left:
        # The group of a process that was killed. A group with living processes cannot be removed.
        if not os.path.exists(f"/proc/{folder.rpartition('-')[2]}"):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    folder = f"{parent}/{_PREFIX}{os.getpid()}"
    os.mkdir(folder)
    try:
        _move_to(folder)
    except OSError:
        os.rmdir(folder)
        raise
    return folder


def processes(folder: str) -> list[int]:
    """List the processes in a group."""
    try:
        with open(f"{folder}/{_PROCESSES}", "rb") as file:
            return [int(line) for line in file]
    except OSError:
        return []


def leave(folder: str) -> None:
    """Leave a group and remove it."""
    # It stays where a process in it cannot be ended, or is not yet gone; the next one that enters removes it.
    with contextlib.suppress(OSError):
        _move_to(os.path.dirname(folder))
        os.rmdir(folder)


def _move_to(folder: str) -> None:
    with open(f"{folder}/{_PROCESSES}", "wb", buffering=0) as file:
        file.write(b"0")


def _own_folder() -> str:
    """Return the folder of the control group that this process is in."""
    with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        own = next((line[3:].rstrip("\n") for line in file if line.startswith("0::")), "")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            before, _, after = line.partition(" - ")
            if own and after.startswith("cgroup2 "):
                root, place = before.split(" ")[3:5]
                # Within a container only a part of the hierarchy may be mounted.
                inner = own.removeprefix(root.rstrip("/"))
                return f"{place}{inner}".rstrip("/")
    raise OSError("there are no control groups of version 2")
