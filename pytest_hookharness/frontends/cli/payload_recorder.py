"""
The recorder of one hook run: it saves the hook's input and otherwise does not change how the hook runs.

The hook writes to the streams of its host and ends as it would without the recorder; only its input passes
through here. An error of the recording reaches neither hook nor host. The file is run by its path.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.execution.platform import spawning

_CHUNK = 1 << 16
MOST = 4 << 20
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(argv: Sequence[str]) -> int:
    """
    Run a hook and record its input.

    Args:
        argv: The folder for recordings, and the command with its arguments.

    Returns:
        The exit code of the command; a command that a signal ended ends this process by the same signal.
    """
    folder, *command = argv
    _take_input()
    recording = _Recording(Path(folder), command[-1])
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
    threading.Thread(target=_pass_on, args=(outer, recording), daemon=True).start()
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


def _pass_on(outer: int, recording: _Recording) -> None:
    # If the hook stops reading, the rest is still read: the host must not block while it writes.
    listening = True
    # The host may have closed the input, or have ended.
    with contextlib.suppress(OSError):
        while chunk := os.read(0, _CHUNK):
            recording.add(chunk)
            left = memoryview(chunk)
            while listening and left:
                try:
                    left = left[os.write(outer, left) :]
                except OSError:
                    listening = False
    os.close(outer)


class _Recording:
    """
    The file of one hook run.

    What arrives is written before the hook gets it, so that a host that kills everything loses no payload;
    the exit code is added at the end.
    """

    def __init__(self, folder: Path, command: str) -> None:
        self._folder = folder
        self._command = command
        self._began, self._at = time.monotonic(), time.time_ns()
        self._seen = bytearray()
        self._written = 0
        self._lock = threading.Lock()
        self._ended = False

    def add(self, chunk: bytes) -> None:
        """Add a part of the payload, and write what is there; of long payloads not for every part."""
        self._seen.extend(chunk[: max(0, MOST - len(self._seen))])
        if len(self._seen) >= 2 * self._written:
            self._written = len(self._seen)
            self.keep(None)

    def keep(self, code: int | None) -> None:
        """Write the recording; an error must not change the hook's answer."""
        try:
            with self._lock:
                if not self._ended:
                    self._ended = code is not None
                    self._write(code)
        except Exception as error:  # noqa: BLE001 -- see above
            _complain(self._folder, error)

    def _write(self, code: int | None) -> None:
        # Slow imports happen while the hook runs, so that it does not start later.
        from pytest_hookharness.reports.redaction import find_secrets, redact

        secrets, data = find_secrets(os.environ), bytes(self._seen)
        text = redact(data.decode("utf-8", "replace"), secrets, cut=len(data) >= MOST)
        try:
            payload = json.loads(text)
        except ValueError:
            payload = None
        record = {
            "version": 1,
            "event": _event(payload),
            "command": redact(self._command, secrets),
            "at": self._at,
            "payload": payload if payload is not None else text,
            "exit": code,
            "seconds": round(time.monotonic() - self._began, 3),
        }
        # Made anew if somebody cleaned the project meanwhile; recordings must not be committed by accident.
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(parents=True, mode=0o700)
            (self._folder / ".gitignore").write_text("*\n")
        name = f"{self._at}-{os.getpid()}"
        fresh = self._folder / f".{name}.new"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
        fresh.replace(self._folder / f"{name}.json")


def _event(payload: object) -> str:
    """Return the host's name of the event; OpenHands calls the key otherwise."""
    given = payload if isinstance(payload, Mapping) else {}
    names = (given.get("hook_event_name"), given.get("event_type"))
    return next((name for name in names if isinstance(name, str)), "")


def _complain(folder: Path, error: Exception) -> None:
    with contextlib.suppress(OSError), (folder / "problems.txt").open("a", encoding="utf-8") as file:
        file.write(f"{type(error).__name__}: {error}\n")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
