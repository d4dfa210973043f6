"""
A hook run inside of a wrapper, which sees the hook's input and end and otherwise changes nothing.

The hook writes to the streams of its host and ends as it would without the wrapper; only its input passes
through here. What a wrapper records must not raise.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

from pytest_hookharness.execution.platform import spawning

_CHUNK = 1 << 16
# Bytes of one part of the payload at most.
MOST = 4 << 20
# Seconds that the hook waits for a host that writes nothing, and that end a part of the payload.
_PATIENCE, _PAUSE = 0.2, 0.005
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class HookRecording(Protocol):
    """What records a wrapped hook run."""

    def add(self, part: bytes) -> None:
        """Record a part of the input, before the hook gets it."""

    def keep(self, code: int | None) -> None:
        """Record the exit code: that of the process, or the signal that ended it as a negative number."""


def run_wrapped(command: Sequence[str], recording: HookRecording) -> NoReturn:
    """
    Run a hook and end as it does: with its exit code, or by the signal that ended it.

    Args:
        command: The hook's command with its arguments.
        recording: Records its input and its end.
    """
    _take_input()
    # Before the hook starts: whatever kills it, the payload is stored.
    begun = _read_batch(_PATIENCE)
    recording.add(begun or b"")
    inner, outer = _channel()
    process = subprocess.Popen(
        command,
        stdin=inner,
        preexec_fn=_end_together(),  # noqa: PLW1509 -- there is no other thread yet
    )
    os.close(inner)
    for number in _PASSED_ON:
        signal.signal(number, lambda received, _: process.send_signal(received))
    # A daemon thread: a host that keeps standard input open must not delay the end of the hook.
    threading.Thread(target=_pass_on, args=(begun, outer, recording), daemon=True).start()
    code = process.wait()
    recording.keep(code)
    if code < 0:
        # SIGKILL and SIGSTOP have no handler that could be reset.
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    # Not `sys.exit`: the thread may still wait for input.
    sys.stdout.flush()
    os._exit(code & 0xFF)


def _end_together() -> Callable[[], None]:
    """
    Return a function that has the system kill the hook's process together with this one, where it can.

    A host that kills what it started would otherwise kill only the recorder.
    """
    # Imported here and not between fork and exec.
    die_with_parent = spawning().die_with_parent

    def ask() -> None:
        # Not every system offers it.
        with contextlib.suppress(OSError):
            die_with_parent()

    return ask


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
    # Few hosts give one, and this import takes long.
    from socket import socketpair

    inner, outer = socketpair()
    return inner.detach(), outer.detach()


def _read_batch(patience: float | None) -> bytes | None:
    """
    Return what the host writes until it pauses or closes the input; nothing at its end.

    Args:
        patience: Seconds until the host begins; ``None`` for any time. ``None`` is returned if it does not.
    """
    batch = bytearray()
    # The host may have ended.
    with contextlib.suppress(OSError):
        while len(batch) < MOST:
            if not select.select([0], [], [], _PAUSE if batch else patience)[0]:
                return bytes(batch) or None
            chunk = os.read(0, _CHUNK)
            if not chunk:
                break
            batch += chunk
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
