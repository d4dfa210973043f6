"""
Linux: when the wait of a blocked process ends by itself, as far as the kernel shows it.

On another system nothing is known, as there is no /proc.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time

from pytest_hookharness.execution.platform import linux

_TIMER_ABSTIME = 1
_WORD = 8
# Of 68 years. Programs that sleep without end ask for longer times than this.
_ENDLESS = 1 << 31


def sleeps_until(pid: int) -> float:
    """
    Return when the timer ends by which a process sleeps, in seconds of ``boot_clock``; 0 if unknown.

    Where the sleep began at an unknown moment, the start of the process stands for this moment.
    """
    call, arguments = linux.blocked_arguments(pid)
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
    return linux.kernel_function(pid) in ("wait_for_partner", "fifo_open")
