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

from pytest_hookharness.execution.platform import linux

# The numbers of system calls in which a hook commonly waits, by machine.
_CALLS = {
    "x86_64": {
        0: "read", 1: "write", 7: "poll", 19: "readv", 20: "writev", 23: "select", 34: "pause",
        35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 47: "recvmsg",
        61: "wait4", 72: "fcntl", 73: "flock", 130: "rt_sigsuspend", 202: "futex", 230: "clock_nanosleep",
        232: "epoll_wait", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll",
        281: "epoll_pwait", 288: "accept4", 441: "epoll_pwait2",
    },
    "aarch64": {
        22: "epoll_pwait", 25: "fcntl", 32: "flock", 56: "openat", 63: "read", 64: "write", 65: "readv",
        66: "writev", 72: "pselect6", 73: "ppoll", 95: "waitid", 98: "futex", 101: "nanosleep",
        115: "clock_nanosleep", 133: "rt_sigsuspend", 202: "accept", 203: "connect", 206: "sendto",
        207: "recvfrom", 212: "recvmsg", 242: "accept4", 260: "wait4", 441: "epoll_pwait2",
    },
}  # fmt: skip
_NAMES = _CALLS.get(os.uname().machine, {})
_TIMER_ABSTIME = 1
_WORD = 8
# Of 68 years. Programs that sleep without end ask for longer times than this.
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
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            seconds = int.from_bytes(memory.read(_WORD), sys.byteorder, signed=True)
            return math.inf if seconds > _ENDLESS else float(max(0, seconds))
    except (OSError, ValueError, OverflowError):
        return 0


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
