"""
Linux: what a blocked process waits for, and when its wait ends by itself, as far as the kernel shows it.

On another system nothing is known, as there is no /proc.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time

from pytest_hookharness.execution.platform import linux, linux_memory, linux_ptrace

# System calls in which a hook commonly waits, by their numbers on x86_64 and on aarch64.
_NAMES = linux_ptrace.names_by_number({
    "read": (0, 63), "write": (1, 64), "poll": (7, -1), "readv": (19, 65), "writev": (20, 66),
    "select": (23, -1), "pause": (34, -1), "nanosleep": (35, 101), "connect": (42, 203), "accept": (43, 202),
    "sendto": (44, 206), "recvfrom": (45, 207), "recvmsg": (47, 212), "wait4": (61, 260), "fcntl": (72, 25),
    "flock": (73, 32), "rt_sigsuspend": (130, 133), "futex": (202, 98), "clock_nanosleep": (230, 115),
    "epoll_wait": (232, -1), "waitid": (247, 95), "openat": (257, 56), "pselect6": (270, 72),
    "ppoll": (271, 73), "epoll_pwait": (281, 22), "accept4": (288, 242), "epoll_pwait2": (441, 441),
})  # fmt: skip
_TIMER_ABSTIME = 1
_WORD = 8
# Seconds of 68 years. Programs that sleep without end ask for a longer time.
_ENDLESS = 1 << 31


def blocked_call(pid: int, state: str) -> tuple[str, int | None]:
    """
    Return the system call in which a process is blocked, with its first argument.

    Where the call is unknown: the function of the kernel (empty if that is unknown too) and ``None``.
    """
    call, arguments = _blocked_arguments(pid)
    if call:
        return call, arguments[0]
    return ("" if state == "R" else _kernel_function(pid)), None


def _blocked_arguments(pid: int) -> tuple[str, list[int]]:
    """Return the call in which a process is blocked and its arguments; empty if it runs, or if unknown."""
    number, *words = linux.read(f"/proc/{pid}/syscall").decode().split()[:7] or ("",)
    call = _NAMES.get(int(number), "") if number.isdigit() else ""
    return call, [int(word, 16) for word in words] if call else []


def _kernel_function(pid: int) -> str:
    """Return the function of the kernel in which a process waits; empty if that is unknown."""
    function = linux.read(f"/proc/{pid}/wchan").decode()
    return "" if function == "0" else function


def polled_files(pid: int, descriptor: int) -> list[int]:
    """List the descriptors that an event loop waits for, by the descriptor of the loop itself."""
    lines = linux.read(f"/proc/{pid}/fdinfo/{descriptor}").decode().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("tfd:")]


def sleeps_until(pid: int) -> float:
    """
    Return when the timer ends by which a process sleeps, in seconds of ``boot_clock``; 0 if unknown.

    Where the sleep began at an unknown moment, the start of the process stands for this moment.
    """
    call, arguments = _blocked_arguments(pid)
    if call == "nanosleep":
        return _from_start(pid, _seconds_at(pid, arguments[0]))
    if call != "clock_nanosleep":
        return 0.0
    clock, flags, place, *_ = arguments
    seconds = _seconds_at(pid, place)
    if not flags & _TIMER_ABSTIME:
        return _from_start(pid, seconds)
    # A process whose clocks were moved counts from another moment.
    moved = linux.read_link(f"/proc/{pid}/ns/time") != linux.read_link("/proc/self/ns/time")
    if moved or clock != time.CLOCK_MONOTONIC or not seconds:
        return 0.0
    return linux.boot_clock() + seconds - time.monotonic()


def _from_start(pid: int, seconds: float) -> float:
    # The sleep began when the process was started, or later.
    process = linux.row(pid)
    return process.started + seconds if process is not None and seconds else 0.0


def _seconds_at(pid: int, address: int) -> float:
    """Return the whole seconds of a time in the memory of a process; 0 if it is closed to us."""
    try:
        seconds = int.from_bytes(linux_memory.read_bytes(pid, address, _WORD), sys.byteorder, signed=True)
    except PermissionError:
        return 0.0
    return math.inf if seconds > _ENDLESS else float(max(0, seconds))


def may_go_on(pid: int) -> bool:
    """Return whether an alarm or another thread may let a process go on although it is blocked."""
    # The kernel shows timers of POSIX, and of an alarm only that the process handles its signal. Of several
    # threads, others than the one that is looked at may work.
    timers = f"/proc/{pid}/timers"
    if not os.access(timers, os.R_OK) or linux.read(timers) or len(linux.threads(pid)) != 1:
        return True
    _, _, rest = linux.read(f"/proc/{pid}/status").partition(b"SigCgt:")
    caught = rest.split(maxsplit=1)[:1]
    return not caught or bool(int(caught[0], 16) >> (signal.SIGALRM - 1) & 1)


def opens_fifo(pid: int) -> bool:
    """Return whether a process that opens a file waits for the other end of a FIFO."""
    # Another file may be slow to open. This function of the kernel waits for the other end of a FIFO only.
    return _kernel_function(pid) in ("wait_for_partner", "fifo_open")
