"""
A hook run inside of a wrapper, which sees the hook's input and end and otherwise changes nothing.

The hook writes to the streams of its host and ends as it would without the wrapper; only its input passes
through here. What a wrapper records must not raise. Each hook run waits until this module is loaded, so it
imports only what loads quickly: with ``contextlib``, ``signal`` and ``subprocess`` it takes twice as long.
"""

from __future__ import annotations

import _thread
import os
import select
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn, Protocol

    class HookRecording(Protocol):
        """The recorder of a wrapped hook run."""

        def add(self, part: bytes) -> None:
            """Record a part of the input, before the hook gets it."""

        def keep(self, code: int | None) -> None:
            """Record the exit code: that of the process, or the signal that ended it as a negative number."""


# What `signal` is made of; the type checkers do not know it.
_signal = __import__("_signal")
_CHUNK = 1 << 16
# Bytes of one part of the payload at most.
MOST = 4 << 20
# Seconds to wait for a host that writes nothing or has begun a payload; the pause that ends a whole one.
_PATIENCE, _PAUSE = 0.2, 0.005
_MOST_FILES = 4096
_PASSED_ON = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)
# Python ignores these signals, and what it starts would do so too.
_IGNORED = (_signal.SIGPIPE, _signal.SIGXFSZ)


def run_wrapped(command: Sequence[str], recording: HookRecording) -> NoReturn:
    """Run a hook and end as it does: with its exit code, or by the signal that ended it."""
    _take_input()
    # Before the hook starts: whatever kills it, the payload is stored.
    begun = _read_batch(_PATIENCE)
    recording.add(begun or b"")
    inner, outer = _channel()
    waiting, starting = os.pipe()
    process = os.fork()
    if not process:
        os.close(starting)
        _become(command, inner, waiting)
    os.close(inner)
    guard = _start_guard(process)
    os.write(starting, b"!")
    for number in _PASSED_ON:
        _signal.signal(number, lambda received, _: _try(os.kill, process, received))
    # The process does not wait for this thread: a host that keeps the input open must not delay the end.
    _thread.start_new_thread(_pass_on, (begun, outer, recording))
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    # A signal to all processes of the hook may have ended it.
    _try(os.write, guard, b"!")
    recording.keep(code)
    if code < 0:
        # SIGKILL and SIGSTOP have no handler.
        _try(_signal.signal, -code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)


def _become(command: Sequence[str], stdin: int, waiting: int) -> NoReturn:
    """Turn this process into the hook, as soon as the wrapper says that the guard is there."""
    try:
        if os.read(waiting, 1):
            for number in _IGNORED:
                _signal.signal(number, _signal.SIG_DFL)
            os.dup2(stdin, 0)
            os.execvp(command[0], [*command])  # noqa: S606 -- the hook is what its host starts
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="surrogateescape"))
    finally:
        os._exit(127)


def _start_guard(process: int) -> int:
    """
    Start a process that kills the hook as soon as this one is killed; return where a byte ends it.

    A host that kills what it started would otherwise kill only the wrapper.
    """
    waiting, ending = os.pipe()
    if os.fork():
        os.close(waiting)
        return ending
    # The host may wait until its pipes are closed, and the hook until its input is.
    os.closerange(0, waiting)
    os.closerange(waiting + 1, _MOST_FILES)
    for number in _PASSED_ON:
        _signal.signal(number, _signal.SIG_IGN)
    if not os.read(waiting, 1):
        os.kill(process, _signal.SIGKILL)
    os._exit(0)


def _try(act: Callable[..., object], *arguments: object) -> None:
    try:  # noqa: SIM105 -- see above
        act(*arguments)
    except OSError:
        pass


def _take_input() -> None:
    """Open standard input if the host closed it; otherwise the next opened file would get its number."""
    try:
        os.fstat(0)
    except OSError:
        os.open(os.devnull, os.O_RDONLY)


def _channel() -> tuple[int, int]:
    """Return both ends of an input of the kind that the host gives: a socket, as node makes it, or a pipe."""
    if not stat.S_ISSOCK(os.fstat(0).st_mode):
        return os.pipe()
    # `socket` takes long to load, and needs no more than this for two sockets.
    from _socket import socketpair

    inner, outer = socketpair()
    return inner.detach(), outer.detach()


def _read_batch(patience: float | None) -> bytes | None:
    """
    Return what the host writes until it pauses or closes the input; nothing at its end.

    Return ``None`` if it does not begin within ``patience`` seconds; ``None`` seconds are no limit.
    """
    batch = bytearray()
    try:
        while len(batch) < MOST:
            # A host that got no CPU for a while may have written only a part of a payload.
            whole = batch[-2:].rstrip().endswith(b"}")
            wait = _PAUSE if whole else _PATIENCE if batch else patience
            if not select.select([0], [], [], wait)[0]:
                return bytes(batch) or None
            chunk = os.read(0, _CHUNK)
            if not chunk:
                break
            batch += chunk
    except OSError:
        pass  # The host has ended.
    return bytes(batch)


def _pass_on(begun: bytes | None, outer: int, recording: HookRecording) -> None:
    """Pass on what was read, and what follows, once it is stored."""
    # If the hook stops reading, the rest is still read: the host must not block while it writes.
    listening = True
    batch = begun
    while batch is None or batch:
        left = memoryview(batch or b"")
        while listening and left:
            try:
                left = left[os.write(outer, left) :]
            except OSError:
                listening = False
        batch = _read_batch(None)
        recording.add(batch or b"")
    os.close(outer)
