"""
The recorder of one hook run: it saves the hook's input and otherwise does not change how the hook runs.

The hook writes to the streams of its host and ends as it would without the recorder; only its input passes
through here. An error of the recording reaches neither hook nor host. The file is run by its path.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
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
# Seconds that the hook waits for a host that writes nothing, and that end a part of the payload.
_PATIENCE, _PAUSE = 0.2, 0.005
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


def _pass_on(begun: bytes | None, outer: int, recording: _Recording) -> None:
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


class _Recording:
    """
    The file of one hook run.

    What arrives is written before the hook gets it, and its beginning before the hook starts, so that a host
    that kills everything loses no payload; the exit code is added at the end.
    """

    def __init__(self, folder: Path, command: str) -> None:
        self._folder = folder
        self._command = command
        self._began, self._at = time.monotonic(), time.time_ns()
        self._seen = bytearray()
        self._payload: object = ""
        self._lock = threading.Lock()
        self._ended = False

    def add(self, part: bytes) -> None:
        """Add a part of the payload, and write what is there."""
        new = part[: MOST - len(self._seen)]
        self._seen.extend(new)
        if new:
            self.keep(None, changed=True)

    def keep(self, code: int | None, *, changed: bool = False) -> None:
        """Write the recording; an error must not change the hook's answer."""
        try:
            with self._lock:
                if not self._ended:
                    self._ended = code is not None
                    self._write(code, changed=changed)
        except Exception as error:  # noqa: BLE001 -- see above
            _complain(self._folder, error)

    def _write(self, code: int | None, *, changed: bool) -> None:
        from pytest_hookharness.reports.redaction import find_secrets, redact

        secrets = find_secrets(os.environ)
        if changed:
            # Of a long payload this takes long, so it is not done again at the end.
            text = redact(self._seen.decode("utf-8", "replace"), secrets, cut=len(self._seen) >= MOST)
            try:
                self._payload = json.loads(text)
            except ValueError:
                self._payload = text
        record = {
            "version": 1,
            "event": _event(self._payload),
            "command": redact(self._command, secrets),
            "at": self._at,
            "payload": self._payload,
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
