"""
One recorded fire: a hook's real input, kept while the hook runs as ever.

The hook writes to
the very streams that its host gave, and ends as it would; only its input passes through here. Nothing that
goes wrong with the recording reaches hook or host.
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
    Run a hook and keep what it was given.

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
    # Whoever keeps the input open shall not keep the hook that has ended.
    threading.Thread(target=_pass_on, args=(process, seen), daemon=True).start()
    try:
        # What takes time is done while the hook runs, so that it ends no later than without this.
        from pytest_hookharness.reports.redaction import find_secrets

        secrets = find_secrets(os.environ)
        code = process.wait()
        _keep(Path(folder), at, bytes(seen), command[-1], code, time.monotonic() - began, secrets)
    except Exception as error:  # noqa: BLE001 -- the hook's answer counts, whatever became of the recording
        _complain(Path(folder), error)
        code = process.wait()
    if code < 0:
        # Some signals have no other way than their own.
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    # Not by the usual way: a thread may still wait for input.
    sys.stdout.flush()
    os._exit(code & 0xFF)


def _end_together() -> Callable[[], None]:
    """
    Return what has the system kill the hook with this process, as a host kills a hook that it starts itself.
    """
    # Imported here and not between fork and exec.
    die_with_parent = spawning().die_with_parent

    def ask() -> None:
        # Not every system offers it.
        with contextlib.suppress(OSError):
            die_with_parent()

    return ask


def _take_input() -> None:
    """
    Have some input, for the next file that is opened would take the place of one that the host closed.
    """
    try:
        os.fstat(0)
    except OSError:
        os.open(os.devnull, os.O_RDONLY)


def _pass_on(process: subprocess.Popen[bytes], seen: bytearray) -> None:
    # One that reads no more is no reason to keep the host from writing.
    listening = process.stdin
    # A host may have closed the input, or be gone.
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
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
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
