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
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.execution.platform import spawning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pytest_hookharness.reports.redaction import Secrets

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
    began, at = time.monotonic(), time.time_ns()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        preexec_fn=_end_together(),  # noqa: PLW1509 -- there is no other thread yet
    )
    for number in _PASSED_ON:
        signal.signal(number, lambda received, _: process.send_signal(received))
    seen = bytearray()
    # A daemon thread: a host that keeps standard input open must not delay the end of the hook.
    threading.Thread(target=_pass_on, args=(process, seen), daemon=True).start()
    try:
        # Slow imports happen while the hook runs, so that it does not end later.
        from pytest_hookharness.reports.redaction import find_secrets

        secrets = find_secrets(os.environ)
        code = process.wait()
        _keep(Path(folder), at, bytes(seen), command[-1], code, time.monotonic() - began, secrets)
    except Exception as error:  # noqa: BLE001 -- an error of the recording must not change the hook's answer
        _complain(Path(folder), error)
        code = process.wait()
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


def _pass_on(process: subprocess.Popen[bytes], seen: bytearray) -> None:
    # If the hook stops reading, the rest is still read: the host must not block while it writes.
    listening = process.stdin
    # The host may have closed the input, or have ended.
    with contextlib.suppress(OSError):
        while chunk := os.read(0, _CHUNK):
            seen.extend(chunk[: max(0, MOST - len(seen))])
            try:
                if listening is not None:
                    listening.write(chunk)
                    listening.flush()
            except OSError:
                listening = None
    if listening is not None:
        with contextlib.suppress(OSError):
            listening.close()


def _keep(
    folder: Path, at: int, data: bytes, command: str, code: int, seconds: float, secrets: Secrets
) -> None:
    from pytest_hookharness.reports.redaction import redact

    text = redact(data.decode("utf-8", "replace"), secrets, cut=len(data) >= MOST)
    try:
        payload = json.loads(text)
    except ValueError:
        payload = None
    event = payload.get("hook_event_name") if isinstance(payload, Mapping) else None
    record = {
        "version": 1,
        "event": event if isinstance(event, str) else "",
        "command": redact(command, secrets),
        "at": at,
        "payload": payload if payload is not None else text,
        "exit": code,
        "seconds": round(seconds, 3),
    }
    # Made anew if somebody cleaned the project meanwhile; recordings must not be committed by accident.
    with contextlib.suppress(FileExistsError):
        folder.mkdir(parents=True, mode=0o700)
        (folder / ".gitignore").write_text("*\n")
    name = f"{at}-{os.getpid()}"
    fresh = folder / f".{name}.new"
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    fresh.replace(folder / f"{name}.json")


def _complain(folder: Path, error: Exception) -> None:
    with contextlib.suppress(OSError), (folder / "problems.txt").open("a", encoding="utf-8") as file:
        file.write(f"{type(error).__name__}: {error}\n")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
