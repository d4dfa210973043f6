"""
Linux: system calls that wait for an answer of this process, by a seccomp filter with a listener.

This process answers such a call with a result, or lets the kernel continue it; then it does not see the
result. This takes a fraction of the time of a stop by ptrace, for which the kernel sends signals and waits
until the task has left its processor.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select
import struct

from pytest_hookharness.execution.platform import linux_ptrace, linux_vdso
from pytest_hookharness.execution.platform.linux import last_error, libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pytest_hookharness.execution.platform.linux_ptrace import SeccompProgram

FOREIGN = -1  # stands for the number of every call of another architecture
ANOTHER_ARCHITECTURE = "a program of another architecture (32 bit) was run"
# Their numbers on both machines.
_SECCOMP, _SENDMSG = {"x86_64": (317, 46), "aarch64": (277, 211)}.get(linux_ptrace.MACHINE, (-1, -1))
_NO_NEW_PRIVS = 38
# The first Linux where the kernel can continue a call (5.5) and a listener shows that all processes ended.
_FIRST = (5, 9)
_MESSAGE, _CONTROL = struct.Struct("=QI4xQQQQi4x"), struct.Struct("=Qiii4x")
_SOL_SOCKET, _SCM_RIGHTS = 1, 1
# Set a filter; return a listener; no signal but a deadly one ends the wait for an answer (Linux 5.19).
_SET_FILTER, _NEW_LISTENER, _WAIT_TO_THE_END = 1, 8, 32
_RECEIVE, _ANSWER, _SET_FLAGS, _ON_SAME_PROCESSOR = 0xC0502100, 0xC0182101, 0x40082104, 1
# The identifier of the call, its task, number, architecture, and arguments.
_CALL = struct.Struct("=QI4xiI8x6Q")
_REPLY = struct.Struct("=QqiI")
_GO_ON = 1


class Call:
    """A system call that waits for an answer."""

    __slots__ = ("_identity", "_listener", "arguments", "number", "task")

    def __init__(self, listener: int, data: bytearray) -> None:
        self._listener = listener
        self._identity, self.task, number, architecture, *arguments = _CALL.unpack(data)
        known = architecture == linux_ptrace.ARCHITECTURE and not number & linux_ptrace.X32
        self.number = number if known else FOREIGN
        self.arguments = arguments

    def answer(self, value: int) -> None:
        """Give the task a result, as if the kernel had made the call."""
        self._reply(value, 0)

    def go_on(self) -> None:
        """Let the kernel make it."""
        self._reply(0, _GO_ON)

    def _reply(self, value: int, flags: int) -> None:
        try:
            fcntl.ioctl(self._listener, _ANSWER, _REPLY.pack(self._identity, value, 0, flags))
        except OSError:
            return  # the task has ended, or a signal has interrupted the call


def listen(program: SeccompProgram) -> int:
    """
    Install a filter in this process; return the descriptor of its listener, which no program inherits.

    Raises:
        OSError: The system cannot do that (before Linux 5.9), or there is another listener above.
    """
    release = os.uname().release
    if tuple(int(number) for number in release.split(".")[:2] if number.isdigit()) < _FIRST:
        raise OSError(errno.ENOSYS, f"Linux {release} cannot make system calls wait for an answer; 5.9 can")
    flags, tried = _NEW_LISTENER | _WAIT_TO_THE_END, False
    while (listener := libc.syscall(_SECCOMP, _SET_FILTER, flags, ctypes.byref(program))) < 0:
        problem = last_error("a listener of system calls")
        if problem.errno == errno.EINVAL and flags != _NEW_LISTENER:
            flags = _NEW_LISTENER
        elif problem.errno == errno.EACCES and not tried:
            # Without root, a process must first give up gaining rights by programs such as sudo.
            tried = True
            libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
        else:
            raise problem
    return int(listener)


def hand_over(channel: int, listener: int) -> None:
    """Send a listener through a socket by a message with a mark, which its own filter lets pass."""
    text = ctypes.create_string_buffer(b"+", 1)
    control = _CONTROL.pack(20, _SOL_SOCKET, _SCM_RIGHTS, listener)
    rights = ctypes.create_string_buffer(control, len(control))
    piece = ctypes.create_string_buffer(struct.pack("=QQ", ctypes.addressof(text), 1), 16)
    places = ctypes.addressof(piece), 1, ctypes.addressof(rights), len(control)
    message = ctypes.create_string_buffer(_MESSAGE.pack(0, 0, *places, 0), _MESSAGE.size)
    if libc.syscall(_SENDMSG, channel, ctypes.byref(message), ctypes.c_ulong(linux_vdso.MARK << 32)) < 0:
        raise last_error("a listener of system calls")


def keep_close(listener: int) -> None:
    """Have the two sides of a listener run on one processor (Linux 6.6)."""
    # One side always waits for the other, and waking a process on another processor takes longer.
    try:
        fcntl.ioctl(listener, _SET_FLAGS, _ON_SAME_PROCESSOR)
    except OSError:
        return  # an older kernel


def is_over(listener: int) -> bool:
    """Return whether all processes with this listener have ended."""
    return _shows(listener, select.POLLHUP)


def has_waiting(listener: int) -> bool:
    """Return whether a call waits at a listener."""
    return _shows(listener, select.POLLIN)


def _shows(listener: int, wanted: int) -> bool:
    poll = select.poll()
    poll.register(listener, wanted)
    return any(events & wanted for _, events in poll.poll(0))


def receive(listener: int) -> Call | None:
    """Return the next call that waits at a readable listener; ``None`` if its task has ended."""
    data = bytearray(_CALL.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, data)
    except OSError:
        return None
    return Call(listener, data)
